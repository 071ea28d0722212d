package task

import (
	"math/big"
	"strconv"
)

// samePercent reports that two numbers are equal although only one was written as
// a percentage: 45% is 0.45, and is 45 where a percentage was asked for.
func samePercent(want, got reading) bool {
	a, b := want.value == true, got.value == true
	if a == b {
		return false
	}
	x, ok := new(big.Rat).SetString(string(want.answer))
	y, fine := new(big.Rat).SetString(string(got.answer))
	if !ok || !fine {
		return false
	}
	if a {
		x.Quo(x, hundred)
	} else {
		y.Quo(y, hundred)
	}
	return x.Cmp(y) == 0
}

var hundred = big.NewRat(100, 1)

func itoa(n int) string { return strconv.Itoa(n) }
