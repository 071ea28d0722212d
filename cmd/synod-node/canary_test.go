package main

import (
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"synod.dev/synod/internal/canary"
	"synod.dev/synod/network/node"
	"synod.dev/synod/network/roster"
)

// No secret of an owner leaves the node: not in the roster, its log, its status, a file, a trace, or what the caller
// gets. The control shows that the node's journal quotes the server of its model.
func TestCanaries(t *testing.T) {
	for _, control := range []bool{false, true} {
		secrets := canary.All()
		if control {
			secrets = secrets.Backwards()
		}
		found := map[string]bool{}
		for output, text := range nodeOutputs(t, control) {
			if text == "" {
				t.Errorf("no %s", output)
			}
			if places := secrets.In([]byte(text)); len(places) > 0 {
				if found[output] = true; !control {
					t.Errorf("%s: has the secrets of %q:\n%.1000s", output, places, text)
				}
			}
		}
		if control && !found["files"] {
			t.Errorf("control: secrets were found in %v alone, so this test says little", found)
		}
	}
}

// nodeOutputs has nodes with secrets decide a question, and returns what they put out.
func nodeOutputs(t *testing.T, control bool) map[string]string {
	t.Helper()
	up := httptest.NewServer(canary.Server(control))
	defer up.Close()
	var mu sync.Mutex
	var spans strings.Builder
	otlp := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		_, _ = io.Copy(&spans, r.Body)
	}))
	defer otlp.Close()
	for name, value := range canary.Environment(up.URL) {
		if name != "SYNOD_PASSPHRASE" { // it would be that of the nodes' keys
			t.Setenv(name, value)
		}
	}
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", otlp.URL)
	t.Setenv("SYNOD_QUERY_d", "token=c4nary-query")
	p := convene(t, `protocol: {name: majority}
pace: {think: 2s, within: 2s}
models: {d: {provider: openai, url: "`+up.URL+`/v1?token=c4nary-query", key_env: MY_KEY, model: m}}
seats: [{id: a, model: d, count: 3}]
`, roster.TLS)
	p.startAll()
	all := map[string]string{}
	res, o := p.ask(sum, func() {})
	if o.Answer == nil || *o.Answer != "42" {
		t.Errorf("%s: %s, missing %v", o.Status, o.Reason, res.Missing)
	}
	got, err := json.Marshal([]any{res, o})
	if err != nil {
		t.Fatal(err)
	}
	all["caller"] = string(got)
	for i := range p.running {
		var s node.Status
		if err := request(p.path(i, "d"), http.MethodGet, "/status", &s); err != nil {
			t.Error(err)
		}
		text, _ := json.Marshal(s)
		all["status"] += string(text)
		if err := request(p.path(i, "d"), http.MethodPost, "/drain", new(node.Status)); err != nil {
			t.Error(err)
		}
		_ = p.running[i].Wait()
	}
	err = filepath.WalkDir(p.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		all["files"] += path + "\n" + string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	all["trace"] = spans.String()
	return all
}
