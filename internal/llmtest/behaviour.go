package llmtest

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Behaviour answers a call, well or badly.
type Behaviour func(*Exchange)

// OK is the good behaviour.
func OK() Behaviour { return (*Exchange).OK }

// Status answers every call with an HTTP error.
func Status(status int) Behaviour {
	return func(x *Exchange) {
		x.Error(status, strings.ReplaceAll(strings.ToLower(http.StatusText(status)), " ", "_"), "stub: "+http.StatusText(status))
	}
}

// Unauthorized refuses every key and, as some servers do, quotes it.
func Unauthorized() Behaviour {
	return func(x *Exchange) {
		x.Error(http.StatusUnauthorized, "invalid_api_key", "Incorrect API key provided: "+strings.TrimPrefix(x.Auth, "Bearer "))
	}
}

// RateLimit answers 429 with that Retry-After ("" for none): seconds or a date.
func RateLimit(retryAfter string) Behaviour {
	return func(x *Exchange) {
		if retryAfter != "" {
			x.W.Header().Set("Retry-After", retryAfter)
		}
		x.Error(http.StatusTooManyRequests, "rate_limit_exceeded", "slow down")
	}
}

// First spoils the first n calls.
func First(n int, b Behaviour) Behaviour {
	var seen atomic.Int64
	return func(x *Exchange) {
		if seen.Add(1) <= int64(n) {
			b(x)
			return
		}
		x.OK()
	}
}

// Every spoils each kth call.
func Every(k int, b Behaviour) Behaviour {
	var seen atomic.Int64
	return func(x *Exchange) {
		if seen.Add(1)%int64(k) == 0 {
			b(x)
			return
		}
		x.OK()
	}
}

// Fraction spoils calls by chance: the same ones, by their order of arrival, for
// the same seed.
func Fraction(p float64, seed uint64, b Behaviour) Behaviour {
	var seen atomic.Uint64
	return func(x *Exchange) {
		if float64(mix(seed^mix(seen.Add(1)))>>11)/(1<<53) < p {
			b(x)
			return
		}
		x.OK()
	}
}

// mix is the finaliser of splitmix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Slow answers well, after that much longer.
func Slow(d time.Duration) Behaviour {
	return func(x *Exchange) {
		if x.pause(d) {
			x.OK()
		}
	}
}

// pause waits and reports whether the client is still there.
func (x *Exchange) pause(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-x.R.Context().Done():
	case <-x.server.done:
	}
	return false
}

// named are the behaviours that scripts can ask for.
var named = map[string]func() Behaviour{
	"ok":              OK,
	"unauthorized":    Unauthorized,
	"forbidden":       func() Behaviour { return Status(http.StatusForbidden) },
	"not-found":       func() Behaviour { return Status(http.StatusNotFound) },
	"rate-limit":      func() Behaviour { return RateLimit("") },
	"rate-limit-1s":   func() Behaviour { return RateLimit("1") },
	"rate-limit-long": func() Behaviour { return RateLimit("3600") },
	"rate-limit-once": func() Behaviour { return First(1, RateLimit("0.1")) },
	"error-500":       func() Behaviour { return Status(http.StatusInternalServerError) },
	"error-503":       func() Behaviour { return Status(http.StatusServiceUnavailable) },
	"every-third-500": func() Behaviour { return Every(3, Status(http.StatusInternalServerError)) },
	"tenth-500":       func() Behaviour { return Fraction(0.1, 1, Status(http.StatusInternalServerError)) },
	"truncated":       Truncated,
	"cut-stream":      CutStream,
	"stream":          Stream,
	"html":            HTML,
	"malformed":       Malformed,
	"wrong-shape":     WrongShape,
	"empty-choices":   EmptyChoices,
	"empty-body":      EmptyBody,
	"huge":            func() Behaviour { return Huge(50 << 20) },
	"endless":         Endless,
	"gzip-bomb":       func() Behaviour { return GzipBomb(50 << 20) },
	"hang":            func() Behaviour { return Hang(10 * time.Minute) },
	"stall":           func() Behaviour { return Stall(10 * time.Minute) },
	"drip":            func() Behaviour { return Drip(100 * time.Millisecond) },
	"redirect":        func() Behaviour { return Redirect("http://127.0.0.1:9/v1/chat/completions") },
	"refuses-schema":  func() Behaviour { return RefuseFormat("json_schema") },
	"refuses-json":    func() Behaviour { return RefuseFormat("json_schema", "json_object") },
	"content-filter":  ContentFilter,
	"refusal":         Refusal,
	"length":          Length,
	"tool-call":       ToolCall,
	"disconnect":      Disconnect,
}

// Names lists the behaviours that Named knows, sorted.
func Names() []string {
	names := make([]string, 0, len(named))
	for n := range named {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// Named returns a behaviour by its name, or status-NNN for any HTTP status.
func Named(name string) (Behaviour, error) {
	if b := named[name]; b != nil {
		return b(), nil
	}
	if code, ok := strings.CutPrefix(name, "status-"); ok {
		if n, err := strconv.Atoi(code); err == nil && n >= 400 && n < 600 {
			return Status(n), nil
		}
	}
	return nil, fmt.Errorf("llmtest: no behaviour %q; there are %s", name, strings.Join(Names(), ", "))
}
