package main

import (
	"bytes"
	"fmt"
	"iter"
	"sync"

	"synod.dev/synod/bench"
)

// The states of a unit.
const (
	waitingUnit  byte = iota // not in the queue
	queuedUnit               // in the queue, or with a worker
	finishedUnit             // in the store
	failedUnit               // the last attempt failed, and it is asked again when all others are finished
)

// cell is a cell of the sweep.
type cell struct {
	name   string
	key    string // unit.Cell of its units
	run    *bench.Run
	jobs   []bench.Job
	places map[bench.Job]int
	states []byte // by place

	packing sync.Once
	packed  []byte // what workers need of the run, compressed
	failure error  // of packing

	examining sync.Once
	examiner  *bench.Examiner
	broken    error // why there is no examiner
}

// units are the units of a sweep, and what has become of them.
type units struct {
	mu     sync.Mutex
	cells  []*cell
	byKey  map[string]*cell
	next   place           // the first that may be waiting
	queued map[string]unit // by id
	round  int             // how often units were put into the queue again
	counts map[byte]int    // by state
	since  int             // finished since the round began
	window int             // the most units in the queue
}

// place is where a unit is in the sweep.
type place struct{ cell, job int }

// newUnits takes the cells of a sweep. left yields what is not finished of a run.
func newUnits(names []string, runs []*bench.Run, window int, left func(*bench.Run) (iter.Seq[bench.Job], error)) (
	*units, error) {
	u := &units{byKey: map[string]*cell{}, queued: map[string]unit{}, counts: map[byte]int{}, window: window}
	for i, run := range runs {
		hash, err := run.Hash()
		if err != nil {
			return nil, err
		}
		key := hash
		for n := 2; u.byKey[key] != nil; n++ {
			key = fmt.Sprintf("%s.%d", hash, n)
		}
		c := &cell{name: names[i], key: key, run: run, jobs: run.Jobs()}
		c.states, c.places = bytes.Repeat([]byte{finishedUnit}, len(c.jobs)), make(map[bench.Job]int, len(c.jobs))
		for k, j := range c.jobs {
			c.places[j] = k
		}
		u.counts[finishedUnit] += len(c.jobs)
		open, err := left(run)
		if err != nil {
			return nil, err
		}
		for j := range open {
			u.set(c, c.places[j], waitingUnit)
		}
		u.cells, u.byKey[key] = append(u.cells, c), c
	}
	return u, nil
}

// find returns the cell and the place of a unit that a worker names.
func (u *units) find(x unit) (*cell, int, bool) {
	c := u.byKey[x.Cell]
	if c == nil {
		return nil, 0, false
	}
	k, ok := c.places[x.Job]
	return c, k, ok
}

// set changes the state of a unit.
func (u *units) set(c *cell, k int, to byte) {
	u.counts[c.states[k]]--
	c.states[k] = to
	u.counts[to]++
}

// take returns up to n waiting units, for the queue, and the round.
func (u *units) take(n int) (all []unit, round int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	n = min(n, u.window-len(u.queued))
	for ; u.next.cell < len(u.cells); u.next = (place{u.next.cell + 1, 0}) {
		c := u.cells[u.next.cell]
		for ; u.next.job < len(c.jobs); u.next.job++ {
			if len(all) >= n {
				return all, u.round
			}
			if c.states[u.next.job] == waitingUnit {
				x := unit{c.key, c.jobs[u.next.job]}
				u.set(c, u.next.job, queuedUnit)
				u.queued[x.id()] = x
				all = append(all, x)
			}
		}
	}
	return all, u.round
}

// giveBack makes units wait that did not get into the queue.
func (u *units) giveBack(all []unit) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, x := range all {
		u.back(x)
	}
}

func (u *units) back(x unit) {
	if c, k, ok := u.find(x); ok && c.states[k] == queuedUnit {
		u.set(c, k, waitingUnit)
	}
	delete(u.queued, x.id())
	u.next = place{}
}

// settle notes that a unit was finished or has failed.
func (u *units) settle(x unit, state byte) {
	u.mu.Lock()
	defer u.mu.Unlock()
	c, k, ok := u.find(x)
	if !ok || c.states[k] == finishedUnit {
		return
	}
	delete(u.queued, x.id())
	if state == finishedUnit {
		u.since++
	}
	u.set(c, k, state)
}

// isFinished reports whether a unit is in the store.
func (u *units) isFinished(x unit) (finished, known bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	c, k, ok := u.find(x)
	return ok && c.states[k] == finishedUnit, ok
}

// again puts the units that failed into another round, if all others are finished and the last round has finished
// any. It reports whether there is something left to do.
func (u *units) again() (left bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.counts[waitingUnit]+u.counts[queuedUnit] > 0 {
		return true
	}
	if u.counts[failedUnit] == 0 || u.round > 0 && u.since == 0 {
		return false
	}
	for _, c := range u.cells {
		for k, s := range c.states {
			if s == failedUnit {
				u.set(c, k, waitingUnit)
			}
		}
	}
	u.round, u.since, u.next = u.round+1, 0, place{}
	return true
}

// lost puts all units of the queue into another round: they are neither in the queue nor with a worker.
func (u *units) lost() {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, x := range u.queued {
		u.back(x)
	}
	u.round++
}

// tally counts the units by state.
func (u *units) tally() (waiting, queued, finished, failed int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.counts[waitingUnit], u.counts[queuedUnit], u.counts[finishedUnit], u.counts[failedUnit]
}
