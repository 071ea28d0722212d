package read

import (
	"maps"
	"math/big"
	"slices"
	"strings"

	"synod.dev/synod/core/clean"
	"synod.dev/synod/llm/read/notation"
)

// Amount is a number with its units, as graders compare it. Voters compare canonical answers instead.
type Amount struct {
	quantity
	other *quantity // the other reading of pounds and cents, as money; nil: there is none
	unit  string    // as it was read, such as " cm"
}

// quantity is a number with units, converted to base units.
type quantity struct {
	value *big.Rat
	dims  map[string]int // the exponent of each base unit, currency, or clockTime; empty without a known unit
}

// clockTime is the base unit of times of day, which are counted in minutes since midnight.
const clockTime = "o'clock"

// AmountOf reads a number with the units that stand beside it. Words that are no unit of known size are left
// out. The zero Amount stands for text that is no number.
func AmountOf(s string) Amount {
	s = notation.Unwrap(clean.Collapse(clean.Fold(s)))
	if t := timeOfDay.FindStringSubmatch(s); t != nil {
		if a, ok := timeAmount(t); ok {
			return a
		}
	}
	if _, right, ok := strings.Cut(s, "="); ok {
		s = notation.Unwrap(right)
	}
	v, x, ok := quantityOf(s)
	if !ok {
		return Amount{}
	}
	a := Amount{quantity: converted(v, x), unit: x.String()}
	for i, w := range x.words {
		if money, ambiguous := moneys[w]; ambiguous {
			x.words = slices.Clone(x.words)
			x.words[i] = money
			other := converted(v, x)
			a.other = &other
			break
		}
	}
	return a
}

// Unit returns the unit as it follows the number, such as " cm"; "" if none of known size stands there.
func (a Amount) Unit() string {
	if !a.Known() {
		return ""
	}
	return a.unit
}

// Known reports whether the amount has a unit of known size.
func (a Amount) Known() bool { return len(a.dims) > 0 }

// Same compares two amounts that both have known units, after conversion: 1 m is 100 cm. decided is false if one
// has no known unit, or lacks some of the other's ("60 miles" and "60 miles per hour"): a missing unit says nothing.
func (a Amount) Same(b Amount) (same, decided bool) {
	if !a.Known() || !b.Known() {
		return false, false
	}
	for _, p := range a.readings() {
		for _, q := range b.readings() {
			if maps.Equal(p.dims, q.dims) {
				return p.value.Cmp(q.value) == 0, true
			}
		}
	}
	return false, !a.partOf(b.quantity) && !b.partOf(a.quantity)
}

func (a Amount) readings() []quantity {
	if a.other == nil {
		return []quantity{a.quantity}
	}
	return []quantity{a.quantity, *a.other}
}

func (a quantity) partOf(b quantity) bool {
	for base, n := range a.dims {
		if b.dims[base] != n {
			return false
		}
	}
	return true
}

func converted(v *big.Rat, x suffix) quantity {
	a := quantity{value: new(big.Rat).Set(v), dims: map[string]int{}}
	a.multiply(x)
	return a
}

// multiply takes the units of x into the amount.
func (a *quantity) multiply(x suffix) {
	switch {
	case x.money != "":
		a.base(strings.TrimSuffix(x.money, "s"), nil, 1)
	case x.sign == "\u00a2":
		a.word("cents", 1)
	case x.sign == "\u00b0":
		a.word("degrees", 1)
	}
	sign, power := 1, 1
	for i, w := range x.words {
		switch base := withoutPower(w); w {
		case "in": // "5 in" are inches, "5 in total" are not
			if i == len(x.words)-1 {
				a.word(w, sign*power)
			}
		case "per", "a", "an", "every", "each":
			sign = -1
		case "square", "sq":
			power = 2
		case "cubic", "cu":
			power = 3
		case "mph":
			a.word("miles", 1)
			a.word("hours", -1)
		case "kph", "kmh", "kmph":
			a.word("km", 1)
			a.word("hours", -1)
		default:
			switch w[len(base):] {
			case "^2":
				power = 2
			case "^3":
				power = 3
			}
			a.word(base, sign*power)
			power = 1
		}
	}
}

// word takes the power n of a unit into the amount if its size is known. Per cent is no unit, and angles are not
// converted, because π is not rational.
func (a *quantity) word(w string, n int) {
	m, known := notation.Units[w]
	if !known {
		m, known = moreUnits[w]
	}
	switch {
	case !known:
	case m.Pi:
		a.base("degree", nil, n)
	case m.Base != "":
		a.base(m.Base, m.Scale, n)
	case strings.HasPrefix(w, "rad"):
		a.base("radian", nil, n)
	}
}

func (a *quantity) base(name string, scale *big.Rat, n int) {
	if a.dims[name] += n; a.dims[name] == 0 {
		delete(a.dims, name)
	}
	for range max(n, -n) {
		switch {
		case scale == nil:
		case n > 0:
			a.value.Mul(a.value, scale)
		default:
			a.value.Quo(a.value, scale)
		}
	}
}

// moneys are the words that may mean money too, with the names of that in moreUnits.
var moneys = map[string]string{"pound": "pound sterling", "pounds": "pound sterling", "cent": "euro cent",
	"cents": "euro cent"}

// moreUnits are units that matter when amounts are compared. They are not in notation.Units, because words for them
// occur in many questions that ask for something else, and voters look there for the unit that is asked for.
var moreUnits = func() map[string]notation.Measure {
	units := map[string]notation.Measure{
		"pound sterling": {Base: "gbp", Scale: big.NewRat(1, 1)},
		"euro cent":      {Base: "euro", Scale: big.NewRat(1, 100)},
	}
	for _, u := range []struct {
		base, names string
		num, den    int64
	}{
		{"month", "month months", 1, 1}, {"month", "year years yr yrs", 12, 1},
		{"gallon", "gallon gallons gal", 1, 1}, {"gallon", "quart quarts", 1, 4}, {"gallon", "pint pints", 1, 8},
		{"gallon", "cup cups", 1, 16}, {"ton", "ton tons", 1, 1}, {"gram", "tonne tonnes", 1e6, 1},
	} {
		for name := range strings.FieldsSeq(u.names) {
			units[name] = notation.Measure{Base: u.base, Scale: big.NewRat(u.num, u.den)}
		}
	}
	return units
}()

// timeAmount returns a time of day as minutes since midnight. ok is false if it may be a ratio, or half a day later, as
// 4:30.
func timeAmount(t []string) (a Amount, ok bool) {
	hour, _ := new(big.Int).SetString(t[1], 10)
	minutes, _ := new(big.Int).SetString("0"+t[2], 10)
	h, half := hour.Int64(), strings.ToLower(t[3])
	switch {
	case half == "" && (t[2] == "" || h > 0 && h < 13):
		return Amount{}, false
	case half != "":
		if h %= 12; half == "p" {
			h += 12
		}
		a.unit = " " + half + "m"
	}
	a.quantity = quantity{big.NewRat(60*h+minutes.Int64(), 1), map[string]int{clockTime: 1}}
	return a, true
}
