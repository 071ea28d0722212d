package node

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/protocol/answer"
)

// schedule decides in which order a seat is given its events, and when.
//
// Events have ticks. A message that was sent in tick t is delivered in tick t+1, and the reply to a
// model call CallTicks after the call, however long either took: as in package sim. A node gives its
// seat the events of a tick together, in the order of package sim, when every neighbour has closed
// the tick before, which means that it sends nothing more in that tick. So, as long as everybody is
// in time, a seat lives through the same events in the same ticks as in a simulation.
//
// Nobody is waited for without limit. An alarm, such as the end of a round, comes when the real time
// since the start of the run has reached its tick, or earlier when all neighbours have closed the tick
// before (agreed). A node that waits for a neighbour to close a tick
// waits for a quarter of the message bound at most, or until the next alarm if only messages are
// waiting; from then on the neighbour is behind, and is not waited for until it has caught up. A
// message of a tick that is closed is delivered in the next tick that is open.
//
// Between two calls of models there are thousands of ticks in which nobody does anything. Where everybody
// hears everybody, a node that closes a tick in which it has sent nothing says how long it has nothing to do
// unless a message comes. Once all have said so of one tick, no message is on its way, and all ticks before
// the first event of anybody are closed at once (leap).
//
// So ticks pass as fast as the slowest neighbour closes them. A node that is given the alarms of tick u early has heard
// from every honest neighbour that it sends nothing more before u, and has got what it sent before. So the early end of
// a round needs no bound on delays, and an honest message is as much in time as at the real end, whatever Byzantine
// neighbours say or do not say. Only neighbours that seem to have crashed are not waited for (suspect).
//
// A neighbour that lies about ticks gains nothing that silence or delay would not give it: it can make
// others wait for those limits.
type schedule struct {
	self   synod.NodeID
	seats  int
	hold   time.Duration // how long to wait for a neighbour
	f      int           // how many neighbours may be suspected at once
	limits patience
	queue  []item // by tick and order
	due    map[synod.Tick]int
	closed synod.Tick // the last tick in which nothing more is sent; -1: none
	spoke  bool       // something was sent in that tick, or it is not known
	hot    synod.Tick // the last tick about which a neighbour has asked
	peers  map[synod.NodeID]*neighbour

	blocked   synod.Tick // the tick that waits for neighbours
	blockedAt time.Duration
	blocking  bool
}

// item is an event that waits for its tick.
type item struct {
	tick  synod.Tick
	by    synod.Tick // the tick in which it was caused
	node  int        // whose step caused it; the number of seats for replies
	seq   int
	event synod.Event
	alarm bool
}

func (a item) compare(b item) int {
	return cmp.Or(cmp.Compare(a.tick, b.tick), cmp.Compare(a.by, b.by), cmp.Compare(a.node, b.node),
		cmp.Compare(a.seq, b.seq))
}

// neighbour is what is known of a neighbour's time.
type neighbour struct {
	closed  synod.Tick
	present bool                      // its stream is open
	behind  bool                      // it is not waited for
	asked   synod.Tick                // the last tick that it was asked to close
	idle    map[synod.Tick]synod.Tick // by closed tick, from the own one on: before which it does nothing
	ended   synod.Tick                // if closed is never: the tick of its last step
	sent    int                       // messages that it has sent
	bytes   int
	answers int // that it was given (debt)
	suspicion
}

// never is a tick that does not come.
const never = synod.Tick(math.MaxInt64 / 2)

func newSchedule(self synod.NodeID, seats int, peers []synod.NodeID, f int, l patience) *schedule {
	s := &schedule{self: self, seats: seats, hold: l.within / 4, f: f, limits: l, due: map[synod.Tick]int{},
		closed: -1, hot: -1, peers: map[synod.NodeID]*neighbour{}}
	for _, p := range peers {
		s.peers[p] = &neighbour{closed: -1, asked: -1, idle: map[synod.Tick]synod.Tick{}}
	}
	return s
}

// add queues an event. Two events have the same order whenever they are added.
func (s *schedule) add(it item) {
	at, _ := slices.BinarySearchFunc(s.queue, it, item.compare)
	s.queue = slices.Insert(s.queue, at, it)
}

// alarm queues the end of a wait that the seat has asked for in tick now.
func (s *schedule) alarm(now synod.Tick, a synod.Alarm, seq int) {
	s.add(item{tick: max(a.At, now+1), by: now, node: int(s.self), seq: seq, event: synod.Expired{ID: a.ID},
		alarm: true})
}

