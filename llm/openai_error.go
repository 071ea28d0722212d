package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"synod.dev/synod"
)

const (
	maxErrorBody  = 64 << 10
	maxExcerpt    = 160            // runes of an upstream message that are shown
	maxRetryAfter = 24 * time.Hour // what a server may ask for at most
)

// over is the failure of a call whose time is up, nil if it is not: its own
// limit, the run's deadline, or the run being stopped.
func (m *OpenAI) over(ctx context.Context, doing string) *Failure {
	if ctx.Err() == nil {
		return nil
	}
	if errors.Is(context.Cause(ctx), errSlow) {
		return &Failure{Status: synod.Timeout, Err: fmt.Errorf("no complete reply within %v", m.cfg.Timeout)}
	}
	return ended(ctx, doing)
}

// unwanted refuses, by its head, a reply that is not read at all.
func (m *OpenAI) unwanted(res *http.Response) *Failure {
	if e := res.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return unreadable("a compressed reply, which was not asked for and is not unpacked")
	}
	if res.StatusCode != http.StatusOK {
		return nil
	}
	if res.ContentLength > m.cfg.MaxReply {
		return tooLong(m.cfg.MaxReply)
	}
	switch kind, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";"); strings.ToLower(strings.TrimSpace(kind)) {
	case "text/html":
		return unreadable("an HTML page instead of JSON: is the url that of an OpenAI-compatible API?")
	case "text/event-stream":
		return unreadableStream()
	}
	return nil
}

// refusal makes a failure of a reply that is not a 200.
func (m *OpenAI) refusal(a answer) *Failure {
	c := complaintOf(a.body)
	f := &Failure{Status: synod.Unavailable, RetryAfter: retryAfter(a.header, time.Now())}
	say := func(what string) { f.Err = fmt.Errorf("%s (HTTP %d)%s", what, a.status, m.quote(c.message)) }
	switch s := a.status; {
	case s == http.StatusUnauthorized:
		f.Status = synod.Auth
		f.Err = errors.New("the server does not accept the key (HTTP 401)") // its message may hold part of the key
	case c.filtered():
		f.Status = synod.Refused
		say("stopped by the provider's content filter")
	case s == http.StatusForbidden:
		f.Status = synod.Auth
		say("the key may not use this model")
	case s == http.StatusPaymentRequired:
		f.Status = synod.Auth
		say("the account has no credit")
	case s == http.StatusTooManyRequests && c.code == "insufficient_quota":
		f.Status = synod.RateLimited
		say("the account's quota is used up")
	case s == http.StatusTooManyRequests:
		f.Status, f.Retryable = synod.RateLimited, true
		say("too many requests")
	case s == http.StatusRequestTimeout, s == http.StatusGatewayTimeout:
		f.Status, f.Retryable = synod.Timeout, true
		say("the server timed out")
	case s == http.StatusNotImplemented, s == http.StatusHTTPVersionNotSupported:
		say("the server cannot do this")
	case s >= 500:
		f.Retryable = true
		say("the server failed")
	case s == http.StatusConflict, s == http.StatusTooEarly:
		f.Retryable = true
		say("the server is not ready")
	case s == http.StatusNotFound:
		say("no such model or path")
	case s >= 300 && s < 400:
		f.Err = fmt.Errorf("the server redirects (HTTP %d), which is not followed: set the url to where the API is", s)
	default:
		say("the server rejects the request")
	}
	return f
}

// errorInside reads an error that came with a 200, as some gateways send it.
func (m *OpenAI) errorInside(body []byte) *Failure {
	c := complaintOf(body)
	if status, err := strconv.Atoi(c.code); err == nil && status >= 400 && status < 600 {
		return m.refusal(answer{status: status, body: body})
	}
	return &Failure{Status: synod.Unavailable, Retryable: true, Err: fmt.Errorf("the server reports an error%s", m.quote(c.message))}
}

// complaint is what an error body says, in the shapes that are about.
type complaint struct{ message, code, param string }

func complaintOf(body []byte) complaint {
	var outer struct {
		Error   json.RawMessage `json:"error"`
		Message json.RawMessage `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(body, &outer) != nil {
		return complaint{}
	}
	var inner struct {
		Message string `json:"message"`
		Code    any    `json:"code"`
		Type    string `json:"type"`
		Param   any    `json:"param"`
	}
	if len(outer.Error) > 0 && json.Unmarshal(outer.Error, &inner) == nil {
		return complaint{inner.Message, word(inner.Code, inner.Type), word(inner.Param, "")}
	}
	var details []struct {
		Loc []any  `json:"loc"`
		Msg string `json:"msg"`
	}
	if json.Unmarshal(outer.Detail, &details) == nil && len(details) > 0 {
		c := complaint{message: details[0].Msg}
		for _, l := range details[0].Loc {
			c.param += " " + word(l, "")
		}
		return c
	}
	for _, raw := range []json.RawMessage{outer.Error, outer.Message, outer.Detail} {
		var s string
		if json.Unmarshal(raw, &s) == nil && s != "" {
			return complaint{message: s}
		}
	}
	return complaint{}
}

// word is a JSON scalar as text.
func word(v any, instead string) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return instead
}

func (c complaint) filtered() bool {
	return c.code == "content_filter" || c.code == "content_policy_violation" || c.code == "moderation_blocked"
}

// quote shows a server's message: a few words, without control characters and
// without anything that was secret in the request.
func (m *OpenAI) quote(message string) string {
	if message = shorten(m.redact(oneLine(message))); message == "" {
		return ""
	}
	return ": " + message
}

// clean takes secrets out of a failure that quotes the transport.
func (m *OpenAI) clean(f *Failure) *Failure {
	f.Err = errors.New(shorten(m.redact(f.Err.Error())))
	return f
}

// redact hides the key, and the credentials and query of the URL.
func (m *OpenAI) redact(text string) string {
	text = m.cfg.Key.Redact(text)
	for _, s := range m.hidden {
		text = s.Redact(text)
	}
	return text
}

// oneLine makes one printable line of text that others wrote.
func oneLine(s string) string {
	var b strings.Builder
	for _, r := range strings.Join(strings.Fields(s), " ") {
		if unicode.IsPrint(r) && r != utf8.RuneError {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// shorten cuts a line to what a message can bear. It comes after redacting, or
// half a key would be left.
func shorten(s string) string {
	n := 0
	for i := range s {
		if n++; n > maxExcerpt {
			return s[:i] + "…"
		}
	}
	return s
}

// retryAfter reads Retry-After (seconds or a date) and its millisecond form,
// between 0 and a day.
func retryAfter(h http.Header, now time.Time) time.Duration {
	var d time.Duration
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		d = time.Duration(min(ms, 1e9) * float64(time.Millisecond))
	} else if s, err := strconv.ParseFloat(strings.TrimSpace(h.Get("Retry-After")), 64); err == nil && s > 0 {
		d = time.Duration(min(s, 1e6) * float64(time.Second))
	} else if at, err := http.ParseTime(h.Get("Retry-After")); err == nil {
		d = at.Sub(now)
	}
	return min(max(d, 0), maxRetryAfter)
}
