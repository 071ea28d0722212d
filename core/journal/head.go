package journal

import (
	"cmp"
	"encoding/json"
	"errors"

	"synod.dev/synod"
)

// Version is the format that is written, and the only one that is read.
const Version = 3

// Head describes a run completely enough to run it again.
type Head struct {
	Kind     string          `json:"k"`
	Version  int             `json:"version"`
	Program  string          `json:"program"` // that wrote the journal
	Spec     json.RawMessage `json:"spec"`    // the council, as its owner encodes it
	Question synod.Question  `json:"question"`

	// Seat is the only seat whose lines the journal holds; nil: it holds all seats.
	Seat *synod.NodeID `json:"seat,omitempty"`
	// Instance is the instance id to which the run's signatures are bound.
	Instance string `json:"instance,omitempty"`
	// Identities is the origin of the seats' keys and seeds: DerivedIdentities,
	// or "" in the journal of a seat that has an identity of its own.
	Identities string `json:"identities,omitempty"`
	// Seed is the seed of the run, from which all identities are derived. In the
	// journal of a seat that has an identity of its own it is the seed of this seat
	// in this run, which reveals nothing about other seats or other runs.
	Seed uint64 `json:"seed"`

	// Prompts are digests of the prompt templates by name: a run is not resumed with
	// other templates.
	Prompts map[string]string `json:"prompts,omitempty"`

	// Origin is a mark of Content by which users know their own journals; "": none.
	Origin string `json:"origin,omitempty"`

	// Unanswered are the requests of earlier, cut-off attempts at this run whose replies
	// never came, one entry for a seat; see Run.Unanswered.
	Unanswered []Unanswered `json:"unanswered,omitempty"`

	// Known are the replies of earlier attempts. They follow the head, at once: an attempt
	// that is cut off early has them too, so that the next one can be resumed from it.
	Known Replies `json:"-"`
}

// Cost is the cost of requests that left: their number, and the tokens that they may
// have cost at most.
type Cost struct {
	Calls int         `json:"calls"`
	Usage synod.Usage `json:"usage,omitzero"`
}

// Plus returns the sum, by synod.Sum.
func (c Cost) Plus(d Cost) Cost {
	return Cost{synod.Sum(c.Calls, d.Calls), c.Usage.Plus(d.Usage)}
}

// Unanswered is the cost of a seat's requests whose replies never came.
type Unanswered struct {
	Node synod.NodeID `json:"n"`
	Cost
}

// Content returns what a mark of the head is about: all other fields.
func (h Head) Content() []byte {
	h.Kind, h.Version, h.Origin = "head", Version, ""
	b, _ := json.Marshal(h) // it fails only for a Spec that is not JSON, which cannot be written either
	return b
}

// DerivedIdentities is the value of Head.Identities in a simulation: whoever knows
// the seed in the head knows the keys and seeds of all seats.
const DerivedIdentities = "derived from the seed"

// End describes how the run ended.
type End struct {
	Kind    string     `json:"k"`
	Stopped string     `json:"stopped"`
	Digest  string     `json:"digest"`           // of the run, or of the only seat
	Seats   []string   `json:"seats,omitempty"`  // digests by NodeID; nil in the journal of one seat
	Record  string     `json:"record,omitempty"` // SHA-256 of the head, asked and reply lines and of Digest
	Ticks   synod.Tick `json:"ticks,omitempty"`  // virtual time that the run took
}

// SeatReport is what a seat that was played elsewhere, or by the clock, reports of its calls and its end.
type SeatReport struct {
	Kind     string          `json:"k"`
	Node     synod.NodeID    `json:"n"`
	Instance string          `json:"instance"` // of the run that it has played
	Account  json.RawMessage `json:"account"`  // as its owner encodes it
}

// Key identifies a model call of a run.
type Key struct {
	Node synod.NodeID
	ID   synod.ConsultID
}

func (k Key) compare(other Key) int {
	return cmp.Or(cmp.Compare(k.Node, other.Node), cmp.Compare(k.ID, other.ID))
}

// Replies are the replies of a run by call.
type Replies map[Key]synod.Reply

// ErrChanged reports that a journal was changed after it was written.
var ErrChanged = errors.New("the file was changed")
