package llmtest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Fast is a server for measuring a council and not the server: it reads no more
// of a request than its length, and every reply leaves its latency after the
// request came, to some ten microseconds. It speaks just enough HTTP/1.1 for a
// client that keeps connections open, and misbehaves in no way.
type Fast struct {
	URL string

	reply    func(body []byte) string
	latency  time.Duration
	listener net.Listener
	queue    chan due
	count    atomic.Int64
	serving  sync.WaitGroup

	mu     sync.Mutex
	closed bool
	conns  map[net.Conn]bool
}

// due is a reply and when it leaves. All wait equally long, so they are due in
// the order in which they came.
type due struct {
	at   time.Time
	conn net.Conn
	wire []byte
}

// StartFast serves until the test ends. The reply to a request is made from its
// body, unread; FastFixed makes one.
func StartFast(t testing.TB, latency time.Duration, reply func(body []byte) string) *Fast {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &Fast{URL: "http://" + l.Addr().String() + "/v1", reply: reply, latency: latency, listener: l,
		queue: make(chan due, 1<<14), conns: map[net.Conn]bool{}}
	s.serving.Go(s.send)
	s.serving.Go(s.accept)
	t.Cleanup(s.Close)
	return s
}

// FastFixed gives one answer, and one score to whatever it is asked to judge.
func FastFixed(answer string, score float64) func(body []byte) string {
	h := Fixed(answer, score)
	scored, answered := h(Call{Format: "json_schema", Schema: json.RawMessage(`"score"`)}), h(Call{Format: "json_schema"})
	proseScore, proseAnswer := h(Call{User: "Score:"}), h(Call{})
	return func(body []byte) string {
		switch typed := bytes.Contains(body, []byte(`"response_format":{`)); {
		case typed && bytes.Contains(body, []byte(`"score":{`)):
			return scored
		case typed:
			return answered
		case bytes.Contains(body, []byte(`Score:"}`)):
			return proseScore
		}
		return proseAnswer
	}
}

// Count is the number of requests so far.
func (s *Fast) Count() int { return int(s.count.Load()) }

// Close ends the server and waits for it.
func (s *Fast) Close() {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	for c := range s.conns {
		_ = c.Close()
	}
	s.mu.Unlock()
	if first {
		_ = s.listener.Close()
	}
	s.serving.Wait()
}

func (s *Fast) accept() {
	var reading sync.WaitGroup
	for {
		c, err := s.listener.Accept()
		if err != nil {
			break
		}
		s.mu.Lock()
		s.conns[c] = true
		if s.closed {
			_ = c.Close()
		}
		s.mu.Unlock()
		reading.Go(func() { s.read(c) })
	}
	reading.Wait()
	close(s.queue)
}

// read takes requests off one connection.
func (s *Fast) read(c net.Conn) {
	defer func() { _ = c.Close() }()
	in := bufio.NewReaderSize(c, 16<<10)
	var body []byte
	for {
		n, err := head(in)
		if err != nil {
			return
		}
		if cap(body) < n {
			body = make([]byte, n)
		}
		body = body[:n]
		if _, err := io.ReadFull(in, body); err != nil {
			return
		}
		at := time.Now().Add(s.latency)
		s.count.Add(1)
		s.queue <- due{at, c, wire(s.reply(body))}
	}
}

// head reads to the end of a request's head and returns the body's length.
func head(in *bufio.Reader) (length int, err error) {
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		if len(line) <= 2 {
			return length, nil
		}
		if name, value, ok := bytes.Cut(line, []byte(":")); ok && len(name) == len("Content-Length") && strings.EqualFold(string(name), "Content-Length") {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil || length < 0 || length > 8<<20 {
				return 0, errors.New("llmtest: length of the body")
			}
		}
	}
}

func wire(text string) []byte {
	x := Exchange{Call: Call{User: "0123456789"}}
	body := x.completion(text, "stop")
	b := make([]byte, 0, len(body)+100)
	b = append(b, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "...)
	b = strconv.AppendInt(b, int64(len(body)), 10)
	return append(append(b, "\r\n\r\n"...), body...)
}

// send writes each reply when it is due.
func (s *Fast) send() {
	wait, stop := newWaiter()
	defer stop()
	for d := range s.queue {
		wait(time.Until(d.at))
		_, _ = d.conn.Write(d.wire)
	}
}
