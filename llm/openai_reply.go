package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"synod.dev/synod"
)

// completion is the part of a chat completion that is read. No choices field means
// another format; an empty list means that the server failed.
type completion struct {
	Choices []choice        `json:"choices"`
	Usage   json.RawMessage `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

type choice struct {
	Message      *message  `json:"message"`
	FinishReason string    `json:"finish_reason"`
	Logprobs     *logprobs `json:"logprobs"`
}

type message struct {
	Content   content           `json:"content"`
	Refusal   string            `json:"refusal"`
	ToolCalls []json.RawMessage `json:"tool_calls"`
	Thinking  string            `json:"reasoning_content"`
	Reasoning string            `json:"reasoning"`
}

type logprobs struct {
	Content []struct {
		Logprob float64 `json:"logprob"`
	} `json:"content"`
}

// content is a string, or the list of parts that some gateways make of it.
type content string

func (c *content) UnmarshalJSON(b []byte) error {
	if len(b) == 0 || b[0] != '[' {
		return json.Unmarshal(b, (*string)(c))
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	var s strings.Builder
	for _, p := range parts {
		if p.Type == "text" || p.Type == "output_text" {
			s.WriteString(p.Text)
		}
	}
	*c = content(s.String())
	return nil
}

// read parses the body of a 200.
func (m *OpenAI) read(res response, wantJSON bool) (synod.Reply, *Failure) {
	var c completion
	if err := json.Unmarshal(res.body, &c); err != nil {
		f := notJSON(res.body, err)
		f.begun = true
		return synod.Reply{}, f
	}
	reply := synod.Reply{Status: synod.OK}
	reply.Usage, reply.Fault = m.readUsage(c.Usage)
	switch {
	case len(c.Error) > 0 && string(c.Error) != "null" && len(c.Choices) == 0:
		return reply, m.errorInside(res.body)
	case c.Choices == nil:
		return reply, unreadable("JSON, but not a chat completion: it has no choices")
	case len(c.Choices) == 0:
		return reply, temporary(synod.Unavailable, "the server answered with an empty list of choices")
	case c.Choices[0].Message == nil:
		return reply, unreadable("a chat completion without a message")
	}
	first := c.Choices[0]
	if f := first.failure(m.cfg.MaxTokens, wantJSON); f != nil {
		return reply, f
	}
	reply.Text = m.redact(string(first.Message.Content)) // a server may echo the request
	if first.FinishReason == "length" {
		reply.Detail = "cut at max_tokens"
	}
	if l := first.Logprobs; l != nil && len(l.Content) > 0 {
		sum := 0.0
		for _, t := range l.Content {
			sum += t.Logprob
		}
		reply.Logprob = new(sum / float64(len(l.Content)))
	}
	return reply, nil
}

// readUsage reads the usage of a completion. A count that is not one is the server's
// fault, which does not make its answer unusable.
func (m *OpenAI) readUsage(raw json.RawMessage) (u synod.Usage, fault string) {
	if len(raw) == 0 || string(raw) == "null" {
		return u, ""
	}
	var counts struct {
		Prompt     json.RawMessage `json:"prompt_tokens"`
		Completion json.RawMessage `json:"completion_tokens"`
	}
	if json.Unmarshal(raw, &counts) != nil {
		return u, "its usage is not an object"
	}
	for _, c := range []struct {
		name string
		raw  json.RawMessage
		into *int
	}{{"prompt_tokens", counts.Prompt, &u.Prompt}, {"completion_tokens", counts.Completion, &u.Completion}} {
		if len(c.raw) == 0 || string(c.raw) == "null" {
			continue
		}
		n, err := strconv.ParseInt(string(c.raw), 10, 64)
		if err != nil || n < 0 {
			return synod.Usage{}, fmt.Sprintf("it reports %s: %s, which is not a count", c.name,
				shorten(m.redact(oneLine(string(c.raw)))))
		}
		*c.into = int(n)
	}
	return u, ""
}

// failure returns why a choice has no usable text, nil if it has.
func (c choice) failure(maxTokens int, wantJSON bool) *Failure {
	text := strings.TrimSpace(string(c.Message.Content))
	limit := "the token limit"
	if maxTokens > 0 {
		limit = fmt.Sprintf("max_tokens (%d)", maxTokens)
	}
	switch {
	case c.FinishReason == "content_filter":
		return failure(synod.Refused, "stopped by the provider's content filter")
	case text == "" && c.Message.Refusal != "":
		return failure(synod.Refused, "the model declined: its reply is marked as a refusal")
	case text == "" && c.FinishReason == "length" && c.Message.Thinking+c.Message.Reasoning != "":
		return unreadable("the reply reached %s while the model was still thinking, so there is no text", limit)
	case text == "" && c.FinishReason == "length":
		return unreadable("the reply reached %s before any text", limit)
	case text != "" && c.FinishReason == "length" && wantJSON && !json.Valid([]byte(text)):
		return unreadable("the reply reached %s in the middle of its JSON", limit)
	case text == "" && len(c.Message.ToolCalls) > 0:
		return unreadable("a tool call instead of text")
	case text == "":
		return unreadable("a reply without text")
	}
	return nil
}

// notJSON classifies a body that is not the JSON of a completion: a web page, a
// stream, a reply that was cut off, or anything else.
func notJSON(body []byte, err error) *Failure {
	text := bytes.TrimSpace(body)
	var syntax *json.SyntaxError
	switch {
	case len(text) == 0:
		return temporary(synod.Unavailable, "the server sent an empty reply")
	case text[0] == '<':
		return unreadable("an HTML page instead of JSON: is the url that of an OpenAI-compatible API?")
	case bytes.HasPrefix(text, []byte("data:")), bytes.HasPrefix(text, []byte("event:")), text[0] == ':':
		return unreadableStream()
	case errors.As(err, &syntax) && syntax.Offset >= int64(len(body)) && text[0] == '{',
		errors.Is(err, io.ErrUnexpectedEOF):
		return temporary(synod.Unavailable, "the reply was cut off after %d bytes", len(body))
	case errors.As(err, &syntax):
		return unreadable("malformed JSON at byte %d", syntax.Offset)
	}
	return unreadable("JSON, but not in the shape of a chat completion")
}

func unreadable(format string, args ...any) *Failure {
	return failure(synod.Unreadable, format, args...)
}

func unreadableStream() *Failure {
	return failure(synod.Unavailable, "the server streams although it was not asked to, "+
		"and a stream that may be incomplete is not read as an answer")
}

func tooLong(limit int64) *Failure {
	return unreadable("a reply of more than %d bytes", limit)
}

const (
	maxErrorBody  = 64 << 10
	maxExcerpt    = 160            // runes of a server's message that are shown
	maxRetryAfter = 24 * time.Hour // longest Retry-After that is returned
)

// over returns the failure of a call whose context has ended, nil if it has not.
func over(ctx context.Context, doing string) *Failure {
	if ctx.Err() == nil {
		return nil
	}
	return ended(ctx, doing)
}

// unwanted returns a failure if the headers show that the body is not worth
// reading.
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

// meaning is what an HTTP status means for a call.
type meaning struct {
	status synod.Status
	retry  bool
	text   string
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

func meaningOf(status int, c serverError) meaning {
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

// refusal returns the failure of a response that is not a 200. The message of a
// 401 is not quoted, because some servers put half the key into it.
func (m *OpenAI) refusal(res response) *Failure {
	switch {
	case res.status == http.StatusUnauthorized:
		return failure(synod.Auth, "the server does not accept the key (HTTP 401)")
	case res.status < 300:
		return unreadable("an HTTP status %d where a chat completion has 200", res.status)
	case res.status < 400:
		return failure(synod.Unavailable, "the server redirects (HTTP %d), which is not followed: "+
			"set the url to where the API is", res.status)
	}
	c := parseError(res.body)
	is := meaningOf(res.status, c)
	return &Failure{Status: is.status, Retryable: is.retry, RetryAfter: retryAfter(res.header, time.Now()),
		Err: fmt.Errorf("%s (HTTP %d)%s", is.text, res.status, m.quote(c.message))}
}

// errorInside returns the failure of an error that came with a 200, as some
// gateways send it.
func (m *OpenAI) errorInside(body []byte) *Failure {
	c := parseError(body)
	if status, err := strconv.Atoi(c.code); err == nil && status >= 400 && status < 600 {
		return m.refusal(response{status: status, body: body})
	}
	return temporary(synod.Unavailable, "the server reports an error%s", m.quote(c.message))
}

// serverError is the content of an error body.
type serverError struct{ message, code, param string }

// parseError reads an error body in the shapes that are in use: OpenAI's, a plain
// text, and the list of FastAPI. All fields are empty if it has none of them.
func parseError(body []byte) serverError {
	var outer struct {
		Error   json.RawMessage `json:"error"`
		Message json.RawMessage `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(body, &outer) != nil {
		return serverError{}
	}
	var inner struct {
		Message string `json:"message"`
		Code    any    `json:"code"`
		Type    string `json:"type"`
		Param   any    `json:"param"`
	}
	if len(outer.Error) > 0 && json.Unmarshal(outer.Error, &inner) == nil {
		return serverError{inner.Message, scalar(inner.Code, inner.Type), scalar(inner.Param, "")}
	}
	var details []struct {
		Loc []any  `json:"loc"`
		Msg string `json:"msg"`
	}
	if json.Unmarshal(outer.Detail, &details) == nil && len(details) > 0 {
		c := serverError{message: details[0].Msg}
		for _, l := range details[0].Loc {
			c.param += " " + scalar(l, "")
		}
		return c
	}
	for _, raw := range []json.RawMessage{outer.Error, outer.Message, outer.Detail} {
		var s string
		if json.Unmarshal(raw, &s) == nil && s != "" {
			return serverError{message: s}
		}
	}
	return serverError{}
}

