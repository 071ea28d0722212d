package read

import (
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/llm/read/notation"
)

// canonNumber reads a number with sign, currency, power of ten, multiplier and unit. With bare
// set, currency, unit and per cent sign are dropped; otherwise they stay if with them it is
// another answer to q than the number (see merges).
func canonNumber(q *synod.Question, s string, bare bool) (string, bool) {
	s = notation.Unwrap(s)
	if left, right, ok := strings.Cut(s, "="); ok { // x = 5
		if len(strings.Fields(left)) > 1 || strings.ContainsAny(left, "0123456789+*/^(") {
			return "", false
		}
		s = notation.Unwrap(right)
	}
	v, x, ok := quantityOf(s)
	if !ok {
		return "", false
	}
	number, ok := writeRat(v)
	if !ok || bare || x.merged(q) {
		return number, ok
	}
	return number + x.String(), true
}

// quantityOf reads a number and what stands beside it.
func quantityOf(s string) (v *big.Rat, x suffix, ok bool) {
	s = plainTex(s)
	if spaced.MatchString(s) {
		s = strings.ReplaceAll(s, " ", "")
	}
	v, money, rest, ok := readQuantity(s)
	if !ok {
		return nil, x, false
	}
	m, rest := multiplier(rest)
	if !isUnit(rest) {
		return nil, x, false
	}
	if m != 1 {
		v.Mul(v, new(big.Rat).SetInt64(m))
	}
	x, ok = readSuffix(money, rest)
	return v, x, ok
}

// spaced matches a number with spaces between thousands and nothing else. With other text the spaces are not
// accepted: "2 500 ml bottles" may be two bottles.
var spaced = regexp.MustCompile(`^[-+]?[1-9][0-9]{0,2}(?: [0-9]{3})+(?:\.[0-9]+)?$`)

