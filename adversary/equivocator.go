package adversary

import (
	"fmt"
	"math/big"

	"synod.dev/synod"
	"synod.dev/synod/prompt"
)

var equivocatorEntry = Entry{
	Entry: synod.Entry{Name: "equivocator", Summary: "tells its neighbours different things in the same round"},
	About: `Takes part as an honest member does, but splits every message in two: its first,
third, fifth … neighbour hears its true answer, the others hear another one made
from it (a number one higher, the next choice, the opposite). A protocol without
signed broadcast cannot notice.`,
	New: plain(equivocator{}),
}

type equivocator struct{}

// Steady: what it says follows from what it holds.
func (equivocator) Steady() bool { return true }

func (equivocator) Corrupt(seat synod.Seat, honest synod.Machine) synod.Machine {
	return &tongue{honest: honest, rewrite: func(s synod.Send, word synod.Response) []synod.Send {
		var ours, theirs []synod.NodeID
		for i, id := range s.To {
			if i%2 == 0 {
				ours = append(ours, id)
			} else {
				theirs = append(theirs, id)
			}
		}
		lie := word
		lie.Answer = other(seat.Question, word.Answer)
		return []synod.Send{with(s, ours, word), with(s, theirs, lie)}
	}}
}

// other is an answer of the same form that is not a.
func other(q *synod.Question, a synod.Answer) synod.Answer {
	switch q.Form {
	case synod.Number:
		if r, ok := new(big.Rat).SetString(string(a)); ok {
			return canonical(q, r.Add(r, big.NewRat(1, 1)).RatString())
		}
	case synod.Bool:
		if a == "true" {
			return "false"
		}
		return "true"
	case synod.Choice:
		for i, o := range q.Options {
			if canonical(q, o.Label) == a {
				return canonical(q, q.Options[(i+1)%len(q.Options)].Label)
			}
		}
	case synod.Math:
		return canonical(q, fmt.Sprintf("%s+1", a))
	}
	return canonical(q, "not "+string(a))
}

func canonical(q *synod.Question, text string) synod.Answer {
	if a, ok := prompt.Canonical(q, text); ok {
		return a
	}
	return synod.Answer(text)
}
