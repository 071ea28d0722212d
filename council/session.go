package council

import (
	"cmp"
	"context"
	"fmt"
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
	limits   plan.Limits     // of the question
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

func (c *Council) begin(ctx context.Context, ask Ask) (*session, error) {
	p := c.plan
	s := c.session()
	s.ask, s.instance, s.ctx, s.outer = ask, plan.Instance{Question: ask.Question, Seed: ask.Seed}, ctx, ctx
	if ask.Journal != "" {
		create := journal.Create
		switch {
		case ask.Segment != nil:
			create = ask.Segment.Create
		case ask.Resume != nil && ask.Resume.Continues(ask.Journal):
			create = func(_ string, head journal.Head) (*journal.Writer, error) { return ask.Resume.Continue(head) }
		}
		head := journal.Head{
			Program: ask.Program, Spec: p.Record(), Question: ask.Question, Seed: ask.Seed,
			Prompts:  p.DigestsFor(&ask.Question),
			Instance: string(p.InstanceID(s.instance)), Identities: journal.DerivedIdentities,
		}
		if ask.Resume != nil {
			head.Unanswered, head.Known = ask.Resume.Lost(), ask.Resume.Answered()
		}
		if ask.Mark != nil {
			head.Origin = ask.Mark(head.Content())
		}
		w, err := create(ask.Journal, head)
		if err != nil {
			return nil, err
		}
		s.journal = w
	}
	s.limits = p.Full().Limits.Lowered(ask.Limits)
	limits := s.limits
	if limits.Deadline > 0 && p.Full().Runner.Nodes() {
		limits.Deadline += recordsTime
	}
	switch {
	case limits.Deadline > 0:
		s.ctx, s.cancel = context.WithTimeout(ctx, limits.Deadline)
	case s.journal != nil || c.record != nil || !p.Simulated():
		s.ctx, s.cancel = context.WithCancel(ctx)
	}
	s.budget = llm.NewBudget(limits.Calls, limits.Tokens).WithMoney(limits.USD, c.prices)
	if ask.Draw != nil {
		prices := c.prices
		if ask.TokensOnly {
			prices = nil
		}
		s.budget.Drawing(ask.Draw, ask.Granted, prices)
	}
	if limits.Calls > 0 || limits.Tokens > 0 || limits.USD > 0 || ask.Draw != nil {
		s.limited = s.budget
	}
	s.request = llm.Request{Templates: p.Templates(), Sample: ask.Sample, Run: ask.Seed, Budget: s.limited,
		Outage: ask.Outage}
	if s.instant = s.request; !p.Simulated() {
		s.request.Rendered, s.calls = &llm.Renderings{}, make(chan func())
	}
	s.fixed.merges = p.Merging(&ask.Question)
	s.charge()
	return s, nil
}

// session returns the session of a new question. It may be that of an earlier question, and its
// memory may be used for a later one.
func (c *Council) session() *session {
	if c.reuse {
		if old, ok := c.spare.Get().(*session); ok {
			old.reset()
			return old
		}
	}
	p, n := c.plan, len(c.plan.Seats())
	s := &session{
		council: c, fixed: newFixedPoint(p), breaker: outcome.NewBreaker(p),
		round: make([]int, n), seats: make([]outcome.Record, n), uses: make([]llm.Use, 2*n),
		unanswered: make([]bool, n), tardy: make([]int, n),
		lacked: make([][]int, n), failed: make([]synod.ConsultID, n),
	}
	if c.reuse {
		s.crew = newCrew(n)
	}
	s.reset()
	return s
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

// charge counts what the earlier part of the run has spent: a limit is one on the
// question, however often it was cut off.
func (s *session) charge() {
	if s.ask.Resume == nil {
		return
	}
	info := func(seat synod.NodeID) (m llm.Info, ok bool) {
		if seat < 0 || int(seat) >= len(s.seats) {
			return m, false
		}
		return s.council.models[s.council.plan.Seats()[seat].Model].Info(), true
	}
	for at, r := range s.ask.Resume.Replies {
		if m, ok := info(at.Node); ok && r.Calls > 0 && r.Status != synod.Dropped {
			s.budget.Charge(m, r.Calls, r.Spent())
		}
	}
	for _, u := range s.ask.Resume.Lost() {
		if m, ok := info(u.Node); ok {
			s.budget.Charge(m, u.Calls, u.Usage)
			s.seats[u.Node].Use.Lose(u.Calls)
			s.made = synod.Sum(s.made, u.Calls)
		}
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

// judge is Judge. With a crew the outcome keeps nothing of the records.
func (s *session) judge(records []outcome.Record) outcome.Outcome {
	if s.crew == nil {
		return outcome.Judge(s.council.plan, s.instance, records)
	}
	return s.judging.Judge(s.council.plan, s.instance, records)
}

// account adds what was counted of the seats' calls to their records.
func (s *session) account(records []outcome.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range records {
		r := &s.seats[i]
		records[i].Took, records[i].Said, records[i].Reported = r.Took, r.Said, r.Reported
		records[i].Statuses, records[i].Use, records[i].Failure = r.Statuses, r.Use, r.Failure
		records[i].Misreports, records[i].Late, records[i].Rereads = r.Misreports, r.Late, r.Rereads
		records[i].Unread = r.Unread
	}
}

func (s *session) abandon() error {
	if s.journal == nil {
		return nil
	}
	_, err := s.journal.Abandon()
	return err
}

// close completes the journal. In a segment a run that was cut off without a decision gets
// no end, and counts as unfinished.
func (s *session) close(o *outcome.Outcome) error {
	lost := s.lost()
	if s.journal == nil && lost == nil {
		return nil
	}
	var err error
	switch {
	case s.journal == nil:
	case o.Stopped == outcome.Unwritten,
		s.ask.Segment != nil && !o.Answered() && outcome.Incomplete(o.Stopped) && !(o.Stopped == outcome.Tripped &&
			s.ask.Final):
		o.Digest, err = s.journal.Abandon()
	default:
		o.Digest, err = s.journal.Close(o.Stopped)
	}
	if err = cmp.Or(lost, err); err != nil {
		return &JournalError{err, o.Stopped == outcome.Unwritten}
	}
	return nil
}

// exceeded says which limits the first refused call would have exceeded.
func (s *session) exceeded() (all []outcome.Exceeded) {
	limits, spent, short := s.budget.Limits(), s.budget.Spent(), s.budget.Short()
	if short.Calls > 0 {
		all = append(all, outcome.Exceeded{Name: "limits.calls", Is: fmt.Sprint(limits.Calls), Needs: fmt.Sprintf(
			"%d were made, and the next call makes %d", spent.Calls, max(short.Calls, spent.Calls+1))})
	}
	if short.Tokens > 0 {
		all = append(all, outcome.Exceeded{Name: "limits.tokens", Is: fmt.Sprint(limits.Tokens), Needs: fmt.Sprintf(
			"%d were used, and with the next call it may become %d", spent.Tokens, short.Tokens)})
	}
	if short.USD > 0 {
		all = append(all, outcome.Exceeded{Name: "limits.usd", Is: fmt.Sprintf("%.2g", limits.USD), Needs: fmt.Sprintf(
			"$%.2g was spent, and with the next call it may become $%.2g", spent.USD, short.USD)})
	}
	return all
}

// resume is the command that resumes the run past what has cut it off, with %s for
// the journal; "" if it was not cut off.
func (s *session) resume(o *outcome.Outcome) string {
	if !outcome.WasCutOff(o.Stopped) {
		return ""
	}
	line, short := cmp.Or(s.ask.Again, "synod ask --resume")+" %s", s.budget.Short()
	if o.Trip != nil {
		line += " --set " + o.Trip.Continue
	}
	if short.Calls > 0 {
		line += fmt.Sprintf(" --set limits.calls=%d", 2*short.Calls)
	}
	if short.Tokens > 0 {
		line += fmt.Sprintf(" --set limits.tokens=%d", 2*short.Tokens)
	}
	if short.USD > 0 {
		line += fmt.Sprintf(" --set limits.usd=%.2g", 2*short.USD)
	}
	return line
}
