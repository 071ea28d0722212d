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
	"time"
)

// Truncated promises more bytes than it sends.
func Truncated() Behaviour {
	return func(x *Exchange) {
		b := x.completion(x.server.handler(x.Call), "stop")
		x.W.Header().Set("Content-Type", "application/json")
		x.W.Header().Set("Content-Length", strconv.Itoa(len(b)))
		_, _ = x.W.Write(b[:len(b)/2])
		_ = http.NewResponseController(x.W).Flush()
		panic(http.ErrAbortHandler)
	}
}

// CutStream sends a chunk of a chunked body and breaks off.
func CutStream() Behaviour {
	return func(x *Exchange) {
		b := x.completion(x.server.handler(x.Call), "stop")
		x.W.Header().Set("Content-Type", "application/json")
		_, _ = x.W.Write(b[:len(b)/2])
		_ = http.NewResponseController(x.W).Flush()
		panic(http.ErrAbortHandler)
	}
}

// Disconnect closes the connection without a word.
func Disconnect() Behaviour { return func(*Exchange) { panic(http.ErrAbortHandler) } }

// Stream answers as a server-sent stream that nobody asked for, and ends it
// before its terminal event.
func Stream() Behaviour {
	return func(x *Exchange) {
		x.Send(http.StatusOK, "text/event-stream", []byte("data: {\"choices\":[{\"delta\":{\"content\":\"4\"}}]}\n\n"))
	}
}

// HTML answers with a page.
func HTML() Behaviour {
	return Body("text/html; charset=utf-8", "<!doctype html><html><body>It works!</body></html>")
}

// Malformed answers with broken JSON.
func Malformed() Behaviour { return Body("application/json", `{"choices": [}]}`) }

// WrongShape answers with JSON that is no completion.
func WrongShape() Behaviour { return Body("application/json", `{"answer": 42}`) }

// EmptyChoices answers with a completion without choices.
func EmptyChoices() Behaviour {
	return Body("application/json", `{"object":"chat.completion","choices":[]}`)
}

// EmptyBody answers 200 with nothing.
func EmptyBody() Behaviour { return Body("application/json", "") }

// Body answers 200 with any body.
func Body(contentType, body string) Behaviour {
	return func(x *Exchange) { x.Send(http.StatusOK, contentType, []byte(body)) }
}

// Huge answers with a completion of n bytes, in chunks, until the client leaves.
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

// Endless is Huge without end, bounded at 1 GiB.
func Endless() Behaviour { return Huge(1 << 30) }

// GzipBomb answers with n bytes packed into few, asked or not.
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
			if _, err := z.Write(block); err != nil {
				return
			}
		}
		_, _ = io.WriteString(z, `{"choices":[]}`)
		_ = z.Close()
	}
}

// Hang does not answer until the client leaves, and leaves itself after most.
func Hang(most time.Duration) Behaviour { return func(x *Exchange) { x.pause(most) } }

// Stall sends the head of a reply and half its body, then hangs.
func Stall(most time.Duration) Behaviour {
	return func(x *Exchange) {
		b := x.completion(x.server.handler(x.Call), "stop")
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
		for _, b := range x.completion(x.server.handler(x.Call), "stop") {
			if _, err := x.W.Write([]byte{b}); err != nil || flush.Flush() != nil || !x.pause(every) {
				return
			}
		}
	}
}

// Redirect sends the client elsewhere.
func Redirect(to string) Behaviour {
	return func(x *Exchange) { http.Redirect(x.W, x.R, to, http.StatusFound) }
}

// RefuseFormat answers 400 to those types of response_format.
func RefuseFormat(types ...string) Behaviour {
	return func(x *Exchange) {
		if slices.Contains(types, x.Format) {
			x.complain("response_format", fmt.Sprintf("'response_format' of type '%s' is not supported with this model", x.Format))
			return
		}
		x.OK()
	}
}

// RefuseKeyword answers 400 where the schema holds a keyword, as servers of
// strict schemas do.
func RefuseKeyword(keyword string) Behaviour {
	return func(x *Exchange) {
		if bytes.Contains(x.Schema, []byte(`"`+keyword+`"`)) {
			x.complain("response_format", fmt.Sprintf("Invalid schema for response_format 'reply': '%s' is not permitted.", keyword))
			return
		}
		x.OK()
	}
}

// RefuseParam answers 400 where the body holds any of those fields. The name of
// its replacement, where there is one, stands behind a colon.
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
			x.complain(string(name), message)
			return
		}
		x.OK()
	}
}

func (x *Exchange) complain(param, message string) {
	b, _ := json.Marshal(map[string]any{"error": map[string]any{
		"message": message, "type": "invalid_request_error", "code": "unsupported_value", "param": param}})
	x.Send(http.StatusBadRequest, "application/json", b)
}

// ContentFilter ends a reply as a filter does.
func ContentFilter() Behaviour {
	return func(x *Exchange) { x.Text("I", "content_filter") }
}

// Refusal answers with the refusal field.
func Refusal() Behaviour {
	return Body("application/json", `{"choices":[{"message":{"role":"assistant","content":null,"refusal":"I'm sorry."},"finish_reason":"stop"}]}`)
}

// Length stops at the token limit before any text.
func Length() Behaviour {
	return func(x *Exchange) { x.Text("", "length") }
}

// ToolCall answers with a tool call in place of text.
func ToolCall() Behaviour {
	return Body("application/json", `{"choices":[{"message":{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`)
}
