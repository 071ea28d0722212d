package wmsr

import (
	"math/big"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/protocol/answer"
)

// guard is how many decimals are carried beyond those that are shown.
const guard = 6

// scale writes numbers as whole multiples of 10^-places.
type scale struct {
	decimals, places int
	unit             *big.Int // 10^places
}

func newScale(decimals int) scale {
	places := decimals + guard
	return scale{decimals, places, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places)), nil)}
}

// read is the nearest multiple to an answer; nil without one.
func (s scale) read(a synod.Answer) *big.Int {
	r, ok := new(big.Rat).SetString(string(a)) // canonical numbers have no exponent
	if !ok {
		return nil
	}
	return divide(new(big.Int).Mul(r.Num(), s.unit), r.Denom())
}

func (s scale) readAll(heard []answer.Heard) []value {
	all := make([]value, len(heard))
	for i, h := range heard {
		all[i] = value{h.From, s.read(h.Word.Answer)}
	}
	return all
}

// write is a multiple as a canonical answer; None for nil.
func (s scale) write(x *big.Int) synod.Answer { return s.digits(x, s.places) }

// shown is a multiple as it goes on record.
func (s scale) shown(x *big.Int) synod.Answer { return s.digits(x, s.decimals) }

func (s scale) digits(x *big.Int, places int) synod.Answer {
	if x == nil {
		return synod.None
	}
	text := new(big.Rat).SetFrac(x, s.unit).FloatString(places)
	if strings.Contains(text, ".") {
		text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	if text == "-0" {
		return "0"
	}
	return synod.Answer(text)
}

// divide is n/d, d > 0, to the nearest whole number; halves go away from zero.
func divide(n, d *big.Int) *big.Int {
	q, rest := new(big.Int).QuoRem(n, d, new(big.Int))
	if rest.Lsh(rest.Abs(rest), 1).Cmp(d) >= 0 {
		q.Add(q, big.NewInt(int64(n.Sign())))
	}
	return q
}
