//go:build clients || sdk

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
	"path/filepath"
	"strings"
	"sync"
	"testing"
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
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }, FlushInterval: -1}
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
		keepVersion(t, name)
		if err := os.WriteFile(filepath.Join("testdata", "recorded", name+".jsonl"), out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// keepVersion notes which version of a client was recorded: the one that is installed.
func keepVersion(t *testing.T, name string) {
	t.Helper()
	all := versions(t)
	for _, c := range known {
		if c.file == name {
			all[name] = c.pinned(t)
		}
	}
	b, err := json.MarshalIndent(all, "", "  ")
	if err != nil || os.WriteFile(versionFile, append(b, '\n'), 0o644) != nil {
		t.Fatal("the version of the client cannot be kept")
	}
}
