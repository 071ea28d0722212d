package gateway

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"synod.dev/synod/llm"

	"synod.dev/synod/cmd/synod-serve/internal/wire"
)

// longestEvent bounds one event of a model's stream.
const longestEvent = 4 << 20

// relayed is a stream on its way through the gateway.
type relayed struct {
	*pass
	s        *sse
	tell     *told // in the API of the client; nil: chunks are passed on as they come
	bytes    int   // of the deltas
	finished bool  // a chunk had a finish_reason
	done     bool  // the server said that it is done
	usage    *counted
	failed   *wire.Error
}

// relayStream passes a stream on as it comes. A stream that ends without its end is an error, and what had
// come until then is counted.
func (p *pass) relayStream(ctx context.Context, d dialect, w http.ResponseWriter, res *llm.Relayed,
	limit *time.Timer) *wire.Error {
	p.job.headers(w.Header(), nil, nil)
	x := &relayed{pass: p, s: newSSE(w)}
	if t, ok := d.(teller); ok {
		x.tell = p.telling(t, x.s)
	} else {
		x.s.comment("passed on")
	}
	lines, stop := make(chan []byte), make(chan struct{})
	ended := make(chan error, 1)
	go func() { ended <- readEvents(res.Body, lines, stop) }()
	alive := time.NewTicker(keepAlive)
	defer alive.Stop()
	err := errors.New("")
	for open := true; open; {
		select {
		case data := <-lines:
			limit.Reset(p.patience())
			open = x.chunk(data)
		case err = <-ended:
			ended <- nil
			open = false
		case <-alive.C:
			x.s.comment("waiting for the model")
		}
		if x.s.broken {
			p.cancel(errGone)
			open = false
		}
	}
	close(stop)
	_ = res.Body.Close()
	<-ended
	x.finish(ctx, err)
	return nil
}

// readEvents sends the data of each event until the body ends.
func readEvents(body io.Reader, lines chan<- []byte, stop <-chan struct{}) error {
	in := bufio.NewScanner(body)
	in.Buffer(make([]byte, 0, 16<<10), longestEvent)
	for in.Scan() {
		data, ok := bytes.CutPrefix(in.Bytes(), []byte("data:"))
		if !ok {
			continue
		}
		select {
		case lines <- bytes.Clone(bytes.TrimSpace(data)):
		case <-stop:
			return nil
		}
	}
	if err := in.Err(); err != nil {
		return err
	}
	return io.EOF
}

// chunk passes an event on, and reports whether more may come.
func (x *relayed) chunk(data []byte) bool {
	if string(data) == "[DONE]" {
		x.done = true
		return false
	}
	var c counted
	if json.Unmarshal(data, &c) != nil {
		x.failed = &wire.Error{HTTP: 502, Code: "upstream_error", Message: "the model's server sent a chunk that is " +
			"no JSON"}
		return false
	}
	if c.Object == "error" || len(c.Error) > 0 && string(c.Error) != "null" {
		x.failed = &wire.Error{HTTP: 502, Code: "upstream_error", Message: "the model's server failed in mid-stream"}
		return false
	}
	if _, ok := x.tokens(&c); ok && c.Usage != nil {
		x.usage = &c
	}
	for _, choice := range c.Choices {
		x.bytes += contentBytes(choice.Delta)
		x.finished = x.finished || choice.Finish != nil && *choice.Finish != ""
	}
	if len(c.Choices) == 0 {
		return true // it has only the usage, which finish sends
	}
	if x.tell != nil {
		x.failed = x.tell.chunk(data)
		return x.failed == nil
	}
	x.s.write(append(append([]byte("data: "), x.renamed(data)...), "\n\n"...))
	return true
}

// contentBytes counts the text of a delta, without its keys.
func contentBytes(delta json.RawMessage) int {
	var d map[string]any
	if json.Unmarshal(delta, &d) != nil {
		return 0
	}
	n := 0
	for key, v := range d {
		switch v := v.(type) {
		case string:
			if key != "role" {
				n += len(v)
			}
		case []any: // calls of tools
			b, err := json.Marshal(v)
			if err == nil {
				n += len(b)
			}
		}
	}
	return n
}

// renamed puts the id of the model here in place of its name at the server.
func (x *relayed) renamed(data []byte) []byte {
	old, _ := json.Marshal(x.info.Model)
	own, _ := json.Marshal(x.job.model())
	for _, key := range []string{`"model":`, `"model": `} {
		if out := bytes.Replace(data, append([]byte(key), old...), append([]byte(`"model":`), own...), 1); len(out) > 0 &&
			!bytes.Equal(out, data) {
			return out
		}
	}
	return data
}

// finish sends the end of the stream and settles the request.
func (x *relayed) finish(ctx context.Context, err error) {
	if whole := x.done || x.finished; x.failed == nil && !whole {
		x.failed = x.cutOff(ctx, err)
	} else if x.failed == nil && x.tell != nil {
		x.failed = x.tell.finish()
	}
	u, exact := x.estimate(x.bytes), false
	if x.usage != nil {
		u, exact = x.tokens(x.usage)
	}
	r := x.result(u, exact && (x.done || x.finished))
	switch {
	case x.s.broken, context.Cause(ctx) == context.Canceled, context.Cause(ctx) == errGone:
		r.Status, r.HTTP, x.failed = "client_gone", 499, nil
	case x.failed != nil:
		r.Status, r.HTTP = x.failed.Code, x.failed.HTTP
	}
	x.end(r, "")
	spent := map[string]any{"usd": r.Spent.USD(), "exact": !r.Unpriced}
	switch {
	case x.failed != nil && x.tell != nil:
		x.tell.d.fail(x.s, x.failed)
	case x.failed != nil:
		x.s.event("", x.failed.Body())
	case x.tell != nil && r.HTTP == 200:
		x.tell.end(u, spent)
	case x.tell == nil:
		x.ended(u, spent, r.HTTP == 200)
	}
}

// ended sends the end of a stream that is passed on.
func (x *relayed) ended(u Usage, spent any, whole bool) {
	if x.pass.usage && whole {
		x.s.event("", map[string]any{"id": chatID(&Answer{ID: x.job.id}), "object": "chat.completion.chunk",
			"created": x.grant.Begun.Unix(), "model": x.job.model(), "choices": []any{}, "usage": u.chat(),
			"synod": spent})
	}
	x.s.write([]byte("data: [DONE]\n\n"))
}

// cutOff is the error of a stream that ended without its end.
func (x *relayed) cutOff(ctx context.Context, err error) *wire.Error {
	if cause := context.Cause(ctx); cause == errSlow || cause == errShutdown {
		return x.upstream(ctx, cause)
	}
	return &wire.Error{HTTP: 502, Code: "upstream_cut", Message: "the stream of the model's server ended in the middle"}
}
