package llmtest

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Behaviour answers a call, correctly or not.
type Behaviour func(*Exchange)

// OK answers with the reply of the server's handler.
func OK() Behaviour { return (*Exchange).OK }

// Status answers every call with an HTTP error.
func Status(status int) Behaviour {
	return func(x *Exchange) {
		text := http.StatusText(status)
		x.Error(status, strings.ReplaceAll(strings.ToLower(text), " ", "_"), "stub: "+text)
	}
}

// Unauthorized rejects every key and quotes it, as some servers do.
func Unauthorized() Behaviour {
	return func(x *Exchange) {
		key := strings.TrimPrefix(x.Auth, "Bearer ")
		x.Error(http.StatusUnauthorized, "invalid_api_key", "Incorrect API key provided: "+key)
	}
}

// RateLimit answers 429 with a Retry-After header: seconds or a date, "" for none.
func RateLimit(retryAfter string) Behaviour {
	return func(x *Exchange) {
		if retryAfter != "" {
			x.W.Header().Set("Retry-After", retryAfter)
		}
		x.Error(http.StatusTooManyRequests, "rate_limit_exceeded", "slow down")
	}
}

// First applies b to the first n calls.
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

// Every applies b to every kth call.
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

// Fraction applies b to random calls with probability p. The same seed selects the same calls
// in the order of their arrival.
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

// mix is the finaliser of SplitMix64, a hash of 64 bits.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// pause waits and reports whether the client is still connected.
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

// gone reports whether the client has left or the server is closed.
func (x *Exchange) gone() bool {
	select {
	case <-x.R.Context().Done():
		return true
	case <-x.server.done:
		return true
	default:
		return false
	}
}

// named are the behaviours that scripts can choose.
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

