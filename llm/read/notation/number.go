package notation

import (
	"math/big"
	"strings"
)

// IsDigit reports whether c is an ASCII digit.
func IsDigit(c byte) bool { return c-'0' < 10 }

// Digits returns how many digits s begins with.
func Digits(s string) int {
	n := 0
	for n < len(s) && IsDigit(s[n]) {
		n++
	}
	return n
}

// Numeral reads digits with an optional decimal point from the start of s and returns them without the marks
// between thousands, and the rest. Thousands may be set apart by {,} and ,\! and, where that is allowed, by a
// comma or a space; a comma or space that does not stand between thousands ends the number. The digits are ""
// if none stand there.
func Numeral(s string, commas, spaces bool) (digits, rest string) {
	n := Digits(s)
	digits, rest = s[:n], s[n:]
	for n > 0 && n <= 3 {
		next := ""
		switch {
		case strings.HasPrefix(rest, `,\!`):
			next = strings.TrimLeft(rest[3:], " ")
		case strings.HasPrefix(rest, `{,}`):
			next = rest[3:]
		case digits[0] == '0':
		case commas && strings.HasPrefix(rest, ","):
			next = rest[1:]
		case spaces:
			next = afterSpace(rest)
		}
		if Digits(next) != 3 {
			break
		}
		digits, rest = digits+next[:3], next[3:]
	}
	if strings.HasPrefix(rest, ".") {
		if n := Digits(rest[1:]); n > 0 {
			digits, rest = digits+rest[:n+1], rest[n+1:]
		}
	}
	return digits, rest
}

// afterSpace returns what follows a space between thousands. In "1 234/500" the space is one of a mixed number.
func afterSpace(s string) string {
	for _, space := range []string{`\,`, `\ `, " ", "\u00a0", "\u2009", "\u202f"} {
		if rest, ok := strings.CutPrefix(s, space); ok && Digits(rest) == 3 &&
			!strings.HasPrefix(strings.TrimLeft(rest[3:], " "), "/") {
			return rest
		}
	}
	return ""
}

// Measure is the size of a unit.
type Measure struct {
	Base  string   // the unit that it is a multiple of; "" for a pure number such as per cent
	Scale *big.Rat // how many of Base it is; nil for a word that is no known unit
	Pi    bool     // the scale is to be multiplied by π, as for degrees
}

// Units are the units of known size in lower case, by short form, singular and plural.
var Units = map[string]Measure{}

// ShortUnits are the units that may follow a number without a space.
var ShortUnits = Set("l kph km/h m/s kb mb gb tb eur gbp")

func init() {
	for _, u := range []struct {
		base, short, long string
		num, den          int64
	}{
		{"metre", "m", "meter meters metre metres", 1, 1},
		{"metre", "cm", "centimeter centimeters centimetre centimetres", 1, 100},
		{"metre", "mm", "millimeter millimeters millimetre millimetres", 1, 1000},
		{"metre", "km", "kilometer kilometers kilometre kilometres", 1000, 1},
		{"metre", "in", "inch inches", 254, 10000},
		{"metre", "ft", "foot feet", 3048, 10000},
		{"metre", "yd", "yard yards", 9144, 10000},
		{"metre", "mi", "mile miles", 1609344, 1000},
		{"second", "s sec secs", "second seconds", 1, 1},
		{"second", "min mins", "minute minutes", 60, 1},
		{"second", "h hr hrs", "hour hours", 3600, 1},
		{"second", "", "day days", 86400, 1},
		{"second", "", "week weeks", 604800, 1},
		{"gram", "g", "gram grams", 1, 1},
		{"gram", "kg", "kilogram kilograms", 1000, 1},
		{"gram", "mg", "milligram milligrams", 1, 1000},
		{"gram", "lb lbs", "pound pounds", 45359237, 100000},
		{"gram", "oz", "ounce ounces", 28349523125, 1000000000},
		{"litre", "", "liter liters litre litres", 1, 1},
		{"litre", "ml", "milliliter milliliters millilitre millilitres", 1, 1000},
		{"dollar", "usd", "dollar dollars", 1, 1},
		{"dollar", "", "cent cents", 1, 100},
		{"mph", "mph", "", 1, 1}, // package formula reads it as miles per hour
		{"", "", "percent", 1, 100},
		{"", "", "unit units", 1, 1},
		{"", "", "radian radians rad", 1, 1},
	} {
		for name := range strings.FieldsSeq(u.short + " " + u.long) {
			Units[name] = Measure{Base: u.base, Scale: big.NewRat(u.num, u.den)}
		}
		for name := range strings.FieldsSeq(u.short) {
			ShortUnits[name] = true
		}
	}
	for _, name := range []string{"degree", "degrees", "deg"} {
		Units[name] = Measure{Scale: big.NewRat(1, 180), Pi: true}
	}
}
