// Package adversary contains Byzantine members for experiments and tests: each is a
// wrapper that corrupts the honest machine of one seat. Protocols know of none of them.
//
// The building blocks work for every protocol. A PromptAnswerer answers the prompts of
// the honest machine in place of its model, or changes the model's replies. A
// ReplyForger changes the answers in these replies. A MessageRewriter changes what the
// machine sends. Twins are two machines with one key, for protocols that sign their
// messages. No adversary can sign for another seat: a Seat has its own Signer only.
//
// A council file names its adversaries, and every output shows them. Each has a test in
// which it succeeds against a weak protocol.
package adversary

import (
	"synod.dev/synod"
	"synod.dev/synod/core/param"
)

// Adversary corrupts the honest machine of one seat.
type Adversary interface {
	// Corrupt returns the machine that takes the honest machine's place.
	Corrupt(seat synod.Seat, honest synod.Machine) synod.Machine
}

// Steady is implemented by an Adversary that may promise not to change what it sends by
// itself: in a round in which no member's answer changes, neither do its messages. Only
// then may a council stop before the last round.
type Steady interface{ Steady() bool }

// Rejoining is implemented by an adversary that plays its seat with honest machines that
// it creates itself. Two of them with the seat's one key can sign two messages in one
// slot, in any protocol.
type Rejoining interface {
	Rejoin(seat synod.Seat, join func(synod.Seat) synod.Machine) synod.Machine
}

// Outer is implemented by an adversary that sits outside of the machine which commits to first answers
// (protocol/reveal), so that it can send what it likes in its place. Corrupt returns the honest machine.
type Outer interface {
	Enclose(seat synod.Seat, committing synod.Machine) synod.Machine
}

// Naming is implemented by an adversary whose parameters name other seats. The caller
// that creates it calls Found once; without that, names must be NodeIDs.
type Naming interface {
	// Found returns the adversary with its names resolved. seat returns the seat with a
	// name of the council file.
	Found(seat func(name string) (synod.NodeID, error)) (Adversary, error)
}

// Colluding is implemented by an adversary whose members know one another. The caller that places adversaries calls
// Among once; without that, each of them acts alone.
type Colluding interface {
	// Among returns the adversary for the seats that have it, ascending.
	Among(seats []synod.NodeID) Adversary
}

// Seat returns the corrupted machine of a seat. join creates the honest machine.
func Seat(a Adversary, seat synod.Seat, join func(synod.Seat) synod.Machine) synod.Machine {
	if r, ok := a.(Rejoining); ok {
		return r.Rejoin(seat, join)
	}
	return a.Corrupt(seat, join(seat))
}

// Entry is an adversary in the catalogue.
type Entry struct {
	synod.Entry
	Facts
	About string // what it does, its source and its parameters
	New   func(params map[string]any) (Adversary, error)
	// Params returns a pointer to a struct with the parameters and their defaults, described by tags (param.Fields);
	// nil if there are none.
	Params func() any
}

// NoParams returns an Entry.New for an adversary without parameters.
func NoParams(a Adversary) func(map[string]any) (Adversary, error) {
	return func(params map[string]any) (Adversary, error) {
		return a, param.Decode(params, &struct{}{})
	}
}
