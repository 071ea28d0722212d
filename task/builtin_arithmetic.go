package task

import (
	"fmt"
	"math/big"
	"math/rand/v2"

	"synod.dev/synod"
)

// makeArithmetic asks for the value of an expression.
func makeArithmetic(r *rand.Rand, level int) problem {
	switch level {
	case 1:
		a, b := between(r, 1, 9), between(r, 1, 9)
		if a >= b && r.IntN(2) == 0 {
			return numeric(a-b, func(x int) bool { return x+b == a }, "What is %d - %d?", a, b)
		}
		return numeric(a+b, func(x int) bool { return x-b == a }, "What is %d + %d?", a, b)
	case 2:
		a, b := between(r, 11, 99), between(r, 11, 99)
		if r.IntN(2) == 0 {
			return numeric(a-b, func(x int) bool { return x+b == a }, "What is %d - %d?", a, b)
		}
		a = between(r, 3, 12)
		return numeric(a*b, func(x int) bool { return x%b == 0 && x/b == a }, "What is %d times %d?", a, b)
	case 3:
		a, b, c := between(r, 12, 99), between(r, 3, 19), between(r, 12, 99)
		return numeric(a+b*c, func(x int) bool { return (x-a)%c == 0 && (x-a)/c == b }, "Compute %d + %d × %d.", a, b, c)
	case 4:
		return sumOfFractions(r)
	}
	return remainder(r)
}

func sumOfFractions(r *rand.Rand) problem {
	a, c := between(r, 1, 9), between(r, 1, 9)
	b, d := between(r, 3, 12), between(r, 3, 12)
	sum := new(big.Rat).Add(big.NewRat(int64(a), int64(b)), big.NewRat(int64(c), int64(d)))
	return problem{
		text: fmt.Sprintf("What is %d/%d + %d/%d, as a fraction in lowest terms?", a, b, c, d),
		form: synod.Number, key: sum.RatString(),
		holds: func(s string) bool { // cleared of denominators, in integers
			p, q := 0, 1
			if n, _ := fmt.Sscanf(s, "%d/%d", &p, &q); n == 0 {
				return false
			}
			return p*b*d == q*(a*d+c*b)
		},
	}
}

// remainder asks for a power modulo a number, found here by squaring.
func remainder(r *rand.Rand) problem {
	base, exp, m := between(r, 2, 9), between(r, 8, 30), between(r, 7, 97)
	x := new(big.Int).Exp(big.NewInt(int64(base)), big.NewInt(int64(exp)), big.NewInt(int64(m)))
	return numeric(int(x.Int64()), func(x int) bool {
		rest := 1
		for range exp {
			rest = rest * base % m
		}
		return x == rest
	}, "What is the remainder when %d^%d is divided by %d?", base, exp, m)
}
