package main

import (
	"bytes"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	"google.golang.org/protobuf/proto"

	"synod.dev/synod/network/node"
	"synod.dev/synod/network/roster"
)

// collected is what a collector of OTLP over HTTP has got.
type collected struct {
	mu     sync.Mutex
	bodies [][]byte
	names  map[string]map[string]int // by seat and name: spans
	traces map[string]map[string]int // by name and trace
	stated map[string]string         // attributes of spans, the last of each
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
	c.bodies = append(c.bodies, b)
	for _, of := range request.ResourceSpans {
		seat := valueOf(of.Resource.Attributes, "synod.seat")
		if c.names[seat] == nil {
			c.names[seat] = map[string]int{}
		}
		for _, scope := range of.ScopeSpans {
			for _, s := range scope.Spans {
				c.names[seat][s.Name]++
				if c.traces[s.Name] == nil {
					c.traces[s.Name] = map[string]int{}
				}
				c.traces[s.Name][hex.EncodeToString(s.TraceId)]++
				for _, a := range s.Attributes {
					c.stated[a.Key] = a.Value.String()
				}
			}
		}
	}
}

func valueOf(list []*common.KeyValue, key string) string {
	for _, a := range list {
		if a.Key == key {
			return a.Value.GetStringValue()
		}
	}
	return ""
}

// Nodes send spans of a question, its rounds, its model calls and what they refuse to a collector that the
// environment names, all in the trace of the run and without any content; without that variable they send none.
func TestTraces(t *testing.T) {
	c := &collected{names: map[string]map[string]int{}, traces: map[string]map[string]int{},
		stated: map[string]string{}}
	server := httptest.NewServer(c)
	defer server.Close()
	p := convene(t, strings.Replace(council7, "f: 2", "f: 1", 1), roster.TLS)
	const silent, picky = 6, 5
	p.more = func(seat int) (args, env []string) {
		if seat == picky {
			args = []string{"--max-question", "5"}
		}
		if seat != silent {
			env = []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + server.URL}
		}
		return args, env
	}
	p.startAll()
	res, o := p.ask(sum, func() {})
	if o.Answer == nil || *o.Answer != "42" {
		t.Fatalf("%s: %s, missing %v", o.Status, o.Reason, res.Missing)
	}
	for i := range p.running {
		if err := request(p.path(i, "d"), http.MethodPost, "/drain", new(node.Status)); err != nil {
			t.Error(err)
		}
		p.running[i].Wait()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, m := range p.signed.Members {
		got := c.names[m.ID]
		switch {
		case i == silent && len(got) > 0:
			t.Errorf("%s was given no collector, and has sent %v", m.ID, got)
		case i == picky && got["refused question"] != 1:
			t.Errorf("%s has refused the question, and sent %v", m.ID, got)
		case i < picky && (got["question"] != 1 || got["round"] != 4 || got["model call"] != 3):
			t.Errorf("%s has sent %v; want a question, 4 rounds and 3 calls", m.ID, got)
		}
	}
	for name, traces := range c.traces {
		if len(traces) != 1 || traces[string(res.Instance)[:32]] == 0 {
			t.Errorf("the spans %q have the traces %v; want that of the run %s", name, traces, res.Instance)
		}
	}
	for _, key := range []string{"synod.run", "synod.round", "synod.status", "synod.stopped", "gen_ai.request.model"} {
		if c.stated[key] == "" {
			t.Errorf("no span has %s", key)
		}
	}
	for _, b := range c.bodies {
		for _, text := range []string{"17 + 25", "What is", `"42"`} {
			if bytes.Contains(b, []byte(text)) {
				t.Errorf("a span has %q of the question or the answer", text)
			}
		}
	}
}
