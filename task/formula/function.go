package formula

import (
	"crypto/sha256"
	"math/big"
	"strings"
)

func sum(s string) [32]byte { return sha256.Sum256([]byte(s)) }

func compare(a, b string) int { return strings.Compare(a, b) }

// maxFactorial is the largest number whose factorial is multiplied out.
const maxFactorial = 500

// normalFunction applies what has an exact value and hides the rest.
func (n *node) normalFunction(w *work) (ratio, error) {
	args := make([]ratio, len(n.args))
	values := make([]*big.Rat, len(n.args))
	known := true
	for i, a := range n.args {
		r, err := a.normal(w)
		if err != nil {
			return r, err
		}
		args[i] = r
		v, ok := r.rational()
		values[i], known = v, known && ok
	}
	if n.name == "root" {
		if degree := values[0]; degree != nil && degree.Sign() > 0 {
			return args[1].raised(new(big.Rat).Inv(degree), w)
		}
	}
	if known {
		if v, ok := exactValue(n.name, values); ok {
			return quotient(constant(v)), nil
		}
	}
	return hidden(n.name, args...), nil
}

// exactValue is the value of a function that is rational at rational arguments.
func exactValue(name string, x []*big.Rat) (*big.Rat, bool) {
	switch name {
	case "abs":
		return new(big.Rat).Abs(x[0]), true
	case "floor":
		return new(big.Rat).SetInt(floor(x[0])), true
	case "ceil":
		return new(big.Rat).Neg(new(big.Rat).SetInt(floor(new(big.Rat).Neg(x[0])))), true
	case "factorial":
		if x[0].IsInt() && x[0].Sign() >= 0 && x[0].Cmp(big.NewRat(maxFactorial, 1)) <= 0 {
			return new(big.Rat).SetInt(new(big.Int).MulRange(1, x[0].Num().Int64())), true
		}
	case "binom":
		if x[0].IsInt() && x[1].IsInt() && x[0].Sign() >= 0 && x[1].Sign() >= 0 && x[0].Cmp(big.NewRat(maxFactorial, 1)) <= 0 && x[1].Cmp(x[0]) <= 0 {
			return new(big.Rat).SetInt(new(big.Int).Binomial(x[0].Num().Int64(), x[1].Num().Int64())), true
		}
	}
	return nil, false
}
