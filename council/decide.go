package council

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"synod.dev/synod"
	"synod.dev/synod/adversary"
	"synod.dev/synod/journal"
	"synod.dev/synod/llm"
	"synod.dev/synod/protocol"
	"synod.dev/synod/sign"
	"synod.dev/synod/sim"
)

// Ask is one question to a council.
type Ask struct {
	Question synod.Question
	Seed     uint64
	Sample   int          // which repeat of the question this is, from 0
	Journal  string       // path of the journal to write; "": none is kept
	Resume   *journal.Run // a run that was cut off: its replies are not asked for again
	Progress func(Progress)
	Noted    func(synod.NodeID, *synod.Opinion) // what a member notes, as it does; may be nil
	Program  string                             // who asks, for the journal's head
	Final    bool                               // a run that a breaker stops is over: its journal has an end, and nothing goes on
	Again    string                             // the command that goes on with a journal; "": synod ask --resume
}

// Progress is how far a question has come.
type Progress struct {
	Round   int // the last round that every live member has finished; -1: none
	Rounds  int // rounds at most; 0 if the protocol does not say
	Calls   int // requests made
	Planned int // requests at most, retries aside
}

// The reasons why a run stopped, beside those of sim.
const (
	Early       = "early"       // no remaining round could change the decision
	OverBudget  = "budget"      // a call was refused because a limit was reached
	PastTime    = "deadline"    // the question's deadline passed
	Interrupted = "interrupted" // the caller gave up
)

// JournalError says that the run is complete but its record is not.
type JournalError struct{ Err error }

func (e *JournalError) Error() string {
	return fmt.Sprintf("the journal could not be written, so this run cannot be replayed or resumed: %v", e.Err)
}
func (e *JournalError) Unwrap() error { return e.Err }

// Decide puts a question to the council. The outcome is whole whatever its
// status; the error is for a run that could not be begun, or a *JournalError
// beside a complete outcome.
func (c *Council) Decide(ctx context.Context, ask Ask) (Outcome, error) {
	if err := c.Accepts(&ask.Question); err != nil {
		return Outcome{}, err
	}
	if err := c.samePrompts(ask.Resume); err != nil {
		return Outcome{}, err
	}
	start := time.Now()
	w, err := c.openJournal(ask)
	if err != nil {
		return Outcome{}, err
	}
	outer := ctx
	if c.spec.Limits.Deadline > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.spec.Limits.Deadline)
		defer cancel()
	}
	limits := c.spec.Limits
	budget := llm.NewBudget(limits.Calls, limits.Tokens).WithMoney(limits.USD, c.prices)
	var limited *llm.Budget
	if limits.Calls > 0 || limits.Tokens > 0 || limits.USD > 0 {
		limited = budget
	}
	c.charge(budget, ask.Resume)
	s := &session{council: c, ask: ask, ctx: ctx, outer: outer, budget: budget, limited: limited, journal: w, planned: c.Planned()}
	s.settle, s.breaker = newSettle(c), newBreaker(c)
	s.accounts = newAccounts(len(c.seats))
	result := sim.Run(sim.Config{
		Machines: c.join(&s.ask.Question, ask.Seed),
		Ask:      s.answer,
		Faults:   c.spec.Faults,
		Seed:     ask.Seed,
		Log:      s.log(),
		Watch:    s.watch,
	})
	s.settled(&result)
	o := c.outcome(s, result)
	o.Seconds = time.Since(start).Seconds()
	err = s.close(&o)
	return o, errors.Join(err, c.spec.Breakers.Escalate.tell(&o))
}

// charge counts what the earlier part of a run has spent: a limit is one on the
// question, however often it was cut off.
func (c *Council) charge(b *llm.Budget, earlier *journal.Run) {
	if earlier == nil {
		return
	}
	uses := make([]llm.Use, len(c.seats))
	for at, r := range earlier.Replies { // whole numbers are added up: their order cannot show
		if i := int(at.Node); i >= 0 && i < len(uses) {
			uses[i].Add(r)
		}
	}
	for i, u := range uses {
		u.Info = c.models[c.seats[i].model].Info()
		b.Charge(u)
	}
}

