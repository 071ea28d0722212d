package page

import (
	"time"

	"synod.dev/synod/council"

	"synod.dev/synod/cmd/synod-serve/internal/gateway"
	"synod.dev/synod/cmd/synod-serve/internal/store"
)

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

// Times of the stream of a run.
const (
	liveGap  = 300 * time.Millisecond // between two events
	liveBeat = time.Second            // an event at least, for the clock on the page
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
