package node

import (
	"time"

	"synod.dev/synod"
	"synod.dev/synod/llm"
	"synod.dev/synod/record/ledger"
)

// Stats are figures since the node was started.
type Stats struct {
	Runs          int `json:"runs"`
	Resumed       int `json:"resumed"`
	Declined      int `json:"declined"`
	Strangers     int `json:"strangers"`     // streams that did not know the roster
	Junk          int `json:"junk"`          // streams of neighbours that were closed because of what they sent
	Refused       int `json:"refused"`       // values that were not signed: the slot has another one
	Equivocations int `json:"equivocations"` // members that were proved to sign two values for one slot
	Older         int `json:"older"`         // runs in which the key has signed what the folder does not have
	SkewAlarms    int `json:"skew_alarms"`
}

// add adds the figures of another node.
func (s *Stats) add(of *Stats) {
	s.Runs += of.Runs
	s.Resumed += of.Resumed
	s.Declined += of.Declined
	s.Strangers += of.Strangers
	s.Junk += of.Junk
	s.Refused += of.Refused
	s.Equivocations += of.Equivocations
	s.Older += of.Older
	s.SkewAlarms += of.SkewAlarms
}

// Status is what a node says about itself to its owner.
type Status struct {
	Version  int           `json:"version"`
	Council  string        `json:"council"`
	Roster   string        `json:"roster"`
	Serial   uint64        `json:"serial"`
	Seat     string        `json:"seat"`
	Model    string        `json:"model"`
	Kind     llm.Kind      `json:"kind"` // of the seat's model: simulated and recorded ones are no live models
	Key      string        `json:"key"`
	Listen   string        `json:"listen"`
	Up       float64       `json:"up"` // seconds
	Draining bool          `json:"draining"`
	Skewed   bool          `json:"skewed"`
	Older    []string      `json:"older"` // runs in which the key has signed what the folder does not have
	Today    Today         `json:"today"`
	Stats    Stats         `json:"stats"`
	Peers    []PeerStatus  `json:"peers"`
	Runs     []RunStatus   `json:"runs"`             // in memory, the latest last
	Ledger   *LedgerStatus `json:"ledger,omitempty"` // nil: this node keeps none
	// Rosters are those that the node plays, the one in force last. The other fields are about that one; Stats, Peers
	// and Runs are about all.
	Rosters []RosterStatus `json:"rosters,omitempty"`
}

// LedgerStatus says how the ledger stands that this node keeps.
type LedgerStatus struct {
	Kind string `json:"kind"`
	ledger.KeeperStatus
}

// Today is what the node has spent today.
type Today struct {
	Day    string  `json:"day"`
	Calls  int     `json:"calls"`
	Tokens int     `json:"tokens"`
	USD    float64 `json:"usd"`
}

// PeerStatus is what a node knows of a neighbour.
type PeerStatus struct {
	ID        string  `json:"id"`
	Key       string  `json:"key"`
	Connected bool    `json:"connected"` // the stream to it is open
	Incoming  int     `json:"incoming"`  // streams from it
	OffsetMS  float64 `json:"offset_ms"` // how much its clock is ahead
	DelayMS   float64 `json:"delay_ms"`  // half of a round trip
	Strikes   int     `json:"strikes"`
	Frames    uint64  `json:"frames"`
	Checks    uint64  `json:"checks"` // of signatures that it caused
	Trouble   string  `json:"trouble,omitempty"`
	Relay     string  `json:"relay,omitempty"` // the member through which the stream to it goes; "": it is direct
	// Serials are those of the rosters under which a stream to it or from it is open.
	Serials []uint64 `json:"serials,omitempty"`
}

// RunStatus is a run as this node sees it.
type RunStatus struct {
	Run     string       `json:"run"`
	Form    synod.Form   `json:"form"`
	Tick    synod.Tick   `json:"tick"`
	Round   int          `json:"round"`
	Answer  synod.Answer `json:"answer"` // of this seat
	Calls   int          `json:"calls"`
	Late    uint64       `json:"late"`
	Stopped string       `json:"stopped"` // "": it plays
	Seconds float64      `json:"seconds"` // since its start
}

// RosterStatus is a roster that a node plays.
type RosterStatus struct {
	Hash    string    `json:"hash"`
	Serial  uint64    `json:"serial"`
	Seat    string    `json:"seat"`           // "": the node's owner has none in it
	Until   time.Time `json:"until,omitzero"` // when it takes no new question any more; zero: it is in force
	Ended   bool      `json:"ended"`          // it takes no new question
	Playing int       `json:"playing"`        // runs that have not ended
}
