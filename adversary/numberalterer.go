package adversary

import (
	"errors"
	"math/big"
	"math/rand/v2"
	"regexp"

	"synod.dev/synod"
	"synod.dev/synod/core/param"
	"synod.dev/synod/llm/read"
)

var numberAltererEntry = Entry{
	Entry: synod.Entry{Name: "number-alterer", Summary: "DecentLLMs': its model's answer with other numbers"},
	Facts: Facts{Place: AtSeat, Model: Restricted, Where: counting, Defence: "median-total; a majority of " +
		"honest members",
		Kind: Statistical, Source: "DecentLLMs §V.A, DL-8"},
	About: `Answers with its own model and adds the same amount to every number in its answer and
reasoning (DecentLLMs §V.A, which alters them at random). An answer without a number
becomes another answer of its form: the next choice, the opposite.

by  what it adds, a whole number between -1000000 and 1000000 and not 0; by default
    a number between -9 and 9 that the seat's seed gives`,
	New:    newNumberAlterer,
	Params: func() any { return &numberAltererParams{} },
}

type numberAltererParams struct {
	By *int `yaml:"by" doc:"what it adds to numbers, not 0; default: -9 to 9 by the seat's seed" range:"-1000000:1000000"`
}

type numberAlterer struct{ by int }

func newNumberAlterer(params map[string]any) (Adversary, error) {
	var given numberAltererParams
	if err := param.Decode(params, &given); err != nil || given.By == nil {
		return numberAlterer{}, err
	}
	if *given.By == 0 {
		return nil, errors.New("by is 0, which alters nothing")
	}
	return numberAlterer{*given.By}, inRange("by", *given.By, -1e6, 1e6)
}

func (numberAlterer) Steady() bool { return true }

func (a numberAlterer) Corrupt(seat synod.Seat, honest synod.Machine) synod.Machine {
	if a.by == 0 {
		chance := rand.New(rand.NewPCG(seat.Seed, 0xa17e5))
		a.by = (1 + chance.IntN(9)) * (1 - 2*chance.IntN(2))
	}
	return ReplyForger{
		Answer: func(given read.Confident) synod.Answer { return a.alter(seat.Question, given.Answer) },
		Text:   a.shift,
	}.Machine(seat, honest)
}

func (a numberAlterer) alter(q *synod.Question, given synod.Answer) synod.Answer {
	switch q.Form {
	case synod.Number:
		if r := numberIn(q, given); r != nil {
			return canonical(q, r.Add(r, big.NewRat(int64(a.by), 1)).RatString())
		}
	case synod.Math, synod.Text, synod.Prose:
		if altered := canonical(q, a.shift(string(given))); altered != given {
			return altered
		}
	}
	return other(q, given)
}

var numeral = regexp.MustCompile(`[0-9]{1,18}`)

// shift adds to every whole number in a text.
func (a numberAlterer) shift(text string) string {
	return numeral.ReplaceAllStringFunc(text, func(s string) string {
		n, _ := new(big.Int).SetString(s, 10)
		return new(big.Int).Abs(n.Add(n, big.NewInt(int64(a.by)))).String() // the sign of "-3" is not part of the match
	})
}
