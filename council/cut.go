package council

import (
	"slices"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm/read"
)

// needless returns the time at which the calls that have not returned are cut off, if they cannot
// change the decision: at the last call, and after at least a second, because the answer of a slightly
// slower member still shows whether it dissents. A bench waits for every call, because its figures must
// not depend on the time that calls take, and so does a run by the clock, which is measured.
func (b *batch) needless() (at time.Time, ok bool) {
	s := b.session
	if s.ask.Final || s.council.can.Measured || !s.unanimous() && !b.certain() {
		return at, false
	}
	at, least := b.start, b.start.Add(2*grace)
	if last, ok := b.lastCall(); ok {
		at = last
	}
	if at.Before(least) {
		at = least
	}
	return at, true
}

// unanimous reports whether every seat holds the same answer after the last round, in a protocol in
// which a round without changes is repeated in the same way. Then a model that refines its answer
// has no other to choose from.
func (s *session) unanimous() bool {
	f := s.fixed
	if !f.possible || f.complete < 0 || !f.unanimous(nil) {
		return false
	}
	for _, o := range f.last {
		if outcome.AnswerOf(o) == synod.None {
			return false
		}
	}
	return s.decides(func(seat int) synod.Answer { return f.last[seat].Answer })
}

// certain reports whether the answers of a batch decide whatever the missing answers are. That is
// possible only in a protocol of one round, in which every seat is asked once.
func (b *batch) certain() bool {
	s, p := b.session, b.session.council.plan
	if s.ask.Question.Form == synod.JSON { // missing numbers may leave a field undecided
		return false
	}
	if p.Protocol().MaxRounds() > 0 || p.Calls() != len(p.Seats()) || len(b.calls) != len(p.Seats()) ||
		p.Full().Exact != "" ||
		p.Full().Rule.Name == plan.ByProtocol || slices.ContainsFunc(p.Seats(),
		func(s plan.Seat) bool { return s.Adversary != "" }) {
		return false
	}
	held := make([]synod.Answer, len(p.Seats()))
	for i, call := range b.calls {
		if call.Prompt.Purpose != synod.Answering || call.Prompt.ConfidenceMode != synod.NoConfidence {
			return false
		}
		if r := &b.replies[i]; !slices.Contains(b.waiting, i) && r.Status == synod.OK {
			if given, ok := read.ConfidentAnswer(&s.ask.Question, r, synod.NoConfidence, false); ok {
				held[call.Node] = given.Answer
			}
		}
	}
	return s.decides(func(seat int) synod.Answer { return held[seat] })
}

// decides reports whether the rule decides on these answers, and does so whatever the seats
// without an answer would say.
func (s *session) decides(held func(seat int) synod.Answer) bool {
	p := s.council.plan
	if p.Full().Rule.Name == plan.ByProtocol {
		return false
	}
	first, missing := make([]synod.Answer, len(p.Seats())), 0
	for i := range p.Seats() {
		if o := s.fixed.first[i]; o != nil {
			first[i] = o.Answer
		} else {
			first[i] = held(i)
		}
		if held(i) == synod.None && !p.Seats()[i].NonVoting {
			missing++
		}
	}
	return outcome.Certain(p, first, held, missing)
}
