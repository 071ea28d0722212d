package adversary

import (
	"strings"

	"synod.dev/synod"
)

var digitTwinEntry = Entry{
	Entry: synod.Entry{Name: "digit-twin", Summary: "gives its answer in spellings that look equal and are other " +
		"bytes"},
	Facts: Facts{Number: 18, Place: AtSeat, Model: Restricted,
		Where:   synod.With(synod.Tells, synod.Votes).Or(synod.FirstVotes, synod.Votes),
		Defence: "answers are compared in canonical form", Kind: Deterministic, Source: "own"},
	About: `Answers as its model does, and writes the answer with digits of another script, full-width
letters, look-alike letters, a final point or in a box. Who compares texts sees answers that
differ, and loses votes.`,
	New: NoParams(digitTwin{}),
}

type digitTwin struct{}

func (digitTwin) Steady() bool { return true }

func (digitTwin) Corrupt(seat synod.Seat, honest synod.Machine) synod.Machine {
	return &MessageRewriter{Honest: honest, Response: func(s synod.Send, r synod.Response) []synod.Send {
		r.Answer = synod.Answer(twinOf(seat, string(r.Answer)))
		return []synod.Send{WithResponse(s, s.To, r)}
	}, Effect: func(x synod.Effect) synod.Effect {
		switch x := x.(type) {
		case synod.Note: // what a reader of the question's form makes of the spelling
			if x.Answer == synod.None {
				return x
			}
			o := *x.Opinion
			o.Answer = canonical(seat.Question, twinOf(seat, string(o.Answer)))
			return synod.Note{Opinion: &o}
		case synod.Decide:
			if x.Answer != synod.None {
				return synod.Decide{Answer: canonical(seat.Question, twinOf(seat, string(x.Answer)))}
			}
		}
		return x
	}}
}

// twinOf returns another spelling of an answer, which the seat's seed draws.
func twinOf(seat synod.Seat, a string) string {
	ways := []func(string) string{
		func(s string) string { return shifted(s, 0xff01-'!') }, // full width
		func(s string) string { return s + "\u200b" },
		// a space without width
		func(s string) string { return strings.Join(strings.Split(s, ""), "\u2060") + "\u2060" }, // joined by it
	}
	switch seat.Question.Form {
	case synod.Number:
		ways = append(ways, arabic, func(s string) string { return s + "." })
	case synod.Math:
		ways = append(ways, func(s string) string { return `\boxed{` + s + "}" })
	case synod.Text, synod.Prose:
		ways = append(ways, func(s string) string { return `\boxed{` + s + "}" })
	}
	return ways[seat.Seed%uint64(len(ways))](a)
}

// shifted moves the printable ASCII characters, which full-width ones repeat in their order.
func shifted(s string, by rune) string {
	return strings.Map(func(r rune) rune {
		if r > ' ' && r < 0x7f {
			return r + by
		}
		return r
	}, s)
}

// arabic writes digits in Arabic-Indic script.
func arabic(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r - '0' + '٠'
		}
		return r
	}, s)
}