// scalar returns a JSON string or number as text, and instead for anything else.
func scalar(v any, instead string) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return instead
}

func (c serverError) filtered() bool {
	return c.code == "content_filter" || c.code == "content_policy_violation" || c.code == "moderation_blocked"
}

// quote returns a server's message in short, without control characters and
// without the secrets of the request.
func (m *OpenAI) quote(message string) string {
	if message = shorten(m.redact(oneLine(message))); message == "" {
		return ""
	}
	return ": " + message
}

// clean removes secrets from a failure that quotes the transport.
func (m *OpenAI) clean(f *Failure) *Failure {
	f.Err = errors.New(shorten(m.redact(f.Err.Error())))
	return f
}

// redact masks the key, and the credentials and query of the URL.
func (m *OpenAI) redact(text string) string {
	text = m.cfg.Key.Redact(text)
	for _, s := range m.hidden {
		text = s.Redact(text)
	}
	return text
}

// oneLine returns untrusted text as one line of printable characters.
func oneLine(s string) string {
	var b strings.Builder
	for _, r := range strings.Join(strings.Fields(s), " ") {
		if unicode.IsPrint(r) && r != utf8.RuneError {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// shorten cuts a line to maxExcerpt runes. It is called after redacting, which
// would not find half a key.
func shorten(s string) string {
	n := 0
	for i := range s {
		if n++; n > maxExcerpt {
			return s[:i] + "…"
		}
	}
	return s
}

// retryAfter reads Retry-After (seconds or a date) and its millisecond form; the
// result is between 0 and maxRetryAfter.
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