// Names returns the names that Named accepts, sorted.
func Names() []string {
	names := make([]string, 0, len(named))
	for n := range named {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// Named returns a behaviour by its name, or for status-NNN one that answers with
// that HTTP status. It fails for any other name.
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

// Truncated promises more bytes than it sends.
func Truncated() Behaviour {
	return func(x *Exchange) {
		b := x.format().completion(x, x.server.handler(x.Call), "stop")
		x.W.Header().Set("Content-Type", "application/json")
		x.W.Header().Set("Content-Length", strconv.Itoa(len(b)))
		_, _ = x.W.Write(b[:len(b)/2])
		_ = http.NewResponseController(x.W).Flush()
		panic(http.ErrAbortHandler)
	}
}

// CutStream sends one chunk of a chunked body and closes the connection.
func CutStream() Behaviour {
	return func(x *Exchange) {
		b := x.format().completion(x, x.server.handler(x.Call), "stop")
		x.W.Header().Set("Content-Type", "application/json")
		_, _ = x.W.Write(b[:len(b)/2])
		_ = http.NewResponseController(x.W).Flush()
		panic(http.ErrAbortHandler)
	}
}

// Disconnect closes the connection without a reply.
func Disconnect() Behaviour { return func(*Exchange) { panic(http.ErrAbortHandler) } }

// Stream answers as a server-sent stream although none was requested, and ends it
// before the terminal event.
func Stream() Behaviour {
	return func(x *Exchange) {
		x.Send(http.StatusOK, "text/event-stream", []byte("data: {\"choices\":[{\"delta\":{\"content\":\"4\"}}]}\n\n"))
	}
}

// HTML answers with a web page.
func HTML() Behaviour {
	return Body("text/html; charset=utf-8", "<!doctype html><html><body>It works!</body></html>")
}

// Malformed answers with invalid JSON.
func Malformed() Behaviour { return Body("application/json", `{"choices": [}]}`) }

// WrongShape answers with JSON that is not a completion.
func WrongShape() Behaviour { return Body("application/json", `{"answer": 42}`) }

// EmptyChoices answers with a completion without choices.
func EmptyChoices() Behaviour {
	return Body("application/json", `{"object":"chat.completion","choices":[]}`)
}

// EmptyBody answers 200 without a body.
func EmptyBody() Behaviour { return Body("application/json", "") }

// Body answers 200 with any body.
func Body(contentType, body string) Behaviour {
	return func(x *Exchange) { x.Send(http.StatusOK, contentType, []byte(body)) }
}

// Huge answers with a completion of n bytes, in chunks, until the client
// disconnects.
func Huge(n int) Behaviour {
	return func(x *Exchange) {
		x.W.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(x.W, `{"choices":[{"message":{"role":"assistant","content":"`)
		block := bytes.Repeat([]byte("a"), 32<<10)
		for left := n; left > 0; left -= len(block) { // n is shared by all calls
			if _, err := x.W.Write(block); err != nil {
				return
			}
		}
		_, _ = io.WriteString(x.W, `"},"finish_reason":"stop"}]}`)
	}
}

// Endless is Huge with 1 GiB.
func Endless() Behaviour { return Huge(1 << 30) }

// GzipBomb answers with n bytes compressed into few, whether or not the client
// accepts compression.
func GzipBomb(n int) Behaviour {
	return func(x *Exchange) {
		x.W.Header().Set("Content-Type", "application/json")
		x.W.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(x.W)
		block := make([]byte, 64<<10)
		for i := range block {
			block[i] = ' '
		}
		for left := n; left > 0; left -= len(block) { // n is shared by all calls
			// Compressing goes on for long in memory, so a closed connection shows late.
			if _, err := z.Write(block); err != nil || x.gone() {
				return
			}
		}
		_, _ = io.WriteString(z, `{"choices":[]}`)
		_ = z.Close()
	}
}

// Hang does not answer until the client disconnects or most has passed.
func Hang(most time.Duration) Behaviour { return func(x *Exchange) { x.pause(most) } }

// Stall sends the headers and half the body of a reply, then hangs.
func Stall(most time.Duration) Behaviour {
	return func(x *Exchange) {
		b := x.format().completion(x, x.server.handler(x.Call), "stop")
		x.W.Header().Set("Content-Length", strconv.Itoa(len(b)))
		_, _ = x.W.Write(b[:len(b)/2])
		_ = http.NewResponseController(x.W).Flush()
		x.pause(most)
	}
}

// Drip sends a good reply one byte at a time.
func Drip(every time.Duration) Behaviour {
	return func(x *Exchange) {
		flush := http.NewResponseController(x.W)
		for _, b := range x.format().completion(x, x.server.handler(x.Call), "stop") {
			if _, err := x.W.Write([]byte{b}); err != nil || flush.Flush() != nil || !x.pause(every) {
				return
			}
		}
	}
}

// Redirect redirects to another URL (HTTP 302).
func Redirect(to string) Behaviour {
	return func(x *Exchange) { http.Redirect(x.W, x.R, to, http.StatusFound) }
}

// RefuseFormat answers 400 to the given types of response_format.
func RefuseFormat(types ...string) Behaviour {
	return func(x *Exchange) {
		if slices.Contains(types, x.Format) {
			x.refuse("response_format",
				fmt.Sprintf("'response_format' of type '%s' is not supported with this model", x.Format))
			return
		}
		x.OK()
	}
}

// RefuseKeyword answers 400 if the schema contains a keyword, as servers with
// strict schemas do.
func RefuseKeyword(keyword string) Behaviour {
	return func(x *Exchange) {
		if bytes.Contains(x.Schema, []byte(`"`+keyword+`"`)) {
			x.refuse("response_format",
				fmt.Sprintf("Invalid schema for response_format 'reply': '%s' is not permitted.", keyword))
			return
		}
		x.OK()
	}
}

// RefuseParam answers 400 if the body has any of the given fields. A field may be
// followed by a colon and the name of its replacement.
func RefuseParam(params ...string) Behaviour {
	return func(x *Exchange) {
		var fields map[string]json.RawMessage
		_ = json.Unmarshal(x.Body, &fields)
		for _, p := range params {
			name, instead, _ := bytes.Cut([]byte(p), []byte(":"))
			if fields[string(name)] == nil {
				continue
			}
			message := fmt.Sprintf("Unsupported parameter: '%s' is not supported with this model.", name)
			if len(instead) > 0 {
				message += fmt.Sprintf(" Use '%s' instead.", instead)
			}
			x.refuse(string(name), message)
			return
		}
		x.OK()
	}
}

func (x *Exchange) refuse(param, message string) {
	b, _ := json.Marshal(map[string]any{"error": map[string]any{
		"message": message, "type": "invalid_request_error", "code": "unsupported_value", "param": param}})
	x.Send(http.StatusBadRequest, "application/json", b)
}

// ContentFilter ends a reply with the finish reason of a content filter.
func ContentFilter() Behaviour {
	return func(x *Exchange) { x.Text("I", "content_filter") }
}

// Refusal answers with the refusal field.
func Refusal() Behaviour {
	return Body("application/json", `{"choices":[{"message":{"role":"assistant","content":null,`+
		`"refusal":"I'm sorry."},"finish_reason":"stop"}]}`)
}

// Length stops at the token limit before any text.
func Length() Behaviour {
	return func(x *Exchange) { x.Text("", "length") }
}

// ToolCall answers with a tool call in place of text.
func ToolCall() Behaviour {
	return Body("application/json", `{"choices":[{"message":{"role":"assistant","content":null,"tool_calls":[`+
		`{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`)
}

// Usage answers as the server's handler does, and reports this JSON as its usage.
func Usage(usage string) Behaviour {
	return func(x *Exchange) {
		body := x.completion(x.server.handler(x.Call), "stop")
		at := bytes.LastIndex(body, []byte(`"usage":`))
		x.Send(http.StatusOK, "application/json", append(append(body[:at:at], `"usage":`+usage...), '}'))
	}
}
