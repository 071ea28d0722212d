// Package llmtest is a stand-in for an OpenAI-compatible server on loopback: it
// answers by a function, keeps a log of what it was asked, and misbehaves by
// name in all the ways that a provider can (docs/reliability.md, provider
// rows).
//
//	s := llmtest.Start(t, llmtest.Fixed("42", 0.9), llmtest.Latency(20*time.Millisecond))
//	m, err := llm.NewOpenAI(llm.OpenAIConfig{URL: s.URL, Model: "stub"})
//
// Members of one council can differ: llmtest.For("m4", llmtest.Hang(time.Minute))
// spoils only the model called m4. Named finds a behaviour by its name, so that
// command-line scripts can ask for one.
package llmtest

import (
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Handler is the model: it gives the text of the reply. It is called
// concurrently.
type Handler func(Call) string

// Server answers POST …/chat/completions and GET …/models. The zero value is of
// no use; see New and Start.
type Server struct {
	URL string // http://127.0.0.1:port/v1, once started

	handler Handler
	latency time.Duration
	behave  Behaviour
	byModel map[string]Behaviour
	quiet   bool
	done    chan struct{}
	http    *http.Server
	serving sync.WaitGroup

	count, now, most atomic.Int64

	mu    sync.Mutex
	calls []Call
	model map[string]int
}

// Option sets up a server.
type Option func(*Server)

// Latency is how long every reply takes, from when the request has been read.
func Latency(d time.Duration) Option { return func(s *Server) { s.latency = d } }

// With makes every call behave so.
func With(b Behaviour) Option { return func(s *Server) { s.behave = b } }

// For makes the calls of one model behave so.
func For(model string, b Behaviour) Option { return func(s *Server) { s.byModel[model] = b } }

// Quiet keeps counts but no calls, for benchmarks.
func Quiet() Option { return func(s *Server) { s.quiet = true } }

// New makes a server that does not listen: it is an http.Handler. Close ends
// calls that hang.
func New(h Handler, options ...Option) *Server {
	s := &Server{handler: h, byModel: map[string]Behaviour{}, done: make(chan struct{}), model: map[string]int{}}
	for _, o := range options {
		o(s)
	}
	if s.handler == nil {
		s.handler = Fixed("42", 0.9)
	}
	return s
}

// Start makes a server that listens on loopback until the test ends.
func Start(t testing.TB, h Handler, options ...Option) *Server {
	t.Helper()
	s := New(h, options...)
	if err := s.Listen(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Listen serves on a free port of 127.0.0.1 until Close.
func (s *Server) Listen() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s.URL = "http://" + l.Addr().String() + "/v1"
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second,
		ErrorLog: log.New(io.Discard, "", 0)}
	s.serving.Go(func() {
		if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			panic("llmtest: " + err.Error())
		}
	})
	return nil
}

// Close ends all calls and closes all connections.
func (s *Server) Close() {
	close(s.done)
	if s.http != nil {
		_ = s.http.Close()
	}
	s.serving.Wait()
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"stub","object":"model"}]}`)
		return
	}
	now := s.now.Add(1)
	defer s.now.Add(-1)
	for most := s.most.Load(); now > most && !s.most.CompareAndSwap(most, now); {
		most = s.most.Load()
	}
	x := &Exchange{W: w, R: r, server: s}
	body, err := readBody(r)
	if err == nil {
		x.Call, err = parse(body)
	}
	if err != nil {
		x.Error(http.StatusBadRequest, "invalid_request_error", err.Error())
		return
	}
	x.Auth = r.Header.Get("Authorization")
	s.note(&x.Call)
	if s.latency > 0 && !x.pause(s.latency) {
		return
	}
	switch b := s.byModel[x.Model]; {
	case b != nil:
		b(x)
	case s.behave != nil:
		s.behave(x)
	default:
		x.OK()
	}
}

func readBody(r *http.Request) ([]byte, error) {
	if r.ContentLength > 0 && r.ContentLength < 8<<20 {
		b := make([]byte, r.ContentLength)
		_, err := io.ReadFull(r.Body, b)
		return b, err
	}
	return io.ReadAll(io.LimitReader(r.Body, 8<<20))
}

func (s *Server) note(c *Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.N = int(s.count.Add(1) - 1) // under the lock, so that the log is in this order
	s.model[c.Model]++
	if !s.quiet {
		s.calls = append(s.calls, *c)
	}
}

// Count is the number of calls so far.
func (s *Server) Count() int { return int(s.count.Load()) }

// CountOf is the number of calls for one model.
func (s *Server) CountOf(model string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.model[model]
}

// MaxConcurrent is the largest number of calls that were open at once.
func (s *Server) MaxConcurrent() int { return int(s.most.Load()) }

// Calls returns the calls so far, in the order in which they came.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}
