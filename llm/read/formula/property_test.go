package formula

import (
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// drawn is a random formula in LaTeX and another one with the same meaning.
type drawn struct{ tex, other string }

// draw makes formulas without division by zero.
func draw(t *rapid.T, depth int) drawn {
	if depth == 0 {
		switch rapid.IntRange(0, 4).Draw(t, "leaf") {
		case 0:
			v := rapid.SampledFrom([]string{"x", "y", `\pi`, "i"}).Draw(t, "name")
			return drawn{v, "{" + v + "}"}
		case 1:
			p, q := rapid.IntRange(1, 30).Draw(t, "p"), rapid.IntRange(1, 12).Draw(t, "q")
			return drawn{fmt.Sprintf(`\frac{%d}{%d}`, p, q), fmt.Sprintf(`(%d/%d)`, 3*p, 3*q)}
		case 2:
			n, k := rapid.IntRange(2, 20).Draw(t, "n"), rapid.IntRange(2, 5).Draw(t, "k")
			return drawn{fmt.Sprintf(`%d\sqrt{%d}`, k, n), fmt.Sprintf(`\sqrt{%d}`, k*k*n)}
		}
		n := rapid.IntRange(0, 50).Draw(t, "n")
		return drawn{fmt.Sprint(n), fmt.Sprintf("(%d-%d)", n+7, 7)}
	}
	a, b := draw(t, depth-1), draw(t, depth-1)
	switch rapid.IntRange(0, 4).Draw(t, "op") {
	case 0:
		return drawn{fmt.Sprintf("(%s+%s)", a.tex, b.tex), fmt.Sprintf("(%s+%s)", b.other, a.other)}
	case 1:
		return drawn{fmt.Sprintf("(%s-%s)", a.tex, b.tex), fmt.Sprintf("(-(%s-(%s)))", b.other, a.other)}
	case 2:
		return drawn{fmt.Sprintf("(%s)(%s)", a.tex, b.tex), fmt.Sprintf(`(%s)\cdot(%s)`, b.other, a.other)}
	case 3:
		return drawn{fmt.Sprintf("((%s)^2)", a.tex), fmt.Sprintf("((%s)(%s))", a.other, a.other)}
	}
	return drawn{fmt.Sprintf(`\frac{%s}{7}`, a.tex), fmt.Sprintf(`\frac{1}{7}\left(%s\right)`, a.other)}
}

// A formula equals itself and its rewriting; it equals neither its double nor itself with something added,
// unless it is zero.
func TestRewritings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t, rapid.IntRange(0, 3).Draw(t, "depth"))
		a := must(t, d.tex)
		for _, s := range []string{d.tex, d.other, " " + d.other + "+0", "$1\\cdot " + d.other + "$"} {
			if same, how := Same(a, must(t, s)); !same {
				t.Fatalf("%s is not %s, %s", d.tex, s, how)
			}
		}
		if same, _ := Same(a, must(t, d.other+"+10^{-40}")); same {
			t.Fatalf("%s is itself and a little more", d.other)
		}
		if same, _ := Same(a, must(t, "("+d.other+",1)")); same {
			t.Fatalf("%s is a tuple", d.other)
		}
	})
}

func must(t interface{ Fatalf(string, ...any) }, s string) Formula {
	f, err := Parse(s)
	if err != nil {
		t.Fatalf("Parse(%q): %v", s, err)
	}
	return f
}

// Numbers in any spelling are equal exactly if their values are.
func TestRationals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, q := rapid.Int64Range(-500, 500).Draw(t, "p"), rapid.Int64Range(1, 60).Draw(t, "q")
		r, s := rapid.Int64Range(-500, 500).Draw(t, "r"), rapid.Int64Range(1, 60).Draw(t, "s")
		a, b := must(t, fmt.Sprintf(`\frac{%d}{%d}`, p, q)), must(t, fmt.Sprintf(`%d/%d`, r, s))
		if same, how := Same(a, b); same != (big.NewRat(p, q).Cmp(big.NewRat(r, s)) == 0) || how != Exact {
			t.Fatalf("%d/%d = %d/%d is %v, %s", p, q, r, s, same, how)
		}
	})
}

// No text makes the parser panic or take long; what is read can be compared, and a formula without undefined
// points equals itself.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`\frac{11}{18}`, `1\frac45`, `\{1\pm\sqrt5,-2\}`, `(-\infty,2)\cup[3,\infty)`,
		`\begin{pmatrix}1&2\\3&4\end{pmatrix}`, `x\in[-2,7]`, `5x-7y+4=0`,
		`90^\circ`, `\$32,\!348`, `15\mbox{ cm}^2`, `\text{(C)}`, `52_8`, `0.\overline{6}`, `e^{i\pi}`, `\log_2 8`,
		`\sin^{-1}1`, `\binom52`, `((((`, `x^x^x`, `9^{9^{9}}`, `\sqrt[3]{2+\sqrt5}`,
		`|x|y|z|`, `1,,2`, `2^{-10000}`, `1000!`, `\frac1\frac23`, `(x+y+z)^{24}`, `1/0`, `0^{-1}`, `\tan 90^\circ`,
		`10^{10^{10}}`, `\ln 0`, `i^i`, `\sqrt[0]{2}`,
	} {
		f.Add(s, "x")
		f.Add("x+1", s)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		start := time.Now()
		x, err := Parse(a)
		y, other := Parse(b)
		if err == nil && other == nil {
			ab, _ := Same(x, y)
			ba, _ := Same(y, x)
			if ab != ba && x.loose == nil && y.loose == nil {
				t.Errorf("%q and %q: %v, and the other way round %v", a, b, ab, ba)
			}
			_ = x.String()
		}
		if took := time.Since(start); took > tooLong {
			t.Errorf("%q and %q took %v", a, b, took)
		}
	})
}

// tooLong is more than a slow machine needs for half a second of work, and less than unbounded work takes.
const tooLong = 30 * time.Second

// Long, deep or huge input is refused or read in time.
func TestTime(t *testing.T) {
	for name, s := range map[string]string{
		"deep brackets": strings.Repeat("(", 1000) + "x" + strings.Repeat(")", 1000),
		"long sum":      strings.Repeat("x+y-z+", 300) + "1",
		"long product":  strings.Repeat("(x+y)", 200),
		"powers":        "x" + strings.Repeat("^{y", 30) + strings.Repeat("}", 30),
		"big power":     "(x+y+z+w)^{24}(x-y-z-w)^{24}",
		"tower":         "9^{9^{9^{9}}}",
		"roots":         strings.Repeat(`\sqrt{99990000001+`, 35) + "1" + strings.Repeat("}", 35),
		"many roots":    strings.Repeat(`\sqrt{99990000001}+`, 90) + "1",
		"sines":         strings.Repeat(`\sin x+`, 250) + "1",
		"list":          strings.Repeat("1, ", 400) + "1",
		"primes":        strings.Repeat("1", 350) + "^{1/2}",
		"fractions":     strings.Repeat(`\frac{1}{x+`, 35) + "1" + strings.Repeat("}", 35),
		"bars":          strings.Repeat("|x", 300) + strings.Repeat("|", 300),
		"pm":            strings.Repeat(`\pm 1`, 200),
	} {
		start := time.Now()
		f, err := Parse(s)
		if err == nil {
			g, _ := Parse(s + "+1")
			Same(f, f)
			Same(f, g)
		}
		t.Logf("%s took %v", name, time.Since(start).Round(time.Millisecond))
		if took := time.Since(start); took > tooLong {
			t.Errorf("%s took %v", name, took)
		}
	}
}
