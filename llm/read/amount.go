package read

import (
	"maps"
	"math/big"
	"strings"

	"synod.dev/synod/core/clean"
	"synod.dev/synod/llm/read/notation"
)

// Amount is a number with its units, as graders compare it. Voters compare canonical answers instead.
type Amount struct {
	value *big.Rat       // in the base units of dims
	dims  map[string]int // the exponent of each base unit, currency, or "o'clock"; empty without a known unit
	unit  string         // as it was read, such as " cm"
}

// clockTime is the base unit of times of day, which are counted in minutes since midnight.
const clockTime = "o'clock"

// AmountOf reads a number with the units that stand beside it. Words that are no unit of known size are left
// out. The zero Amount stands for text that is no number.
func AmountOf(s string) Amount {
	s = notation.Unwrap(clean.Collapse(clean.Fold(s)))
	if t := timeOfDay.FindStringSubmatch(s); t != nil && t[3] != "" {
		return timeAmount(t)
	}
	if _, right, ok := strings.Cut(s, "="); ok {
		s = notation.Unwrap(right)
	}
	v, x, ok := quantityOf(s)
	if !ok {
		return Amount{}
	}
	a := Amount{value: v, dims: map[string]int{}, unit: x.String()}
	a.multiply(x)
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
	switch {
	case !a.Known() || !b.Known():
		return false, false
	case maps.Equal(a.dims, b.dims):
		return a.value.Cmp(b.value) == 0, true
	}
	return false, !a.partOf(b) && !b.partOf(a)
}

func (a Amount) partOf(b Amount) bool {
	for base, n := range a.dims {
		if b.dims[base] != n {
			return false
		}
	}
	return true
}

// multiply takes the units of x into the amount.
func (a *Amount) multiply(x suffix) {
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
func (a *Amount) word(w string, n int) {
	m, known := notation.Units[w]
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

func (a *Amount) base(name string, scale *big.Rat, n int) {
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

// timeAmount returns a time with a.m. or p.m. as minutes since midnight.
func timeAmount(t []string) Amount {
	hour, _ := new(big.Int).SetString(t[1], 10)
	minutes, _ := new(big.Int).SetString("0"+t[2], 10)
	h := hour.Int64() % 12
	if strings.EqualFold(t[3], "p") {
		h += 12
	}
	half := " " + strings.ToLower(t[3]) + "m"
	return Amount{value: big.NewRat(60*h+minutes.Int64(), 1), dims: map[string]int{clockTime: 1}, unit: half}
}
