// Package nodetest plays the run of a council of nodes under package sim, to compare the two.
//
// The package has rank 7: it needs council.
package nodetest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/council"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
)

// silentAfter stops the log of a machine when it has decided, as a node does.
type silentAfter struct {
	synod.Machine
	over bool
}

func (m *silentAfter) Step(now synod.Tick, e synod.Event) []synod.Effect {
	if _, halt := e.(synod.Halt); m.over && !halt {
		return nil
	}
	effects := m.Machine.Step(now, e)
	for _, x := range effects {
		_, decided := x.(synod.Decide)
		m.over = m.over || decided
	}
	return effects
}

// seatLog writes one journal for each seat, up to the tick in which it decides.
type seatLog struct {
	writers []*journal.Writer
	ended   []synod.Tick // -1: not decided
}

func (l *seatLog) Event(now synod.Tick, id synod.NodeID, e synod.Event) {
	if _, halt := e.(synod.Halt); halt && l.ended[id] >= 0 {
		now = l.ended[id]
	} else if l.ended[id] >= 0 && now > l.ended[id] {
		return
	}
	l.writers[id].Event(now, id, e)
}

func (l *seatLog) Effect(now synod.Tick, id synod.NodeID, x synod.Effect) {
	l.writers[id].Effect(now, id, x)
	if _, decided := x.(synod.Decide); decided {
		l.ended[id] = now
	}
}

// PlayedRun is a run that nodes have played.
type PlayedRun struct {
	Plan     *plan.Plan
	Secrets  []sign.Secret // by seat
	Question synod.Question
	Instance sign.Instance
	// Replies are those that a seat's model gave the node; nil: the seat's model is opened and asked.
	Replies func(seat int) journal.Replies
	Absent  []int // seats that do nothing from the beginning
}

// absent is the machine of a seat that does nothing.
type absent struct{}

// Step does nothing.
func (absent) Step(synod.Tick, synod.Event) []synod.Effect { return nil }

// Simulate plays a run under package sim with the same identities and replies. It returns the digests of
// the seats' journals, each up to the tick in which the seat decides, and the records.
func Simulate(t testing.TB, r PlayedRun) (digests []string, records []outcome.Record) {
	t.Helper()
	p, n, dir := r.Plan, len(r.Secrets), t.TempDir()
	log := &seatLog{writers: make([]*journal.Writer, n), ended: make([]synod.Tick, n)}
	machines, desks := make([]synod.Machine, n), make([]*council.Desk, n)
	keys := make([][]byte, n)
	for i := range n {
		keys[i] = r.Secrets[i].PublicKey()
	}
	committee, err := sign.NewCommittee(keys)
	fatal(t, err)
	for i := range n {
		id := synod.NodeID(i)
		machines[i], log.ended[i] = r.machine(t, id, committee), -1
		log.writers[i], err = journal.Create(filepath.Join(dir, fmt.Sprint(i)),
			journal.Head{Question: r.Question, Seat: &id})
		fatal(t, err)
		desks[i] = r.desk(t, id, log.writers[i])
	}
	result := sim.Run(sim.Config{
		Machines: machines, CallTicks: p.CallTicks(), Log: log,
		Opened: func(node synod.NodeID, first []synod.Given) { desks[node].Open(first) },
		Ask: sim.Immediate(func(calls []sim.Call) (replies []synod.Reply) {
			for _, c := range calls {
				replies = append(replies, desks[c.Node].Ask(context.Background(), c.ID, c.Prompt))
			}
			return replies
		}),
		Notes: func(now synod.Tick, notes []sim.Noted) string {
			for _, o := range notes {
				desks[o.Node].Note(now, o.Opinion)
			}
			return ""
		},
	})
	return finish(t, result, desks, log)
}

// machine returns the machine of a seat.
func (r *PlayedRun) machine(t testing.TB, id synod.NodeID, committee sign.Committee) synod.Machine {
	t.Helper()
	own, err := r.Secrets[id].Identity(id, committee, r.Instance)
	fatal(t, err)
	m, err := r.Plan.Machine(own, &r.Question)
	fatal(t, err)
	if slices.Contains(r.Absent, int(id)) {
		m = absent{}
	}
	return &silentAfter{Machine: m}
}

// desk returns the desk of a seat, whose model is asked or has replied to the node.
func (r *PlayedRun) desk(t testing.TB, id synod.NodeID, w *journal.Writer) *council.Desk {
	t.Helper()
	if r.Replies != nil {
		return council.NewDesk(r.Plan, id, unasked{r.Plan.Seats()[id].Kind}, w, nil, r.Replies(int(id)))
	}
	model, err := council.OpenSeat(r.Plan, id, nil, council.Options{})
	fatal(t, err)
	return council.NewDesk(r.Plan, id, model, w, nil, nil)
}

// finish closes the journals, and returns the digest and the record of each seat.
func finish(t testing.TB, result sim.Result, desks []*council.Desk, log *seatLog) (digests []string,
	records []outcome.Record) {
	t.Helper()
	for i := range desks {
		digest, err := log.writers[i].Close(result.Stopped)
		fatal(t, err)
		if a, ok := result.Decided[synod.NodeID(i)]; ok {
			desks[i].Decide(a)
		}
		digests, records = append(digests, digest), append(records, desks[i].Record(result.Stopped, log.ended[i]))
	}
	return digests, records
}

func fatal(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// unasked is a model whose replies are all known.
type unasked struct{ kind llm.Kind }

// Info has the kind of the model.
func (u unasked) Info() llm.Info { return llm.Info{Kind: u.kind} }

// Complete fails: the node was not asked this.
func (unasked) Complete(context.Context, llm.Request) (synod.Reply, error) {
	return synod.Reply{}, &llm.Failure{Status: synod.Unavailable, Err: errors.New("the node has no such reply")}
}
