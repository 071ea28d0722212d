package formula

import (
	"slices"
	"strings"
)

// maxUnitWords is how many words name a unit: "square feet per second".
const maxUnitWords = 4

// readUnit makes a unit of words; ok is false if they are prose.
func readUnit(words string) (n *node, ok bool) {
	fields := strings.FieldsFunc(strings.ReplaceAll(strings.ToLower(words), "/", " per "),
		func(r rune) bool { return r == ' ' || r == '.' })
	if i := slices.Index(fields, "mph"); i >= 0 {
		fields = slices.Replace(fields, i, i+1, "mi", "per", "h")
	}
	if len(fields) == 0 || len(fields) > maxUnitWords {
		return nil, false
	}
	exponent, below := int64(1), false
	var made *node
	for _, w := range fields {
		switch w {
		case "square", "sq":
			exponent = 2
			continue
		case "cubic", "cu":
			exponent = 3
			continue
		case "per":
			below = true
			continue
		}
		if stop[w] && w != "in" {
			return nil, false
		}
		one := power(unit(w), number(exponent))
		if exponent == 1 {
			one = unit(w)
		}
		exponent = 1
		switch {
		case made == nil && !below:
			made = one
		case made == nil:
			made = div(number(1), one)
		case below:
			made = div(made, one)
		default:
			made = mul(made, one)
		}
	}
	return made, made != nil
}

// stripped replaces units by 1, except inside functions, where degrees count.
func (n *node) stripped() *node {
	if n.op == opFunc && n.name != "sqrt" {
		return n.converted()
	}
	if n.op == opUnit {
		return number(1)
	}
	if len(n.args) == 0 {
		return n
	}
	m := *n
	m.args = make([]*node, len(n.args))
	for i, a := range n.args {
		m.args[i] = a.stripped()
	}
	return &m
}

// converted replaces units by multiples of their base units.
func (n *node) converted() *node {
	return n.rewrite(func(n *node) *node {
		if n.op != opUnit {
			return n
		}
		m, known := units[n.name]
		if !known { // its own base, without regard to plural
			return named("unit " + strings.TrimSuffix(strings.TrimSuffix(n.name, "s"), "e"))
		}
		size := &node{op: opNum, num: m.Scale}
		switch {
		case m.Pi:
			return mul(size, named("pi"))
		case m.Base == "":
			return size
		}
		return mul(size, named("unit "+m.Base))
	})
}

// bare replaces all units by 1, inside functions too.
func (n *node) bare() *node {
	return n.rewrite(func(n *node) *node {
		if n.op == opUnit {
			return number(1)
		}
		return n
	})
}

func (n *node) hasUnit() bool { return n.any(func(n *node) bool { return n.op == opUnit }) }

// pure reports whether all units are pure numbers, as degrees and per cent are.
func (n *node) pure() bool {
	return !n.any(func(n *node) bool {
		return n.op == opUnit && (units[n.name].Base != "" ||
			units[n.name] == unitless)
	})
}

// lettersAsUnits reads the variables m, g, s and h as the units of that letter.
func (n *node) lettersAsUnits() *node {
	return n.rewrite(func(n *node) *node {
		if n.op == opName && len(n.name) == 1 && units[n.name] != unitless {
			return unit(n.name)
		}
		return n
	})
}
