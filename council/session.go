package council

import (
	"context"
	"slices"
	"sync"

	"synod.dev/synod"
	"synod.dev/synod/journal"
	"synod.dev/synod/llm"
	"synod.dev/synod/sim"
)

// session is one question on its way.
type session struct {
	council *Council
	ask     Ask
	ctx     context.Context // ends at the deadline
	outer   context.Context // ends when the caller gives up
	budget  *llm.Budget
	limited *llm.Budget     // budget, or nil where nothing is limited
	journal *journal.Writer // nil: none is kept
	settle  *settle
	breaker *breaker
	trip    *Trip  // the breaker that stopped it
	ending  string // why the run is being cut off; "": it is not

	mu       sync.Mutex
	accounts []account // by seat
	made     int
	tokens   Tokens
	opinions []sim.Noted
	planned  int
}

// account is how a seat's calls ended.
type account struct {
	by      []int // in the order of statuses
	trouble string
	use     llm.Use
}

func newAccounts(seats int) []account {
	accounts, all := make([]account, seats), make([]int, seats*len(statuses))
	for i := range accounts {
		accounts[i].by = all[i*len(statuses):][:len(statuses)]
	}
	return accounts
}

var statuses = synod.Statuses()

// answer starts a tick's calls to the models, all at once, and returns what waits
// for their replies. A member that answers in this process is asked in place: a
// goroutine would cost more than its answer.
func (s *session) answer(calls []sim.Call) func() []synod.Reply {
	replies := make([]synod.Reply, len(calls))
	var wait sync.WaitGroup
	for i, call := range calls {
		if r, known := s.known(call); known {
			replies[i] = r
			continue
		}
		m := s.council.models[s.council.seats[call.Node].model]
		if free(m) {
			replies[i] = s.complete(m, call)
			continue
		}
		wait.Go(func() {
			widen(i)
			replies[i] = s.complete(m, call)
		})
	}
	return func() []synod.Reply {
		wait.Wait()
		return replies
	}
}

// widen makes room on the stack of a goroutine while little stands on it. A call on
// its way through the layers, HTTP and JSON is some nine kilobytes deep, and a
// stack that grows on the way is copied each time with all that it holds.
//
//go:noinline
func widen(i int) byte {
	var room [10 << 10]byte
	return room[i%len(room)]
}

// known is the reply that an earlier, cut-off run has on file. It is put on this
// run's file too.
func (s *session) known(call sim.Call) (synod.Reply, bool) {
	if s.ask.Resume == nil {
		return synod.Reply{}, false
	}
	r, ok := s.ask.Resume.Replies[journal.Key{Node: call.Node, ID: call.ID}]
	if ok {
		if s.journal != nil {
			s.journal.Free(call.Node, call.ID, r) // the earlier run's file has it
		}
		s.count(call.Node, r)
	}
	return r, ok
}

// free says that a member's answers cost neither time nor money.
func free(m llm.Model) bool {
	kind := m.Info().Kind
	return kind == llm.Simulated || kind == llm.Recorded
}

// complete asks one model. A reply that cost something is on file before anyone
// sees it, unless it failed only because the run is ending: then a resumed run
// asks again.
func (s *session) complete(m llm.Model, call sim.Call) synod.Reply {
	if s.ctx.Err() != nil || s.ending != "" {
		return synod.Reply{Status: synod.Dropped, Detail: "the run was ending"}
	}
	r, err := m.Complete(s.ctx, llm.Request{Prompt: call.Prompt, Book: s.council.book, Seat: s.council.seats[call.Node].id, Sample: s.ask.Sample, Budget: s.limited})
	if r.Status = synod.OK; err != nil {
		f := llm.AsFailure(err)
		r.Status, r.Detail = f.Status, f.Reason()
	}
	ending := r.Status != synod.OK && s.ctx.Err() != nil || r.Status == synod.Dropped
	switch {
	case s.journal == nil || ending:
	case free(m):
		s.journal.Free(call.Node, call.ID, r)
	default:
		s.journal.Reply(call.Node, call.ID, r)
	}
	s.count(call.Node, r)
	return r
}

func (s *session) count(node synod.NodeID, r synod.Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := &s.accounts[node]
	if i := slices.Index(statuses, r.Status); i >= 0 { // a resumed journal may say anything
		a.by[i]++
	}
	if r.Status != synod.OK && a.trouble == "" {
		a.trouble = r.Detail // the first: later ones may only say that it was given up
	}
	a.use.Add(r)
	s.made += r.Calls
	s.tokens.Prompt += r.Usage.Prompt
	s.tokens.Completion += r.Usage.Completion
	if s.ask.Progress != nil {
		s.ask.Progress(Progress{Round: s.settle.round, Rounds: s.settle.rounds, Calls: s.made, Planned: s.planned})
	}
}

// watch stops the run when the caller gave up, a limit was reached, or nothing
// that is left can change the decision. A run that is cut off is played one tick
// further, off the record, so that what has been answered shows in its outcome.
func (s *session) watch(_ synod.Tick, notes []sim.Noted) string {
	s.opinions = append(s.opinions, notes...)
	if s.ask.Noted != nil {
		for _, n := range notes {
			s.ask.Noted(n.Node, n.Opinion)
		}
	}
	if s.ending != "" {
		return s.ending
	}
	settled, trip := s.settle.after(notes), s.breaker.after(notes, s.dead)
	switch {
	case s.outer.Err() != nil:
		s.ending = Interrupted
	case s.ctx.Err() != nil:
		s.ending = PastTime
	case s.budget.Exhausted():
		s.ending = OverBudget
	case trip != nil && s.ask.Final:
		s.trip = trip
		return Tripped
	case trip != nil:
		s.ending, s.trip = Tripped, trip
	case settled:
		return Early
	}
	if s.ending != "" && s.journal != nil {
		s.journal.Seal()
	}
	return ""
}

// settled is the last word on a run that was over in the tick in which a breaker
// tripped. That it went nowhere says nothing any more; that somebody equivocated does.
func (s *session) settled(r *sim.Result) {
	switch {
	case s.trip == nil || r.Stopped != sim.Finished:
	case s.trip.Breaker == Equivocation:
		r.Stopped = Tripped
	default:
		s.trip, s.ending = nil, ""
	}
}

// dead reports whether a seat has asked and no call of it ever went through.
func (s *session) dead(seat int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	failed := 0
	for i, n := range s.accounts[seat].by {
		if statuses[i] == synod.OK && n > 0 {
			return false
		}
		failed += n
	}
	return failed > 0
}

// log is the journal as a sim.Log: nil, and not a nil pointer in an interface,
// where none is kept.
func (s *session) log() sim.Log {
	if s.journal == nil {
		return nil
	}
	return s.journal
}

// close finishes the journal. A run that was cut off is left without an end, so
// that it can be resumed.
func (s *session) close(o *Outcome) error {
	if s.journal == nil {
		return nil
	}
	o.Journal = s.journal.Path()
	var err error
	switch {
	case o.Stopped == Interrupted, o.Stopped == PastTime, o.Stopped == OverBudget, o.Stopped == Tripped && !s.ask.Final:
		o.Digest, err = s.journal.Abandon()
	default:
		o.Digest, err = s.journal.Close(o.Stopped)
	}
	if err != nil {
		return &JournalError{err}
	}
	return nil
}
