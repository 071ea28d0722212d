package node

import (
	"errors"
	"fmt"
	"os"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/council"
	"synod.dev/synod/llm"
	"synod.dev/synod/network/node/call"
)

// newRun prepares a run of a caller, and writes the head of its journal. A run that was cut off goes on where its
// journal ends.
func (n service) newRun(q synod.Question, id sign.Instance, caller string, begins time.Time,
	budget *llm.Budget) (r *run, err error) {
	r = n.emptyRun(q, id, caller, begins)
	if r.identity, err = n.secret.Identity(n.seat, n.committee, id); err != nil {
		return nil, err
	}
	if r.machine, err = n.plan.Machine(r.identity, &r.question); err != nil {
		return nil, err
	}
	earlier, known, err := r.openJournal()
	if err != nil {
		return nil, err
	}
	r.desk = council.NewDesk(n.plan, n.seat, n.model, r.journal, budget, known)
	r.observer = n.observer.Run(ObservedRun{string(id), q.Form, n.model.Info().Name, begins, earlier != nil})
	if earlier == nil {
		r.schedule.add(item{tick: 0, by: -1, node: int(n.seat), event: synod.Begin{}})
		return r, nil
	}
	r.resumed = true
	if err := r.replay(earlier); err != nil {
		r.observer.End(err.Error(), 0)
		return nil, err
	}
	return r, nil
}

// emptyRun returns a run in which nothing has happened.
func (n service) emptyRun(q synod.Question, id sign.Instance, caller string, begins time.Time) *run {
	return &run{
		caller: caller,
		node:   n.Node, question: q, id: id, key: instanceKey(id), origin: time.Now(), lead: begins.Sub(n.now()),
		waiting: map[synod.ConsultID]waitingCall{},
		schedule: newSchedule(n.seat, len(n.roster.Members), n.peers, int(n.roster.F),
			patienceFor(time.Duration(n.roster.Think)*time.Millisecond, n.within, n.plan.Signs(), n.usual.longest())),
		receipts: map[slotOf][]call.Receipt{}, compared: newComparison(),
		received: map[receiptKey]bool{}, held: map[synod.NodeID]int64{},
		in:    make(chan input, 256),
		ended: make(chan struct{}), out: map[synod.NodeID][][]byte{}, vouchers: map[synod.NodeID]bool{},
		votes: map[synod.NodeID]vote{}, suspects: map[synod.NodeID]bool{}, fresh: map[synod.NodeID]int{},
		begins: begins, progress: progress{Round: -1},
	}
}

// openJournal opens the journal of a run: a new one, or what an earlier process has left with the replies that it has.
func (r *run) openJournal() (earlier *journal.Run, known journal.Replies, err error) {
	n := r.node
	head := journal.Head{Program: n.config.Program, Spec: n.plan.Record(), Question: r.question, Seat: &n.seat,
		Instance: string(r.id), Seed: r.identity.Seed, Prompts: n.plan.DigestsFor(&r.question)}
	path := n.journalPath(r.id)
	earlier, lock, err := journal.Resume(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		r.journal, err = journal.Create(path, head)
	case err == nil && earlier.End != nil:
		lock.Close()
		return nil, nil, errEnded
	case err == nil:
		head.Unanswered, head.Known = earlier.Lost(), earlier.Answered()
		r.journal, err = earlier.Continue(head)
	}
	if err != nil {
		n.log.Error("the journal cannot be opened, so the run is refused", "run", r.short(), "error", err)
		return nil, nil, fmt.Errorf("the journal of the run: %w", err)
	}
	return earlier, head.Known, nil
}

// errEnded is the error of a run whose journal has an end.
var errEnded = errors.New("the run has ended")

// replay brings the seat to where it was when the process died. It sends nothing new: what it sent
// before is the same again, byte for byte.
func (r *run) replay(earlier *journal.Run) error {
	events, err := earlier.Events()
	if err != nil {
		return fmt.Errorf("the journal of the run: %w", err)
	}
	s := r.schedule
	if len(events) == 0 {
		s.add(item{tick: 0, by: -1, node: int(r.node.seat), event: synod.Begin{}})
	}
	for i := 0; i < len(events); {
		t, batch := events[i].Tick, []item{}
		for ; i < len(events) && events[i].Tick == t; i++ {
			if e, ok := events[i].Event.(synod.Expired); ok {
				s.forget(e.ID)
			}
			if e, ok := events[i].Event.(synod.Answered); ok {
				c := r.waiting[e.ID]
				delete(r.waiting, e.ID)
				if s.due[c.due]--; s.due[c.due] <= 0 {
					delete(s.due, c.due)
				}
			}
			batch = append(batch, item{tick: t, event: events[i].Event})
		}
		r.step(t, batch, true)
	}
	for id, c := range r.waiting { // calls whose reply is not in the journal
		r.consult(c.at, c.due, synod.Consult{ID: id, Prompt: c.prompt})
	}
	clear(r.waiting)
	return nil
}
