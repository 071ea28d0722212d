package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"synod.dev/synod/llm"

	"synod.dev/synod/cmd/synod-serve/internal/store"
	"synod.dev/synod/cmd/synod-serve/internal/wire"
)

// dialect is one of the APIs that clients speak.
type dialect interface {
	name() string
	read(body []byte, rules wire.Rules) (*wire.Request, *wire.Error)
	whole(a *Answer, r *wire.Request) any      // the body of a response
	begin(s *sse, a *Answer, r *wire.Request)  // what a stream says before it is decided; a has no text yet
	decide(s *sse, a *Answer, r *wire.Request) // what a stream says when it is decided, to its end
	fail(s *sse, e *wire.Error)                // the end of a stream that failed
	progress(s *sse, a *Answer, p Progress)
	refuse(w http.ResponseWriter, e *wire.Error) // an error as a response
}

// ask answers a request of a dialect.
func (g *Gateway) ask(d dialect) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		a := &asking{api: d.name(), id: requestID(r.Context()), begun: time.Now()}
		if e := g.serve(d, w, r, a); e != nil {
			errorHeaders(w.Header(), e)
			d.refuse(w, e)
			if a.settled == nil || !a.settled.Load() {
				g.refuse(a, e)
			}
		}
	}
}

// serve answers a request, or returns the error with which to answer it.
func (g *Gateway) serve(d dialect, w http.ResponseWriter, r *http.Request, a *asking) *wire.Error {
	key, e := g.Authorise(r.Context(), r.Header)
	if e != nil {
		return e
	}
	a.key = key
	if e := g.closing(); e != nil {
		return e
	}
	caller := keyID(key)
	body, held, e := g.body(w, r, caller)
	defer func() { g.bodies.give(caller, held) }()
	if e == nil {
		e = g.admit(caller)
	}
	if e != nil {
		return e
	}
	defer g.leave(caller)
	head, e := wire.ReadHead(body)
	if e != nil {
		return e
	}
	served, ok := g.o.Councils.Acquire(head.Model)
	if !ok || !key.May(head.Model) {
		if ok {
			served.Release()
		}
		return noModel(head.Model)
	}
	via, e := g.via(r.Header)
	if e != nil {
		served.Release()
		return e
	}
	j := &job{id: a.id, api: d.name(), key: key, served: served, via: via, begun: a.begun,
		parent: r.Header.Get("Traceparent"),
		policy: g.o.Settings.policy(served.ID)}
	a.model, a.settled = served.ID, &j.settled
	if served.Council == nil {
		defer served.Release()
		return g.solo(d, w, r, j, body, head)
	}
	if j.policy.Tools == ToolsPrimary && usesTools(head.Members) {
		defer served.Release()
		return g.primary(d, w, r, j, body, head)
	}
	if e := g.read(j, d, body); e != nil {
		g.release(j)
		return e
	}
	return g.fly(d, w, r, j)
}

// keyID is the id of a key; "" for none.
func keyID(k *store.Key) string {
	if k == nil {
		return ""
	}
	return k.ID
}

// closing is the error of a request that comes while the gateway shuts down.
func (g *Gateway) closing() *wire.Error {
	if !g.draining.Load() {
		return nil
	}
	return &wire.Error{HTTP: 503, Code: "shutting_down", RetryAfter: 5 * time.Second,
		Message: "the gateway is shutting down and takes no new request"}
}

// admit counts a request of a key, unless there are too many or the gateway is shutting down.
func (g *Gateway) admit(key string) *wire.Error {
	if e := g.closing(); e != nil {
		return e
	}
	ok, own := g.places.take(key, 1)
	if ok {
		return nil
	}
	return full(own, fmt.Sprintf("the gateway answers %d requests at once", g.o.Settings.AtOnce))
}

// leave ends a request that was admitted.
func (g *Gateway) leave(key string) { g.places.give(key, 1) }

// full is the error of a request for which there is no room; own: because of others of its key.
func full(own bool, most string) *wire.Error {
	if own {
		return &wire.Error{HTTP: 429, Code: "rate_limit_exceeded", RetryAfter: 2 * time.Second,
			Message: most + ", and this key has its share of them"}
	}
	return &wire.Error{HTTP: 503, Code: "overloaded", RetryAfter: 2 * time.Second,
		Message: most + ", and has as many now"}
}

// body reads the body of a request within its limit. Memory is taken as the body arrives, from what all requests
// together may have, in which each key has its share; held is how much.
func (g *Gateway) body(w http.ResponseWriter, r *http.Request, key string) (b []byte, held int64, e *wire.Error) {
	if !isJSON(r.Header.Get("Content-Type")) {
		return nil, 0, &wire.Error{HTTP: http.StatusUnsupportedMediaType, Code: "unsupported_media_type",
			Message: "the body must be JSON, with the header Content-Type: application/json"}
	}
	if e := r.Header.Get("Content-Encoding"); e != "" && e != "identity" {
		return nil, 0, &wire.Error{HTTP: http.StatusUnsupportedMediaType, Code: "unsupported_encoding",
			Message: "the body must not be compressed"}
	}
	most := g.o.Settings.Body
	if r.ContentLength > most {
		return nil, 0, tooLong(most)
	}
	in := http.MaxBytesReader(w, r.Body, most)
	for {
		if len(b) == cap(b) {
			more := int64(max(len(b), firstPiece))
			if ok, own := g.bodies.take(key, more); !ok {
				return nil, held, full(own, fmt.Sprintf("the gateway holds %d bytes of requests", g.bodies.most))
			}
			held += more
			b = append(make([]byte, 0, held), b...)
		}
		n, err := in.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		switch {
		case err == io.EOF:
			return b, held, nil
		case errors.As(err, new(*http.MaxBytesError)):
			return nil, held, tooLong(most)
		case err != nil:
			return nil, held, &wire.Error{HTTP: 400, Code: "body_cut", Message: "the body ended early"}
		}
	}
}

