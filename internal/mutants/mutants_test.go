package main

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
)

const code = `package small

const size = 2 * 3

// Max is tested for unequal numbers only.
func Max(a, b int) int {
	if a > b {
		return a
	}
	return b
}

func Sum(n uint8) (s uint8) {
	for i := uint8(1); i <= n; i++ {
		s = s + i
	}
	return s
}

func Low(x float64) bool { return -x > size }

func Join(a, b string) string { return a + b }

func Never(a, b *int) bool { return a == b }
`

const tests = `package small

import "testing"

func TestMax(t *testing.T) {
	if Max(1, 2) != 2 || Max(2, 1) != 2 {
		t.Fatal()
	}
}

func TestSum(t *testing.T) {
	if Sum(4) != 10 {
		t.Fatal()
	}
}

func TestLow(t *testing.T) {
	if !Low(-7) || Low(-6) || Low(7) {
		t.Fatal()
	}
}

func TestJoin(t *testing.T) { Join("a", "b") }

func TestBroken(t *testing.T) { t.Fatal("fails without a mutant, so it kills none") }
`

// TestFates plays mutants of each operator and each fate, switched and compiled alone.
func TestFates(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"go.mod": "module small\n\ngo 1.26\n", "small.go": code,
		"small_test.go": tests} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	var list []*mutant
	want := map[*mutant]fate{}
	for _, c := range []struct {
		snippet, op, kind string
		want              fate
	}{
		{"2 * 3", "*", "ARITHMETIC_BASE", killed}, // a constant cannot be switched
		{"a > b", ">", "CONDITIONALS_BOUNDARY", lived},
		{"a > b", ">", "CONDITIONALS_NEGATION", killed},
		{"i <= n", "<=", "CONDITIONALS_NEGATION", killed},
		{"i++", "++", "INCREMENT_DECREMENT", killed},
		{"s + i", "+", "ARITHMETIC_BASE", killed},
		{"-x > size", "-x", "INVERT_NEGATIVES", killed},
		{"-x > size", ">", "CONDITIONALS_BOUNDARY", killed},
		{"a + b", "+", "ARITHMETIC_BASE", broken}, // strings
		{"a == b", "==", "CONDITIONALS_NEGATION", unreached},
	} {
		at := strings.Index(code, c.snippet)
		at += strings.Index(c.snippet, c.op)
		m := &mutant{id: len(list) + 1, file: here + "/small.go", line: 1 + strings.Count(code[:at], "\n"),
			column: at - strings.LastIndex(code[:at], "\n"), kind: c.kind}
		list, want[m] = append(list, m), c.want
	}
	var notes bytes.Buffer
	b := &bench{work: t.TempDir(), notes: &notes}
	if err := b.prepare(list); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(notes.String(), "left out: TestBroken") {
		t.Errorf("notes: %s", notes.String())
	}
	if err := tryAll(list, b.try, func(*mutant) {}); err != nil {
		t.Fatal(err)
	}
	for _, m := range list {
		if m.fate != want[m] {
			t.Errorf("%s is %s, want %s", m, m.fate, want[m])
		}
	}
	var out bytes.Buffer
	report(&out, list)
	if s := "9 viable, 7 killed (0 of them by the time limit), 1 lived, 1 not reached; 1 do not compile\n" +
		"score 77.8 %"; !strings.HasPrefix(out.String(), s) {
		t.Errorf("the report is %s", out.String())
	}
}

// TestSample draws the same mutants for the same seed, in the order of the source.
func TestSample(t *testing.T) {
	ids := func(seed uint64) (ids []int) {
		var list []*mutant
		for i := range 100 {
			list = append(list, &mutant{id: i})
		}
		drawn, err := options{sample: 10, seed: seed}.choose(list)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range drawn {
			ids = append(ids, m.id)
		}
		return ids
	}
	if a := ids(1); len(a) != 10 || !slices.IsSorted(a) || !slices.Equal(a, ids(1)) || slices.Equal(a, ids(2)) {
		t.Errorf("seed 1 draws %v and %v, seed 2 %v", a, ids(1), ids(2))
	}
}
