package council

import (
	"fmt"
	"slices"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
	"synod.dev/synod/llm/read"
)

// patienceOf returns the patience of a run: a bench waits for every call unless the council file says otherwise,
// because its figures must not depend on the time that calls take.
func patienceOf(s *session) plan.Waiting {
	p := s.council.plan
	if s.ask.Final && p.Full().Patience.Spare == nil {
		return plan.Waiting{}
	}
	return p.Patience()
}

// grace is the shortest time to wait for a slower member: differences of this size are usual among members that work.
const grace = 500 * time.Millisecond

// impatient returns the time at which the calls that have not returned are cut off, if that is allowed: at most the
// spare number of seats may have such calls, and with them at most that number of seats may be late; or the rule
// decides without them, where F is 0 and nothing is claimed of runs in which a seat is faulty.
func (b *batch) impatient() (at time.Time, ok bool) {
	s := b.session
	p := patienceOf(s)
	spared := p.Spare > 0 && b.waitingSeats() <= p.Spare && s.mayBeLate(b, p.Spare)
	if !spared && (!p.ByRule || !b.met()) {
		return at, false
	}
	if p.After > 0 {
		median := b.median()
		return b.start.Add(time.Duration(float64(p.After) * float64(median))), median > 0
	}
	return b.lastCall()
}

// lastCall returns until when calls are waited for where the council file names no time: half as long again as the
// others took, and half a second more for seats that have not been late before. This half second is halved each time
// that it was in vain, so members that hang make a run at most half as long again, and a second. A seat that was late
// is waited for half as long each time. If no call of the run has returned, there is nothing to compare with.
func (b *batch) lastCall() (at time.Time, ok bool) {
	s, last := b.session, time.Duration(0)
	for _, took := range b.took {
		last = max(last, took)
	}
	s.longest = max(s.longest, last)
	if patienceOf(s).Unequal {
		return b.start.Add(b.unequal(last)), s.longest > 0
	}
	late := b.lateBefore()
	if late > 0 {
		return b.start.Add(last + s.longest>>late), s.longest > 0
	}
	if last == 0 {
		last = s.longest
	}
	return b.start.Add(last + last/2 + grace>>s.vain), s.longest > 0
}

// How long calls of members of unequal speed are waited for, beside four times the longest call of the batch or the
// run: a strong model may take several times as long as a cheap one, and the council may not decide without it. Where
// no other call of the batch has returned, there is nothing to compare with but members of other tiers.
const (
	unequalGrace = 10 * time.Second
	alonePeriod  = time.Minute
)

// unequal returns how long the calls of a batch of a protocol.Unequal may take. last is the longest call of it.
func (b *batch) unequal(last time.Duration) time.Duration {
	if last == 0 {
		return 4*b.session.longest + alonePeriod
	}
	return 4*last + unequalGrace
}

// lateBefore returns how many calls in a row were late of each seat with calls that have not returned, at least.
func (b *batch) lateBefore() (least int) {
	s := b.session
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, w := range b.waiting {
		if n := s.tardy[b.calls[w].Node]; i == 0 || n < least {
			least = n
		}
	}
	return least
}

// inVain counts that seats were waited for in vain that had not been late before.
func (b *batch) inVain() {
	if b.lateBefore() == 0 {
		b.session.vain++
	}
}

// mostLate is how many calls in a row of a seat may be late before it is not called again in the run.
const mostLate = 3

// watchFor counts the late calls of a seat. The caller holds the lock.
func (s *session) watchFor(seat synod.NodeID, r *synod.Reply) {
	switch {
	case r.Late:
		s.tardy[seat]++
	case r.Status == synod.OK:
		s.tardy[seat] = 0
	}
}

// leave stops calling the model of a seat in this run, because every call would fail.
func (s *session) leave(seat synod.NodeID, f *llm.Failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone == nil {
		s.gone = map[string]*llm.Failure{}
	}
	s.gone[s.council.plan.Seats()[seat].Model] = f
}

// cut notes that a call of a seat is cut off.
func (s *session) cut(seat synod.NodeID) {
	if s.cutOff == nil {
		s.cutOff = map[string]bool{}
	}
	s.cutOff[s.council.plan.Seats()[seat].Model] = true
}

