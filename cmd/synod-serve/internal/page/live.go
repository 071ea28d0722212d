package page

import (
	"sync"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/council"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"

	"synod.dev/synod/cmd/synod-serve/internal/gateway"
)

// live is a run that this page has begun. It is kept for some time after its end, for runs without a journal.
type live struct {
	run   *gateway.Running
	key   string // the id of its key; "": none
	model string
	begun time.Time

	mu       sync.Mutex
	state    runState
	progress council.Progress
	tokens   int
	usd      float64
	unpriced bool          // the price of a part is not known
	changed  chan struct{} // closed and renewed with each change
}

// lives are the runs of this page by id.
type lives struct {
	mu  sync.Mutex
	all map[string]*live
}

// keepLive is how long a run is kept in memory after its end, and mostLive how many are.
const (
	keepLive = 30 * time.Minute
	mostLive = 500
)

func (l *lives) get(id string) *live {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all[id]
}

// add keeps a run, and forgets those that have ended long ago.
func (l *lives) add(r *live) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil {
		l.all = map[string]*live{}
	}
	for id, old := range l.all {
		if old.ended() && (time.Since(old.begun) > keepLive || len(l.all) >= mostLive) {
			delete(l.all, id)
		}
	}
	l.all[r.run.ID] = r
}

func (l *live) ended() bool {
	select {
	case <-l.run.Done():
		return true
	default:
		return false
	}
}

// watch notes what happens in a run.
func (l *live) watch(seats []plan.Seat, prices llm.Prices) gateway.Watch {
	return gateway.Watch{
		Noted: func(seat synod.NodeID, o *synod.Opinion) {
			c := copyOf(o)
			l.change(func() { l.state.notes = append(l.state.notes, journal.Noted{Node: seat, Opinion: c}) })
		},
		Progress: func(now council.Progress) { l.change(func() { l.progress = now }) },
		Replied: func(seat synod.NodeID, r *synod.Reply) {
			s := seats[seat]
			price, known := prices.Of(llm.Info{Kind: s.Kind, Server: s.Server, Model: s.Served})
			l.change(func() {
				if !r.Needless {
					l.state.heard(seat, r)
				}
				l.tokens += r.Usage.Total()
				l.usd += (price.Prompt*float64(r.Usage.Prompt) + price.Completion*float64(r.Usage.Completion)) / 1e6
				l.unpriced = l.unpriced || !known
			})
		},
	}
}

func (l *live) change(do func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	do()
	close(l.changed)
	l.changed = make(chan struct{})
}

// liveView is a run that goes on.
type liveView struct {
	ID, Model, Question string
	Form                synod.Form
	Seconds             float64
	Answered            int      // seats whose model has replied
	Awaited             []string // the others
	Round, Rounds       int
	Calls, Planned      int
	Tokens              int
	USD                 float64
	Unpriced            bool
	Bound               plan.Bound
	Board               *board
}

// view returns the run as it is now, and a channel that is closed when it changes.
func (l *live) view() (*liveView, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	v := &liveView{ID: l.run.ID, Model: l.model, Question: l.run.Text, Form: l.run.Form, Tokens: l.tokens, USD: l.usd,
		Unpriced: l.unpriced, Seconds: time.Since(l.begun).Seconds(), Bound: l.run.Plan.Bound(),
		Round: l.progress.Round, Rounds: l.progress.Rounds, Calls: l.progress.Calls, Planned: l.progress.Planned}
	v.Board = l.state.board()
	for i := range v.Board.Seats {
		if s := &v.Board.Seats[i]; s.Said != nil || s.Holds() != nil {
			v.Answered++
		} else {
			v.Awaited = append(v.Awaited, s.ID)
		}
	}
	return v, l.changed
}
