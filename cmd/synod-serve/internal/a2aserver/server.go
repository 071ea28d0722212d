// Package a2aserver is the gateway as an agent of the Agent2Agent protocol, version 1.0: a message is a question
// for a council, and its task ends with the decision, or asks for input where there is none.
//
// A question goes the gateway's way: the same keys, limits, accounting and journals as those of the HTTP APIs.
// Tasks are in the gateway's store.
package a2aserver

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"synod.dev/synod/core/sign"

	"synod.dev/synod/cmd/synod-serve/internal/gateway"
	"synod.dev/synod/cmd/synod-serve/internal/store"
)

// Options are what a server needs.
type Options struct {
	Gateway *gateway.Gateway
	Store   *store.Store
	Log     *slog.Logger
	Version string
	NeedKey bool   // the card says that requests need an API key
	URL     string // where clients reach the gateway; "": under the Host of their request

	// Signer returns the key that signs the card; ok is false while there is none.
	Signer func() (secret sign.Secret, ok bool, err error)
}

// Server answers A2A clients. Use New, and Wait after the gateway was drained.
type Server struct {
	o       Options
	handler http.Handler
	tasks   *tasks
	running sync.WaitGroup // executions

	mu     sync.Mutex
	signed map[string][]byte // cards by address
}

// Path is the path of the JSON-RPC binding.
const Path = "/a2a"

// Mount adds the routes of the protocol to a gateway.
func (s *Server) Mount(g *gateway.Gateway) {
	g.Mount("POST "+Path, s)
	g.Mount("GET "+a2asrv.WellKnownAgentCardPath, http.HandlerFunc(s.card))
}

// keepAlive is how often a stream without events has a comment.
const keepAlive = 15 * time.Second

// New returns a server.
func New(o Options) *Server {
	s := &Server{o: o, tasks: &tasks{store: o.Store, here: map[a2a.TaskID]bool{}}}
	quiet := slog.New(levelled{o.Log.Handler()})
	h := a2asrv.NewHandler(&agent{s}, a2asrv.WithTaskStore(s.tasks), a2asrv.WithLogger(quiet),
		a2asrv.WithCapabilityChecks(capabilities()), a2asrv.WithCallInterceptors(versions{}),
		a2asrv.WithExecutionPanicHandler(s.panicked))
	s.handler = a2asrv.NewJSONRPCHandler(h, a2asrv.WithTransportKeepAlive(keepAlive),
		a2asrv.WithTransportPanicHandler(s.panicked))
	return s
}

// panicked turns a panic into an error.
func (s *Server) panicked(r any) error {
	s.o.Log.Error("panic", "protocol", "a2a", "panic", fmt.Sprint(r))
	return a2a.ErrInternalError
}

// levelled keeps what the library logs about each request out of the gateway's log, which has its own line.
type levelled struct{ slog.Handler }

func (l levelled) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && l.Handler.Enabled(ctx, level)
}

// versions refuses clients of another version of the protocol.
type versions struct {
	a2asrv.PassthroughCallInterceptor
}

func (versions) Before(ctx context.Context, call *a2asrv.CallContext, _ *a2asrv.Request) (context.Context, any, error) {
	if v, ok := call.ServiceParams().Get(a2a.SvcParamVersion); ok && len(v) > 0 && !strings.HasPrefix(v[0], "1.") {
		return ctx, nil, fmt.Errorf("the client speaks A2A %.10q, and the gateway %s: %w", v[0], a2a.Version,
			a2a.ErrVersionNotSupported)
	}
	return ctx, nil, nil
}

// caller is who has sent a request.
type caller struct {
	key    string // its id; "": none
	header http.Header
}

type callerKey struct{}

func callerOf(ctx context.Context) caller { c, _ := ctx.Value(callerKey{}).(caller); return c }

// ServeHTTP answers JSON-RPC.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key, e := s.o.Gateway.Authorise(r.Context(), r.Header)
	if e != nil {
		w.Header().Set("Content-Type", "application/json")
		if e.HTTP == http.StatusUnauthorized {
			w.Header().Set("Www-Authenticate", "Bearer")
		}
		w.WriteHeader(e.HTTP)
		_ = json.NewEncoder(w).Encode(e.Body()) // the client may be gone
		return
	}
	c := caller{header: r.Header}
	if key != nil {
		c.key = key.ID
	}
	r.Body = http.MaxBytesReader(w, r.Body, s.o.Gateway.MaxBody())
	s.handler.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, c)))
}

// Wait returns when all executions have ended, which the gateway's Drain cancels.
func (s *Server) Wait() { s.running.Wait() }
