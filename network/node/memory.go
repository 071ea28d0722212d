package node

import (
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

// runBytes is what a run with a question of so many bytes holds before the first message, about.
func runBytes(question int) int64 { return runBase + 4*int64(question) }

// account is what is accounted for one run.
type account struct {
	mu    sync.Mutex
	freed bool // the run has ended
	bytes int64
}
