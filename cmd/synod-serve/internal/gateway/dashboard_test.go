package gateway

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"synod.dev/synod/cmd/synod-serve/internal/store"
)

// query is a PromQL expression of a file, with the labels that are printed of its result.
type query struct {
	where, expr string
	printed     []string
}

var printedLabel = regexp.MustCompile(`\{\{\s*(?:\$labels\.)?([a-z_]+)\s*\}\}`)

func labelsIn(texts ...string) (all []string) {
	for _, m := range printedLabel.FindAllStringSubmatch(strings.Join(texts, "\n"), -1) {
		all = append(all, m[1])
	}
	return all
}

// queries reads those of the alerts and of the dashboard.
func queries(t *testing.T, dir string) (all []query) {
	t.Helper()
	read := func(name string, v any, decode func([]byte, any) error) {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			err = decode(b, v)
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	var alerts struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr string
				Annotations map[string]string
			}
		}
	}
	read("alerts.yaml", &alerts, func(b []byte, v any) error { return yaml.Unmarshal(b, v) })
	for _, g := range alerts.Groups {
		for _, r := range g.Rules {
			all = append(all, query{r.Alert, r.Expr, labelsIn(slices.Collect(maps.Values(r.Annotations))...)})
		}
	}
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr, LegendFormat string }
		}
		Templating struct {
			List []struct{ Query any }
		}
	}
	read("dashboard.json", &board, json.Unmarshal)
	for _, p := range board.Panels {
		for _, x := range p.Targets {
			all = append(all, query{p.Title, x.Expr, labelsIn(x.LegendFormat)})
		}
	}
	if len(alerts.Groups) == 0 || len(board.Panels) < 10 || len(board.Templating.List) != 2 {
		t.Errorf("%d groups of alerts, %d panels, %d variables", len(alerts.Groups), len(board.Panels),
			len(board.Templating.List))
	}
	return all
}

var (
	inQuotes = regexp.MustCompile(`"[^"]*"`)
	windows  = regexp.MustCompile(`\[[^\]]*\]`)
	braces   = regexp.MustCompile(`\{[^}]*\}`)
	grouping = regexp.MustCompile(`\bby \(([^)]*)\)`)
	word     = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)
	known    = []string{"sum", "max", "rate", "increase", "histogram_quantile", "by"}
)

// words returns the metrics and the labels that an expression names.
func (q query) words() (metrics, labels []string) {
	text := windows.ReplaceAllString(q.expr, "")
	for _, part := range append(braces.FindAllString(text, -1), grouping.FindAllString(text, -1)...) {
		part = inQuotes.ReplaceAllString(strings.TrimPrefix(part, "by"), "")
		labels = append(labels, word.FindAllString(part, -1)...)
	}
	text = grouping.ReplaceAllString(braces.ReplaceAllString(text, ""), "")
	for _, w := range word.FindAllString(text, -1) {
		if !slices.Contains(known, w) {
			metrics = append(metrics, w)
		}
	}
	return metrics, append(labels, q.printed...)
}

// exported returns the metrics of a gateway, with their labels and those that Prometheus adds.
func exported(t *testing.T, m *Metrics) map[string][]string {
	t.Helper()
	families, err := m.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{"up": {"job", "instance"}}
	for _, f := range families {
		labels := []string{"job", "instance"}
		for _, l := range f.GetMetric()[0].GetLabel() {
			labels = append(labels, l.GetName())
		}
		all[f.GetName()] = labels
		if f.GetMetric()[0].GetHistogram() != nil {
			for _, part := range []string{"_bucket", "_sum", "_count"} {
				all[f.GetName()+part] = append(labels, "le")
			}
		}
	}
	return all
}

var statusValues = regexp.MustCompile(`status=~?"([^"]*)"`)

// programText returns the programs of folders, without their tests.
func programText(t *testing.T, dirs ...string) string {
	t.Helper()
	var all strings.Builder
	for _, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(b)
		}
	}
	return all.String()
}

// The alerts and the dashboard of examples/serve name only metrics and labels that the gateway exports, and each
// metric of its own is on the dashboard or in an alert.
func TestDashboard(t *testing.T) {
	var hangs atomic.Pointer[string]
	all := ""
	hangs.Store(&all)
	h, _, metrics := troubled(t, &hangs)
	h.o.Observe = metrics.Observe
	metrics.InFlight(h.Gateway)
	metrics.Keys(h.store)
	metrics.Drift(h.store)
	labels(t, h.store, "trio", 1, 0)
	metrics.Observe(Observed{Model: "trio", Result: store.Result{Compared: true}})
	key := h.key(t, store.Key{Name: "alice", PerDay: store.USD(1), TokensPerDay: 1e6})
	h.post(t, chats, questionBody("trio", sum), "Authorization", key) // its models have no price
	for range 3 {
		h.post(t, chats, questionBody("trio", sum))
	}
	until(t, 20*time.Second, "out", func() bool { return strings.Contains(scraped(metrics), "synod_member_out{") })
	hangs.Store(nil)
	until(t, 20*time.Second, "back", func() bool {
		return strings.Contains(scraped(metrics), "synod_background_tokens_total{")
	})
	has, used := exported(t, metrics), map[string]bool{}
	root := filepath.Join("..", "..", "..", "..")
	dir := filepath.Join(root, "examples", "serve")
	sources := programText(t, ".", filepath.Join(root, "council", "outcome"))
	for _, q := range queries(t, dir) {
		names, labels := q.words()
		var allowed []string
		for _, name := range names {
			used[name], used[strings.TrimSuffix(name, "_bucket")] = true, true
			if has[name] == nil {
				t.Errorf("%s: the gateway has no metric %s", q.where, name)
			}
			allowed = append(allowed, has[name]...)
		}
		for _, label := range labels {
			if !slices.Contains(allowed, label) {
				t.Errorf("%s: %v have no label %s", q.where, names, label)
			}
		}
		for _, m := range statusValues.FindAllStringSubmatch(q.expr, -1) {
			for status := range strings.SplitSeq(m[1], "|") {
				if !strings.Contains(sources, `"`+status+`"`) {
					t.Errorf("%s: no request ends with the status %s", q.where, status)
				}
			}
		}
		if len(names) == 0 {
			t.Errorf("%s: %q names no metric", q.where, q.expr)
		}
	}
	for name := range has {
		part := strings.HasSuffix(name, "_sum") || strings.HasSuffix(name, "_count")
		if strings.HasPrefix(name, "synod_") && !part && !used[name] {
			t.Errorf("%s is on no dashboard", name)
		}
	}
	wrong := query{"control", `sum by (frob) (rate(synod_nothing{model=~"x"}[5m]))`, nil}
	if names, labels := wrong.words(); !slices.Equal(names, []string{"synod_nothing"}) ||
		!slices.Equal(labels, []string{"model", "frob"}) {
		t.Errorf("%v %v", names, labels)
	}
}

// Prometheus' own program accepts the rules, and they fire when they should, where it is installed.
func TestAlerts(t *testing.T) {
	program, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed (Debian: apt-get install prometheus)")
	}
	for _, args := range [][]string{{"check", "config", "prometheus.yaml"}, {"test", "rules", "alerts_test.yaml"}} {
		cmd := exec.Command(program, args...)
		cmd.Dir = filepath.Join("..", "..", "..", "..", "examples", "serve")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
}
