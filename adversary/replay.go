package adversary

import (
	"synod.dev/synod"
	"synod.dev/synod/param"
)

var replayEntry = Entry{
	Entry: synod.Entry{Name: "replay",
		Summary: "the SAC paper's: a recorded reply to another question, the same for all, confidence 1.0"},
	About: `Sends, in every round, what a weak model once replied to another question, claims
confidence 1.0, never calls a model and never changes (SAC appendix B.4).

answer  its answer; by default one of a few recorded answers, chosen by the seat's seed`,
	New: func(params map[string]any) (Adversary, error) {
		var a replay
		err := param.Decode(params, &a)
		return a, err
	},
	Params: func() any { return &replay{} },
}

type replay struct {
	Answer string `yaml:"answer" doc:"its answer; default: one of a few recorded answers, by the seat's seed" example:"1776"`
}

func (replay) Steady() bool { return true }

// Corrupt answers every prompt, so no model is called.
func (a replay) Corrupt(seat synod.Seat, honest synod.Machine) synod.Machine {
	mine := a.choose(seat)
	return certain(seat, &PromptAnswerer{Honest: honest,
		Answer: func(p *synod.Prompt) *synod.Reply { return Believer(p, mine) }}, &mine)
}

// recorded are answers that small models gave to other questions.
var recorded = map[synod.Form][]string{
	synod.Number: {"1776", "3.5", "212", "-4", "60", "0.125"},
	synod.Math:   {`\frac{7}{2}`, "x+1", `3\sqrt{5}`, "1776", "-4"},
	synod.Text:   {"the Battle of Hastings", "photosynthesis", "about three weeks", "a minor seventh", "Lake Titicaca"},
}

// choose returns the answer of a seat: the given one, a recorded one, or one of the few
// that the question allows.
func (a replay) choose(seat synod.Seat) synod.Answer {
	q := seat.Question
	answers := recorded[q.Form]
	switch q.Form {
	case synod.Bool:
		answers = []string{"true", "false"}
	case synod.Stance:
		answers = []string{string(synod.Complies), string(synod.Refuses)}
	case synod.Choice:
		for _, o := range q.Options {
			answers = append(answers, o.Label)
		}
	}
	if a.Answer != "" {
		answers = []string{a.Answer}
	}
	return canonical(q, answers[seat.Seed%uint64(len(answers))])
}