// absent sets the reply of a seat that is not called again in this run.
func (s *session) absent(seat synod.NodeID, r *synod.Reply) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.gone[s.council.plan.Seats()[seat].Model]; f != nil {
		// The same words as in the call that failed: seats that fail for one reason are told in one line, whichever
		// of them was called first.
		*r = synod.Reply{Status: f.Status, Detail: f.Reason()}
		return true
	}
	if s.tardy[seat] >= mostLate {
		*r = synod.Reply{Status: synod.Timeout, Late: true,
			Detail: fmt.Sprintf("not called again in this run: its last %d calls were late", mostLate)}
		return true
	}
	return false
}

// await tells who is awaited.
func (b *batch) await() {
	s := b.session
	if s.ask.Progress == nil {
		return
	}
	var ids []string
	for i := range s.council.plan.Seats() {
		if slices.ContainsFunc(b.waiting, func(w int) bool { return int(b.calls[w].Node) == i }) {
			ids = append(ids, s.council.plan.Seats()[i].ID)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Equal(ids, s.awaited) {
		s.awaited = ids
		s.progress()
	}
}

// progress tells how far the run has come. The caller holds the lock.
func (s *session) progress() {
	if s.ask.Progress != nil {
		p := s.council.plan
		s.ask.Progress(Progress{Round: s.rounds, Rounds: p.Protocol().MaxRounds(), Calls: s.made, Planned: p.Calls(),
			Awaited: s.awaited})
	}
}

// met reports whether the answers that the seats hold now meet the rule, whatever the seats without one would say.
func (b *batch) met() bool {
	s := b.session
	held := make([]synod.Answer, len(s.council.plan.Seats()))
	for i, o := range s.fixed.last {
		held[i] = outcome.AnswerOf(o)
	}
	for i, call := range b.calls {
		r, asks := &b.replies[i], call.Prompt.Purpose == synod.Answering || call.Prompt.Purpose == synod.Refining
		if slices.Contains(b.waiting, i) || !asks || r.Status != synod.OK {
			continue
		}
		if given, ok := read.ConfidentAnswer(&s.ask.Question, r, call.Prompt.ConfidenceMode, false); ok {
			held[call.Node] = given.Answer
		}
	}
	return s.decides(func(seat int) synod.Answer { return held[seat] })
}

// median returns the median time of the calls that have returned. If none has, because the other
// members answered from memory, it returns the median of the last batch, or 0.
func (b *batch) median() time.Duration {
	if len(b.took) > 0 {
		took := slices.Sorted(slices.Values(b.took))
		b.session.median = took[(len(took)-1)/2]
	}
	return b.session.median
}

// waitingSeats returns how many seats have calls that have not returned.
func (b *batch) waitingSeats() int {
	seats := map[synod.NodeID]bool{}
	for _, w := range b.waiting {
		seats[b.calls[w].Node] = true
	}
	return len(seats)
}

// mayBeLate reports whether the calls that a batch waits for can be cut off so that at most the
// spare number of seats is faulty: per round, if the protocol's claim is about each round,
// otherwise in the whole run. A seat whose answer was late is faulty until it has an answer.
func (s *session) mayBeLate(b *batch, spare int) bool {
	p := s.council.plan
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range b.waiting {
		round, faulty := -1, 0
		if plan.ClaimsEachRound(p) {
			round = s.round[b.calls[w].Node]
		}
		for i := range s.seats {
			waits := (round < 0 || s.round[i] == round) && slices.ContainsFunc(b.waiting, func(w int) bool {
				return int(b.calls[w].Node) == i && b.calls[w].Prompt.Purpose != synod.Refining
			})
			if waits || s.seats[i].Faulty(round) || s.lacks(i, round) {
				faulty++
			}
		}
		if faulty > spare {
			return false
		}
	}
	return true
}

// lacks reports whether a seat has no answer in a round because a call was late. Round
// -1 stands for all rounds, where seats with a late answer are faulty in any case.
func (s *session) lacks(seat, round int) bool {
	if round < s.round[seat] {
		return slices.Contains(s.lacked[seat], round)
	}
	return s.unanswered[seat]
}
