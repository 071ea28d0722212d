// Package council is the library's front door: it opens a council and puts questions to it.
//
//	spec, err := plan.Parse([]byte("models: {mine: {provider: given}}\nseats: [{id: a, model: mine, count: 5}]\n"))
//	p, err := plan.New(spec) // seats, graph, claim, cost
//	c, err := council.Open(p, council.Options{Models: map[string]llm.Model{"mine": model}})
//	defer c.Close()
//	o, err := c.Decide(ctx, council.Ask{Question: synod.Question{Text: "What is 17 + 25?", Form: synod.Number}})
//	fmt.Println(o.Status, o.Text)
//
// The model is any Go value that is an llm.Model. A council file (plan.Load) may name a provider instead.
//
// What a council is stands in package plan: a Plan is everything that follows from the spec. A Council is a plan with
// open models. It plays a question's machines over a Runner, which hands back one outcome.Record per seat. What came
// out stands in package outcome: outcome.Judge makes the Outcome of the records. The decision is code over the
// members' own final answers (GR-3). None of these packages knows who is honest.
package council

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
)

// Council is a plan with open models. It may decide many questions, one after another
// or at once.
type Council struct {
	plan   *plan.Plan
	models map[string]llm.Model // by name in the council file
	seats  []seated
	prices llm.Prices
	record *llm.Recorder // nil: replies are not recorded
	runner Runner
	can    plan.Capabilities // of the runner
	reuse  bool              // the memory of a question is used for later ones: it is SimRunner's, of simulated members
	spare  sync.Pool         // of *session
}

// seated is the model of a seat.
type seated struct {
	model   llm.Model
	instant llm.Instant // replies to calls without a budget; nil: the model does
	free    bool        // calls cost neither time nor money
}

// Options determine how a council is opened. The zero value is usable.
type Options struct {
	Env  llm.Env   // what models may know of this machine
	Pool *llm.Pool // the owner of limits, breakers and clients; nil: that of the process
	// Models are the models whose provider in the council file is plan.Given, by their names there. The council
	// closes those that are llm.Closers.
	Models map[string]llm.Model
	Runner Runner // nil: that of the council file
}

// Close closes the models and the runner: it ends child processes and connections, and completes recordings.
func (c *Council) Close() error {
	var errs []error
	for _, name := range sortedKeys(c.models) {
		if m, ok := c.models[name].(llm.Closer); ok {
			errs = append(errs, m.Close())
		}
	}
	if r, ok := c.runner.(llm.Closer); ok {
		errs = append(errs, r.Close())
	}
	return errors.Join(errs...)
}

// Plan returns the council's plan.
func (c *Council) Plan() *plan.Plan { return c.plan }

// Identity is what the council depends on beside its plan and its models: where nodes are reached and who asks them.
// It is "" for a council in one process.
func (c *Council) Identity() string {
	if r, ok := c.runner.(Identified); ok {
		return r.Identity()
	}
	return ""
}

// Seats returns the seats in order, with the identities of their models.
func (c *Council) Seats() []plan.Seat {
	seats := slices.Clone(c.plan.Seats())
	for i := range seats {
		info := c.models[seats[i].Model].Info()
		seats[i].Kind, seats[i].Identity, seats[i].Server, seats[i].Served = info.Kind, info.Identity, info.Server,
			info.Model
	}
	return seats
}

// Ask is one question to a council.
type Ask struct {
	Question synod.Question
	Seed     uint64
	Sample   int              // which repeat of the question this is, from 0
	Journal  string           // path of the journal to write or, with Segment, the id of its run; "": none is kept
	Segment  *journal.Segment // the file that the journal is part of; nil: a file of its own
	Resume   *journal.Run     // a run that was cut off: no reply is asked for again; it goes on in its Journal
	Progress func(Progress)
	Noted    func(synod.NodeID, *synod.Opinion) // called with each opinion as a member notes it; may be nil
	// Replied is called with each reply of a member's model as it comes, one at a time; nil: nobody watches. A
	// council of nodes never calls it, nor Noted.
	Replied func(synod.NodeID, *synod.Reply)
	Program string      // the calling program, for the head of the journal
	Limits  plan.Limits // they only lower those of the council; 0: the council's
	// Draw asks for tokens and money as calls are to leave, beside Limits, with Granted at the beginning; nil: nobody
	// is asked. A council of nodes never calls it. With TokensOnly it grants no money, and prices need not be known.
	Draw       llm.Draw
	Granted    llm.Spent
	TokensOnly bool
	// a run that a breaker stops is complete: its journal has an end, and it cannot be resumed
	Final bool
	// Outage lets calls wait while their model is out of order; nil: they fail.
	Outage *llm.Outage
	Mark   func([]byte) string // marks the head of the journal as written by the user; nil: there is no mark
	// Again returns the command with which people resume the run, for Escalation; nil: there is none.
	Again func(*outcome.Outcome) string
}

// Progress is how far a question has come.
type Progress struct {
	Round   int // the last round that every live member has finished; -1: none
	Rounds  int // rounds at most; 0 if the protocol has no maximum
	Calls   int // requests made
	Planned int // requests at most, retries aside
	// Awaited lists the seats whose calls the run waits for, in their order.
	Awaited []string
}

// JournalError reports that the journal or the trace of a run could not be written.
type JournalError struct {
	Err error
	Cut bool // the run was stopped before its end, and no further call was made; false: the outcome is complete
}

// Error returns the cause, and what it means for the run.
func (e *JournalError) Error() string {
	if e.Cut {
		return fmt.Sprintf("the run was stopped, because its record could not be written: %v", e.Err)
	}
	return fmt.Sprintf("the journal could not be written, so this run cannot be replayed or resumed: %v", e.Err)
}

func (e *JournalError) Unwrap() error { return e.Err }

// ResumeError reports that a run cannot be resumed from a journal: it belongs to another
// run, or its lines do not follow from its replies.
type ResumeError struct{ Err error }

// Error returns the reason.
func (e *ResumeError) Error() string { return "the journal cannot be resumed: " + e.Err.Error() }

func (e *ResumeError) Unwrap() error { return e.Err }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
