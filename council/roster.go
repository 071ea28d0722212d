package council

import (
	"fmt"

	"synod.dev/synod/llm"
)

// Seat is what is known of a seat before anything is asked.
type Seat struct {
	ID        string   `json:"id"`
	Model     string   `json:"model"`
	Kind      llm.Kind `json:"kind"`
	Group     string   `json:"group,omitempty"`     // weak | strong, as the experimenter says
	Adversary string   `json:"adversary,omitempty"` // the name of the liar around it
	Role      string   `json:"role,omitempty"`
	Mute      bool     `json:"mute,omitempty"`   // it has no vote
	Identity  string   `json:"identity"`         // of the model: everything about it that changes an answer
	Server    string   `json:"server,omitempty"` // of an endpoint: its host
	Served    string   `json:"served,omitempty"` // of an endpoint: what the model is called there
}

// Seats lists the seats in order, counts written out.
func (c *Council) Seats() []Seat {
	seats := make([]Seat, len(c.seats))
	for i, s := range c.seats {
		info := c.models[s.model].Info()
		seats[i] = Seat{ID: s.id, Model: s.model, Kind: info.Kind, Group: s.group, Role: string(s.role), Identity: info.Identity, Server: info.Server, Served: info.Model}
		seats[i].Mute = c.mute != nil && c.mute[i]
		if len(s.adversary) > 0 {
			seats[i].Adversary, _, _ = s.adversary.split()
		}
	}
	return seats
}

// Spec is the council's spec as it goes on record: a graph that came from a file
// stands in it with its edges, and whom a breaker tells does not, for that may hold
// a secret, and a foreign record must start nothing.
func (c *Council) Spec() Spec {
	spec := c.spec
	spec.Breakers.Escalate = Escalate{}
	return spec
}

// checkGroup reports a group that nobody would report on.
func (s *SeatSpec) checkGroup() error {
	switch s.Group {
	case "", "weak", "strong":
		return nil
	}
	return fmt.Errorf("seat %s: group is %q; it must be weak or strong", s.ID, s.Group)
}
