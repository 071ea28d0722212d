package llm

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"synod.dev/synod"
)

// httpClient sends requests to one server and reads its responses within bounds: what the
// clients of all HTTP APIs share.
type httpClient struct {
	api       string // what the server is expected to be, for messages
	header    http.Header
	via       viaHeader // header with the gateways of the last request
	key       Secret
	hidden    []Secret // credentials and query of the URL
	transport http.RoundTripper
	maxReply  int64
	bodies    bodies                        // of this server
	errors    func(body []byte) serverError // reads an error body of the API
}

// Close closes idle connections.
func (m *httpClient) Close() error {
	if t, ok := m.transport.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
	return nil
}

// response is an HTTP response, read to its end.
type response struct {
	status int
	header http.Header
	body   []byte
	free   func() // gives back the memory of body
}

// post sends a body to an address and reads the response within bounds. A response that
// ends early is a failure, never a short answer. The caller frees the response.
func (m *httpClient) post(ctx context.Context, to *url.URL, body []byte) (response, *Failure) {
	res, f := m.send(ctx, to, body)
	if f != nil {
		return response{}, f
	}
	defer func() { _ = res.Body.Close() }()
	if f := m.unwanted(res); f != nil {
		f.begun = true
		return response{}, f
	}
	limit := m.maxReply
	if res.StatusCode != http.StatusOK {
		limit = min(limit, maxErrorBody)
	}
	b, release, err := m.bodies.read(ctx, res, limit)
	if f := bodyFailure(ctx, res.StatusCode, b, limit, err); f != nil {
		release()
		return response{}, f
	}
	return response{res.StatusCode, res.Header, b, release}, nil
}

// bodyFailure returns why the body of a response cannot be used, or nil. Bodies of errors are used as far as they came.
func bodyFailure(ctx context.Context, status int, body []byte, limit int64, err error) *Failure {
	switch {
	case status != http.StatusOK:
		return nil
	case err != nil:
		if f := over(ctx, "in the middle of the reply"); f != nil {
			return f
		}
		f := temporary(synod.Unavailable, "the reply was cut off after %d bytes", len(body))
		f.begun = true
		return f
	case int64(len(body)) > limit:
		return tooLong(limit)
	}
	return nil
}

// send posts a body to an address, and returns the response as it begins.
func (m *httpClient) send(ctx context.Context, to *url.URL, body []byte) (*http.Response, *Failure) {
	return m.roundTrip(ctx, outgoing{http.MethodPost, to, m.via.header(ctx, m.header), bytes.NewReader(body),
		"waiting for the reply"})
}

// outgoing is a request of a client.
type outgoing struct {
	method string
	to     *url.URL
	header http.Header
	body   io.Reader
	doing  string // for the failure of a request whose context ends
}

// roundTrip sends a request and returns the response. A request that got no connection has not left.
func (m *httpClient) roundTrip(ctx context.Context, out outgoing) (*http.Response, *Failure) {
	var connected atomic.Bool
	req, err := http.NewRequestWithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { connected.Store(true) },
	}), out.method, "", out.body)
	if err != nil {
		return nil, failure(synod.Dropped, "llm: make request: %w", err)
	}
	req.URL, req.Host, req.Header = out.to, out.to.Host, out.header
	res, err := m.transport.RoundTrip(req)
	if err == nil {
		return res, nil
	}
	if !connected.Load() {
		out.doing = "waiting for a connection"
	}
	f := over(ctx, out.doing)
	if f == nil {
		f = m.clean(transportFailure(err))
	}
	f.connecting = !connected.Load()
	return nil, f
}

// urlSecrets returns the parts of a URL that no message and no reply may contain, as they
// are, as they stand in the URL, and as they are sent.
func urlSecrets(u *url.URL) (all []Secret) {
	add := func(texts ...string) {
		for _, t := range texts {
			if s := NewSecret(t); !s.IsZero() {
				all = append(all, s)
			}
		}
	}
	if u.User != nil {
		password, _ := u.User.Password()
		name := u.User.Username()
		add(u.User.String(), base64.StdEncoding.EncodeToString([]byte(name+":"+password)), password, name)
	}
	for part := range strings.SplitSeq(u.RawQuery, "&") {
		name, value, _ := strings.Cut(part, "=")
		if strings.HasSuffix(strings.ToLower(name), "version") { // no secret, and perhaps a date that is an answer
			continue
		}
		add(value)
		if plain, err := url.QueryUnescape(value); err == nil && plain != value {
			add(plain)
		}
	}
	return all
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
func (m *httpClient) unwanted(res *http.Response) *Failure {
	if e := res.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return unreadable("a compressed reply, which was not asked for and is not unpacked")
	}
	if res.StatusCode != http.StatusOK {
		return nil
	}
	if res.ContentLength > m.maxReply {
		return tooLong(m.maxReply)
	}
	switch kind, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";"); strings.ToLower(strings.TrimSpace(kind)) {
	case "text/html":
		return unreadable("an HTML page instead of JSON: is the url that of %s?", m.api)
	case "text/event-stream":
		return unreadableStream()
	}
	return nil
}

