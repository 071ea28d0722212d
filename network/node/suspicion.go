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
//     and after learnAfter questions twice the time that a question takes, but at least a floor. For protocols that
//     sign, such as signed broadcasts, the floor is the time in which a ping comes;
//   - its process listens while it plays: where connections are refused, it has ended, and is waited for only as long
//     as a ping takes, or after learnAfter questions twice the time that a question takes, but at least within/2;
//   - it says that it has begun a run within two messages after the start, or after its stream was opened;
//   - it answers when it is asked for a tick; when the round of the tick is over, a call that it waits for ends within
//     the think time (debt).
//
// Who says that it takes no part in a run sends nothing in it, and is not waited for. Of others, more than F are never
// suspected: then rather this node is cut off, and rounds end by real time.
//
// Each of these depends on the two nodes and the link between them only. So a neighbour that consents to some nodes
// only, or that some suspect and others do not, gains nothing. Who is not given its consent waits, until the real ends
// of rounds at the longest, and the others wait for him: two honest nodes that do not suspect each other stay together.

// patience is how long a node waits for a neighbour.
type patience struct {
	within time.Duration // the bound on a message
	call   time.Duration // how long a call of its model may take
	absent time.Duration // how long the stream from it may be away
	gone   time.Duration // the same while no process listens at its address
	silent time.Duration // how long nothing may come on its stream
}

// suspicion is what a node knows of a neighbour that may have crashed. Times are since the start of the run.
type suspicion struct {
	heard     time.Duration // when something has come from it, or its stream has broken
	opened    time.Duration // when its stream was opened
	refused   bool          // no process listens at its address
	declined  bool          // it takes no part in the run
	debt      debt          // a tick that it should have closed
	suspected bool          // it is not waited for
}

// unheard returns after which time the neighbour is suspected because nothing comes from it.
func (s *schedule) unheard(p *neighbour) time.Duration {
	switch {
	case p.closed == never:
		return forever
	case p.declined:
		return -forever
	case !p.present && p.refused:
		return p.heard + s.limits.gone
	case !p.present:
		return p.heard + s.limits.absent
	case p.closed < 0:
		return min(p.heard+max(s.limits.absent, s.limits.silent), max(p.opened, 0)+2*s.limits.within)
	}
	return p.heard + max(s.limits.absent, s.limits.silent)
}

// suspect decides which neighbours are not waited for, and returns those that seem to have crashed.
func (s *schedule) suspect(elapsed time.Duration) (ids []synod.NodeID) {
	for id, p := range s.peers {
		if p.suspected = elapsed > s.suspicious(p); p.suspected && !p.declined {
			ids = append(ids, id)
		}
	}
	if len(ids) <= s.f {
		return ids
	}
	for _, p := range s.peers {
		p.suspected = p.declined
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

// look returns after which time to look again whether a neighbour is suspected or to be asked.
func (s *schedule) look(elapsed time.Duration) time.Duration {
	next := forever
	for _, p := range s.peers {
		for _, at := range []time.Duration{s.suspicious(p), p.askAt()} {
			if at >= elapsed && at < forever {
				next = min(next, at-elapsed+time.Millisecond)
			}
		}
	}
	return next
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

// patienceFor returns how long to wait for neighbours. signs says that the seats sign their messages. usual is how long
// questions take; 0: it is not known yet.
func patienceFor(think, within time.Duration, signs bool, usual time.Duration) patience {
	p := patience{within: within, call: think, absent: think + within, silent: within + 2*pingEvery}
	p.gone = min(p.absent, p.silent)
	if usual > 0 {
		p.gone = min(p.gone, max(2*usual, within/2))
		floor := within / 2
		if signs {
			floor = p.silent
		}
		p.absent = min(p.absent, max(2*usual, floor))
	}
	return p
}
