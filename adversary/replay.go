package adversary

import (
	"fmt"

	"synod.dev/synod"
	"synod.dev/synod/read"
)

var replayEntry = Entry{
	Entry: synod.Entry{Name: "replay", Summary: "the SAC paper's: a cached reply to some other question, same to everyone, confidence 1.0"},
	About: `Broadcasts, in every round, what a weak model once replied to a question from
elsewhere, claims confidence 1.0, never calls a model and never changes
(SAC appendix B.4).

answer  what it says; by default something from a small tape, by the seat's seed`,
	New: newReplay,
}

type replay struct{ answer string }

func newReplay(params map[string]any) (Adversary, error) {
	var a replay
	for key, v := range params {
		if key != "answer" {
			return nil, fmt.Errorf("unknown key %q%s", key, synod.Hint(key, []string{"answer"}))
		}
		a.answer = fmt.Sprint(v)
	}
	return a, nil
}

func (replay) Steady() bool { return true }

// Corrupt answers every consult from the tape, so that no model is called.
func (a replay) Corrupt(seat synod.Seat, honest synod.Machine) synod.Machine {
	lie := a.lie(seat)
	return boast(seat, &mouth{honest: honest, says: func(p *synod.Prompt) *synod.Reply { return typed(p, lie) }}, &lie)
}

// tape is answers that small models gave to questions about other things.
var tape = map[synod.Form][]string{
	synod.Number: {"1776", "3.5", "212", "-4", "60", "0.125"},
	synod.Math:   {`\frac{7}{2}`, "x+1", `3\sqrt{5}`, "1776", "-4"},
	synod.Text:   {"the Battle of Hastings", "photosynthesis", "about three weeks", "a minor seventh", "Lake Titicaca"},
}

// lie is what this seat replays: the given answer, an answer off the tape, or,
// where a question leaves only a few answers, one of those.
func (a replay) lie(seat synod.Seat) synod.Answer {
	q := seat.Question
	said := tape[q.Form]
	switch q.Form {
	case synod.Bool:
		said = []string{"true", "false"}
	case synod.Stance:
		said = []string{string(synod.Complies), string(synod.Refuses)}
	case synod.Choice:
		for _, o := range q.Options {
			said = append(said, o.Label)
		}
	}
	if a.answer != "" {
		said = []string{a.answer}
	}
	text := said[seat.Seed%uint64(len(said))]
	if lie, ok := read.Canonical(q, text); ok {
		return lie
	}
	return synod.Answer(text)
}
