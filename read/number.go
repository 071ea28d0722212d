package read

import (
	"math/big"
	"regexp"
	"strings"
)

// canonNumber reads a number with its trimmings.
func canonNumber(s string) (string, bool) {
	s = unwrap(s)
	if left, right, ok := strings.Cut(s, "="); ok { // x = 5
		if len(strings.Fields(left)) > 1 || strings.ContainsAny(left, "0123456789+*/^(") {
			return "", false
		}
		s = unwrap(right)
	}
	s = plainTex(s)
	if spaced.MatchString(s) {
		s = strings.ReplaceAll(s, " ", "")
	}
	v, rest, ok := readQuantity(s)
	if !ok {
		return "", false
	}
	m, rest := multiplier(rest)
	if !isUnit(rest) {
		return "", false
	}
	if m != 1 {
		v.Mul(v, new(big.Rat).SetInt64(m))
	}
	return writeRat(v)
}

// spaced is a number and nothing else with its thousands set apart by spaces. Beside
// words they are not taken for that: "2 500 ml bottles" may be two.
var spaced = regexp.MustCompile(`^[-+]?[1-9][0-9]{0,2}(?: [0-9]{3})+(?:\.[0-9]+)?$`)

// plainTex turns the LaTeX that occurs around numbers into plain text.
func plainTex(s string) string {
	if !strings.Contains(s, `\`) && !strings.Contains(s, "{,}") {
		return s
	}
	s = texUnits.Replace(s)
	for _, name := range textual {
		for {
			i := strings.Index(s, name+"{")
			if i < 0 {
				break
			}
			inner, rest, ok := cutGroup(s[i+len(name):])
			if !ok {
				return s
			}
			s = s[:i] + " " + inner + rest
		}
	}
	return strings.TrimSpace(s)
}

var texUnits = strings.NewReplacer(
	`{,}`, ",", `,\!`, ",", `\!`, "", `\,`, " ", `\;`, " ", `\:`, " ", `\ `, " ", `~`, " ",
	`\$`, "$", `\%`, "%", `^{\circ}`, "\u00b0", `^\circ`, "\u00b0", `\degree`, "\u00b0",
	`\dfrac`, `\frac`, `\tfrac`, `\frac`, `\cfrac`, `\frac`, `\times`, "\u00d7", `\cdot`, "\u00d7", `\pounds`, "\u00a3",
	`\left`, "", `\right`, "",
)

// readQuantity reads sign, currency and number from the start of s.
func readQuantity(s string) (v *big.Rat, rest string, ok bool) {
	s, negative, signed := cutSign(s)
	for _, c := range []string{"US$", "$", "\u20ac", "\u00a3", "\u00a5", "\u20b9"} {
		if after, found := strings.CutPrefix(s, c); found {
			s = strings.TrimLeft(after, " ")
			if !signed {
				s, negative, _ = cutSign(s)
			}
			break
		}
	}
	v, rest, ok = readRatio(s)
	if ok && negative {
		v.Neg(v)
	}
	return v, rest, ok
}

func cutSign(s string) (rest string, negative, signed bool) {
	for _, sign := range []string{"-", "+", "\u2013", "\u2014"} {
		if after, found := strings.CutPrefix(s, sign); found {
			return strings.TrimLeft(after, " "), sign != "+", true
		}
	}
	return s, false, false
}

// readRatio reads 5, 1.5, 4e2, 1.5×10^3, 3/4, 3 1/2, \frac{3}{4}, 3\frac{1}{2}.
func readRatio(s string) (v *big.Rat, rest string, ok bool) {
	if strings.HasPrefix(s, `\frac`) {
		return readFrac(s)
	}
	v, rest, ok = readNumeral(s)
	if !ok {
		return nil, "", false
	}
	if p, after, scaled := readPower(rest); scaled {
		if p == nil {
			return nil, "", false
		}
		return v.Mul(v, p), after, true
	}
	whole := v.IsInt() && !strings.ContainsAny(s[:len(s)-len(rest)], ".")
	next := strings.TrimLeft(rest, " ")
	if below, found := strings.CutPrefix(next, "/"); found {
		return divide(v, strings.TrimLeft(below, " "), rest)
	}
	if !whole {
		return v, rest, true
	}
	if strings.HasPrefix(next, `\frac`) {
		f, after, ok := readFrac(next)
		return addPart(v, f, after, ok)
	}
	if next != rest && next != "" && isDigit(next[0]) { // 3 1/2
		above, after, _ := readNumeral(next)
		below, found := strings.CutPrefix(strings.TrimLeft(after, " "), "/")
		if above == nil || !found {
			return nil, "", false
		}
		f, after, ok := divide(above, strings.TrimLeft(below, " "), "")
		return addPart(v, f, after, ok)
	}
	return v, rest, true
}

// addPart makes a mixed number: the fraction must be a proper one.
func addPart(whole, part *big.Rat, rest string, ok bool) (*big.Rat, string, bool) {
	if !ok || part.Sign() <= 0 || part.Cmp(one) >= 0 {
		return nil, "", false
	}
	return new(big.Rat).Add(whole, part), rest, true
}

var one = big.NewRat(1, 1)

// divide reads the denominator of v. Without digits after the slash there is no
// fraction, and the slash belongs to the unit (5 /day).
func divide(v *big.Rat, s, instead string) (*big.Rat, string, bool) {
	s, negative, _ := cutSign(s)
	below, rest, ok := readNumeral(s)
	if !ok {
		return v, instead, instead != ""
	}
	if below.Sign() == 0 {
		return nil, "", false
	}
	v = new(big.Rat).Quo(v, below)
	if negative {
		v.Neg(v)
	}
	return v, rest, true
}

// readFrac reads \frac{a}{b}, and \frac12 of single digits.
func readFrac(s string) (*big.Rat, string, bool) {
	s = strings.TrimPrefix(s, `\frac`)
	var parts [2]*big.Rat
	for i := range parts {
		s = strings.TrimLeft(s, " ")
		arg, rest, ok := cutGroup(s)
		if !ok {
			if s == "" || !isDigit(s[0]) {
				return nil, "", false
			}
			arg, rest = s[:1], s[1:]
		}
		v, after, ok := readSigned(strings.TrimSpace(arg))
		if !ok || after != "" {
			return nil, "", false
		}
		parts[i], s = v, rest
	}
	if parts[1].Sign() == 0 {
		return nil, "", false
	}
	return new(big.Rat).Quo(parts[0], parts[1]), s, true
}

func readSigned(s string) (*big.Rat, string, bool) {
	s, negative, _ := cutSign(s)
	v, rest, ok := readNumeral(s)
	if ok && negative {
		v.Neg(v)
	}
	return v, rest, ok
}

// writeRat writes v exactly: an integer or finite decimal as such, else p/q.
func writeRat(v *big.Rat) (string, bool) {
	if v.Num().BitLen() > 4*maxDigits || v.Denom().BitLen() > 4*maxDigits {
		return "", false
	}
	s := ""
	if places, finite := decimals(v.Denom()); finite {
		s = v.FloatString(places)
	} else {
		s = v.RatString()
	}
	return s, len(s) <= maxDigits
}

// decimals is how many decimal places 1/d takes, if finitely many do.
func decimals(d *big.Int) (int, bool) {
	rest, q, r := new(big.Int).Set(d), new(big.Int), new(big.Int)
	places := 0
	for _, p := range []*big.Int{big.NewInt(2), big.NewInt(5)} {
		n := 0
		for {
			if q.QuoRem(rest, p, r); r.Sign() != 0 {
				break
			}
			rest.Set(q)
			n++
		}
		places = max(places, n)
	}
	return places, rest.IsInt64() && rest.Int64() == 1
}
