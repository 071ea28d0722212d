// Package gateway answers the requests of OpenAI and Anthropic clients with the decisions of councils.
//
// A request goes through these steps: its key and its model are checked, what it may cost is reserved in the
// store, the council decides, the cost is settled, and the answer is sent in the shape of the client's API.
// A text is sent only when it is decided: until then a stream has comments, which keep the connection open.
package gateway

import (
	"context"
	"encoding/base32"
	"encoding/binary"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"crypto/rand"

	"synod.dev/synod/cmd/synod-serve/internal/councils"
	"synod.dev/synod/cmd/synod-serve/internal/store"
	"synod.dev/synod/cmd/synod-serve/internal/wire"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/llm"
)

// Options determine how a gateway answers. Councils, Store and Log are required.
type Options struct {
	Councils *councils.Registry
	Store    *store.Store
	Log      *slog.Logger
	Prices   llm.Prices
	Journals string   // folder of the journals; "": none is kept
	Evidence string   // folder of proofs that nodes have equivocated; "": none is kept
	NeedKey  bool     // requests without a valid API key are refused
	Hosts    []string // names under which clients reach the gateway, beside localhost and addresses
	Settings Settings
	Calls    bool           // Observed has the calls of members
	Observe  func(Observed) // called once for each request that was begun; may be nil

	// Owner returns the key that signs certificates, for requests that want one; nil: such requests get 400.
	Owner func() (sign.Secret, error)
	// Again returns the command with which people resume a run from its journal, for escalations; nil: there is none.
	Again func(*outcome.Outcome) string
}

// Settings are what the configuration file sets. Models has what differs for some models.
type Settings struct {
	Policy   `yaml:",inline"`
	Models   map[string]Policy `yaml:"models" doc:"what differs for some models, by model id"`
	Deadline time.Duration     `yaml:"deadline" doc:"the longest time of a request"`
	AtOnce   int               `yaml:"at_once" doc:"requests at once; others get 503"`
	Body     int64             `yaml:"body" doc:"bytes of the longest body"`
	Bodies   int64             `yaml:"bodies" doc:"bytes of all bodies that are held at once"`
	Content  bool              `yaml:"log_content" doc:"log questions and answers"`
}

// Policy is how requests to a model are answered.
type Policy struct {
	Form          string `yaml:"form" doc:"form of the answers; default: guessed from the question"`
	OnNoConsensus string `yaml:"on_no_consensus" doc:"error, refuse or best-effort"`
	DropParams    bool   `yaml:"drop_params" doc:"ignore keys of requests that cannot be honoured, and name them"`
	// Tools is vote: the council decides which tool is called; primary: one member answers requests with tools;
	// or reject: they get 400.
	Tools string `yaml:"tools" doc:"vote, primary or reject"`
	N     bool   `yaml:"n" doc:"allow n above 1: further choices are the other answers of members"`
}

// DefaultSettings are those without a configuration file.
func DefaultSettings() Settings {
	return Settings{Policy: Policy{OnNoConsensus: wire.Fail}, Deadline: 15 * time.Minute, AtOnce: 1000, Body: 8 << 20,
		Bodies: 128 << 20}
}

// policy returns the policy of a model.
func (s *Settings) policy(model string) Policy {
	p := s.Policy
	if m, ok := s.Models[model]; ok {
		if m.Form != "" {
			p.Form = m.Form
		}
		if m.OnNoConsensus != "" {
			p.OnNoConsensus = m.OnNoConsensus
		}
		if m.Tools != "" {
			p.Tools = m.Tools
		}
		p.DropParams, p.N = p.DropParams || m.DropParams, p.N || m.N
	}
	return p
}

// Gateway answers requests. Use New.
type Gateway struct {
	o        Options
	id       string // names this gateway in llm.Via
	flights  flights
	keys     keyCache
	unread   unreadTally
	running  sync.WaitGroup
	places   share // requests at once
	bodies   share // bytes of their bodies
	forms    share // bytes of the bodies of other requests
	draining atomic.Bool
	stop     context.CancelFunc // ends all councils that run
	life     context.Context
	mounted  map[string]http.Handler
}

// New returns a gateway. Close it after use.
func New(o Options) *Gateway {
	g := &Gateway{o: o, mounted: map[string]http.Handler{}, id: "gw-" + strings.ToLower(rand.Text()[:12])}
	g.places.most, g.bodies.most = int64(o.Settings.AtOnce), max(o.Settings.Bodies, 2*o.Settings.Body)
	g.forms.most = g.bodies.most / 4
	g.life, g.stop = context.WithCancel(context.Background())
	return g
}

// Mount adds a handler under a pattern of net/http. Handler guards it as it guards the API. The handler of "/"
// serves what no other route does, except under /v1/.
func (g *Gateway) Mount(pattern string, h http.Handler) { g.mounted[pattern] = h }

