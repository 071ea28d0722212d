// Package formula reads mathematical answers, in LaTeX or in plain text, and decides whether two are the same.
//
//	a, _ := formula.Parse(`\frac{11}{18}`)
//	b, _ := formula.Parse(`0.6111`)
//	same, how := formula.Same(a, b) // false, exact
//
// It reads what answers contain: numbers (decimals, fractions, mixed, repeating, grouped by thousands, in
// other bases), powers, roots, polynomials and the usual functions, complex numbers, tuples, intervals and
// their unions, sets, lists, matrices, equations and inequalities, degrees, per cent, money, units and words.
// Package llm/read/notation, which package read uses too, knows the spelling of numbers, units and commands.
//
// Scalars become quotients of polynomials with rational coefficients in variables, π, e, i and roots of
// primes. The products of such roots are linearly independent over the rationals (Besicovitch), so for them
// equality is decided exactly. Other scalars, such as a sine or a root of a sum, are compared at seeded random
// points with 320 bits. The comparison never depends on spelling. Sets and lists have no order, tuples have;
// (3,5) is a tuple or an open interval and never 35. A missing unit is accepted, a different one is not.
package formula

import (
	"errors"
	"fmt"
	"math/big"
	"strings"

	"synod.dev/synod/llm/read/notation"
)

// Formula is an expression that was read by Parse.
type Formula struct {
	root *node
	// loose is another possible meaning of the same text: 1,234 as a list; nil if there is none.
	loose *node
}

// String returns how the formula was read, in plain text.
func (f Formula) String() string {
	if f.root == nil {
		return ""
	}
	return f.root.String()
}

// Basis is how two formulas were compared.
type Basis string

// The ways of comparing.
const (
	Exact   Basis = "exact"   // algebra decided
	Numeric Basis = "numeric" // values at random points decided
)

// maxInput is the longest formula that is read, in bytes.
const maxInput = 2048

// Parse reads s as a whole as a formula. It fails if s is empty, too long, prose or in a notation that is not
// understood.
func Parse(s string) (f Formula, err error) {
	if len(s) > maxInput {
		return f, fmt.Errorf("formula: longer than %d bytes", maxInput)
	}
	s = trim(s)
	if s == "" {
		return f, errors.New("formula: empty")
	}
	if n := wholeText(s); n != nil {
		return Formula{root: n}, nil
	}
	if f.root, err = parse(s, true); err != nil {
		return Formula{}, err
	}
	if strings.Contains(s, ",") {
		if other, err := parse(s, false); err == nil {
			f.loose = other
		}
	}
	return f, nil
}

func parse(s string, thousands bool) (*node, error) {
	all, err := lex(s, thousands)
	if err != nil {
		return nil, err
	}
	p := &parser{tokens: tokens{in: all}}
	n, err := p.whole()
	if err != nil {
		return nil, err
	}
	return spread(n)
}

// trim removes what only presents a formula: math delimiters and a full stop.
func trim(s string) string {
	for {
		t := strings.TrimSpace(s)
		for _, d := range notation.Delimiters {
			if len(t) > len(d[0])+len(d[1]) && strings.HasPrefix(t, d[0]) && strings.HasSuffix(t, d[1]) &&
				!strings.Contains(t[len(d[0]):len(t)-len(d[1])], d[0]) && !strings.HasSuffix(t[:len(t)-1], `\`) {
				t = t[len(d[0]) : len(t)-len(d[1])]
				break
			}
		}
		if n := len(t); n > 1 && t[n-1] == '.' && t[n-2] != '.' {
			t = t[:n-1]
		}
		if t == s {
			return s
		}
		s = t
	}
}

// wholeText returns the node of an answer in words (Evelyn, \text{even}, no solution), or nil.
func wholeText(s string) *node {
	for {
		inner, ok := strings.CutPrefix(s, `\`)
		name, group := notation.CutName(inner)
		if !ok || !notation.Textual[name] && name != "rm" || !strings.HasPrefix(group, "{") ||
			!strings.HasSuffix(s, "}") {
			break
		}
		inner = group[1 : len(group)-1]
		if strings.ContainsAny(inner, "{}") {
			return nil
		}
		s = strings.TrimSpace(inner)
	}
	words := strings.Fields(strings.NewReplacer(`\ `, " ", "~", " ").Replace(s))
	if len(words) == 0 || len(words) > maxWords {
		return nil
	}
	for _, w := range words {
		if strings.Trim(w, notation.Letters+"-'") != "" || len(w) < 2 && w != "a" || hyphenated(w) ||
			functions[strings.ToLower(w)] != "" || w == "or" || w == "and" {
			return nil
		}
	}
	if len(words) == 1 && len(words[0]) < 3 && strings.ToLower(words[0]) != "no" {
		return nil
	}
	text := strings.ToLower(strings.Join(words, " "))
	switch text {
	case "no solution", "no solutions", "empty set", "the empty set":
		return &node{op: opSet}
	case "all real numbers", "all reals", "the real numbers":
		return reals()
	}
	return &node{op: opText, name: text}
}

// hyphenated reports that a word has a hyphen next to a single letter: p-q is a difference.
func hyphenated(w string) bool {
	for part := range strings.SplitSeq(w, "-") {
		if len(part) < 2 && part != w {
			return true
		}
	}
	return false
}

// maxWords is how many words an answer in words may have.
const maxWords = 5

// maxItems is how many members a list or set may have.
const maxItems = 64

// spread turns an expression with ± into two members: 1 ± √5 is the list 1+√5, 1−√5. All signs of one
// expression change together.
func spread(n *node) (*node, error) {
	hasPM := func(n *node) bool { return n.any(func(n *node) bool { return n.op == opPM }) }
	if !hasPM(n) {
		return n, nil
	}
	switch n.op {
	case opList, opSet:
		c := *n
		c.args = nil
		for _, a := range n.args {
			b, err := spread(a)
			if err != nil {
				return nil, err
			}
			if b.op == opList && a.op != opList {
				c.args = append(c.args, b.args...)
			} else {
				c.args = append(c.args, b)
			}
			if len(c.args) > maxItems {
				return nil, errUnreadable
			}
		}
		return &c, nil
	case opUnion, opInter, opLess:
		return nil, errUnreadable
	}
	return &node{op: opList, args: []*node{signed(n, "pm"), signed(n, "mp")}}, nil
}

// signed takes the upper signs (pm) or the lower ones (mp).
func signed(n *node, upper string) *node {
	return n.rewrite(func(n *node) *node {
		switch {
		case n.op != opPM:
			return n
		case n.name == upper:
			return add(n.args[0], n.args[1])
		}
		return add(n.args[0], negate(n.args[1]))
	})
}

// Constant reports whether f is one number: it has no variable, unit or ± and is no list, set or equation. v is its
// value if that is rational, and nil otherwise.
func (f Formula) Constant() (v *big.Rat, ok bool) {
	n := f.root
	if n == nil || f.loose != nil {
		return nil, false
	}
	if n.op == opBased {
		return nil, true
	}
	open := map[string]bool{}
	n.variables(open)
	bad := func(n *node) bool {
		return !n.scalar() || n.op == opUnit || n.op == opPM || n.op == opName && (n.name == "infty" || n.name == "i")
	}
	if len(open) > 0 || n.any(bad) {
		return nil, false
	}
	r, err := n.normal(&work{maxWork})
	if err != nil {
		return nil, false
	}
	v, _ = r.rational()
	return v, true
}