// join seats every member: an honest machine, inside its liar where the
// experimenter has put one. Seeds are those of the seats' identities.
func (c *Council) join(q *synod.Question, seed uint64) []synod.Machine {
	machines, keys, in := make([]synod.Machine, len(c.seats)), c.identities(seed), instanceOf(q, seed)
	for i := range c.seats {
		machines[i] = c.joinOne(q, keys.Identity(synod.NodeID(i), in))
	}
	return machines
}

func (c *Council) joinOne(q *synod.Question, own sign.Identity) synod.Machine {
	id := own.Seat
	seat := synod.Seat{Self: id, Role: c.seats[id].role, Cast: c.cast, Peers: c.peers[id], F: c.spec.F, Question: q, Seed: own.Seed}
	if c.signs() {
		seat.Signer = own.Signer
	}
	if liar := c.liars[id]; liar != nil {
		return adversary.Seat(liar, seat, c.protocol.Join)
	}
	return c.protocol.Join(seat)
}

// Accepts reports why a question cannot be put to the council.
func (c *Council) Accepts(q *synod.Question) error {
	if p, ok := c.protocol.(protocol.Formal); ok && !slices.Contains(p.Forms(), q.Form) {
		return fmt.Errorf("protocol %s decides answers of the form %s only, and this question wants %s", c.entry.Name, joined(p.Forms()), q.Form)
	}
	switch {
	case q.Text == "":
		return errors.New("the question is empty")
	case len(q.Text) > maxQuestion:
		return fmt.Errorf("the question has %d bytes; %d are the most", len(q.Text), maxQuestion)
	case q.Form == synod.Choice && len(q.Options) < 2:
		return errors.New("a choice question needs at least two options, such as lines that begin with A) and B)")
	}
	return nil
}

func joined(forms []synod.Form) string {
	words := make([]string, len(forms))
	for i, f := range forms {
		words[i] = string(f)
	}
	return strings.Join(words, " or ")
}

const maxQuestion = 256 << 10

func (c *Council) openJournal(ask Ask) (*journal.Writer, error) {
	if ask.Journal == "" {
		return nil, nil
	}
	return journal.Create(ask.Journal, journal.Head{Program: ask.Program, Spec: c.record, Question: ask.Question, Seed: ask.Seed, Prompts: c.prompts})
}

// recordOf is a spec as SpecOf reads it.
func recordOf(spec Spec) (json.RawMessage, error) {
	spec.Breakers.Escalate = Escalate{} // it may hold a secret, and a foreign record must start nothing
	text, err := yaml.Marshal(spec)
	if err != nil {
		return nil, fmt.Errorf("council: encode the spec: %w", err)
	}
	record, err := json.Marshal(string(text))
	if err != nil {
		return nil, fmt.Errorf("council: encode the spec: %w", err)
	}
	return record, nil
}

// Replay plays a journal again without any model and returns the digest. The
// error is a *journal.Divergence where something differs.
func Replay(run *journal.Run) (digest string, err error) {
	spec, err := SpecOf(run)
	if err != nil {
		return "", err
	}
	c, err := seatAll(spec)
	if err != nil {
		return "", err
	}
	q, keys := run.Head.Question, c.identities(run.Head.Seed)
	in := instanceOf(&q, run.Head.Seed)
	return journal.Replay(run, func(id synod.NodeID) (synod.Machine, error) {
		if int(id) < 0 || int(id) >= len(c.seats) {
			return nil, fmt.Errorf("the council has no such seat")
		}
		return c.joinOne(&q, keys.Identity(id, in)), nil
	})
}

// SpecOf is the council that a journal was written by. A council stands in its
// journal as the YAML it could have been loaded from.
func SpecOf(run *journal.Run) (Spec, error) {
	var text string
	if err := json.Unmarshal(run.Head.Spec, &text); err != nil {
		return Spec{}, fmt.Errorf("the journal's council cannot be read: %w", err)
	}
	spec, err := Parse([]byte(text))
	if err != nil {
		return Spec{}, fmt.Errorf("the journal's council: %w", err)
	}
	return spec, nil
}
