package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// collected is what a collector of OTLP over HTTP has got.
type collected struct {
	mu     sync.Mutex
	spans  []*spans.Span
	bodies bytes.Buffer
}

func (c *collected) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, err := io.ReadAll(r.Body)
	request := new(collector.ExportTraceServiceRequest)
	if err != nil || r.URL.Path != "/v1/traces" || proto.Unmarshal(b, request) != nil {
		http.Error(w, "no traces", http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bodies.Write(b)
	for _, of := range request.ResourceSpans {
		for _, scope := range of.ScopeSpans {
			c.spans = append(c.spans, scope.Spans...)
		}
	}
}

// A question is a span with one for each seat and in it one for each call, in the trace of the client, without
// content unless the environment asks for it; without a collector nothing is traced.
func TestTraces(t *testing.T) {
	for _, content := range []bool{false, true} {
		c := &collected{}
		server := httptest.NewServer(c)
		s := newSite(t)
		t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
		t.Setenv(captures, map[bool]string{true: "true", false: ""}[content])
		g := startGateway(t, "", s.args(filepath.Join(s.dir, "serve.db"))...)
		const client = "0af7651916cd43dd8448eb211c80319c"
		for _, model := range []string{"five", "solo:stub"} {
			req, _ := http.NewRequest(http.MethodPost, g.url+"/v1/chat/completions", strings.NewReader(
				`{"model": "`+model+`", "messages": [{"role": "user", "content": "What is 17 + 25?"}]}`))
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Traceparent", "00-"+client+"-b7ad6b7169203331-01")
			res, err := http.DefaultClient.Do(req)
			if err != nil || res.StatusCode != 200 {
				t.Fatal(res, err)
			}
			res.Body.Close()
		}
		if status, _ := g.ask("", "absent", 1); status != 404 {
			t.Error(status)
		}
		g.end(15)
		server.Close()
		names, tokens := map[string]int{}, 0
		for _, span := range c.spans {
			kind, _, _ := strings.Cut(span.Name, " ")
			names[kind]++
			if hex.EncodeToString(span.TraceId) != client {
				t.Errorf("%s is in the trace %x", span.Name, span.TraceId)
			}
			for _, a := range span.Attributes {
				if a.Key == "gen_ai.usage.input_tokens" {
					tokens++
				}
			}
		}
		// the call of solo is a chat too; only chats have tokens, so that a sum over spans counts none twice
		if want := int(s.calls.Load()); names["invoke_workflow"] != 1 || names["invoke_agent"] != 5 ||
			names["chat"] < want || tokens > names["chat"] || tokens < want {
			t.Errorf("%v, %d with tokens; %d calls were made", names, tokens, want)
		}
		if got := bytes.Contains(c.bodies.Bytes(), []byte("17 + 25")); got != content {
			t.Errorf("the spans have the question: %t; want %t", got, content)
		}
	}
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "")
	if spans, _, err := traced(context.Background(), nil); spans != nil || err != nil {
		t.Error("traces without a collector", err)
	}
}
