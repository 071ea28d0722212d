// Package plan says what a council is: its Spec, which is a council file, and its Plan, which is everything that
// follows from the spec alone: seats, graph, protocol, prompts, rule, the claim and the planned cost.
//
//	spec, err := plan.Load("council.yaml")
//	p, err := plan.New(spec)
//	fmt.Println(p.Bound().Note)
//
// New reads the files that the spec names: a graph file, a folder of prompts, a roster, a trust file. After that
// nothing is read: a Plan does not change, opens no model and may be used by many goroutines.
package plan

import (
	"encoding/json"

	"synod.dev/synod"
	"synod.dev/synod/adversary"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/graph/dynamic"
	"synod.dev/synod/llm/prompt"
	"synod.dev/synod/protocol"
)

// Waiting is when a run stops waiting for its slowest calls. A call that is cut off counts as failed, however soon
// its reply comes afterwards, and its seat is named as late.
//
// Nobody who controls at most F seats gains by it. The claims of the protocols hold whatever F seats do, silence
// included, so a run in which at most F seats are late is one of the runs that they are about: a late seat counts
// against F, and the claim that is printed allows so many fewer Byzantine ones. The ends of rounds stay where they
// are in virtual time, so what members hear of one another does not depend on when a call was cut off.
type Waiting struct {
	Spare  int    // seats that may be late at once, at most F; with F = 0 in a panel that is lenient, fewer than half
	After  Factor // multiple of the median time of the calls that returned; 0: see batch.lastCall
	ByRule bool   // F is 0: the seats without which the rule decides may be late
	// Unequal is true of a protocol.Unequal: others are no measure of how long a member takes.
	Unequal bool
}

// Plan is everything about a council that follows from its Spec alone: seats,
// graph, protocol, roles, prompt templates, rule, the claim and the planned cost.
// No model is open. A Plan does not change and may be used by many goroutines.
type Plan struct {
	spec        Spec // with a graph file replaced by its edges, and the rule and pace filled in
	record      json.RawMessage
	digest      string
	runKey      []byte // what every resumed run of the plan has in common, hashed
	seats       []Seat
	adversaries []adversary.Adversary // by seat; nil: honest
	graph       dynamic.Graph
	peers       [][]synod.NodeID
	byRound     [][][]synod.NodeID // neighbours by seat and round, where the graph changes; else nil
	entry       protocol.Entry
	protocol    protocol.Protocol
	roles       []synod.Role // by seat; nil: the protocol has no roles
	faults      sim.Faults
	pace        synod.Pace
	patience    Waiting
	templates   *prompt.Templates
	digests     map[string]string // of the templates, by name
	voters      int
	voices      []int        // by seat: the number of its voice; nil: each seat is one
	ofSeats     bool         // each seat counts as a voice, though some have one model
	voterIDs    []string     // of the seats that vote, in order; must not be changed
	models      []ModelSeats // in the order of their first seats
	calls       int
	settles     bool // a run may end early
	guards      synod.Guards
	commits     bool     // members commit to their first answers
	hops        int      // with commits: the greatest distance between two seats
	defencesOn  []string // names; must not be changed
	bound       func() Bound
	harm        func() *Harm
	committee   sign.Committee // of the nodes that play the seats; nil: they are played in this process
}

// source says what a plan is made for, and so which files it reads.
type source int

const (
	toRun      source = iota // the spec's folder of prompts must be there
	fromFile                 // a council file is checked: the folder may be missing
	fromRecord               // a record of a run is read: the folder is not looked at
)

// ModelSeats is the seats of one model.
type ModelSeats struct {
	Name  string
	Seats []int // ascending
}

// Signs reports whether the seats sign their messages, as in protocols that promise agreement.
func (p *Plan) Signs() bool {
	s, ok := p.protocol.(protocol.Signing)
	return ok && s.Signs()
}

// idsOf returns the seats' ids in order.
func idsOf(p *Plan) []string {
	ids := make([]string, len(p.seats))
	for i, s := range p.seats {
		ids[i] = s.ID
	}
	return ids
}

// NamesOf returns the ids of some seats.
func NamesOf(p *Plan, seats []int) []string {
	ids := make([]string, len(seats))
	for i, n := range seats {
		ids[i] = p.seats[n].ID
	}
	return ids
}

// Name returns the id of a seat, "" if there is no such seat.
func (p *Plan) Name(id synod.NodeID) string {
	if id < 0 || int(id) >= len(p.seats) {
		return ""
	}
	return p.seats[id].ID
}
