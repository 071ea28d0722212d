package page

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"
)

// liveWrite is how long one write of a stream may take.
const liveWrite = 30 * time.Second

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
