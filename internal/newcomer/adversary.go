package newcomer

import (
	"synod.dev/synod"
	"synod.dev/synod/adversary"
)

// loud is an adversary that sends its answer as one with full confidence.
type loud struct{}

// Corrupt implements adversary.Adversary.
func (loud) Corrupt(_ synod.Seat, honest synod.Machine) synod.Machine {
	return &adversary.MessageRewriter{Honest: honest, Response: func(s synod.Send, r synod.Response) []synod.Send {
		r.Confidence = 1
		return []synod.Send{adversary.WithResponse(s, s.To, r)}
	}}
}

// Steady reports that its messages change only when answers do.
func (loud) Steady() bool { return true }

// Adversary is the entry of the adversary. It attacks protocols in which confidence counts.
var Adversary = adversary.Entry{
	Entry: synod.Entry{Name: "loud-newcomer", Summary: "says that it is certain"},
	Facts: adversary.Facts{Place: adversary.AtSeat, Model: adversary.Restricted,
		Where: synod.With(synod.Confides), Kind: adversary.NoDefence, Defence: "none", Source: "own"},
	About: "It has no parameters.",
	New:   adversary.NoParams(loud{}),
}
