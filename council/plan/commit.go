package plan

import (
	"synod.dev/synod"
	"synod.dev/synod/adversary"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/reveal"
)

// setCommit finds whether members commit to their first answers before they tell them, and the longest distance between
// two members.
func setCommit(p *Plan) {
	t, ok := p.protocol.(protocol.Telling)
	if p.commits = ok && t.TellsFirst() && p.guards.Commit && p.protocol.MaxRounds() > 0; p.commits {
		p.hops = widest(p)
	}
}

// noteUncommitted says of a claim or a rule that counts first answers that they may be copies.
func noteUncommitted(p *Plan, b Bound) Bound {
	t, tells := p.protocol.(protocol.Telling)
	_, staged := p.protocol.(protocol.Staged)
	if tells = tells && p.protocol.MaxRounds() > 0 && !p.commits; tells && (staged || p.spec.Rule.Support > 0) {
		b.Note += "; members tell their first answers at once, so one that waits can copy one, and the copy counts"
		if !t.TellsFirst() {
			b.Note += " (asynchronous rounds have no end by which members could commit)"
		}
	}
	return b
}

// FirstPeers returns the neighbours of a seat in round 0.
func FirstPeers(p *Plan, seat int) []synod.NodeID {
	if p.byRound != nil {
		return p.byRound[seat][0]
	}
	return p.peers[seat]
}

// mostHops bounds how often members say that they are ready. On a wider graph, copies of answers are excluded within
// this distance only.
const mostHops = 8

// mostExact is how many seats a council has at most whose greatest distance is measured from every seat.
const mostExact = 256

// widest returns the greatest distance between two seats that are connected in round 0, at least 1 and at most
// mostHops. For many seats it may return more than that distance: twice the greatest one from the first seat.
func widest(p *Plan) (most int) {
	n := len(p.seats)
	if n > mostExact {
		return max(1, min(2*farthest(p, 0), mostHops))
	}
	most = 1
	for from := range n {
		if len(FirstPeers(p, from)) < n-1 {
			most = max(most, farthest(p, from))
		}
	}
	return most
}

// farthest returns the greatest distance from a seat in round 0, at most mostHops.
func farthest(p *Plan, from int) (most int) {
	far, reached := make([]int, len(p.seats)), []int{from}
	for i := 0; i < len(reached) && most < mostHops; i++ {
		for _, to := range FirstPeers(p, reached[i]) {
			if far[to] == 0 && int(to) != from {
				far[to], reached = far[reached[i]]+1, append(reached, int(to))
				most = far[to]
			}
		}
	}
	return most
}

// Committing says who commits.
func Committing(p *Plan) reveal.Config {
	c := reveal.Config{Hops: p.hops}
	if b, ok := p.protocol.(protocol.Beginning); ok {
		c.Asked = func(q *synod.Question) []synod.NodeID { return b.FirstAsked(q, len(p.seats), p.spec.F) }
	}
	return c
}

// Join returns the machine of a seat: that of its adversary if it has one, inside the machine that commits to first
// answers. An adversary that attacks commitments is outside of that.
func Join(p *Plan, seat synod.Seat, join func(synod.Seat) synod.Machine) synod.Machine {
	a := p.adversaries[seat.Self]
	if !p.commits {
		return corrupted(a, seat, join)
	}
	c := Committing(p)
	slow := func(s synod.Seat) synod.Machine { return reveal.Inside(s, c, join) }
	m := reveal.Around(seat, c, corrupted(a, seat, slow))
	if o, ok := a.(adversary.Outer); ok {
		return o.Enclose(seat, m)
	}
	return m
}

func corrupted(a adversary.Adversary, seat synod.Seat, join func(synod.Seat) synod.Machine) synod.Machine {
	if a == nil {
		return join(seat)
	}
	return adversary.Seat(a, seat, join)
}