// plainTex turns the LaTeX that occurs in numbers into plain text.
func plainTex(s string) string {
	if !strings.Contains(s, `\`) && !strings.Contains(s, "{,}") {
		return s
	}
	s = texUnits.Replace(s)
	for _, name := range notation.TextCommands {
		for {
			i := strings.Index(s, name+"{")
			if i < 0 {
				break
			}
			inner, rest, ok := notation.CutGroup(s[i+len(name):])
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
func readQuantity(s string) (v *big.Rat, money, rest string, ok bool) {
	s, negative, signed := cutSign(s)
	for _, c := range []string{"US$", "$", "\u20ac", "\u00a3", "\u00a5", "\u20b9"} {
		if after, found := strings.CutPrefix(s, c); found {
			money, s = c, strings.TrimLeft(after, " ")
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
	return v, money, rest, ok
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
	if next != rest && next != "" && notation.IsDigit(next[0]) { // 3 1/2
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

// addPart returns a mixed number. Its fraction must be between 0 and 1.
func addPart(whole, part *big.Rat, rest string, ok bool) (*big.Rat, string, bool) {
	if !ok || part.Sign() <= 0 || part.Cmp(one) >= 0 {
		return nil, "", false
	}
	return new(big.Rat).Add(whole, part), rest, true
}

var one = big.NewRat(1, 1)

// divide reads the denominator of v. Without digits after the slash there is no fraction, and the slash
// belongs to the unit (5 /day); then the rest is instead.
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
		arg, rest, ok := notation.CutGroup(s)
		if !ok {
			if s == "" || !notation.IsDigit(s[0]) {
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

// writeRat writes v exactly: as an integer or finite decimal if it is one, otherwise as p/q. It returns false
// if that is too long.
func writeRat(v *big.Rat) (string, bool) {
	if v.Num().BitLen() > 4*maxDigits || v.Denom().BitLen() > 4*maxDigits {
		return "", false
	}
	s := ""
	if places, finite := v.FloatPrec(); finite {
		s = v.FloatString(places)
	} else {
		s = v.RatString()
	}
	return s, len(s) <= maxDigits
}

// readNumeral reads digits with an optional decimal point and commas between thousands.
func readNumeral(s string) (*big.Rat, string, bool) {
	digits, rest := notation.Numeral(s, true, false)
	if digits == "" || len(digits) > maxDigits {
		return nil, "", false
	}
	if strings.HasPrefix(rest, ". ") && !strings.Contains(digits, ".") { // 5. km
		rest = rest[1:]
	}
	v, ok := new(big.Rat).SetString(digits)
	return v, rest, ok
}

// readPower reads e2, ×10^3, x 10^{-3} or *10**4 after a numeral. scaled reports that one begins here; p is
// nil if it cannot be read.
func readPower(s string) (p *big.Rat, rest string, scaled bool) {
	if len(s) > 1 && (s[0] == 'e' || s[0] == 'E') && (notation.IsDigit(s[1]) || s[1] == '-' || s[1] == '+') {
		p, rest = powerOfTen(s[1:])
		return p, rest, true
	}
	t := strings.TrimLeft(s, " ")
	for _, part := range [][]string{{"\u00d7", "\u22c5", "\u00b7", "x", "*"}, {"10^", "10**"}} {
		size := prefixed(t, part)
		if size == 0 {
			return nil, "", false
		}
		t = strings.TrimLeft(t[size:], " ")
	}
	inner, after, braced := notation.CutGroup(t)
	if !braced {
		p, rest = powerOfTen(t)
		return p, rest, true
	}
	if p, rest = powerOfTen(strings.TrimSpace(inner)); rest != "" {
		p = nil
	}
	return p, after, true
}

// powerOfTen reads an exponent of ten. The exponent is bounded, because exact numbers need space for all their
// digits.
func powerOfTen(s string) (p *big.Rat, rest string) {
	s, negative, _ := cutSign(s)
	n := notation.Digits(s)
	e, err := strconv.Atoi(s[:n])
	if err != nil || e > maxDigits {
		return nil, ""
	}
	p = new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(e)), nil))
	if negative {
		p.Inv(p)
	}
	return p, s[n:]
}

// prefixed returns the length of the first of the prefixes that s begins with, or 0.
func prefixed(s string, prefixes []string) int {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return len(p)
		}
	}
	return 0
}

// multiplier cuts "million" and the like from the start of the text after a number.
func multiplier(rest string) (int64, string) {
	if !strings.HasPrefix(rest, " ") {
		return 1, rest
	}
	word, after, _ := strings.Cut(strings.TrimLeft(rest, " "), " ")
	if m, ok := multipliers[strings.ToLower(word)]; ok {
		if after != "" {
			after = " " + after
		}
		return m, after
	}
	return 1, rest
}

var multipliers = map[string]int64{
	"dozen": 12, "hundred": 100, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12,
}

// maxUnitWords is how many words a unit may have: "dollars per day".
const maxUnitWords = 3

// isUnit reports whether rest, the text after a number, is a unit or empty. Text that might change the number
// (π, "and a half", "or so", another number) is no unit.
func isUnit(rest string) bool {
	attached := rest != "" && rest[0] != ' '
	rest = strings.TrimSpace(rest)
	for _, sign := range unitSigns {
		if after, found := strings.CutPrefix(rest, sign); found {
			attached = false
			rest = strings.TrimSpace(after)
			break
		}
	}
	words := strings.Fields(rest)
	if len(words) > 0 && monies[strings.ToLower(words[0])] != "" && !attached {
		words = words[1:]
	}
	if len(words) > maxUnitWords {
		return false
	}
	for i, w := range words {
		w = strings.Trim(w, ".,")
		name := strings.ToLower(withoutPower(w))
		switch {
		case i == 0 && attached:
			if !notation.ShortUnits[name] {
				return false
			}
		case len(name) == 1 && !notation.ShortUnits[name], notUnit[name], !wordlike(name):
			return false
		}
	}
	return true
}

// unitSigns are the signs that may follow a number.
var unitSigns = []string{"%", "\u00b0", "\u00a2", "$", "\u20ac", "\u00a3", "\u00a5"}

// withoutPower removes ^2, ^{3} or a plain 2 or 3 from the end of a unit: m^2, cm3.
func withoutPower(w string) string {
	w = strings.NewReplacer("^{2}", "", "^{3}", "", "^2", "", "^3", "").Replace(w)
	if n := len(w); n > 1 && (w[n-1] == '2' || w[n-1] == '3') && notation.ShortUnits[strings.ToLower(w[:n-1])] {
		return w[:n-1]
	}
	return w
}

// wordlike accepts letters with hyphens, apostrophes, slashes and dots between them.
func wordlike(w string) bool {
	if w == "" {
		return false
	}
	for i, c := range []byte(w) {
		letter := c >= 'a' && c <= 'z'
		inside := i > 0 && i < len(w)-1 && (c == '-' || c == '\'' || c == '/' || c == '.')
		if !letter && !inside {
			return false
		}
	}
	return true
}

// notUnit are words that change the number before them or say that it is none.
var notUnit = notation.Set(`pi tau phi sqrt root roots squared cubed and or to half third quarter is are was were be not isn't
	wrong incorrect false plus minus point if but mod modulo factorial choose infinity approximately about roughly
	nearly almost unknown otherwise than over by ln log sin cos tan exp divided multiplied`)
