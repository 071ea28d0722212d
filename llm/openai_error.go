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
func over(ctx context.Context, doing string) *Failure {
	if ctx.Err() == nil {
		return nil
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

// meaning is what an HTTP status says about a call.
type meaning struct {
	status synod.Status
	retry  bool
	says   string
}

var meanings = map[int]meaning{
	http.StatusPaymentRequired:         {synod.Auth, false, "the account has no credit"},
	http.StatusForbidden:               {synod.Auth, false, "the key may not use this model"},
	http.StatusNotFound:                {synod.Unavailable, false, "no such model or path"},
	http.StatusRequestTimeout:          {synod.Timeout, true, "the server timed out"},
	http.StatusConflict:                {synod.Unavailable, true, "the server is not ready"},
	http.StatusTooEarly:                {synod.Unavailable, true, "the server is not ready"},
	http.StatusTooManyRequests:         {synod.RateLimited, true, "too many requests"},
	http.StatusNotImplemented:          {synod.Unavailable, false, "the server cannot do this"},
	http.StatusGatewayTimeout:          {synod.Timeout, true, "the server timed out"},
	http.StatusHTTPVersionNotSupported: {synod.Unavailable, false, "the server cannot do this"},
}

func meaningOf(status int, c complaint) meaning {
	switch m, known := meanings[status]; {
	case c.filtered():
		return meaning{synod.Refused, false, "stopped by the provider's content filter"}
	case status == http.StatusTooManyRequests && c.code == "insufficient_quota":
		return meaning{synod.RateLimited, false, "the account's quota is used up"}
	case known:
		return m
	case status >= 500:
		return meaning{synod.Unavailable, true, "the server failed"}
	}
	return meaning{synod.Unavailable, false, "the server rejects the request"}
}

// refusal makes a failure of a reply that is not a 200. The message of a 401 is
// not quoted: some servers put half the key into it.
func (m *OpenAI) refusal(a answer) *Failure {
	switch {
	case a.status == http.StatusUnauthorized:
		return &Failure{Status: synod.Auth, Err: errors.New("the server does not accept the key (HTTP 401)")}
	case a.status < 300:
		return unreadable(fmt.Sprintf("an HTTP status %d where a chat completion has 200", a.status))
	case a.status < 400:
		return &Failure{Status: synod.Unavailable, Err: fmt.Errorf("the server redirects (HTTP %d), which is not followed: set the url to where the API is", a.status)}
	}
	c := complaintOf(a.body)
	is := meaningOf(a.status, c)
	return &Failure{Status: is.status, Retryable: is.retry, RetryAfter: retryAfter(a.header, time.Now()),
		Err: fmt.Errorf("%s (HTTP %d)%s", is.says, a.status, m.quote(c.message))}
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
