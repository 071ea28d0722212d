package node

import (
	"fmt"
	"sync"
)

// What runs that have not ended may hold in memory, in bytes.
const (
	defaultMemory = 512 << 20
	runBase       = 64 << 10 // of a run without messages: machine, schedule, journal
)

// memory accounts what runs hold from their begin to their end: question, messages, frames, receipts and replies.
type memory struct {
	mu      sync.Mutex
	all     int64
	callers map[string]int64 // by who asked
}

// take accounts bytes for a caller's run, and reports whether they are within its limits. What the node itself sends
// is accounted also beyond them.
func (m *memory) take(caller string, bytes, all, one int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.callers == nil {
		m.callers = map[string]int64{}
	}
	m.all += bytes
	m.callers[caller] += bytes
	return m.all <= all && m.callers[caller] <= one
}

// give frees bytes.
func (m *memory) give(caller string, bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all -= bytes
	if m.callers[caller] -= bytes; m.callers[caller] <= 0 {
		delete(m.callers, caller)
	}
}

// used returns how many bytes all runs hold, and those of a caller.
func (m *memory) used(caller string) (all, one int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.all, m.callers[caller]
}

// memoryLimits returns how many bytes all runs may hold, and those of one caller: half, so that others have places.
func (c *Caps) memoryLimits() (all, one int64) {
	if all = c.Memory; all == 0 {
		all = defaultMemory
	}
	if one = c.CallerMemory; one == 0 {
		one = (all + 1) / 2
	}
	return all, one
}

// hasRoom fails if the runs of all callers, or of one, hold so much that one more with a question of so many bytes does
// not fit.
func (n *Node) hasRoom(caller string, question int) error {
	all, one := n.memory.used(caller)
	switch most, of := n.config.Caps.memoryLimits(); {
	case all+runBytes(question) > most:
		return fmt.Errorf("the runs of the node hold %d of %d bytes of memory", all, most)
	case one+runBytes(question) > of:
		return fmt.Errorf("the runs of this caller hold %d of %d bytes of memory", one, of)
	}
	return nil
}

// runBytes is what a run with a question of so many bytes holds before the first message, about.
func runBytes(question int) int64 { return runBase + 4*int64(question) }

// account is what is accounted for one run.
type account struct {
	mu    sync.Mutex
	freed bool // the run has ended
	bytes int64
}

// grow accounts bytes that the run holds until its end, and reports whether they are within the limits.
func (r *run) grow(bytes int) bool {
	a := &r.account
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.freed {
		return false
	}
	a.bytes += int64(bytes)
	all, one := r.node.config.Caps.memoryLimits()
	return r.node.memory.take(r.caller, int64(bytes), all, one)
}

// shrink frees bytes that were accounted and are not held.
func (r *run) shrink(bytes int) {
	a := &r.account
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.freed {
		a.bytes -= int64(bytes)
		r.node.memory.give(r.caller, int64(bytes))
	}
}

// freeAll frees everything that was accounted for the run. Nothing is accounted for it afterwards.
func (r *run) freeAll() {
	a := &r.account
	a.mu.Lock()
	defer a.mu.Unlock()
	r.node.memory.give(r.caller, a.bytes)
	a.freed, a.bytes = true, 0
}
