package read

import (
	"math/big"
	"strconv"
	"strings"
)

// readNumeral reads digits with an optional point and thousands commas.
func readNumeral(s string) (*big.Rat, string, bool) {
	n := 0
	for n < len(s) && (isDigit(s[n]) || s[n] == ',' && n+1 < len(s) && isDigit(s[n+1])) {
		n++
	}
	digits := s[:n]
	if strings.Contains(digits, ",") {
		if !grouped(digits) {
			return nil, "", false
		}
		digits = strings.ReplaceAll(digits, ",", "")
	}
	if n < len(s) && s[n] == '.' {
		m := n + 1
		for m < len(s) && isDigit(s[m]) {
			m++
		}
		if m > n+1 {
			digits, n = digits+s[n:m], m
		} else if digits != "" && n+1 < len(s) && s[n+1] == ' ' {
			n = m // 5. km
		}
	}
	if digits == "" || digits == "." || len(digits) > maxDigits {
		return nil, "", false
	}
	v, ok := new(big.Rat).SetString(digits)
	return v, s[n:], ok
}

// grouped reports whether commas stand where thousands end.
func grouped(s string) bool {
	groups := strings.Split(s, ",")
	for i, g := range groups {
		if i == 0 && (len(g) < 1 || len(g) > 3 || g[0] == '0') || i > 0 && len(g) != 3 {
			return false
		}
	}
	return true
}

// readPower reads e2, ×10^3, x 10^{-3}, *10**4 after a numeral. scaled says that
// one begins here; p is nil if it cannot be read.
func readPower(s string) (p *big.Rat, rest string, scaled bool) {
	if len(s) > 1 && (s[0] == 'e' || s[0] == 'E') && (isDigit(s[1]) || s[1] == '-' || s[1] == '+') {
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
	inner, after, braced := cutGroup(t)
	if !braced {
		p, rest = powerOfTen(t)
		return p, rest, true
	}
	if p, rest = powerOfTen(strings.TrimSpace(inner)); rest != "" {
		p = nil
	}
	return p, after, true
}

// powerOfTen reads an exponent of ten. It is bounded, because exact numbers take
// as much room as they have digits.
func powerOfTen(s string) (p *big.Rat, rest string) {
	s, negative, _ := cutSign(s)
	n := digits(s)
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

// prefixed is how long the first of the prefixes is that s begins with; 0: none.
func prefixed(s string, prefixes []string) int {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return len(p)
		}
	}
	return 0
}

// digits is how many digits s begins with.
func digits(s string) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n
}

func isDigit(c byte) bool { return c-'0' < 10 }