// Drain has the gateway refuse new requests, and waits until those that have begun are done or ctx ends;
// then it cancels them.
func (g *Gateway) Drain(ctx context.Context) {
	g.draining.Store(true)
	done := make(chan struct{})
	go func() { g.running.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
	}
	g.stop()
	<-done
}

// printable returns a short text from outside without control characters.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '"' {
			return -1
		}
		return r
	}, s)
	return s[:min(len(s), 100)]
}

// sorted is an alphabet in the order of its characters.
var sorted = base32.NewEncoding("0123456789abcdefghijklmnopqrstuv").WithPadding(base32.NoPadding)

// newID returns the id of a request: its time in milliseconds and 80 random bits. Ids in the order of time are written
// to one place of the store's indexes, where random ones would be spread over all of it.
func newID(at time.Time) string {
	const prefix = "req-"
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], uint64(at.UnixMilli())<<16)
	_, _ = rand.Read(b[6:]) // it never fails
	var id [len(prefix) + 26]byte
	copy(id[:], prefix)
	sorted.Encode(id[len(prefix):], b[:])
	return string(id[:])
}

// requestID returns the id of the request that is answered, which guard has put into the headers.
func requestID(w http.ResponseWriter) string { return w.Header().Get("X-Request-Id") }

// fail sends an error in OpenAI's shape.
func fail(w http.ResponseWriter, e *wire.Error) {
	errorHeaders(w.Header(), e)
	writeJSON(w, e.HTTP, e.Body())
}

func errorHeaders(h http.Header, e *wire.Error) {
	if e.RetryAfter > 0 {
		h.Set("Retry-After", seconds(e.RetryAfter))
	}
	if e.Final {
		h.Set("X-Should-Retry", "false")
	}
}

// seconds rounds up, so that nobody comes too early.
func seconds(d time.Duration) string {
	b, _ := json.Marshal(int64((d + time.Second - 1) / time.Second))
	return string(b)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		status, b = 500, []byte(`{"error":{"message":"the response cannot be encoded","type":"server_error","param":null,`+
			`"code":"internal_error"}}`)
	}
	writeBody(w, status, b)
}

// longBody is from how many bytes on a response says here how long it is: net/http counts those that fit its buffer.
const longBody = 2000

func writeBody(w http.ResponseWriter, status int, b []byte) {
	w.Header().Set("Content-Type", "application/json")
	if len(b) >= longBody {
		w.Header().Set("Content-Length", strconv.Itoa(len(b)+1))
	}
	w.WriteHeader(status)
	_, _ = w.Write(append(b, '\n')) // the client may be gone
}

// acquire opens what is served under an id, if the key may use it. The caller releases it.
func (g *Gateway) acquire(key *store.Key, id string) (*councils.Served, *wire.Error) {
	if !key.May(id) {
		return nil, noModel(id)
	}
	served, ok := g.o.Councils.Acquire(id)
	if !ok {
		return nil, noModel(id)
	}
	return served, nil
}

func noModel(id string) *wire.Error {
	return &wire.Error{HTTP: 404, Code: "model_not_found", Param: "model", Message: "there is no model " +
		printable(id) + ", or the key may not use it; GET /v1/models lists the models"}
}

// Authorise returns the key in the header of a request; nil where none is needed and none of ours was sent.
func (g *Gateway) Authorise(ctx context.Context, h http.Header) (*store.Key, *wire.Error) {
	secret := h.Get("X-Api-Key")
	if bearer, ok := strings.CutPrefix(h.Get("Authorization"), "Bearer "); ok {
		secret = strings.TrimSpace(bearer)
	}
	if !g.o.NeedKey && !strings.HasPrefix(secret, "sk-synod-") {
		if h.Get("X-Forwarded-For") != "" || h.Get("Forwarded") != "" {
			return nil, &wire.Error{HTTP: 401, Code: "behind_proxy", Message: "the request comes through a proxy, " +
				"and the gateway asks for no keys, since it believes that only this machine reaches it; name the " +
				"proxy's host in --hosts, so that it asks for keys"}
		}
		return nil, nil // SDKs send some key always
	}
	k, err := g.keys.find(ctx, g.o.Store, secret)
	switch {
	case errors.Is(err, store.ErrKey):
		return nil, &wire.Error{HTTP: 401, Code: "invalid_api_key", Message: "the API key is missing or not known, " +
			"has expired or was revoked; synod serve keys new NAME makes one"}
	case err != nil:
		return nil, g.storeDown(err)
	}
	return k, nil
}

// storeDown is the error of a request that cannot be recorded: nothing is spent without a record.
func (g *Gateway) storeDown(err error) *wire.Error {
	g.o.Log.Error("the store cannot be used", "error", err.Error())
	return &wire.Error{HTTP: 503, Code: "store_unavailable", RetryAfter: 5 * time.Second,
		Message: "the gateway cannot " +
			"record requests now, so it answers none; see its log"}
}
