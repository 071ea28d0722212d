// Package clients checks that clients of other makers, unmodified, work with a gateway: requests that they sent are
// recorded in testdata and replayed in each run of the tests, and make clients plays the clients themselves, which
// testdata/run.sh installs.
package clients

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/internal/llmtest"

	"synod.dev/synod/cmd/synod-serve/internal/a2aserver"
	"synod.dev/synod/cmd/synod-serve/internal/gateway"
	"synod.dev/synod/cmd/synod-serve/internal/gatewaytest"
	"synod.dev/synod/cmd/synod-serve/internal/mcpserver"
)

var sum = regexp.MustCompile(`(\d+) *([-+*]) *(\d+)`)

// models answer what a capable model would: sums, the colour of an image, a call of the first tool until there is
// a result, and values that follow a schema.
type models struct{ n atomic.Int64 }

func (m *models) reply(c llmtest.Call) string {
	if c.Scoring() {
		return llmtest.Fixed("", 0.9)(c)
	}
	if strings.Contains(c.User, "slowly") {
		time.Sleep(3 * time.Second)
	}
	if len(c.Schema) == 0 {
		return m.text(c)
	}
	var schema map[string]any
	if err := json.Unmarshal(c.Schema, &schema); err != nil {
		panic(err) // the gateway has sent no JSON
	}
	b, err := json.Marshal(m.fill(schema, c))
	if err != nil {
		panic(err) // it was just decoded
	}
	return string(b)
}

func (m *models) text(c llmtest.Call) string {
	body := string(c.Body)
	switch {
	case strings.Contains(c.User, "differently"):
		return strconv.FormatInt(m.n.Add(1), 10)
	case strings.Contains(body, `"image_url"`):
		return "red"
	case strings.Contains(body, `"role":"tool"`):
		return "It is sunny in Paris."
	}
	found := sum.FindAllStringSubmatch(c.User, -1)
	if len(found) == 0 {
		return "42"
	}
	last := found[len(found)-1]
	a, _ := strconv.Atoi(last[1])
	b, _ := strconv.Atoi(last[3])
	return strconv.Itoa(map[string]int{"+": a + b, "-": a - b, "*": a * b}[last[2]])
}

// fill returns a value that follows a schema.
func (m *models) fill(s map[string]any, c llmtest.Call) any {
	if options, ok := s["anyOf"].([]any); ok {
		i := 0
		if strings.Contains(string(c.Body), `"role":"tool"`) {
			i = len(options) - 1 // words
		}
		return m.fill(options[i].(map[string]any), c)
	}
	if enum, ok := s["enum"].([]any); ok {
		return enum[0]
	}
	switch s["type"] {
	case "object":
		all := map[string]any{}
		properties, _ := s["properties"].(map[string]any)
		for key, p := range properties {
			switch key {
			case "reasoning":
				all[key] = "seen"
			case "city":
				all[key] = "Paris"
			default:
				all[key] = m.fill(p.(map[string]any), c)
			}
		}
		return all
	case "integer", "number":
		n, _ := strconv.Atoi(m.text(c))
		return n
	case "boolean":
		return true
	case "array":
		return []any{}
	}
	return m.text(c)
}

// house starts a gateway with all protocols, and a page that tells how many calls the models got.
func house(t *testing.T) (url, counter string) {
	t.Helper()
	stub := gatewaytest.Watch(t, (&models{}).reply)
	files := map[string]string{"seven": gatewaytest.Stubbed(stub.URL)}
	for _, language := range []string{"python", "javascript"} { // a breaker opens after the first failures
		bad := broken(t, stub)
		files["broken-"+language] = strings.NewReplacer("{stub:", "{bad-"+language+":", "model: stub, count",
			"model: bad-"+language+", count").Replace(gatewaytest.Stubbed(bad.URL))
	}
	count := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"total": %d, "open": %d}`, stub.Total.Load(), stub.Open.Load())
	}))
	t.Cleanup(count.Close)
	secret, err := sign.Generate(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	h := gatewaytest.Open(t, files, func(o *gateway.Options) {
		o.Owner = func() (sign.Secret,
			error) {
			return secret, nil
		}
	})
	m := mcpserver.New(mcpserver.Options{Gateway: h.Gateway, Store: h.Store, Log: h.Log, Version: "test"})
	h.Mount("/mcp", m)
	a := a2aserver.New(a2aserver.Options{Gateway: h.Gateway, Store: h.Store, Log: h.Log, Version: "test",
		Signer: func() (sign.Secret, bool, error) { return secret, true, nil }})
	a.Mount(h.Gateway)
	h.Start(t)
	t.Cleanup(func() {
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		h.Drain(ended)
		m.Close()
		a.Wait()
	})
	return h.URL, count.URL
}

// broken is a server of models that only fails.
func broken(t *testing.T, stub *gatewaytest.Models) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		stub.Total.Add(1)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusInternalServerError)
		fmt.Fprint(w, `{"error": {"message": "broken", "type": "server_error"}}`)
	}))
	t.Cleanup(s.Close)
	return s
}
