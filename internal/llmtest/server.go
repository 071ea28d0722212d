// Package llmtest is a test server on loopback with an OpenAI-compatible API, Anthropic's
// Messages API and the Gemini API; the path of a request tells which one it wants. It
// replies with the result of a function, logs its calls, and can simulate the failures
// of providers.
//
//	s := llmtest.Start(t, llmtest.Fixed("42", 0.9), llmtest.Latency(20*time.Millisecond))
//	m, err := llm.NewOpenAI(llm.OpenAIConfig{URL: s.URL, Model: "stub"})
//
// A behaviour can be limited to one model: For("m4", Hang(time.Minute)). Named
// finds a behaviour by its name, so that command-line scripts can choose one.
package llmtest

import (
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Handler returns the text of a reply. It is called concurrently.
type Handler func(Call) string

// Server answers POST …/chat/completions, …/messages and …/models/NAME:generateContent, and
// GET …/models. Use New or Start to make one.
type Server struct {
	URL string // http://127.0.0.1:port/v1, once started

	handler Handler
	latency time.Duration
	behave  Behaviour
	byModel map[string]Behaviour
	quiet   bool
	models  []string // of the list; nil: one
	done    chan struct{}
	http    *http.Server
	serving sync.WaitGroup

	count, now, most atomic.Int64

	mu    sync.Mutex
	calls []Call
	model map[string]int
}

// Option configures a server.
type Option func(*Server)

// Latency delays every reply by d after its request has been read.
func Latency(d time.Duration) Option { return func(s *Server) { s.latency = d } }

// With applies a behaviour to every call.
func With(b Behaviour) Option { return func(s *Server) { s.behave = b } }

// For applies a behaviour to the calls of one model.
func For(model string, b Behaviour) Option { return func(s *Server) { s.byModel[model] = b } }

// Models are the names in the server's list of models.
func Models(names ...string) Option { return func(s *Server) { s.models = names } }

// Quiet keeps counts but no log of calls, for benchmarks.
func Quiet() Option { return func(s *Server) { s.quiet = true } }

// New returns a server that does not listen and is used as an http.Handler. Close
// ends calls that hang. A nil handler is Fixed("42", 0.9).
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

// Start returns a server that listens on loopback until the test ends.
func Start(t testing.TB, h Handler, options ...Option) *Server {
	t.Helper()
	s := New(h, options...)
	if err := s.Listen(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// ports are those that NewListener has given.
var ports struct {
	sync.Mutex
	given map[string]bool
}

// NewListener listens on a free port of 127.0.0.1 that no other server of this process has had: what the process knows
// of a server, such as that it has failed, outlives it.
func NewListener() (net.Listener, error) {
	ports.Lock()
	defer ports.Unlock()
	if ports.given == nil {
		ports.given = map[string]bool{}
	}
	for range 100 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		if address := l.Addr().String(); !ports.given[address] {
			ports.given[address] = true
			return l, nil
		}
		l.Close()
	}
	return nil, errors.New("llmtest: all free ports were given before")
}

// Listen serves on a free port of 127.0.0.1 until Close and sets URL.
func (s *Server) Listen() error {
	l, err := NewListener()
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
	api := apiOf(r)
	if r.Method == http.MethodGet {
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/models") && s.models != nil {
			_, _ = w.Write(api.lists(s.models))
			return
		}
		_, _ = io.WriteString(w, api.list(r))
		return
	}
	now := s.now.Add(1)
	defer s.now.Add(-1)
	for most := s.most.Load(); now > most && !s.most.CompareAndSwap(most, now); {
		most = s.most.Load()
	}
	x := &Exchange{W: w, R: r, server: s, api: api}
	body, err := readBody(r)
	if err == nil {
		x.Call, err = api.parse(r, body)
	}
	if err != nil {
		x.Error(http.StatusBadRequest, "invalid_request_error", err.Error())
		return
	}
	x.Auth = api.auth(r.Header)
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

// Count returns the number of calls so far.
func (s *Server) Count() int { return int(s.count.Load()) }

// CountOf returns the number of calls for one model.
func (s *Server) CountOf(model string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.model[model]
}

// MaxConcurrent returns the largest number of calls that were open together.
func (s *Server) MaxConcurrent() int { return int(s.most.Load()) }

// Calls returns the calls so far, in the order of their arrival.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}
