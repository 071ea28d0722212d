package adversary

import "synod.dev/synod"

// Facts are what an entry of the catalogue declares about its attack. "synod list adversaries --json" prints
// them, and docs/research/adversaries.md has them in a table.
type Facts struct {
	Number int         `json:"number,omitempty"`  // in the list of attacks of docs/research/adversaries.md; 0: not in it
	SameAs string      `json:"same_as,omitempty"` // the entry of which this is another name
	Place  Place       `json:"place"`             // where it sits
	Model  ThreatModel `json:"fault_model"`       // the most restricted fault model that it stays in
	// Where are the protocols in which it does more than give a wrong answer or none.
	Where   synod.Where `json:"traits"`
	Setting string      `json:"setting,omitempty"` // of a council file, without which it has nothing to attack; "": none
	Defence string      `json:"defence"`           // what is said to stop it
	Kind    Promise     `json:"defence_kind"`
	Source  string      `json:"source"` // where the attack comes from
}

// Place is where an adversary sits.
type Place string

// The places. An adversary at a link or among model files is no machine: a simulation of machines refuses it.
const (
	AtSeat Place = "seat"  // it wraps the machine of a seat
	AtLink Place = "link"  // it is what a node does on its streams to other nodes (package node)
	AtFile Place = "model" // it is a model file that members load
)

// ThreatModel is a fault model of docs/research/adversaries.md.
type ThreatModel string

// The fault models, from the most restricted one.
const (
	Restricted ThreatModel = "NE(f)" // synchronous; no equivocation, no forged identity, nothing withheld
	// Synchronous: the members may equivocate, be silent, be late within the bound, and send anything.
	Synchronous ThreatModel = "S(f)"
	Outside     ThreatModel = "Q" // breaks an assumption about honest members: that their models judge as they should
)

// Promise says what a defence promises.
type Promise string

// The kinds of defences.
const (
	Deterministic Promise = "deterministic" // the attack never succeeds within the fault model
	Statistical   Promise = "statistical"   // the attack succeeds at a rate, which is measured
	NoDefence     Promise = "none"          // none is known here; the entry is a control or measures a limit
)

// Where several adversaries attack.
var (
	arguing    = synod.With(synod.Reasons, synod.Rounds)
	bargaining = synod.With(synod.Bargains)
	confiding  = synod.With(synod.Confides)
	counting   = synod.With(synod.Votes)
	grading    = synod.With(synod.Grades)
	judging    = synod.With(synod.Judges)
	reading    = synod.With(synod.Reasons).Or(synod.Texts)
	reasoning  = synod.With(synod.Reasons)
)
