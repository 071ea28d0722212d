package campaign

import (
	"bytes"
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"

	"synod.dev/synod"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/llm"
	"synod.dev/synod/llm/prompt"
	"synod.dev/synod/protocol/check"
)

// provider is a server that fails, behind the client that councils use for OpenAI-compatible servers.
type provider struct {
	client *llm.OpenAI
	kind   string
	text   string
}

// maxReply is the longest reply that the client reads here, in bytes.
const maxReply = 16 << 10

func newProvider() *provider {
	p := &provider{}
	client, err := llm.NewOpenAI(llm.OpenAIConfig{URL: "https://model.invalid/v1", Model: "model", Transport: p,
		MaxReply: maxReply})
	if err != nil {
		panic(err) // the settings are ours
	}
	p.client = client
	return p
}

// faultyReply asks a server that fails in the way of an event.
func (p *ExecutionPlayer) faultyReply(e *ScheduledFault, c *sim.Call) synod.Reply {
	if p.server == nil {
		p.server = newProvider()
	}
	honest := p.honestReply(c, 1)
	p.server.kind, p.server.text = e.Kind, "Answer: "+string(honest.Answer)
	if honest.Answer == synod.None {
		p.server.text = honest.Text
	}
	reply, err := p.server.client.Complete(context.Background(), llm.Request{Prompt: c.Prompt,
		Given: &prompt.Chat{User: "?"}})
	if err != nil {
		failure := llm.AsFailure(err)
		reply = synod.Reply{Status: failure.Status, Detail: failure.Reason()}
	}
	readable := e.Kind == "wrong-model" || e.Kind == "nonsense" || e.Kind == "finish-length"
	p.trace.Claim(check.FailedCalls, readable || reply.Status != synod.OK && reply.Text == "",
		"%s gives the status %s and the "+
			"text %q", e.Kind, reply.Status, reply.Text)
	return reply
}

// RoundTrip implements http.RoundTripper: it answers as a failing server does.
func (p *provider) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		io.Copy(io.Discard, r.Body)
		r.Body.Close()
	}
	switch p.kind {
	case "refused":
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	case "tls-error":
		return nil, x509.UnknownAuthorityError{}
	case "dns-failure":
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "model.invalid",
			IsNotFound: true}}
	case "timeout":
		return nil, &net.OpError{Op: "read", Net: "tcp", Err: os.ErrDeadlineExceeded}
	}
	if status, ok := refusals[p.kind]; ok {
		return p.respond(status, `{"error": {"message": "this server fails", "type": "server_error"}}`, nil), nil
	}
	return p.respond(http.StatusOK, p.body(), nil), nil
}

// refusals are the kinds that are a status of HTTP.
var refusals = map[string]int{"http-429": 429, "http-429-retry-after": 429, "http-500": 500, "http-502": 502,
	"http-503": 503, "http-401": 401, "redirect": 302}

// respond returns a response, which may be cut.
func (p *provider) respond(status int, body string, err error) *http.Response {
	h := http.Header{"Content-Type": {"application/json"}}
	content := io.Reader(strings.NewReader(body))
	switch p.kind {
	case "http-429-retry-after":
		h.Set("Retry-After", "7")
	case "http-502":
		h.Set("Content-Type", "text/html")
		content = strings.NewReader("<html><h1>502 Bad Gateway</h1></html>")
	case "redirect":
		h.Set("Location", "https://elsewhere.invalid/v1/chat/completions")
	case "stream-cut":
		content = io.MultiReader(strings.NewReader(body[:len(body)/2]), failingReader{})
	case "rune-cut":
		content = io.MultiReader(strings.NewReader(body[:strings.Index(body, "é")+1]), failingReader{})
	case "gzip-bomb":
		h.Set("Content-Encoding", "gzip")
		content = bytes.NewReader(bomb)
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(content), Proto: "HTTP/1.1", ProtoMajor: 1,
		ProtoMinor: 1, ContentLength: -1}
}

// failingReader is a connection that ends.
type failingReader struct{}

func (failingReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// bomb is what a compressed reply looks like to a client that asked for none.
var bomb = append([]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3}, make([]byte, 2*maxReply)...)

// longMessage is longer than any reply that the client reads.
var longMessage = `{"role": "assistant", "content": "` + strings.Repeat("word ", maxReply/4) + `"}`

// body returns the body of a reply with status 200.
func (p *provider) body() string {
	message, finish, model := fmt.Sprintf(`{"role": "assistant", "content": %q}`, p.text), "stop", "model"
	switch p.kind {
	case "malformed-json":
		return `{"choices": [{"message": {"content": "Answer: 1"`
	case "wrong-schema":
		return `{"choices": {"message": 7}, "model": ["model"]}`
	case "empty-choices":
		return `{"choices": [], "model": "model"}`
	case "rune-cut", "stream-cut":
		message = `{"role": "assistant", "content": "é, so the answer is 1"}`
	case "finish-length":
		message, finish = `{"role": "assistant", "content": ""}`, "length"
	case "content-filter":
		finish = "content_filter"
	case "tool-call":
		message, finish = `{"role": "assistant", "content": null, "tool_calls": [{"id": "a", "type": "function", `+
			`"function": {"name": "f", "arguments": "{}"}}]}`, "tool_calls"
	case "refusal":
		message = `{"role": "assistant", "content": null, "refusal": "I cannot help with that."}`
	case "wrong-model":
		model = "another model"
	case "long-reply":
		message = longMessage
	case "nonsense":
		message = `{"role": "assistant", "content": "I would rather talk about the weather."}`
	}
	return fmt.Sprintf(`{"choices": [{"index": 0, "message": %s, "finish_reason": %q}], "model": %q}`, message, finish,
		model)
}
