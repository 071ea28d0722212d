package campaign

import (
	"fmt"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/protocol/check"
)

// Execution is one execution, completely: the same value gives the same events. It is what a replay file holds.
type Execution struct {
	check.Case

	Regime    Regime           `json:"regime"`
	Above     bool             `json:"above,omitempty"`     // more members are Byzantine than the bound allows
	AtBound   bool             `json:"at_bound,omitempty"`  // as many as it allows
	Byzantine []synod.NodeID   `json:"byzantine,omitempty"` // ascending: with an adversary, or hit by a charged fault
	Seats     []Seated         `json:"adversaries,omitempty"`
	Delay     synod.Tick       `json:"delay,omitempty"` // the most that messages take beyond one tick, by chance
	RealKeys  bool             `json:"real_keys,omitempty"`
	Events    []ScheduledFault `json:"events,omitempty"` // the schedule of faults

	// Operations is how often a ledger or a journal is used, in an execution on a disk, or how often hostile callers
	// ask.
	Operations int `json:"operations,omitempty"`

	// Twins are the parts of a council of four with two copies of its last member, in periods one after another: bit i
	// has the part of member i, and bit 4 that of the second copy. Messages between parts are lost.
	Twins []int `json:"twins,omitempty"`
}

// Regime says whether the bound on delays holds.
type Regime string

// The regimes.
const (
	Synchronous  Regime = "synchronous"
	Asynchronous Regime = "asynchronous"
)

// Seated is an adversary of the catalogue at a seat.
type Seated struct {
	Seat   synod.NodeID   `json:"seat"`
	Name   string         `json:"name"`
	Params map[string]any `json:"params,omitempty"`
}

// ScheduledFault is one fault of a schedule.
type ScheduledFault struct {
	Kind  string         `json:"kind"`
	Node  synod.NodeID   `json:"node"`            // the member that it hits; -1: it names Peers only
	Peers []synod.NodeID `json:"peers,omitempty"` // the other ends of links, or a part of the council
	From  synod.Tick     `json:"from"`            // when it begins; on a disk: how many calls that it may hit pass by
	To    synod.Tick     `json:"to"`              // when it is over
	Arg   int            `json:"arg,omitempty"`   // ticks, or the number of a call, of a write or of a bit
	Calls int            `json:"calls,omitempty"` // of a provider: how many calls it hits; 0: all from Arg on

	kind int // in kinds
}

func (e ScheduledFault) String() string {
	s := fmt.Sprintf("%s of n%d", e.Kind, e.Node)
	if len(e.Peers) > 0 {
		s += fmt.Sprintf(" with %v", e.Peers)
	}
	return s + fmt.Sprintf(" from tick %d to %d, argument %d", e.From, e.To, e.Arg)
}

// guards returns the defences of all seats.
func (x *Execution) guards() synod.Guards {
	h := check.Mix(x.Seed ^ 0x9a2d)
	return synod.Guards{DrawOrder: h%2 == 0, AnswerFirst: h>>8%4 == 0, Named: h>>16%4 == 0, DropEchoes: h>>24%4 == 0}
}

// mostSeats bounds the seats of an execution, those outside of a group among them.
const mostSeats = 64

// seatNames are the names of seats, where lists of answers name those who gave them.
var seatNames = func() (names []string) {
	for i := range mostSeats {
		names = append(names, fmt.Sprintf("s%d", i))
	}
	return names
}()

// bad reports whether a seat is Byzantine.
func (x *Execution) bad(id synod.NodeID) bool {
	_, found := slices.BinarySearch(x.Byzantine, id)
	return found
}

// peers returns the neighbours of every seat, ascending.
func (x *Execution) peers() [][]synod.NodeID {
	n := x.Total()
	all := make([][]synod.NodeID, n)
	if x.Edges == nil {
		flat := make([]synod.NodeID, 0, n*(n-1))
		for i := range n {
			from := len(flat)
			for j := range n {
				if j != i {
					flat = append(flat, synod.NodeID(j))
				}
			}
			all[i] = flat[from:len(flat):len(flat)]
		}
		return all
	}
	for _, e := range x.Edges {
		all[e[0]] = append(all[e[0]], synod.NodeID(e[1]))
		all[e[1]] = append(all[e[1]], synod.NodeID(e[0]))
	}
	for i := range all {
		slices.Sort(all[i])
	}
	return all
}
