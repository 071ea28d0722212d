package council

import (
	"context"
	"errors"
	"strings"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
)

// openNodes opens the runner of a council whose seats are nodes; nil: this program cannot.
var openNodes func(p *plan.Plan, env llm.Env) (Runner, error)

// RegisterNodes sets how the runner of nodes is opened. Package network/node/call does so when it is imported:
// council itself links no network between nodes. It must not be called concurrently with Open.
func RegisterNodes(open func(p *plan.Plan, env llm.Env) (Runner, error)) { openNodes = open }

// openElsewhere opens a council whose seats are nodes, which call models of their own.
func (c *Council) openElsewhere(env llm.Env) (err error) {
	if c.runner == nil {
		if openNodes == nil {
			return &plan.ConfigError{Section: "runner",
				Err: errors.New("name is nodes, and this program does not link " +
					"synod.dev/synod/network/node/call")}
		}
		if c.runner, err = openNodes(c.plan, env); err != nil {
			return &plan.ConfigError{Section: "runner", Err: err}
		}
	}
	for i := range c.plan.Seats() {
		s := &c.plan.Seats()[i]
		c.models[s.Model] = elsewhere{llm.Info{Kind: s.Kind, Name: s.Model,
			Identity: "of nodes with the keys " + strings.Join(c.plan.Full().Runner.Keys, " ")}}
		c.seats = append(c.seats, seated{c.models[s.Model], nil, true})
	}
	return nil
}

// elsewhere stands for a model that only the nodes of its seats can call.
type elsewhere struct{ info llm.Info }

// Info says that the model is behind nodes.
func (e elsewhere) Info() llm.Info { return e.info }

// Complete fails: nobody but a seat's node calls its model.
func (e elsewhere) Complete(context.Context, llm.Request) (synod.Reply, error) {
	return synod.Reply{}, &llm.Failure{Status: synod.Unavailable, Err: errors.New("the model is called by the node " +
		"of its seat")}
}

// recordsTime is how long after the deadline, at which nodes end their runs, their records are waited for.
const recordsTime = 10 * time.Second

// keep writes what the nodes have reported into the journal.
func (s *session) keep(records []outcome.Record) {
	if s.journal == nil {
		return
	}
	for i := range records {
		r := &records[i]
		for _, o := range r.Opinions {
			s.journal.Effect(o.Tick, r.Seat, synod.Note{Opinion: o.Opinion})
		}
		if r.Opened != nil {
			s.journal.Effect(r.Ticks, r.Seat, synod.Opened{First: r.Opened})
		}
		if r.Decided != nil {
			s.journal.Effect(r.Ticks, r.Seat, synod.Decide{Answer: *r.Decided})
		}
		s.journal.Report(r.Seat, string(r.Instance), r.Account())
	}
}
