package council

import (
	"fmt"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/sim"
)

// breaker watches one run round by round.
type breaker struct {
	Breakers
	council  *Council
	held     [][]synod.Answer // by round, by seat; what a member held before it noted nothing
	noted    []int            // by round: how many members that vote noted it
	latest   int              // the last round that was noted
	judged   int              // rounds that were looked at
	still    int              // rounds in a row that changed nothing
	swings   int              // rounds in a row that came back
	suspects []synod.NodeID
}

func newBreaker(c *Council) *breaker { return &breaker{Breakers: c.spec.Breakers, council: c} }

// after takes the notes of a tick and says which breaker trips; nil: none. dead
// reports whether a seat's calls have all failed so far.
func (b *breaker) after(notes []sim.Noted, dead func(seat int) bool) *Trip {
	if !b.any() {
		return nil
	}
	for _, n := range notes {
		b.take(n)
	}
	if trip := b.equivocation(); trip != nil {
		return trip
	}
	for b.judged < len(b.noted) && b.noted[b.judged] >= b.noted[0] && b.noted[0] > 0 {
		t := b.judged
		b.judged++
		if trip := b.judge(t, dead); trip != nil {
			trip.Round = t
			return trip
		}
	}
	return nil
}

func (b *breaker) take(n sim.Noted) {
	for len(b.noted) <= n.Round {
		next := make([]synod.Answer, len(b.council.seats))
		if k := len(b.held); k > 0 {
			copy(next, b.held[k-1])
		}
		b.held, b.noted = append(b.held, next), append(b.noted, 0)
	}
	if c := b.council; c.mute == nil || !c.mute[n.Node] {
		b.noted[n.Round]++
	}
	b.latest = max(b.latest, n.Round)
	for t := n.Round; t < len(b.held); t++ {
		b.held[t][n.Node] = n.Answer
	}
	b.suspects = append(b.suspects, n.Suspects...)
}

// equivocation trips as soon as anybody is suspected: what the others hold by then
// may be of a liar's choosing.
func (b *breaker) equivocation() *Trip {
	if !b.Equivocation || len(b.suspects) == 0 {
		return nil
	}
	slices.Sort(b.suspects)
	who := b.council.names(asInts(slices.Compact(b.suspects)))
	return &Trip{Breaker: Equivocation, Round: b.latest, Detail: fmt.Sprintf("%v told different members different things", who), Continue: "breakers.equivocation=false"}
}

// judge looks at a round that all voting members have noted who noted the first.
func (b *breaker) judge(t int, dead func(int) bool) *Trip {
	if trip := b.quorum(t, dead); trip != nil {
		return trip
	}
	if t == 0 {
		return nil
	}
	same := slices.Equal(b.held[t], b.held[t-1])
	b.still++
	if !same {
		b.still = 0
	}
	b.swings++
	if same || !b.back(t) {
		b.swings = 0
	}
	stuck, swinging := b.NoProgress > 0 && b.still >= b.NoProgress, b.Oscillation > 0 && b.swings >= b.Oscillation
	switch {
	case !stuck && !swinging || b.decided(t): // it goes well
		return nil
	case stuck:
		return &Trip{Breaker: NoProgress, Detail: fmt.Sprintf("no answer changed in %d rounds, and the rule does not decide", b.still), Continue: "breakers.no_progress=0"}
	}
	return &Trip{Breaker: Oscillation, Detail: fmt.Sprintf("for %d rounds the members have come back to answers that they had left", b.swings), Continue: "breakers.oscillation=0"}
}

// back reports whether the answers of round t are those of two to four rounds
// before.
func (b *breaker) back(t int) bool {
	for period := 2; period <= 4 && period <= t; period++ {
		if slices.Equal(b.held[t], b.held[t-period]) {
			return true
		}
	}
	return false
}

// decided reports whether the rule would decide on round t.
func (b *breaker) decided(t int) bool {
	c := b.council
	ballot := Ballot{Seats: make([]string, len(c.seats)), First: b.held[0], Final: b.held[t]}
	for i, s := range c.seats {
		ballot.Seats[i] = s.id
	}
	return c.spec.Rule.Decide(ballot.Without(c.mute)).Status == Agreed
}

// quorum trips when too many voting members have no answer and have never had a
// call that went through: the rule takes more live members than there can be. A
// member gets a second chance in round 1.
func (b *breaker) quorum(t int, dead func(int) bool) *Trip {
	if !b.Quorum || t == 0 {
		return nil
	}
	c, gone := b.council, []int{}
	for i := range c.seats {
		if (c.mute == nil || !c.mute[i]) && b.held[t][i] == synod.None && dead(i) {
			gone = append(gone, i)
		}
	}
	_, live := c.spec.Rule.need(c.voters())
	if c.voters()-len(gone) >= live {
		return nil
	}
	return &Trip{
		Breaker: NoQuorum, Continue: "breakers.quorum=false",
		Detail: fmt.Sprintf("%v are out of reach, and %s takes %d live members of %d", c.names(gone), c.spec.Rule.Name, live, c.voters()),
	}
}

func asInts(ids []synod.NodeID) (out []int) {
	for _, id := range ids {
		out = append(out, int(id))
	}
	return out
}
