package llm

import (
	"cmp"
	"sync"
	"time"

	"synod.dev/synod/internal/order"
)

// Outage lets calls wait while their model is out of order, instead of failing. A
// model is out of order while its circuit breaker is open; it is then tested again and
// again, and the calls that wait go on when it replies. A call waits only for a model
// that has replied before and that accepts its key: anything else is a mistake in the
// settings, which waiting does not repair.
//
// All calls of a run share one Outage. Its methods may be called concurrently.
type Outage struct {
	Limit   time.Duration // how long after the breaker opened calls wait; then they fail as without it
	Changed func()        // called when what Waiting returns changes; may be nil

	mu    sync.Mutex
	waits map[string]*Waiting // by model
}

// Waiting says that calls wait for a model.
type Waiting struct {
	Model  string
	Reason string    // why its last call failed
	Since  time.Time // when its breaker opened
	Calls  int       // how many wait
}

// Waiting returns the models that calls wait for now, sorted by name.
func (o *Outage) Waiting() []Waiting {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := make([]Waiting, 0, len(o.waits))
	for _, w := range o.waits {
		all = append(all, *w)
	}
	order.Sort(all, func(a, b Waiting) int { return cmp.Compare(a.Model, b.Model) })
	return all
}

// testsPerLimit is how often a model is tested within the limit of an outage.
const testsPerLimit = 20

// interval returns how long after a failed test the next one may follow.
func (o *Outage) interval() time.Duration { return max(o.Limit/testsPerLimit, time.Millisecond) }

// longest returns how long a server may ask a call to wait.
func (o *Outage) longest(otherwise time.Duration) time.Duration {
	if o == nil {
		return otherwise
	}
	return max(o.Limit, otherwise)
}

func (o *Outage) begin(model, reason string, since time.Time) {
	o.change(func() {
		if o.waits == nil {
			o.waits = map[string]*Waiting{}
		}
		w := o.waits[model]
		if w == nil {
			w = &Waiting{Model: model, Since: since}
			o.waits[model] = w
		}
		w.Reason = reason
		w.Calls++
	})
}

func (o *Outage) end(model string) {
	o.change(func() {
		if w := o.waits[model]; w.Calls > 1 {
			w.Calls--
		} else {
			delete(o.waits, model)
		}
	})
}

func (o *Outage) change(what func()) {
	o.mu.Lock()
	before := len(o.waits)
	what()
	after := len(o.waits)
	o.mu.Unlock()
	if before != after && o.Changed != nil {
		o.Changed()
	}
}
