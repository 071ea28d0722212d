package structured

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// The limits of a number.
const (
	maxDigits   = 256
	maxExponent = 400
)

// newNumber reads a number as JSON writes it. Its value is exact.
func newNumber(s string) (*Value, error) {
	mantissa, exponent, _ := strings.Cut(strings.Replace(s, "E", "e", 1), "e")
	if len(mantissa) > maxDigits {
		return nil, fmt.Errorf("a number has %d digits; at most %d are read", len(mantissa), maxDigits)
	}
	if exponent != "" {
		if e, err := strconv.Atoi(exponent); err != nil || e > maxExponent || e < -maxExponent {
			return nil, fmt.Errorf("a number has the exponent %s; at most ±%d is read", shorten(exponent), maxExponent)
		}
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		return nil, fmt.Errorf("%q is not a number", shorten(s))
	}
	return decimal(r), nil
}

// decimal returns the value of a number that has a finite decimal expansion.
func decimal(r *big.Rat) *Value { return &Value{kind: Number, number: r, canon: spell(r)} }

// spell writes a finite decimal as RFC 8785 does, with all its digits: as an integer or a decimal fraction
// where the exponent is between -7 and 21, otherwise with one digit before the point.
func spell(r *big.Rat) string {
	if r.Sign() == 0 {
		return "0"
	}
	places, _ := r.FloatPrec() // the decimals after the point; finite by construction
	digits := new(big.Rat).Abs(r).FloatString(places)
	whole, fraction, _ := strings.Cut(digits, ".")
	point := len(whole) // digits before the point
	digits = whole + fraction
	if whole == "0" {
		digits = strings.TrimLeft(fraction, "0")
		point = len(digits) - len(fraction)
	}
	digits = strings.TrimRight(digits, "0")
	sign := ""
	if r.Sign() < 0 {
		sign = "-"
	}
	switch n := len(digits); {
	case point > 21 || point <= -6:
		if n > 1 {
			digits = digits[:1] + "." + digits[1:]
		}
		return fmt.Sprintf("%s%se%+d", sign, digits, point-1)
	case point <= 0:
		return sign + "0." + strings.Repeat("0", -point) + digits
	case point >= n:
		return sign + digits + strings.Repeat("0", point-n)
	default:
		return sign + digits[:point] + "." + digits[point:]
	}
}

// round returns a number with at most so many decimals after the point, half to even.
func round(r *big.Rat, places int) *big.Rat {
	scale := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places)), nil))
	scaled := new(big.Rat).Mul(r, scale)
	two := big.NewInt(2)
	q, rest := new(big.Int).DivMod(scaled.Num(), scaled.Denom(), new(big.Int)) // 0 ≤ rest < denominator
	switch new(big.Int).Mul(rest, two).Cmp(scaled.Denom()) {
	case 1:
		q.Add(q, big.NewInt(1))
	case 0:
		q.Add(q, new(big.Int).And(q, big.NewInt(1)))
	}
	return new(big.Rat).Quo(new(big.Rat).SetInt(q), scale)
}
