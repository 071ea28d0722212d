package gateway

import (
	"context"
	"net/http"
	"time"

	"synod.dev/synod/cmd/synod-serve/internal/wire"
)

// Times of a stream that waits for a decision. They are variables for tests.
var (
	holdHeaders = 2 * time.Second        // a failure before it is an HTTP error with its own status
	keepAlive   = 10 * time.Second       // the longest silence
	progressGap = 500 * time.Millisecond // between two comments about progress
)

// stream sends comments until the council has decided, and then the answer. It returns an error only if
// nothing has been sent.
func (j *job) stream(d dialect, w http.ResponseWriter, r *http.Request, fl *flight, first bool) *wire.Error {
	s := newSSE(w)
	draft := &Answer{ID: j.id, Created: j.begun, Model: j.served.ID, Fingerprint: j.fingerprint()}
	if !j.await(r.Context(), d, s, fl, draft) {
		fl.leave(errGone)
		return nil
	}
	fl.leave(nil)
	switch {
	case fl.err != nil && !s.begun:
		j.headers(w.Header(), nil, fl.err)
		return fl.err
	case fl.err != nil:
		d.fail(s, fl.err)
		return nil
	}
	a := fl.answer.of(j, first)
	a.Created = draft.Created
	if !s.begun {
		j.headers(w.Header(), a, nil)
		d.begin(s, a, j.req)
	}
	d.decide(s, a, j.req)
	return nil
}

// await sends comments about the progress until the flight has ended; false if the client is gone.
func (j *job) await(ctx context.Context, d dialect, s *sse, fl *flight, draft *Answer) bool {
	hold := time.NewTimer(holdHeaders)
	defer hold.Stop()
	var next <-chan time.Time // when the next comment may be sent
	var said Progress
	silent := time.NewTimer(keepAlive)
	defer silent.Stop()
	for {
		p, changed := fl.now()
		if !s.begun {
			changed = nil
		}
		if s.begun && p != said && next == nil {
			said = p
			s.comment(p.String())
			if j.req.Synod.Progress {
				d.progress(s, draft, p)
			}
			silent.Reset(keepAlive)
			next = time.After(progressGap)
		}
		if next != nil {
			changed = nil
		}
		select {
		case <-fl.done:
			return true
		case <-ctx.Done():
			return false
		case <-hold.C:
			j.headers(s.w.Header(), nil, nil)
			d.begin(s, draft, j.req)
			s.comment(p.String())
			said = p
		case <-silent.C:
			if s.begun {
				s.comment(p.String())
			}
			silent.Reset(keepAlive)
		case <-next:
			next = nil
		case <-changed:
		}
		if s.broken {
			return false
		}
	}
}
