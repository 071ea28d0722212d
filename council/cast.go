package council

import (
	"fmt"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/protocol"
)

// castRoles gives seats their roles and finds out who votes.
func (c *Council) castRoles() error {
	var roles []synod.Role
	if p, ok := c.protocol.(protocol.Casting); ok {
		roles = p.Roles()
	}
	for _, s := range c.seats {
		switch {
		case roles == nil && s.role != "":
			return fmt.Errorf("seat %s: role is %q, and protocol %s knows no roles", s.id, s.role, c.entry.Name)
		case roles != nil && !slices.Contains(roles, s.role):
			return fmt.Errorf("seat %s: role is %q; in protocol %s it must be one of %v", s.id, s.role, c.entry.Name, roles)
		}
		if roles != nil {
			c.cast = append(c.cast, s.role)
		}
	}
	p, ok := c.protocol.(protocol.Electorate)
	if !ok {
		return nil
	}
	cast := c.cast
	if cast == nil {
		cast = make([]synod.Role, len(c.seats))
	}
	c.mute = make([]bool, len(c.seats))
	for i := range c.seats {
		c.mute[i] = !p.Votes(synod.NodeID(i), cast)
	}
	if !slices.Contains(c.mute, false) {
		return fmt.Errorf("in protocol %s with these parameters no seat has a vote", c.entry.Name)
	}
	return nil
}

// voters is how many seats have a vote.
func (c *Council) voters() int {
	n := len(c.seats)
	for _, mute := range c.mute {
		if mute {
			n--
		}
	}
	return n
}

// independent is how many seats give an answer of their own in round 0.
func (c *Council) independent() (n int) {
	p, ok := c.protocol.(protocol.Answering)
	if !ok {
		return c.voters()
	}
	for i := range c.seats {
		if p.Answers(synod.NodeID(i), c.cast) {
			n++
		}
	}
	return n
}

// Without is the ballot of those who are not mute, by seat; nil: all vote. Who was
// first to give an answer counts as independent, vote or not.
func (b Ballot) Without(mute []bool) Ballot {
	if mute == nil {
		return b
	}
	voting := Ballot{Concluded: b.Concluded, First: b.First}
	for i, m := range mute {
		if !m {
			voting.Seats, voting.Final = append(voting.Seats, b.Seats[i]), append(voting.Final, b.Final[i])
		}
	}
	return voting
}

// checkReach refuses a graph in which a protocol's members do not all hear one
// another, where they must.
func (c *Council) checkReach() error {
	if p, ok := c.protocol.(protocol.AllToAll); !ok || !p.AllToAll() {
		return nil
	}
	for i, peers := range c.peers {
		if len(peers) < len(c.seats)-1 {
			return fmt.Errorf("protocol %s needs a complete graph, and seat %s hears only %d of the %d others", c.entry.Name, c.seats[i].id, len(peers), len(c.seats)-1)
		}
	}
	return nil
}