// heard queues a message that a neighbour sent in a tick. elapsed is the real time; a tick that
// cannot be true yet counts as the present.
func (s *schedule) heard(from synod.NodeID, sent synod.Tick, m *synod.Message, elapsed, within time.Duration) {
	latest := max(synod.Tick(elapsed.Milliseconds()), s.closed) + synod.Tick(within.Milliseconds())
	if sent > latest {
		sent = s.closed
	}
	p := s.peers[from]
	p.sent++
	p.bytes += len(m.Body)
	tick := max(sent+1, s.closed+1)
	s.add(item{tick: tick, by: tick - 1, node: int(from), seq: p.sent, event: synod.Heard{Message: m}})
}

// replied queues a reply to a call of tick asked, whose delivery is due.
func (s *schedule) replied(asked, due synod.Tick, a synod.Answered) {
	if s.due[due]--; s.due[due] <= 0 {
		delete(s.due, due)
	}
	s.add(item{tick: max(due, s.closed+1), by: asked, node: s.seats, seq: int(a.ID), event: a})
}

// forget removes an alarm that has expired in a replay.
func (s *schedule) forget(id synod.AlarmID) {
	s.queue = slices.DeleteFunc(s.queue, func(it item) bool {
		e, ok := it.event.(synod.Expired)
		return ok && e.ID == id
	})
}

// next returns the earliest tick that has an event or waits for a reply.
func (s *schedule) next() synod.Tick {
	t := never
	if len(s.queue) > 0 {
		t = s.queue[0].tick
	}
	for due := range s.due {
		t = min(t, due)
	}
	return t
}

// nextAlarm returns the tick of the first alarm.
func (s *schedule) nextAlarm() synod.Tick {
	for i := range s.queue {
		if s.queue[i].alarm {
			return s.queue[i].tick
		}
	}
	return never
}

// wait returns how long the next tick has to wait: 0 if it may be given to the seat now, and forever
// if nothing but an event from outside can end the wait.
func (s *schedule) wait(elapsed time.Duration) time.Duration {
	t := s.next()
	if t == never || s.due[t] > 0 {
		s.blocking = false
		return forever
	}
	alarm := s.alarms(t)
	if alarm && !s.agreed(t) {
		if real(t) > elapsed {
			s.probe(t, elapsed)
			return min(real(t)-elapsed, s.look(elapsed))
		}
		s.owe(t, elapsed)
	}
	if alarm || len(s.missing(t)) == 0 {
		return 0
	}
	if !s.blocking || s.blocked != t {
		s.blocking, s.blocked, s.blockedAt = true, t, elapsed
	}
	until := s.blockedAt + s.hold
	if at := s.nextAlarm(); !s.own() && at < never {
		until = max(real(at), s.blockedAt)
	}
	if left := until - elapsed; left > 0 {
		s.probe(t, elapsed)
		return min(left, s.look(elapsed))
	}
	for _, p := range s.missing(t) {
		s.peers[p].behind = true
	}
	return 0
}

const forever = time.Duration(math.MaxInt64)

func real(t synod.Tick) time.Duration { return time.Duration(min(t, never/1e6)) * time.Millisecond }

// alarms reports whether an alarm waits for a tick.
func (s *schedule) alarms(t synod.Tick) bool {
	return slices.ContainsFunc(s.queue, func(it item) bool { return it.tick == t && it.alarm })
}

// own reports whether something of the seat's own waits: its beginning or a reply.
func (s *schedule) own() bool {
	return slices.ContainsFunc(s.queue, func(it item) bool {
		_, heard := it.event.(synod.Heard)
		return !heard && !it.alarm
	})
}

