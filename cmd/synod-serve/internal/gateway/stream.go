package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"synod.dev/synod/cmd/synod-serve/internal/wire"
)

// sse is a stream of server-sent events. The headers leave with the first byte. After a failed write nothing
// is written any more.
type sse struct {
	w      http.ResponseWriter
	rc     *http.ResponseController
	begun  bool
	broken bool
	seq    int // of the next event, in APIs that count them
}

// writeTime is how long one write may take. A client that reads more slowly is cut off.
const writeTime = 30 * time.Second

func newSSE(w http.ResponseWriter) *sse { return &sse{w: w, rc: http.NewResponseController(w)} }

func (s *sse) write(b []byte) {
	if s.broken {
		return
	}
	if !s.begun {
		s.begun = true
		h := s.w.Header()
		h.Set("Content-Type", "text/event-stream; charset=utf-8")
		h.Set("X-Accel-Buffering", "no") // for nginx
		s.w.WriteHeader(http.StatusOK)
	}
	if err := s.rc.SetWriteDeadline(time.Now().Add(writeTime)); err != nil && !errors.Is(err, http.ErrNotSupported) &&
		!errors.Is(err, os.ErrNoDeadline) {
		s.broken = true
		return
	}
	if _, err := s.w.Write(b); err != nil {
		s.broken = true
		return
	}
	s.broken = s.rc.Flush() != nil
}

// comment keeps the connection open. Clients ignore it.
func (s *sse) comment(text string) { s.write([]byte(": " + text + "\n\n")) }

// event sends a value as JSON; name is "" for an event without one.
func (s *sse) event(name string, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		s.broken = true // the client sees a stream without its end
		return
	}
	head := ""
	if name != "" {
		head = "event: " + name + "\n"
	}
	s.write([]byte(head + "data: " + string(b) + "\n\n"))
}

// Times of a stream that waits for a decision. They are variables for tests.
var (
	holdHeaders = 2 * time.Second        // a failure before it is an HTTP error with its own status
	keepAlive   = 10 * time.Second       // the longest silence
	progressGap = 500 * time.Millisecond // between two comments about progress
)

// stream sends comments until the council has decided, and then the answer. It returns an error only if
// nothing has been sent.
func (g *Gateway) stream(d dialect, w http.ResponseWriter, r *http.Request, j *job, fl *flight,
	first bool) *wire.Error {
	s := newSSE(w)
	draft := &Answer{ID: j.id, Created: j.begun, Model: j.served.ID, Fingerprint: j.fingerprint()}
	if !g.await(r.Context(), d, s, j, fl, draft) {
		fl.leave(errGone)
		return nil
	}
	fl.leave(nil)
	switch {
	case fl.err != nil && !s.begun:
		g.headers(w.Header(), j, nil, fl.err)
		return fl.err
	case fl.err != nil:
		d.fail(s, fl.err)
		return nil
	}
	a := fl.answer.of(j, first)
	a.Created = draft.Created
	if !s.begun {
		g.headers(w.Header(), j, a, nil)
		d.begin(s, a, j.req)
	}
	d.decide(s, a, j.req)
	return nil
}

// await sends comments about the progress until the flight has ended; false if the client is gone.
func (g *Gateway) await(ctx context.Context, d dialect, s *sse, j *job, fl *flight, draft *Answer) bool {
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
			g.headers(s.w.Header(), j, nil, nil)
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

// String is the progress for a comment.
func (p Progress) String() string {
	return fmt.Sprintf("%d of %d answered, round %d of %d, %d calls", p.Answered, p.Seats, p.Round, p.Rounds, p.Calls)
}

// pieces cuts a decided text into pieces for the chunks of a stream, at the ends of runes.
func pieces(text string) (all []string) {
	const most = 512
	for len(text) > most {
		at := most
		for at > 0 && text[at]&0xc0 == 0x80 {
			at--
		}
		if at == 0 {
			at = most // not UTF-8
		}
		all, text = append(all, text[:at]), text[at:]
	}
	return append(all, text)
}
