package page

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/council"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"

	"synod.dev/synod/cmd/synod-serve/internal/gateway"
	"synod.dev/synod/cmd/synod-serve/internal/store"
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

// begin puts a question and returns its run.
func (p *Page) begin(key *store.Key, model string, body []byte) (*live, error) {
	l := &live{model: model, begun: time.Now(), changed: make(chan struct{})}
	if key != nil {
		l.key = key.ID
	}
	run, e := p.o.Gateway.Begin("page", key, body, func(r *gateway.Running) gateway.Watch {
		l.state = newState(r.Plan, r.Form)
		l.progress = council.Progress{Round: -1, Rounds: 0, Planned: r.Plan.Calls()}
		return l.watch(r.Seats, p.o.Prices)
	})
	if e != nil {
		return nil, e
	}
	l.run = run
	p.lives.add(l)
	return l, nil
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
				l.state.heard(seat, r)
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

// Times of the stream of a run.
const (
	liveGap   = 300 * time.Millisecond // between two events
	liveBeat  = time.Second            // an event at least, for the clock on the page
	liveWrite = 30 * time.Second       // that one write may take
)

// watchRun streams a run as events "status", "meter" and "board", each when it has changed, and "done" at its end.
func watchRun(v *visit) error {
	l, err := v.liveRun()
	if err != nil {
		return err
	}
	s := v.stream("run.html")
	for l != nil && !l.ended() {
		now, changed := l.view()
		if more, err := s.send([]fragment{{"status", "status", now}, {"meter", "meter", now},
			{"said", "said", now.Board}, {"board", "board", now.Board}}); !more {
			return err
		}
		if !pause(v, l, changed) {
			return nil
		}
	}
	s.done()
	return nil
}

// stream sends parts of a page as server-sent events, each when it has changed.
type stream struct {
	v    *visit
	rc   *http.ResponseController
	file string            // of the templates
	sent map[string]string // by event
}

// fragment is a part of a page, the event that brings it, and its template.
type fragment struct {
	event, template string
	data            any
}

// stream begins a response of events with parts from a file of templates.
func (v *visit) stream(file string) *stream {
	h := v.W.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("X-Accel-Buffering", "no") // for nginx
	s := &stream{v: v, rc: http.NewResponseController(v.W), file: file, sent: map[string]string{}}
	_ = s.rc.SetReadDeadline(time.Time{}) // that of the request would end the stream; tests have none
	return s
}

// send sends the parts that have changed; false if the viewer is gone or a part cannot be made.
func (s *stream) send(parts []fragment) (bool, error) {
	for _, p := range parts {
		html, err := s.v.p.fragment(s.file, p.template, p.data)
		if err != nil {
			return false, err
		}
		if text := string(html); text != s.sent[p.event] {
			s.sent[p.event] = text
			if s.write(p.event, html) != nil {
				return false, nil
			}
		}
	}
	return true, nil
}

// done tells the page that there is no more.
func (s *stream) done() { _ = s.write("done", []byte("done")) }

func (s *stream) write(event string, data []byte) error {
	err := s.rc.SetWriteDeadline(time.Now().Add(liveWrite))
	if errors.Is(err, http.ErrNotSupported) || errors.Is(err, os.ErrNoDeadline) {
		err = nil
	}
	return errors.Join(err, writeEvent(s.v.W, event, data), s.rc.Flush())
}

// pause waits until a run has changed, but not too short and not too long; false if the viewer is gone.
func pause(v *visit, l *live, changed <-chan struct{}) bool {
	gap, beat := time.NewTimer(liveGap), time.NewTimer(liveBeat)
	defer gap.Stop()
	defer beat.Stop()
	for _, next := range []<-chan struct{}{nil, changed} {
		var timer <-chan time.Time = gap.C
		if next != nil {
			timer = beat.C
		}
		select {
		case <-v.R.Context().Done():
			return false
		case <-l.run.Done():
			return true
		case <-timer:
		case <-next:
		}
	}
	return true
}

// writeEvent writes a server-sent event. Lines of data are sent as such.
func writeEvent(w http.ResponseWriter, event string, data []byte) error {
	out := "event: " + event + "\n"
	start := 0
	for i, b := range data {
		if b == '\n' || b == '\r' {
			out += "data: " + string(data[start:i]) + "\n"
			start = i + 1
		}
	}
	_, err := fmt.Fprintf(w, "%sdata: %s\n\n", out, data[start:])
	return err
}

// liveRun returns the run of a request that goes on here; nil if it does not. A run of another key is as if it
// did not exist.
func (v *visit) liveRun() (*live, error) {
	id := v.R.PathValue("id")
	l := v.p.lives.get(id)
	if l != nil && !v.mine(l.key) {
		return nil, noRun(id)
	}
	return l, nil
}

// stopRun stops a run.
func stopRun(v *visit) error {
	l, err := v.liveRun()
	if err != nil {
		return err
	}
	if l != nil {
		l.run.Stop()
		select {
		case <-l.run.Done():
		case <-time.After(5 * time.Second):
		case <-v.R.Context().Done():
		}
	}
	return v.redirect("/runs/" + v.R.PathValue("id"))
}
