package adversary

import (
	"bytes"
	"fmt"
	"math/big"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/read"
)

var equivocatorEntry = Entry{
	Entry: synod.Entry{Name: "equivocator", Summary: "tells its neighbours different things in the same round"},
	About: `Takes part as an honest member does, but splits every message in two: its first,
third, fifth … neighbour hears its true answer, the others hear another one made
from it (a number one higher, the next choice, the opposite). An only neighbour
hears the lie. Of words that are no answers the others hear the ones before, as soon
as they differ. A protocol in which receivers do not compare what they heard cannot
notice.

Where members sign, it is two honest members with one key: one for those who are told
the truth, and one whose model says the contrary, so that it has signed both, answers
and marks alike. The two share the seat's calls.`,
	New: plain(equivocator{}),
}

type equivocator struct{}

// Steady: what it says follows from what it holds.
func (equivocator) Steady() bool { return true }

// Rejoin is two faces in a protocol whose words are signed: to change a word would
// only break its signature.
func (e equivocator) Rejoin(seat synod.Seat, join func(synod.Seat) synod.Machine) synod.Machine {
	if seat.Signer == nil {
		return e.Corrupt(seat, join(seat))
	}
	return &twins{seat: seat, faces: [2]synod.Machine{join(seat), contrary(seat, join(seat))}}
}

// Corrupt splits what the machine sends in two.
func (equivocator) Corrupt(seat synod.Seat, honest synod.Machine) synod.Machine {
	before := map[string][]byte{} // by the name of the slot
	return &tongue{honest: honest, other: func(s synod.Send) []synod.Send {
		was, said := before[s.Slot.Name]
		before[s.Slot.Name] = s.Body
		if !said || bytes.Equal(was, s.Body) {
			return []synod.Send{s}
		}
		told, deceived := split(seat, s.To)
		stale := *s.Message
		stale.Body = was
		return []synod.Send{{To: told, Message: s.Message}, {To: deceived, Message: &stale}}
	}, rewrite: func(s synod.Send, word synod.Response) []synod.Send {
		told, deceived := split(seat, s.To)
		lie := word
		lie.Answer = other(seat.Question, word.Answer)
		var out []synod.Send
		if told != nil {
			out = append(out, with(s, told, word))
		}
		if deceived != nil {
			out = append(out, with(s, deceived, lie))
		}
		return out
	}}
}

// split tells those that hear the truth from those that are deceived.
func split(seat synod.Seat, to []synod.NodeID) (told, deceived []synod.NodeID) {
	for _, id := range to {
		if len(seat.Peers) == 1 || slices.Index(seat.Peers, id)%2 == 1 {
			deceived = append(deceived, id)
		} else {
			told = append(told, id)
		}
	}
	return told, deceived
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
	case synod.Stance:
		if a == synod.Refuses {
			return synod.Complies
		}
		return synod.Refuses
	case synod.Math:
		return canonical(q, fmt.Sprintf("%s+1", a))
	}
	return canonical(q, "not "+string(a))
}

func canonical(q *synod.Question, text string) synod.Answer {
	if a, ok := read.Canonical(q, text); ok {
		return a
	}
	return synod.Answer(text)
}