// missing returns the neighbours that a tick waits for, ascending: they may still send messages that
// are to be delivered in it.
func (s *schedule) missing(t synod.Tick) (ids []synod.NodeID) {
	for id, p := range s.peers {
		if p.closed < t-1 && p.present && !p.behind && !p.suspected {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// open returns the neighbours that can be asked to close a tick, ascending.
func (s *schedule) open(t synod.Tick) (ids []synod.NodeID) {
	for id, p := range s.peers {
		if p.closed < t && p.present && !p.suspected {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// take removes and returns the events of a tick.
func (s *schedule) take(t synod.Tick) (events []item) {
	n := 0
	for n < len(s.queue) && s.queue[n].tick == t {
		n++
	}
	events = slices.Clone(s.queue[:n])
	s.queue = slices.Delete(s.queue, 0, n)
	s.blocking = false
	return events
}

// maxCreep is how many ticks neighbours without events close on request. After a longer pause
// everybody waits for the real time instead.
const maxCreep = 64

// close closes ticks in which nothing can happen any more, up to the last one that somebody has asked
// about. It reports whether a tick was closed.
func (s *schedule) close(elapsed time.Duration) bool {
	to := min(s.hot, s.next()-1)
	for _, p := range s.peers {
		idle := to-p.closed > maxCreep && elapsed >= real(to) || elapsed >= real(to)+s.hold
		if p.present && !p.behind && !p.suspected && !idle {
			to = min(to, p.closed+1)
		}
	}
	if to <= s.closed {
		return false
	}
	s.end(to, false)
	return true
}

// end closes all ticks up to one. spoke says that something was sent in the last of them.
func (s *schedule) end(t synod.Tick, spoke bool) {
	s.closed, s.spoke = t, spoke
	for _, p := range s.peers {
		maps.DeleteFunc(p.idle, func(at, _ synod.Tick) bool { return at < t })
	}
}

// idle returns before which tick nothing is done unless a message comes.
func (s *schedule) idle() synod.Tick {
	if s.spoke {
		return s.closed + 1
	}
	return s.next()
}

// idleAt returns before which tick the neighbour does nothing, as it said when it closed a tick. Of one that is ahead
// it is the next tick that it has closed: it says so after each tick in which it does something.
func (p *neighbour) idleAt(t synod.Tick) (until synod.Tick, known bool) {
	if until, known = p.idle[t]; known || p.closed <= t {
		return until, known
	}
	until = never
	for closed := range p.idle {
		if closed > t {
			until = min(until, closed)
		}
	}
	if p.closed == never && p.ended >= t {
		until = min(until, max(p.ended, t+1))
	}
	return until, until < never || p.closed == never
}

// leap closes the ticks in which nobody has anything to do, and reports whether there are any.
func (s *schedule) leap() bool {
	to := s.idle() - 1
	if len(s.peers) != s.seats-1 {
		return false // somebody out of sight may send to a neighbour
	}
	for _, p := range s.peers {
		if p.suspected {
			continue
		}
		until, known := p.idleAt(s.closed)
		if !known || !p.present || p.behind {
			return false
		}
		to = min(to, until-1)
	}
	if to <= s.closed || to >= answer.Never-1 {
		return false
	}
	s.end(to, false)
	return true
}

// maxIdle bounds what is kept of a neighbour's closed ticks.
const maxIdle = 256

// heardClosed notes what a neighbour says: that it has closed tick t, and has nothing to do before tick idle. If
// t is never, the neighbour has decided, and idle is the tick of its last step.
func (s *schedule) heardClosed(from synod.NodeID, t, idle synod.Tick, elapsed time.Duration) {
	p := s.peers[from]
	s.pays(p, t, elapsed)
	if p.closed = max(p.closed, t); t == never {
		p.ended = idle
	}
	if t >= s.closed && len(p.idle) < maxIdle {
		p.idle[t] = idle
	}
	if p.closed >= s.closed {
		p.behind = false
	}
}

// ask notes that a neighbour asks for a tick to be closed. elapsed bounds what can be true.
func (s *schedule) ask(t synod.Tick, elapsed, within time.Duration) {
	latest := max(synod.Tick(elapsed.Milliseconds()), s.closed) + synod.Tick(within.Milliseconds())
	s.hot = max(s.hot, min(t, latest))
}

// questions returns the neighbours that are to be asked to close a tick, so that the next tick, or
// one that a neighbour has asked about, can be given; and the tick. Each is asked once.
func (s *schedule) questions() (ids []synod.NodeID, t synod.Tick) {
	t = never
	if next := s.next(); next < never && s.due[next] == 0 {
		t = next - 1
	}
	if s.hot > s.closed {
		t = min(t, s.hot-1)
	}
	if t == never || t < 0 {
		return nil, 0
	}
	missing := s.open(t)
	if slices.ContainsFunc(missing, func(id synod.NodeID) bool { return t-s.peers[id].closed > maxCreep }) {
		t = s.closed // from there on all may leap
	}
	for _, id := range missing {
		if p := s.peers[id]; p.asked < t && p.closed < t && t-p.closed <= maxCreep {
			p.asked = t
			ids = append(ids, id)
		}
	}
	return ids, t
}
