package task

import (
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/llm/read"
	"synod.dev/synod/llm/read/formula"
)

// readMath reads a formula directly or, if that fails, after read.Canonical has removed a box, emphasis and
// the like. Text that the parser does not understand is read by its spelling alone.
func readMath(s string) (reading, bool) {
	if f, err := formula.Parse(s); err == nil {
		return reading{shown: f.String(), value: f}, true
	}
	a, ok := read.Canonical(&synod.Question{Form: synod.Math}, s)
	if !ok {
		return reading{}, false
	}
	r := reading{shown: string(a), answer: a}
	if f, err := formula.Parse(string(a)); err == nil {
		r.shown, r.value = f.String(), f
	}
	return r, true
}

// strictMath reads a reply that is a formula, or the formula that a reply commits to.
func strictMath(q *synod.Question, key reading, reply string) (reading, bool) {
	if f, err := formula.Parse(reply); err == nil && key.value != nil {
		return reading{shown: f.String(), value: f}, true
	}
	a, _, ok := read.BareAnswerIn(q, reply)
	if !ok {
		return reading{}, false
	}
	return understood(key, string(a))
}

// understood reads a formula from a reply. Text that the parser does not understand is accepted only if it is
// spelled like the key, because it is more probably prose than a wrong formula. With a key that the parser
// does not understand, nothing else can be compared.
func understood(key reading, s string) (reading, bool) {
	r, ok := readMath(s)
	if key.value == nil {
		return r, ok && r.answer != "" && r.answer == key.answer
	}
	return r, ok && r.value != nil
}

// looseMath reads the last formula between math delimiters, or the last number.
func looseMath(q *synod.Question, key reading, reply string) (reading, bool) {
	if i := strings.LastIndex(reply, `\boxed`); i < 0 {
		if s, ok := lastFormula(reply); ok {
			if r, ok := understood(key, s); ok {
				return r, true
			}
		}
	}
	a, _, ok := read.PaperAnswer(q, reply)
	if !ok {
		return reading{}, false
	}
	return understood(key, string(a))
}

// lastFormula returns the text between the last pair of math delimiters.
func lastFormula(s string) (string, bool) {
	best, at := "", -1
	for _, d := range [][2]string{{"$", "$"}, {`\(`, `\)`}, {`\[`, `\]`}} {
		end := strings.LastIndex(s, d[1])
		if end <= at {
			continue
		}
		open := strings.LastIndex(s[:end], d[0])
		if open < 0 {
			continue
		}
		if inner := strings.TrimSpace(s[open+len(d[0]) : end]); inner != "" {
			best, at = inner, end
		}
	}
	return best, at >= 0
}

// sameMath compares two formulas by their meaning. If the parser understands neither, they must be spelled
// alike.
func sameMath(want, got reading) (bool, string) {
	x, ok := want.value.(formula.Formula)
	y, fine := got.value.(formula.Formula)
	if !ok || !fine {
		return want.answer != "" && want.answer == got.answer, "spelling"
	}
	same, basis := formula.Same(x, y)
	return same, string(basis)
}
