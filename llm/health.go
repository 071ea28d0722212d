package llm

import (
	"time"
)

// The states of the circuit breaker of a model.
const (
	Closed   = "closed"    // calls are made
	Open     = "open"      // calls fail at once
	HalfOpen = "half-open" // the next call tests the model
)

// Health is how the calls of a model have ended in this process.
type Health struct {
	State  string    // Closed, Open or HalfOpen
	Failed int       // calls in a row that failed
	Since  time.Time // when the breaker opened; zero: it is closed
	Until  time.Time // when a call may test the model; zero: the breaker is closed
	Worked time.Time // when a call last succeeded; zero: none has
	Faults []Fault   // the last calls that failed, the latest first, at most eight
	// Median and Slow are the 50th and the 95th percentile of the last latencies; 0 until there are twenty.
	Median, Slow time.Duration
}

// HealthOf returns the health of a model that was opened by a Pool. It is false for models that call nobody,
// recorded and simulated ones, which have no breaker.
func HealthOf(m Model) (Health, bool) {
	for {
		switch l := m.(type) {
		case *breaking:
			h := l.b.health()
			h.Median, h.Slow = latenciesOf(l.Model)
			return h, true
		case interface{ Within() Model }:
			m = l.Within()
		default:
			return Health{}, false
		}
	}
}

// latenciesOf returns two percentiles of the latencies that a stack of layers observes.
func latenciesOf(m Model) (median, slow time.Duration) {
	for {
		switch l := m.(type) {
		case *bounded:
			median, _ = l.latency.percentile(50)
			slow, _ = l.latency.percentile(95)
			return median, slow
		case interface{ Within() Model }:
			m = l.Within()
		default:
			return 0, 0
		}
	}
}

func (b *breaker) health() Health {
	b.mu.Lock()
	defer b.mu.Unlock()
	h := Health{State: Closed, Failed: b.failed, Worked: b.worked}
	for i := len(b.faults) - 1; i >= 0; i-- {
		h.Faults = append(h.Faults, b.faults[i])
	}
	if b.open {
		h.State, h.Since, h.Until = Open, b.since, b.until
		if !time.Now().Before(b.until) {
			h.State = HalfOpen
		}
	}
	return h
}
