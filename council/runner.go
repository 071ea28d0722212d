package council

import (
	"context"
	"errors"
	"sync/atomic"

	"synod.dev/synod"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
)

// Runner plays the machines of a plan. Only the runner knows where the seats are and how messages travel. What it
// does differently from others stands in the catalogue of package plan (plan.Capabilities). An error means that the
// run could not begin.
type Runner interface {
	Play(ctx context.Context, p *plan.Plan, run Run, models Models) (Played, error)
}

// Played is what a Runner returns of a run.
type Played struct {
	// Records are one per seat, in the order of seats. Their fields about model calls (Statuses, Use, Failure, Late)
	// are set by the Models that answered the calls; a Runner may leave them empty.
	Records []outcome.Record
	Proof   outcome.Proof // what the members have signed; nil: one process has played all seats
}

// Identified is a Runner that depends on more than the plan. Two with one identity put the same questions to the
// same members.
type Identified interface{ Identity() string }

// NewRunner opens the runner of a plan. The council closes a runner that is an llm.Closer.
type NewRunner func(p *plan.Plan, env llm.Env) (Runner, error)

// openNodes opens the runner of nodes; nil: this program has none.
var openNodes atomic.Pointer[NewRunner]

// RegisterNodes sets how the runner of nodes is opened: council itself links no network between nodes.
func RegisterNodes(open NewRunner) { openNodes.Store(&open) }

// openRunner opens the runner that the plan names.
func openRunner(p *plan.Plan, env llm.Env) (Runner, error) {
	switch p.Full().Runner.Name {
	case plan.RunnerClock:
		return ClockRunner{}, plan.CheckLinks(p)
	case plan.RunnerNodes:
		open := openNodes.Load()
		if open == nil {
			return nil, &plan.ConfigError{Section: "runner", Err: errors.New("name is nodes, and this program does " +
				"not call network/node/call.Register")}
		}
		r, err := (*open)(p, env)
		if err != nil {
			return nil, &plan.ConfigError{Section: "runner", Err: err}
		}
		return r, nil
	}
	return SimRunner{}, plan.CheckLinks(p)
}

// Run is what a Runner needs to know of one run of a question.
type Run struct {
	Instance plan.Instance
	Limits   plan.Limits // of the question, for members that call their own models; 0: none
	Log      sim.Log     // receives the events and effects of every seat; may be nil
	Notes    sim.Watch   // a runner that sees all seats asks it in every tick, before the tick's calls, whether to stop
	Watch    sim.Watch   // the same after every tick; both may be nil
	crew     *crew       // machines and memory of an earlier run; nil: everything is new
}

// Models answers the model calls of seats.
type Models interface {
	// Ask starts the calls, all at once, and returns a function that waits for their
	// replies, one for every call and in their order. Calls of different seats may be
	// in one batch. It is called by one goroutine at a time.
	Ask(calls []sim.Call) (wait func() []synod.Reply)
}

// SimRunner plays all seats in this process under package sim, in virtual time.
type SimRunner struct{}

// crew is the machines of one run by seat with the memory of its records, to be used again: a
// bench plays thousands of short runs, and most of their time goes into the allocation of
// memory. Machines that are used again overwrite prompts, messages, replies and opinions of
// earlier runs, and only simulated members are known to keep none of these. A journal encodes
// them before the next event.
type crew struct {
	idle     []synod.Resetter // by seat: an honest machine of an earlier run; nil: none
	taken    []bool           // by seat: the idle machine plays in this run
	machines []synod.Machine  // by seat: that of the last run
	records  []outcome.Record // of the last run; the next one uses their lists of opinions again
}

func newCrew(n int) *crew {
	return &crew{make([]synod.Resetter, n), make([]bool, n), make([]synod.Machine, n), newRecords(n)}
}

// newRecords returns the records of n seats, with room for the opinions of most runs.
func newRecords(n int) []outcome.Record {
	const most = 4 // opinions of a seat, in most runs that end early
	records, opinions := make([]outcome.Record, n), make([]outcome.Noted, most*n)
	for i := range records {
		records[i].Opinions = opinions[most*i : most*i : most*(i+1)]
	}
	return records
}

// join returns a function that joins a seat of the plan with an idle machine, if there is
// one, and keeps the first new machine of a seat for the next run. An adversary may join
// several times.
func (c *crew) join(p *plan.Plan) func(synod.Seat) synod.Machine {
	clear(c.taken)
	return func(seat synod.Seat) synod.Machine {
		if c.taken[seat.Self] {
			return p.Protocol().Join(seat)
		}
		c.taken[seat.Self] = true
		if m := c.idle[seat.Self]; m != nil {
			m.Reset(seat)
			return m
		}
		m := p.Protocol().Join(seat)
		c.idle[seat.Self], _ = m.(synod.Resetter)
		return m
	}
}

// Play runs the simulation. The secrets of all seats are derived from the seed of the
// instance.
func (SimRunner) Play(_ context.Context, p *plan.Plan, run Run, models Models) (Played, error) {
	c, join := run.crew, p.Protocol().Join
	if c != nil {
		join = c.join(p)
	} else {
		c = newCrew(len(p.Seats()))
	}
	config := simulation(p, run, c, join)
	config.Ask, config.CallTicks = models.Ask, p.CallTicks()
	endRecords(c.records, sim.Run(config))
	return Played{Records: c.records}, nil
}

// simulation makes the machines of a run in one process, and prepares its records.
func simulation(p *plan.Plan, run Run, c *crew, join func(synod.Seat) synod.Machine) sim.Config {
	in, records := run.Instance, c.records
	keys, id := plan.Identities(p, in.Seed), plan.SignedInstance(p, in)
	for i := range records {
		records[i] = outcome.Record{Seat: synod.NodeID(i), Opinions: records[i].Opinions[:0]}
		seat := plan.SeatOf(p, keys.Identity(synod.NodeID(i), id), &in.Question)
		if m, ok := c.machines[i].(synod.Resetter); ok {
			m.Reset(seat)
		} else {
			c.machines[i] = plan.Join(p, seat, join)
		}
	}
	return sim.Config{
		Machines: c.machines, Faults: p.Faults(), Seed: in.Seed, Log: run.Log, Watch: run.Watch,
		Notes: func(now synod.Tick, notes []sim.Noted) string {
			for _, n := range notes {
				records[n.Node].Opinions = append(records[n.Node].Opinions, outcome.Noted{Tick: now,
					Opinion: n.Opinion})
			}
			if run.Notes == nil {
				return ""
			}
			return run.Notes(now, notes)
		},
		Opened: func(node synod.NodeID, first []synod.Given) { records[node].Open(first) },
	}
}

// endRecords writes how a run ended into its records.
func endRecords(records []outcome.Record, result sim.Result) {
	for i := range records {
		records[i].Stopped, records[i].Ticks = result.Stopped, result.Ticks
	}
	for id, a := range result.Decided {
		records[id].Decided = &a
	}
}
