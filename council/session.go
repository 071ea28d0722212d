package council

import (
	"context"
	"slices"
	"sync"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
)

// session is one question on its way. It answers the members' model calls (Models),
// keeps their account and the journal, and decides when to stop.
type session struct {
	council  *Council
	ask      Ask
	instance plan.Instance
	ctx      context.Context // ends at the deadline
	cancel   context.CancelFunc
	outer    context.Context // ends when the caller gives up
	budget   *llm.Budget
	limited  *llm.Budget     // budget; nil if nothing is limited, which is faster
	journal  *journal.Writer // nil: none is kept
	fixed    *fixedPoint
	breaker  *outcome.Breaker
	round    []int                // by seat: the round that its next note is for
	median   time.Duration        // of the calls of the last batch in which a call returned; 0: none yet
	longest  time.Duration        // that a call of the run took which was not cut off
	vain     int                  // how often seats were waited for in vain that had not been late before
	settled  bool                 // whether the last tick has shown that no remaining round can change the decision
	ending   string               // why the run is being cut off; "": it is not
	crew     *crew                // of simulated members, of whose runs nobody keeps anything; else nil
	replies  []synod.Reply        // storage of the replies, if there is a crew
	uses     []llm.Use            // buffer of completeIn
	arrived  []synod.Reply        // of the last batch, if there is a crew
	wait     func() []synod.Reply // returns arrived
	judging  outcome.Judging      // buffers of judge
	request  llm.Request          // of every call, without its prompt and seat
	instant  llm.Request          // request with those of the last call to an instant model
	calls    chan func()          // to goroutines that have ended a call; nil: a call ends its own

	verdicts verdicts // of the commands among the checks
	early    earlyCalls

	mu         sync.Mutex
	seats      []outcome.Record        // by seat: the account of its calls
	unanswered []bool                  // by seat: its last call for an answer was late
	tardy      []int                   // by seat: how many calls in a row were late
	gone       map[string]*llm.Failure // by model: why it is not called again in this run
	lacked     [][]int                 // by seat: the rounds that it ended without an answer because a call was late
	failed     []synod.ConsultID       // by seat: the call that Failure is about
	cutOff     map[string]bool         // by model: a call of it was cut off
	awaited    []string                // ids of the seats that the last batch waits for
	made       int
	rounds     int // the last round that every live member has finished; -1: none
}

// reset prepares the session for another question. It keeps buffers.
func (s *session) reset() {
	clear(s.round)
	clear(s.seats)
	clear(s.unanswered)
	clear(s.tardy)
	clear(s.lacked)
	clear(s.failed)
	s.fixed.reset()
	s.breaker.Reset()
	*s = session{
		council: s.council, crew: s.crew, cancel: func() {}, fixed: s.fixed, breaker: s.breaker, rounds: -1,
		round: s.round, seats: s.seats, uses: s.uses, replies: s.replies[:0],
		judging: s.judging, wait: s.wait,
		unanswered: s.unanswered, tardy: s.tardy, lacked: s.lacked, failed: s.failed,
	}
}

// notes takes the notes of a tick. It stops the run, before further calls are made, if no
// remaining round can change the decision. Where breakers are on, which come first, it
// leaves that to watch.
func (s *session) notes(_ synod.Tick, notes []sim.Noted) string {
	for _, n := range notes {
		s.round[n.Node] = n.Round + 1
		s.mu.Lock()
		if s.seats[n.Node].Unanswered(n.Opinion) {
			s.lacked[n.Node] = append(s.lacked[n.Node], n.Round)
		}
		s.mu.Unlock()
		if s.ask.Noted != nil {
			s.ask.Noted(n.Node, n.Opinion)
		}
	}
	if s.ending != "" {
		return ""
	}
	s.settled = s.fixed.after(notes, s.late)
	if s.settled && !s.council.plan.Full().Breakers.Any() && s.ctx.Err() == nil && !s.budget.Exhausted() {
		s.cancel()
		return outcome.Early
	}
	return ""
}

// watch stops the run when the caller gave up, a limit was reached, a breaker tripped,
// or no remaining round can change the decision. A run that is cut off is played one
// tick further, so that the replies that have come show in its outcome.
func (s *session) watch(_ synod.Tick, notes []sim.Noted) string {
	if s.ending != "" {
		return s.ending
	}
	trip := s.breaker.After(notes, s.dead)
	s.mu.Lock()
	s.rounds = s.fixed.complete
	s.mu.Unlock()
	switch {
	case s.outer.Err() != nil:
		s.ending = outcome.Interrupted
	case s.lost() != nil:
		s.ending = outcome.Unwritten
	case s.ctx.Err() != nil:
		s.ending = outcome.PastTime
	case s.budget.Exhausted():
		s.ending = outcome.OverBudget
	case trip != nil && s.ask.Final:
		return outcome.Tripped
	case trip != nil:
		s.ending = outcome.Tripped
	case s.settled:
		s.cancel()
		return outcome.Early
	}
	return ""
}

// lost returns why the journal or the trace of the run cannot be written; nil if they can.
// Further calls would be paid for and lost.
func (s *session) lost() error {
	if s.journal != nil && s.journal.Err() != nil {
		return s.journal.Err()
	}
	if s.council.record != nil {
		return s.council.record.Err()
	}
	return nil
}

// dead reports whether a seat has called its model and no call of it has succeeded.
func (s *session) dead(seat int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seats[seat].Dead()
}

// late reports what patience cut off for a note: the seat is faulty in the round, or
// kept its answer because its refinement was cut off.
func (s *session) late(n sim.Noted) (faulty, kept bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := &s.seats[n.Node]
	faulty = r.Faulty(n.Round) || r.Unanswered(n.Opinion)
	return faulty, !faulty && slices.Contains(r.Late, outcome.LateCall{Round: n.Round, Refined: true})
}

// log is the journal as a sim.Log: nil, and not a nil pointer in an interface, if
// none is kept.
func (s *session) log() sim.Log {
	if s.journal == nil {
		return nil
	}
	return s.journal
}