// statusOverloaded is Anthropic's status for a server that is busy for everybody.
const statusOverloaded = 529

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
	statusOverloaded:                   {synod.Unavailable, true, "the server is overloaded"},
}

func meaningOf(status int, c serverError) meaning {
	switch m, known := meanings[status]; {
	case c.filtered():
		return meaning{synod.Refused, false, "stopped by the provider's content filter"}
	case c.code == codeKey:
		return meaning{synod.Auth, false, "the server does not accept the key"}
	case c.code == codeCredit:
		return meaning{synod.Auth, false, "the account has no credit"}
	case status == http.StatusTooManyRequests && c.code == codeQuota:
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
func (m *httpClient) refusal(res response) *Failure {
	switch {
	case res.status == http.StatusUnauthorized:
		return &Failure{Status: synod.Auth, Lasting: true,
			Err: errors.New("the server does not accept the key (HTTP 401)")}
	case res.status < 300:
		return unreadable("an HTTP status %d where a reply has 200", res.status)
	case res.status < 400:
		return failure(synod.Unavailable, "the server redirects (HTTP %d), which is not followed: "+
			"set the url to where the API is", res.status)
	}
	c := m.errors(res.body)
	is := meaningOf(res.status, c)
	return &Failure{Status: is.status, Retryable: is.retry, RetryAfter: max(retryAfter(res.header), c.wait),
		Lasting: is.status == synod.Auth || res.status == http.StatusNotFound,
		Err:     fmt.Errorf("%s (HTTP %d)%s", is.text, res.status, m.quote(c.message))}
}

// errorInside returns the failure of an error that came with a 200, as some
// gateways send it.
func (m *httpClient) errorInside(body []byte) *Failure {
	c := m.errors(body)
	if status, err := strconv.Atoi(c.code); err == nil && status >= 400 && status < 600 {
		return m.refusal(response{status: status, body: body})
	}
	return temporary(synod.Unavailable, "the server reports an error%s", m.quote(c.message))
}

// The codes that mean something else than the status of their response.
const (
	codeKey    = "invalid key"        // ours, for a key that is refused with another status than 401
	codeCredit = "no credit"          // ours, for an account without credit
	codeQuota  = "insufficient_quota" // OpenAI's, for a quota that will not come back in a moment
)

// serverError is the content of an error body.
type serverError struct {
	message, code, param string
	wait                 time.Duration // how long the server asks to wait, where it says so in the body
}

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
		return serverError{message: inner.Message, code: scalar(inner.Code, inner.Type),
			param: scalar(inner.Param, "")}
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
func (m *httpClient) quote(message string) string {
	if message = shorten(m.redact(oneLine(message))); message == "" {
		return ""
	}
	return ": " + message
}

// clean removes secrets from a failure that quotes the transport.
func (m *httpClient) clean(f *Failure) *Failure {
	f.Err = errors.New(shorten(m.redact(f.Err.Error())))
	return f
}

// redact masks the key, and the credentials and query of the URL.
func (m *httpClient) redact(text string) string {
	text = m.key.Redact(text)
	for _, s := range m.hidden {
		text = s.Redact(text)
	}
	return text
}

// retryAfter reads Retry-After (seconds or a date) and its millisecond form; the
// result is between 0 and maxRetryAfter. A date is compared with the server's own clock,
// if the response has its Date: that of this machine may be wrong.
func retryAfter(h http.Header) time.Duration {
	var d time.Duration
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		d = time.Duration(min(ms, 1e9) * float64(time.Millisecond))
	} else if s, err := strconv.ParseFloat(strings.TrimSpace(h.Get("Retry-After")), 64); err == nil && s > 0 {
		d = time.Duration(min(s, 1e6) * float64(time.Second))
	} else if at, err := http.ParseTime(h.Get("Retry-After")); err == nil {
		sent, err := http.ParseTime(h.Get("Date"))
		if err != nil {
			sent = time.Now()
		}
		d = at.Sub(sent)
	}
	return min(max(d, 0), maxRetryAfter)
}

// get reads a document of the API, such as its list of models.
func (m *httpClient) get(ctx context.Context, at *url.URL, limit int64) (response, *Failure) {
	return m.exchange(ctx, http.MethodGet, at, nil, limit)
}

// exchange sends a request that no model answers, and reads the reply up to limit bytes.
func (m *httpClient) exchange(ctx context.Context, method string, at *url.URL, body io.Reader, limit int64) (response,
	*Failure) {
	res, f := m.roundTrip(ctx, outgoing{method, at, m.header, body, "waiting for the list of models"})
	if f != nil {
		return response{}, f
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(io.LimitReader(res.Body, limit))
	if err != nil && res.StatusCode == http.StatusOK {
		return response{}, temporary(synod.Unavailable, "the list of models was cut off after %d bytes", len(b))
	}
	return response{status: res.StatusCode, header: res.Header, body: b}, nil
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
