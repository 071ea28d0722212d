package formula

import (
	"math/big"
	"slices"
	"strings"
)

// measure is a unit: how many of its base unit it is.
type measure struct {
	base  string // "" is a pure number
	scale *big.Rat
	pi    bool // times π: degrees
}

var unitless = measure{}

// units are the units with a known size, by singular and plural name and short
// form. Other words are units of their own.
var units = func() map[string]measure {
	m := map[string]measure{}
	for _, line := range []struct {
		base, names string
		num, den    int64
	}{
		{"metre", "m meter meters metre metres", 1, 1}, {"metre", "cm centimeter centimeters centimetre centimetres", 1, 100},
		{"metre", "mm millimeter millimeters millimetre millimetres", 1, 1000}, {"metre", "km kilometer kilometers kilometre kilometres", 1000, 1},
		{"metre", "in inch inches", 254, 10000}, {"metre", "ft foot feet", 3048, 10000}, {"metre", "yd yard yards", 9144, 10000},
		{"metre", "mi mile miles", 1609344, 1000},
		{"second", "s sec secs second seconds", 1, 1}, {"second", "min mins minute minutes", 60, 1}, {"second", "h hr hrs hour hours", 3600, 1},
		{"second", "day days", 86400, 1}, {"second", "week weeks", 604800, 1},
		{"gram", "g gram grams", 1, 1}, {"gram", "kg kilogram kilograms", 1000, 1}, {"gram", "mg milligram milligrams", 1, 1000},
		{"gram", "lb lbs pound pounds", 45359237, 100000}, {"gram", "oz ounce ounces", 28349523125, 1000000000},
		{"litre", "liter liters litre litres", 1, 1}, {"litre", "ml milliliter milliliters millilitre millilitres", 1, 1000},
		{"dollar", "dollar dollars usd", 1, 1}, {"dollar", "cent cents", 1, 100},
		{"", "percent", 1, 100}, {"", "unit units", 1, 1}, {"", "radian radians rad", 1, 1},
	} {
		for name := range strings.FieldsSeq(line.names) {
			m[name] = measure{base: line.base, scale: big.NewRat(line.num, line.den)}
		}
	}
	for _, name := range []string{"degree", "degrees", "deg"} {
		m[name] = measure{scale: big.NewRat(1, 180), pi: true}
	}
	m["mph"] = measure{base: "mph", scale: big.NewRat(1, 1)} // readUnit takes it apart
	return m
}()

// maxUnitWords is how many words name a unit: "square feet per second".
const maxUnitWords = 4

// readUnit makes a unit of words; ok is false if they are prose.
func readUnit(words string) (n *node, ok bool) {
	fields := strings.FieldsFunc(strings.ReplaceAll(strings.ToLower(words), "/", " per "), func(r rune) bool { return r == ' ' || r == '.' })
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
		size := &node{op: opNum, num: m.scale}
		switch {
		case m.pi:
			return mul(size, named("pi"))
		case m.base == "":
			return size
		}
		return mul(size, named("unit "+m.base))
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
	return !n.any(func(n *node) bool { return n.op == opUnit && (units[n.name].base != "" || units[n.name] == unitless) })
}

// lettersAsUnits reads the variables m, g, s, h as the units of that letter.
func (n *node) lettersAsUnits() *node {
	return n.rewrite(func(n *node) *node {
		if n.op == opName && len(n.name) == 1 && units[n.name] != unitless {
			return unit(n.name)
		}
		return n
	})
}
