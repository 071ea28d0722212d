package gateway

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/council"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"

	"synod.dev/synod/cmd/synod-serve/internal/councils"
	"synod.dev/synod/cmd/synod-serve/internal/store"
	"synod.dev/synod/cmd/synod-serve/internal/wire"
)

// job is a question for a council.
type job struct {
	id       string
	api      string
	key      *store.Key
	served   *councils.Served
	req      *wire.Request
	policy   Policy
	question synod.Question
	guessed  bool // nobody has named the form
	via      string
	begun    time.Time
	watch    Watch
	parent   string // the traceparent of the request; "": none
	calls    []ObservedCall
	as       string           // the council whose member is asked alone; "": served.ID
	seat     string           // that member
	own      *council.Council // with the request's own protocol; nil: served.Council
	print    string           // the fingerprint of own
	members  []outcome.Member // of a council's outcome
	settled  atomic.Bool      // its end was recorded
	drained  atomic.Bool      // what its key may still use was refused to it for good
}

// model is the id of the model that the client has asked.
func (j *job) model() string { return cmp.Or(j.as, j.served.ID) }

// errGone is the cause of a run that nobody waits for any more.
var errGone = errors.New("the client is gone")

// seedOf returns the seed of a run, which the members' seeds follow from.
func seedOf(r *wire.Request) uint64 {
	if r.Seed == nil {
		return rand.Uint64N(1 << 48)
	}
	sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte("synod serve seed "), *r.Seed))
	return binary.BigEndian.Uint64(sum[:]) >> 16
}

// Watch is told about a run while it is going on; nil functions are not called. They must be fast and keep none
// of their arguments, which later runs overwrite.
type Watch struct {
	Noted    func(seat synod.NodeID, o *synod.Opinion) // each opinion of a member
	Replied  func(seat synod.NodeID, r *synod.Reply)   // each reply of a member's model, or its failure
	Progress func(council.Progress)
}

// outgoing returns a context in which calls to models name this gateway, and count for the key that asks.
func (j *job) outgoing(ctx context.Context) context.Context {
	return llm.WithCaller(llm.WithVia(ctx, j.via), keyID(j.key))
}

// council returns the council that the job is for.
func (j *job) council() *council.Council {
	if j.own != nil {
		return j.own
	}
	return j.served.Council
}

func (j *job) fingerprint() string {
	if j.own != nil {
		return j.print
	}
	return j.served.Fingerprint
}

// release ends the use of the council.
func (j *job) release(log *slog.Logger) {
	if j.own != nil {
		if err := j.own.Close(); err != nil {
			log.Warn("closing a council", "model", j.served.ID, "error", err.Error())
		}
	}
	j.served.Release()
}

// called notes a reply of a member's model. It is called by one goroutine at a time.
func (j *job) called(seat synod.NodeID, r *synod.Reply) {
	var s plan.Seat
	if seats := j.council().Plan().Seats(); int(seat) < len(seats) {
		s = seats[seat]
	}
	now := time.Now()
	provider := map[bool]string{true: "openai", false: "synod"}[s.Kind == "endpoint"]
	j.calls = append(j.calls, ObservedCall{Seat: s.ID, Model: s.Model, Provider: provider, Answered: r.Model,
		Begun: now.Add(-time.Duration(r.Took) * time.Millisecond), Ended: now, Status: r.Status, Requests: r.Calls,
		Prompt: r.Usage.Prompt, Completion: r.Usage.Completion, Reused: r.Reused, Late: r.Late})
}

// longest returns how long the run of a job takes at most, under the gateway's own limit.
func (j *job) longest(most time.Duration) time.Duration {
	for _, d := range []time.Duration{time.Duration(j.req.Synod.Deadline), j.council().Plan().Spec().Limits.Deadline} {
		if d > 0 && d < most {
			most = d
		}
	}
	return most
}

// headers sets the headers about an answer or an error.
func (j *job) headers(h http.Header, a *Answer, e *wire.Error) {
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

// replyTokens returns the longest reply of a model.
func replyTokens(settings plan.Params) int {
	if n, err := json.Number(fmt.Sprint(settings["max_tokens"])).Int64(); err == nil && n > 0 {
		return int(n)
	}
	return 1000
}
