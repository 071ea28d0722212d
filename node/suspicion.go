package node

import (
	"sync"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/protocol/answer"
)

// A neighbour that has crashed must not make the others wait for the real end of every round. A node suspects it, and
// goes on without its consent. A suspicion only shortens waiting: the machines count what comes, as before, and a
// suspected neighbour that comes back is waited for again.
//
// It is safe if no honest neighbour is suspected. What is assumed of an honest one:
//
//   - while its stream is open, something comes from it at least every within and two pings: it pings every second, and
//     the roster bounds the time of a message;
//   - if its stream breaks, it is open again within the patience for absent neighbours: one model call and one message,
//     and after learnAfter questions twice the time that a question takes, but at least the floor of patience;
//   - if it is connected, it closes a tick within one model call and two messages after all others have (stalled). This
//     is not assumed for protocols that sign, such as signed broadcasts.
//
// More than F neighbours are never suspected: then rather this node is cut off, and rounds end by real time.
//
// A neighbour that consents to some nodes only, or that some suspect and others do not, gains nothing. Who is not given
// its consent waits, and the others wait for him: all that they need of him is that he closes ticks. So two honest nodes
// that do not suspect each other stay within one tick.

// patience is how long a node waits for a neighbour.
type patience struct {
	within time.Duration // the bound on a message
	absent time.Duration // how long the stream from it may be away
	silent time.Duration // how long nothing may come on its stream
	stall  time.Duration // how long it alone may keep ticks open; 0: until the real ends of rounds
}

// suspicion is what a node knows of a neighbour that may have crashed.
type suspicion struct {
	heard     time.Duration // when something has come from it
	since     time.Duration // when this node began to wait for it alone; negative: it does not
	waits     bool          // it has said since then that it waits for others
	stalled   bool          // it was waited for too long
	suspected bool          // it is not waited for
}

// answers notes that the neighbour has said which tick it has closed. further says that it is a later tick than before.
// The same tick again says that the neighbour waits for others too, so it gets more time, once.
func (x *suspicion) answers(further bool) {
	if further {
		x.since, x.waits = -1, false
	} else if x.since >= 0 {
		x.waits = true
	}
}

// suspect decides which neighbours are not waited for.
func (s *schedule) suspect(elapsed time.Duration) (ids []synod.NodeID) {
	for id, p := range s.peers {
		limit := s.limits.absent
		if p.present {
			limit = max(limit, s.limits.silent)
		}
		p.suspected = p.closed != never && (p.stalled || elapsed-p.heard > limit)
		if p.suspected {
			ids = append(ids, id)
		}
	}
	if len(ids) <= s.f {
		return ids
	}
	for _, p := range s.peers {
		p.suspected = false
	}
	return nil
}

// agreed reports whether the alarms of a tick may be given before their time: no neighbour sends anything more before
// that tick. A round without a bound (answer.Never) waits for its messages.
func (s *schedule) agreed(t synod.Tick) bool {
	for _, p := range s.peers {
		if p.closed < t-1 && !p.suspected {
			return false
		}
	}
	return t < answer.Never
}

// blame notes for which neighbours this node waits, and returns after which time it has to look again. These are the
// neighbours that have not closed what this node has closed, or have something to do in the next tick.
func (s *schedule) blame(elapsed time.Duration) (look time.Duration) {
	look = forever
	for _, p := range s.peers {
		if p.suspected || p.closed == never {
			continue
		}
		limit := s.limits.absent
		if p.present {
			limit = max(limit, s.limits.silent)
		}
		look = min(look, p.heard+limit-elapsed)
		until, known := p.idle[s.closed]
		if s.limits.stall == 0 || known && until > s.closed+1 {
			continue
		}
		if p.since < 0 {
			p.since = elapsed
		}
		limit = s.limits.stall
		if p.waits {
			limit *= 2
		}
		if p.stalled = elapsed-p.since > limit; !p.stalled {
			look = min(look, p.since+limit-elapsed, max(p.since+s.limits.stall/2-elapsed, s.limits.stall/4))
		}
	}
	return max(look, time.Millisecond) + time.Millisecond
}

// pleads reports whether this node has to say that it waits for others, so that nobody takes it for the one that
// keeps ticks open: half of the time has passed after which it suspects a neighbour.
func (s *schedule) pleads(elapsed time.Duration) bool {
	for _, p := range s.peers {
		if p.since >= 0 && !p.suspected && elapsed-p.since > s.limits.stall/2 {
			return true
		}
	}
	return false
}

// learnAfter is after how many questions a node knows how long one takes.
const learnAfter = 20

// usual learns how long questions take.
type usual struct {
	mu   sync.Mutex
	last []time.Duration // of the last questions, at most learnAfter
}

// add adds the time of a question in which nobody was suspected.
func (u *usual) add(d time.Duration) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.last = append(u.last, d); len(u.last) > learnAfter {
		u.last = u.last[1:]
	}
}

// longest returns the longest time of the last questions; 0: it has not learned yet.
func (u *usual) longest() (most time.Duration) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.last) < learnAfter {
		return 0
	}
	for _, d := range u.last {
		most = max(most, d)
	}
	return most
}

// patience returns how long this node waits for neighbours in a run.
func (n *Node) patience() patience {
	think := time.Duration(n.roster.Think) * time.Millisecond
	p := patience{within: n.within, absent: think + n.within, silent: n.within + 2*pingEvery}
	if !n.plan.Signs() {
		p.stall = think + 2*n.within
	}
	if d := n.usual.longest(); d > 0 {
		floor := n.within / 2
		if n.plan.Signs() {
			floor = n.within + 2*pingEvery
		}
		p.absent = min(p.absent, max(2*d, floor))
	}
	return p
}
