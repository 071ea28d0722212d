package adversary

import (
	"hash/fnv"

	"synod.dev/synod"
)

var sleeperEntry = Entry{
	Entry: synod.Entry{Name: "sleeper", Summary: "honest for some rounds and most questions, then defects"},
	Facts: Facts{Number: 33, Place: AtSeat, Model: Restricted,
		Where:   synod.With(synod.Tells, synod.Votes),
		Defence: "weights that history raises no further than a cap; support rule", Kind: Deterministic,
		Source: "reputation gaming"},
	About: `Takes part as an honest member does for some rounds, or in some questions, and then
sends another answer than its own, claims confidence 1.0 and records that answer as its
last. Who weighs members by their history trusts it by then. It judges honestly.

rounds  rounds in which it is honest (0)
share   the share of questions in which it defects, drawn by the text of the question, so
        that all of them do so in the same ones (1)`,
	New: func(params map[string]any) (Adversary, error) {
		a := sleeper{Share: 1}
		err := decode(params, &a)
		return a, err
	},
	Params: func() any { return &sleeper{Share: 1} },
}

type sleeper struct {
	Rounds int     `yaml:"rounds" doc:"rounds in which it is honest" range:"0:1000"`
	Share  float64 `yaml:"share" doc:"share of questions in which it defects" range:"0:1"`
}

func (a sleeper) Corrupt(seat synod.Seat, honest synod.Machine) synod.Machine {
	if draw(seat.Question, "sleeper") >= a.Share {
		return honest
	}
	return defecting(seat, honest, func(round int, mine synod.Answer) synod.Answer {
		if round < a.Rounds {
			return mine
		}
		return other(seat.Question, mine)
	})
}

// draw returns a number in [0,1) that is the same for all members, and differs between questions.
func draw(q *synod.Question, salt string) float64 {
	h := fnv.New64a()
	h.Write([]byte(salt + "\x00" + q.ID + "\x00" + q.Text))
	return float64(h.Sum64()>>11) / (1 << 53)
}

// defecting returns a machine that sends, records and decides another answer in place of the first that its
// honest machine held, round by round. choose is called with the round of a message.
func defecting(seat synod.Seat, honest synod.Machine, choose func(round int, first synod.Answer) synod.Answer,
) synod.Machine {
	first, last := synod.None, synod.None
	forge := func(round int, held synod.Answer) synod.Answer {
		if first == synod.None {
			first = held
		}
		if a := choose(round, first); a != first {
			last = a
			return a
		}
		last = held
		return held
	}
	return &MessageRewriter{Honest: honest, Response: func(s synod.Send, r synod.Response) []synod.Send {
		was := canonical(seat.Question, string(r.Answer))
		if a := forge(s.Slot.Round, was); a != was {
			r.Answer, r.Rationale = a, ""
			if seat.Signer == nil {
				r.Confidence = 1
			}
		}
		return []synod.Send{WithResponse(s, s.To, r)}
	}, Effect: func(x synod.Effect) synod.Effect {
		switch x := x.(type) {
		case synod.Note:
			if x.Answer == synod.None {
				return x
			}
			o := *x.Opinion
			if o.Answer = forge(o.Round, o.Answer); o.Answer != x.Answer {
				o.Surface, o.Source, o.From = "", synod.Kept, nil
			}
			return synod.Note{Opinion: &o}
		case synod.Decide:
			if last != synod.None {
				return synod.Decide{Answer: last}
			}
		}
		return x
	}}
}