// firstPiece is how many bytes are held for a body of which nothing has come.
const firstPiece = 512

func tooLong(most int64) *wire.Error {
	return &wire.Error{HTTP: http.StatusRequestEntityTooLarge, Code: "body_too_large",
		Message: fmt.Sprintf("the body is longer than %d bytes", most)}
}

func isJSON(contentType string) bool {
	if contentType == "application/json" {
		return true
	}
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && kind == "application/json"
}

// mostHops is how many gateways a request may pass.
const mostHops = 4

// via returns the header that names the gateways which a request has passed, with this one. A council that
// asks itself, directly or through others, would never end.
func (g *Gateway) via(h http.Header) (string, *wire.Error) {
	passed := h.Get(llm.Via)
	if passed == "" {
		return g.id, nil
	}
	hops := strings.Split(passed, ",")
	for _, hop := range hops {
		if strings.TrimSpace(hop) == g.id || len(hops) >= mostHops || len(passed) > 200 {
			return "", &wire.Error{HTTP: http.StatusLoopDetected, Code: "council_loop", Final: true,
				Message: "the request has passed this gateway before, or too many others: a council contains itself"}
		}
	}
	return passed + "," + g.id, nil
}

// fly joins or begins the council's run and answers with its result.
func (g *Gateway) fly(d dialect, w http.ResponseWriter, r *http.Request, j *job) *wire.Error {
	again := r.Header.Get("Idempotency-Key")
	same := again
	if again == "" && !repeats(j.req) {
		same = "only " + j.id
	}
	fl, first := g.flights.join(flightKey(j.req.Caller, d.name(), same, sameBody(j.req.Body)), again != "",
		func(fl *flight) { g.start(fl, j) })
	if !first {
		g.release(j)
	}
	if j.req.Stream {
		return g.stream(d, w, r, j, fl, first)
	}
	select {
	case <-fl.done:
		fl.leave(nil)
	case <-r.Context().Done():
		fl.leave(errGone)
		return nil // nobody reads a response
	}
	if fl.err != nil {
		g.headers(w.Header(), j, nil, fl.err)
		return fl.err
	}
	a := fl.answer.of(j, first)
	g.headers(w.Header(), j, a, nil)
	writeJSON(w, http.StatusOK, d.whole(a, j.req))
	return nil
}

// repeats reports whether a client that sends the request twice wants the same answer. At another temperature it may
// want samples, which copies of one answer are not.
func repeats(r *wire.Request) bool {
	t, set := r.Sampling["temperature"]
	return r.Seed != nil || set && t == 0.0
}

// sameBody is a body without the keys that do not change the answer, so that a stream joins a request
// without one.
func sameBody(body []byte) []byte {
	var all map[string]json.RawMessage
	if json.Unmarshal(body, &all) != nil {
		return body
	}
	for _, key := range []string{"stream", "stream_options", "user", "metadata", "store"} {
		delete(all, key)
	}
	b, err := json.Marshal(all)
	if err != nil {
		return body
	}
	return b
}

// of returns the answer as one of those who asked gets it.
func (a *Answer) of(j *job, first bool) *Answer {
	own := *a
	if own.ID = j.id; !first {
		report := *a.Synod
		report.Joined = true
		own.Synod = &report
	}
	return &own
}

// headers sets the headers about an answer or an error.
func (g *Gateway) headers(h http.Header, j *job, a *Answer, e *wire.Error) {
	h.Set("Openai-Processing-Ms", strconv.FormatInt(time.Since(j.begun).Milliseconds(), 10))
	h.Set("X-Synod-Council", j.model())
	if j.seat != "" {
		h.Set("X-Synod-Status", "single")
	}
	var report *Report
	if a != nil {
		report = a.Synod
	} else if e != nil {
		report, _ = e.Synod.(*Report)
	}
	if j.key != nil && j.key.PerMinute > 0 {
		h.Set("X-Ratelimit-Limit-Requests", strconv.Itoa(j.key.PerMinute))
	}
	if report == nil {
		return
	}
	h.Set("X-Synod-Status", report.Status)
	h.Set("X-Synod-Calls", strconv.Itoa(report.Calls.Made))
	if report.Journal != "" {
		h.Set("X-Synod-Journal", report.Journal)
	}
	h.Set("X-Litellm-Total-Tokens", strconv.Itoa(report.Tokens.Prompt+report.Tokens.Completion))
	if report.Cost != nil {
		h.Set("X-Litellm-Response-Cost", strconv.FormatFloat(report.Cost.USD, 'f', -1, 64))
	}
}
