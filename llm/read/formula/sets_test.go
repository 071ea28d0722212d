package formula

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawnSet is a set of intervals between whole numbers, and whether it contains each half number from -1 to
// 11.
type drawnSet struct {
	tex string
	has [25]bool
}

func drawPart(t *rapid.T) drawnSet {
	a, b := rapid.IntRange(0, 9).Draw(t, "low"), rapid.IntRange(0, 10).Draw(t, "high")
	if a >= b {
		p := drawnSet{tex: fmt.Sprintf(`\{%d\}`, a)}
		p.has[2*a+2] = true
		return p
	}
	open, shut := rapid.SampledFrom([]string{"(", "["}).Draw(t, "open"), rapid.SampledFrom([]string{")", "]"}).Draw(t,
		"shut")
	p := drawnSet{tex: fmt.Sprintf("%s%d,%d%s", open, a, b, shut)}
	for i := 2*a + 3; i < 2*b+2; i++ {
		p.has[i] = true
	}
	p.has[2*a+2], p.has[2*b+2] = open == "[", shut == "]"
	return p
}

func drawSet(t *rapid.T) drawnSet {
	s := drawPart(t)
	for range rapid.IntRange(1, 4).Draw(t, "parts") {
		p := drawPart(t)
		sign := rapid.SampledFrom([]string{`\cup`, `\cap`, `\setminus`}).Draw(t, "sign")
		s.tex += " " + sign + " " + p.tex
		for i := range s.has {
			switch sign {
			case `\cup`:
				s.has[i] = s.has[i] || p.has[i]
			case `\cap`:
				s.has[i] = s.has[i] && p.has[i]
			default:
				s.has[i] = s.has[i] && !p.has[i]
			}
		}
	}
	return s
}

// Two sets are the same exactly if they have the same members.
func TestSetsOfReals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawSet(t), drawSet(t)
		if rapid.Bool().Draw(t, "turn") { // the parts of a union in another order
			b = a
			if !strings.Contains(a.tex, "cap") && !strings.Contains(a.tex, "set") {
				parts := strings.Split(a.tex, ` \cup `)
				for i, j := 0, len(parts)-1; i < j; i, j = i+1, j-1 {
					parts[i], parts[j] = parts[j], parts[i]
				}
				b.tex = strings.Join(parts, ` \cup `)
			}
		}
		x, y := must(t, a.tex), must(t, b.tex)
		if same, how := Same(x, y); same != (a.has == b.has) || how != Exact {
			t.Fatalf("%s and %s: %v, %s; as %s and %s", a.tex, b.tex, same, how, x, y)
		}
	})
}
