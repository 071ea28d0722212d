package gateway

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"time"
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

// piece is how many bytes a client must read in the time.
const piece = 64 << 10

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
