//go:build clients

package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

var record = flag.Bool("record", false, "keep the requests of the clients in testdata/recorded, for TestRecorded")

// tape is a proxy that notes the requests that pass, and how they were answered.
type tape struct {
	*httptest.Server
	mu  sync.Mutex
	all []recorded
}

func newTape(t *testing.T, to string) *tape {
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	x := &tape{}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.FlushInterval = -1
	proxy.ModifyResponse = func(res *http.Response) error {
		b, err := io.ReadAll(res.Body)
		if err != nil {
			return nil // the client is gone
		}
		res.Body = io.NopCloser(bytes.NewReader(b))
		sent, _ := res.Request.Context().Value(sentKey{}).([]byte)
		x.mu.Lock()
		defer x.mu.Unlock()
		x.all = append(x.all, recorded{res.Request.Method, res.Request.URL.Path, string(sent), res.StatusCode,
			ids(b)})
		return nil
	}
	x.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client is gone
		}
		r.Body = io.NopCloser(bytes.NewReader(b))
		proxy.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), sentKey{}, b)))
	}))
	t.Cleanup(x.Close)
	return x
}

type sentKey struct{}

// brief returns a body without long texts: instructions and descriptions of tools are their makers' own.
func brief(t *testing.T, body string) string {
	t.Helper()
	if body == "" {
		return ""
	}
	var v any
	d := json.NewDecoder(strings.NewReader(body))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return body // one that is to be refused
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(shorter(v)); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out.String())
}

func shorter(v any) any {
	switch v := v.(type) {
	case string:
		if len(v) > 60 && strings.Contains(v, " ") {
			return fmt.Sprintf("(a text of %d bytes)", len(v))
		}
	case []any:
		for i := range v {
			v[i] = shorter(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = shorter(v[key])
		}
	}
	return v
}

// save writes what was noted since the last call.
func (x *tape) save(t *testing.T, name string) {
	t.Helper()
	x.mu.Lock()
	defer x.mu.Unlock()
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	for _, r := range x.all {
		if strings.HasPrefix(r.Path, "/v1/") {
			r.Body = brief(t, r.Body)
			if err := e.Encode(r); err != nil {
				t.Fatal(err)
			}
		}
	}
	x.all = nil
	if out.Len() > 0 {
		if err := os.WriteFile(filepath.Join("testdata", "recorded", name+".jsonl"), out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// Each script prints a line for each thing that it has tried, and ends with an error if one does not hold.
func TestClients(t *testing.T) {
	tools := os.Getenv("SYNOD_CLIENTS")
	if tools == "" {
		t.Fatal("SYNOD_CLIENTS is not set: run make clients")
	}
	url, counter := house(t)
	var tape *tape
	if *record {
		tape = newTape(t, url)
		url = tape.URL
	}
	scripts, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []struct{ script, program string }{
		{"openai_sdk.py", "sdk/bin/python"}, {"anthropic_sdk.py", "sdk/bin/python"}, {"openai_sdk.mjs", "node"},
		{"litellm_sdk.py", "agents/bin/python"}, {"openai_agents.py", "agents/bin/python"},
		{"langchain_app.py", "apps/bin/python"}, {"instructor_app.py", "apps/bin/python"},
		{"pydantic_app.py", "apps/bin/python"}, {"editor_assistant.sh", "sh"},
		{"inspect_eval.py", "eval/bin/python"}, {"lm_eval.py", "eval/bin/python"},
		{"mcp_client.py", "sdk/bin/python"}, {"a2a_client.py", "sdk/bin/python"},
	} {
		t.Run(s.script, func(t *testing.T) {
			program := filepath.Join(tools, s.program)
			path, folder := filepath.Join(scripts, s.script), t.TempDir()
			if s.program == "sh" {
				program = "sh"
			}
			if s.program == "node" { // it looks for packages beside the script
				program, folder = "node", filepath.Join(tools, "js")
				b, err := os.ReadFile(path)
				path = filepath.Join(folder, s.script)
				if err != nil || os.WriteFile(path, b, 0o600) != nil {
					t.Fatal(err)
				}
			}
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			c := exec.CommandContext(ctx, program, path)
			c.Dir = folder
			c.Env = append(os.Environ(), "SYNOD_URL="+url, "SYNOD_COUNT="+counter, "SYNOD_TOOLS="+tools,
				"OPENAI_API_KEY=any", "ANTHROPIC_API_KEY=any", "OPENAI_BASE_URL="+url+"/v1", "ANTHROPIC_BASE_URL="+url,
				"NO_PROXY=127.0.0.1", "LITELLM_LOCAL_MODEL_COST_MAP=True", "OPENAI_AGENTS_DISABLE_TRACING=1",
				"HF_HUB_OFFLINE=1", "HF_DATASETS_OFFLINE=1")
			out, err := c.CombinedOutput()
			t.Logf("%s", out)
			if err != nil {
				t.Error(err)
			}
			if tape != nil {
				tape.save(t, strings.ReplaceAll(s.script, ".", "-"))
			}
		})
	}
}
