package adversary

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"regexp"

	"synod.dev/synod"
	"synod.dev/synod/read"
)

var numberAltererEntry = Entry{
	Entry: synod.Entry{Name: "number-alterer", Summary: "DecentLLMs': its model's answer with other numbers in it"},
	About: `Answers with its own model and adds the same amount to every number in what it says,
answer and reasoning alike (DecentLLMs §V.A, which alters them at random). An answer
without a number in it becomes another answer of its form: the next choice, the
opposite.

by  what it adds, a whole number between -1000000 and 1000000 and not 0; by default
    something between -9 and 9, by the seat's seed`,
	New: newNumberAlterer,
}

type numberAlterer struct{ by int }

func newNumberAlterer(params map[string]any) (Adversary, error) {
	var a numberAlterer
	if err := strict(params, "by"); err != nil {
		return nil, err
	}
	if err := whole(params, "by", &a.by, -1e6, 1e6); err != nil {
		return nil, err
	}
	if _, is := params["by"]; is && a.by == 0 {
		return nil, fmt.Errorf("by is 0, which alters nothing")
	}
	return a, nil
}

func (numberAlterer) Steady() bool { return true }

// Corrupt leaves everything but the numbers to the honest machine.
func (a numberAlterer) Corrupt(seat synod.Seat, honest synod.Machine) synod.Machine {
	if a.by == 0 {
		chance := rand.New(rand.NewPCG(seat.Seed, 0xa17e5))
		a.by = (1 + chance.IntN(9)) * (1 - 2*chance.IntN(2))
	}
	return forgery{
		answer: func(said read.Confident) synod.Answer { return a.alter(seat.Question, said.Answer) },
		words:  a.shift,
	}.forge(seat, honest)
}

func (a numberAlterer) alter(q *synod.Question, said synod.Answer) synod.Answer {
	switch q.Form {
	case synod.Number:
		if r, ok := new(big.Rat).SetString(string(said)); ok {
			return canonical(q, r.Add(r, big.NewRat(int64(a.by), 1)).RatString())
		}
	case synod.Math, synod.Text:
		if lie := canonical(q, a.shift(string(said))); lie != said {
			return lie
		}
	}
	return other(q, said)
}

var numeral = regexp.MustCompile(`[0-9]{1,18}`)

// shift adds to every whole number in a text.
func (a numberAlterer) shift(text string) string {
	return numeral.ReplaceAllStringFunc(text, func(s string) string {
		n, _ := new(big.Int).SetString(s, 10)
		return new(big.Int).Abs(n.Add(n, big.NewInt(int64(a.by)))).String() // of "-3" the 3: no second sign
	})
}
