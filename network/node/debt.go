package node

import (
	"time"

	"synod.dev/synod"
)

// debt is a tick that a neighbour has to close, or about which it has to say that it cannot yet.
//
// While a round lasts, a node that waits for a neighbour asks it once whether it is there: an honest one closes the
// tick or answers with what it has closed (probe). When a round has ended by real time, because the neighbour has not
// closed its last tick, the neighbour owes that tick. An honest one closes it by then too, or soon after, or it
// answers, and waits for a call of its model (owe). A neighbour is suspected
//
//   - if nothing of this has come two messages after it was asked, which it is after one message;
//   - if it owes a tick for the time of a call after the last answer or the last tick that it has closed. A call begins
//     before the tick that it delays, so an honest neighbour needs no more.
//
// So a seat that says that it has begun, and then sends only pings, costs a run three messages. One that answers and
// never closes anything costs one round and a call. One that closes a tick at the end of each such time makes every
// round last, as a slow model does.
type debt struct {
	tick     synod.Tick
	ask      time.Duration // when the neighbour is asked; forever: it was asked
	until    time.Duration // after which time the neighbour is suspected; forever: it was not asked; 0: it owes nothing
	late     bool          // the round has ended
	answered bool          // since it was asked
}

// owing reports whether the neighbour has to close a tick, or to answer.
func (p *neighbour) owing() bool { return p.debt.until > 0 && p.closed < p.debt.tick }

// probe notes that the events of tick t wait for neighbours to close the tick before.
func (s *schedule) probe(t synod.Tick, elapsed time.Duration) {
	for _, p := range s.peers {
		if p.closed < t-1 && p.present && !p.suspected && p.debt.tick < t-1 && !p.owing() {
			p.debt = s.newDebt(t-1, elapsed)
		}
	}
}

// owe notes that a round ends by real time in tick t, because neighbours have not closed the tick before.
func (s *schedule) owe(t synod.Tick, elapsed time.Duration) {
	for _, p := range s.peers {
		if p.closed < t-1 && !p.suspected && !(p.owing() && p.debt.late) {
			p.debt = s.newDebt(t-1, elapsed)
			p.debt.late = true
		}
	}
}

func (s *schedule) newDebt(t synod.Tick, elapsed time.Duration) debt {
	return debt{tick: t, ask: elapsed + s.limits.within, until: forever}
}

// answerTime is how long an honest neighbour that is asked takes to close a tick or to answer: one message for the
// question and one for the answer.
func (s *schedule) answerTime() time.Duration { return 2*s.limits.within + s.hold }

// askAt returns when the neighbour is to be asked.
func (p *neighbour) askAt() time.Duration {
	if p.owing() {
		return p.debt.ask
	}
	return forever
}

// debtors returns the neighbours that are to be asked now, and for which tick. Each is asked once for a debt.
func (s *schedule) debtors(elapsed time.Duration) map[synod.NodeID]synod.Tick {
	ticks := map[synod.NodeID]synod.Tick{}
	for id, p := range s.peers {
		if p.present && elapsed >= p.askAt() {
			p.debt.ask, p.debt.until, ticks[id] = forever, elapsed+s.answerTime(), p.debt.tick
		}
	}
	return ticks
}

// pays notes that a neighbour says it has closed tick t, before p.closed has it.
func (s *schedule) pays(p *neighbour, t synod.Tick, elapsed time.Duration) {
	asked := p.debt.ask == forever
	news := asked && !p.debt.answered || t > p.closed && p.debt.late
	if !p.owing() || !news {
		return
	}
	if !p.debt.late {
		p.debt.until = 0
		return
	}
	if p.debt.answered = asked; asked {
		p.debt.until = max(p.debt.until, elapsed+s.limits.call+s.answerTime())
	}
}

// over reports whether the time of a tick has passed. Before, a neighbour that asks for it only wants an answer.
func (s *schedule) over(t synod.Tick, elapsed time.Duration) bool { return elapsed >= real(t) }

// maxAnswers bounds how many answers a neighbour gets in one run. An honest one asks twice in a round.
const maxAnswers = 256

// mustAnswer reports whether a neighbour that asks has to be told that a tick cannot be closed yet.
func (s *schedule) mustAnswer(from synod.NodeID, t synod.Tick) bool {
	p := s.peers[from]
	if s.closed >= t || p.answers >= maxAnswers {
		return false
	}
	p.answers++
	return true
}

// suspicious returns after which time the neighbour is suspected, unless what it waits for comes.
func (s *schedule) suspicious(p *neighbour) time.Duration {
	if p.owing() && p.present {
		return min(s.unheard(p), max(p.debt.until, p.opened+s.answerTime()))
	}
	return s.unheard(p)
}
