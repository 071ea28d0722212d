package synod

import (
	"fmt"
	"strings"
)

// Vote is what a player says about ending a game (GM-2).
type Vote string

// The votes. Whoever abstains, or fails to say, has not voted to stop.
const (
	Stop     Vote = "stop"
	Continue Vote = "continue"
	Abstain  Vote = "abstain"
)

// The longest texts, in bytes, of a player that are kept: a public reason and a private note.
const (
	MaxReason = 600
	MaxNotes  = 400
)

// Table is a game of repeated proposals as one player may see it: whole numbers
// from Low to High, one a round from everybody (GM-1, GM-5).
type Table struct {
	Self      NodeID     `json:"self"`
	Round     int        `json:"round"`  // from 1
	Rounds    int        `json:"rounds"` // at most
	Low       int        `json:"low"`
	High      int        `json:"high"`
	Threshold string     `json:"threshold"`         // how many votes end the game, in words
	Initial   *int       `json:"initial,omitempty"` // what the player was given
	Value     *int       `json:"value,omitempty"`   // what it holds
	Now       []Proposal `json:"now,omitempty"`     // of this round, ascending by player; only to Voting
	Past      []Past     `json:"past,omitempty"`    // earlier rounds as far as they are remembered, ascending
	Notes     []string   `json:"notes,omitempty"`   // the player's own, which nobody else ever sees
}

// Proposal is what a player told everybody in a round.
type Proposal struct {
	By     NodeID `json:"by"`
	Value  *int   `json:"value"`            // nil: it abstained
	Reason string `json:"reason,omitempty"` // untrusted
}

// Past is an earlier round.
type Past struct {
	Round     int        `json:"round"`
	Proposals []Proposal `json:"proposals"`
}

func (t *Table) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "round %d of %d", t.Round, t.Rounds)
	if t.Value != nil {
		fmt.Fprintf(&s, " holding %d", *t.Value)
	}
	shown := t.Now
	if len(shown) == 0 && len(t.Past) > 0 {
		shown = t.Past[len(t.Past)-1].Proposals
	}
	for _, p := range shown {
		if p.Value == nil {
			fmt.Fprintf(&s, " n%d=–", p.By)
		} else {
			fmt.Fprintf(&s, " n%d=%d", p.By, *p.Value)
		}
	}
	return s.String()
}
