package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"synod.dev/synod/cmd/synod-serve/internal/wire"
)

// flights are the questions that councils decide now. An identical request joins one that is in flight, so
// that a client which repeats a request pays once. Requests with an idempotency key find its answer for some
// time after.
type flights struct {
	mu  sync.Mutex
	all map[string]*flight
}

// flight is one question on its way.
type flight struct {
	done   chan struct{} // closed when answer or err is there
	answer *Answer
	err    *wire.Error
	landed func() // forgets the flight, at once or later
	first  string // the id of the request that has begun it

	mu       sync.Mutex
	waiting  int // requests that wait for it
	cancel   context.CancelCauseFunc
	progress Progress
	changed  chan struct{} // closed and renewed with each change of progress
}

// Progress is how far a council has come.
type Progress struct {
	Answered int `json:"answered"` // seats whose model has replied
	Seats    int `json:"seats"`
	Round    int `json:"round"` // the last round that every live member has finished
	Rounds   int `json:"rounds"`
	Calls    int `json:"calls"`
	Planned  int `json:"planned"`
}

// keptFor is how long the answer to a request with an idempotency key is kept.
const keptFor = 10 * time.Minute

// mostFlights bounds how many answers are kept.
const mostFlights = 10_000

// flightKey identifies a request of a caller.
func flightKey(caller, api, idempotency string, body []byte) string {
	h := sha256.New()
	for _, part := range []string{caller, api, idempotency, string(body)} {
		h.Write([]byte(part))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil))
}

// join returns the flight of a key, which begin starts if there is none. first reports whether it did.
func (f *flights) join(key string, keep bool, begin func(*flight)) (fl *flight, first bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if fl = f.all[key]; fl != nil && fl.enter() {
		return fl, false
	}
	fl = &flight{done: make(chan struct{}), changed: make(chan struct{}), waiting: 1}
	if f.all == nil {
		f.all = map[string]*flight{}
	}
	f.all[key] = fl
	fl.landed = func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if keep && fl.err == nil && len(f.all) < mostFlights {
			time.AfterFunc(keptFor, func() { f.forget(key, fl) })
		} else if f.all[key] == fl {
			delete(f.all, key)
		}
	}
	begin(fl)
	return fl, true
}

func (f *flights) forget(key string, fl *flight) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all[key] == fl {
		delete(f.all, key)
	}
}

// finish gives all who wait the answer or the error.
func (fl *flight) finish(a *Answer, e *wire.Error) {
	fl.answer, fl.err = a, e
	close(fl.done)
	fl.landed()
}

// enter adds a request; false if all have left and the council is being stopped.
func (fl *flight) enter() bool {
	fl.mu.Lock()
	defer fl.mu.Unlock()
	select {
	case <-fl.done:
		return true
	default:
	}
	if fl.waiting == 0 {
		return false
	}
	fl.waiting++
	return true
}

// leave takes a request away. When the last one leaves, the council's calls are cancelled.
func (fl *flight) leave(cause error) {
	fl.mu.Lock()
	defer fl.mu.Unlock()
	if fl.waiting--; fl.waiting == 0 && fl.cancel != nil {
		fl.cancel(cause)
	}
}

// note changes the progress.
func (fl *flight) note(change func(*Progress)) {
	fl.mu.Lock()
	defer fl.mu.Unlock()
	before := fl.progress
	if change(&fl.progress); fl.progress != before {
		close(fl.changed)
		fl.changed = make(chan struct{})
	}
}

// now returns the progress, and a channel that is closed when it changes.
func (fl *flight) now() (Progress, <-chan struct{}) {
	fl.mu.Lock()
	defer fl.mu.Unlock()
	return fl.progress, fl.changed
}

// sameBody is a body without the keys that do not change the answer, so that a stream joins a request
// without one.
func sameBody(body []byte) []byte {
	var all map[string]json.RawMessage
	if json.Unmarshal(body, &all) != nil {
		return body
	}
	for _, key := range []string{"stream", "stream_options", "user", "metadata", "store"} {
		delete(all, key)
	}
	b, err := json.Marshal(all)
	if err != nil {
		return body
	}
	return b
}

// String is the progress for a comment.
func (p Progress) String() string {
	return fmt.Sprintf("%d of %d answered, round %d of %d, %d calls", p.Answered, p.Seats, p.Round, p.Rounds, p.Calls)
}
