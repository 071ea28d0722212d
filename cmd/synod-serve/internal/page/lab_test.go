package page

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/bench"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/council/plan"

	"synod.dev/synod/cmd/synod-serve/internal/gateway"
	"synod.dev/synod/cmd/synod-serve/internal/store"
)

// hostileText is shown wherever a text of a run is.
const hostileText = `</script><script>alert(1)</script><img src=x onerror=alert(2)>`

// aRun makes the folder of a run of three questions and plays so many of them.
func aRun(t *testing.T, dir string, questions int) {
	t.Helper()
	spec, err := plan.Parse([]byte(`council: "` + hostileText + `"
protocol: {name: sac, rounds: 2}
models: {"` + hostileText + `": {provider: simulated}}
seats: [{id: d, model: "` + hostileText + `", count: 5}]
`))
	if err != nil {
		t.Fatal(err)
	}
	var items []task.Item
	for _, id := range []string{"one", "two", "three"} {
		items = append(items, task.Ungraded(synod.Question{ID: id, Text: "What is " + hostileText + "?",
			Form: synod.Text}))
	}
	run, err := bench.Draft(bench.RunPlan{Task: hostileText, Items: items, Repeat: 1, Spec: spec})
	if err == nil {
		err = run.Create(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	if questions == 0 {
		return
	}
	if _, err := run.Work(t.Context(), bench.Options{}); err != nil {
		t.Fatal(err)
	}
}

// withRuns starts a gateway whose page shows a folder of runs.
func withRuns(t *testing.T, dir string, change ...func(*gateway.Options)) *house {
	t.Helper()
	h := open(t, map[string]string{"dice": dice}, change...)
	h.page.o.Runs = dir
	return h
}

// TestLab: runs are listed with how far they are, and shown with the figures, plots and reports of "bench report".
// What a folder says is text and nothing else.
func TestLab(t *testing.T) {
	dir := t.TempDir()
	aRun(t, filepath.Join(dir, "done"), 3)
	aRun(t, filepath.Join(dir, "group", "fresh"), 0)
	h := withRuns(t, dir)
	h.get(t, "/lab").wants(t, 200, "/lab/run?at=done", "3 of 3", "/lab/run?at=group%2ffresh", "0 of 3", "going on")
	done := h.get(t, "/lab/run?at=done")
	done.wants(t, 200, "questions decided", "<svg", "Digest", "Full report", "finished")
	h.get(t, "/lab/run?at=group/fresh").wants(t, 200, "waiting", `sse-connect="/lab/events?at=group/fresh"`,
		`http-equiv="refresh"`, `value="0"`)
	report := h.get(t, "/lab/report?at=done&format=html")
	report.wants(t, 200, "questions decided", "three")
	csp := report.Header.Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "sandbox allow-scripts", "frame-ancestors 'none'", "'sha256-"} {
		if !strings.Contains(csp, want) {
			t.Errorf("the policy %q lacks %q", csp, want)
		}
	}
	if strings.Contains(csp, "allow-same-origin") {
		t.Error(csp)
	}
	for form, kind := range map[string]string{"json": "application/json", "csv": "text/csv", "md": "text/plain",
		"text": "text/plain"} {
		got := h.get(t, "/lab/report?at=done&format="+form)
		if got.StatusCode != 200 || !strings.HasPrefix(got.Header.Get("Content-Type"), kind) ||
			!strings.HasPrefix(got.Header.Get("Content-Disposition"), "attachment") {
			t.Error(form, got.Status, got.Header)
		}
	}
	_, rest, _ := strings.Cut(done.body, `/lab/plot?at=done&amp;name=`)
	name, _, _ := strings.Cut(rest, ".csv")
	for ext, kind := range map[string]string{"svg": "image/svg+xml", "csv": "text/csv", "pdf": "application/pdf",
		"png": "image/png"} {
		got := h.get(t, "/lab/plot?at=done&name="+name+"."+ext)
		if got.StatusCode != 200 || !strings.HasPrefix(got.Header.Get("Content-Type"), kind) {
			t.Error(name, ext, got.Status, got.Header)
		}
	}
	for _, page := range []seen{done, report, h.get(t, "/lab"),
		h.get(t, "/lab/events?at=done")} {
		for _, bad := range []string{"<script>alert", "<img"} {
			if strings.Contains(page.body, bad) {
				t.Errorf("%s has %q", page.Request.URL, bad)
			}
		}
	}
}

// TestLabFolders: nothing but plain folders below the folder of runs is opened, and a changed file is told.
func TestLabFolders(t *testing.T) {
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "out")
	aRun(t, filepath.Join(dir, "done"), 3)
	aRun(t, outside, 3)
	for name, to := range map[string]string{"link": outside, "etc": "/etc"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	aRun(t, filepath.Join(dir, "inner"), 3)
	inner := filepath.Join(dir, "inner", "journals-1.seg")
	if err := os.Remove(inner); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(outside, "journals-1.seg"), inner); err != nil {
		t.Fatal(err)
	}
	aRun(t, filepath.Join(dir, "Bad<b>Name"), 3)
	h := withRuns(t, dir)
	list := h.get(t, "/lab")
	list.wants(t, 200, "Not shown", "Bad&lt;b&gt;Name", "link", "inner")
	for _, at := range []string{"", ".", "..", "../out", "link", "etc", "inner", "done/..", "done/../..", "/etc",
		"a/b/c", "done\x00", "%2e%2e", "CON", "Bad<b>Name", "none", "done/results.db", "./done", "./."} {
		for _, path := range []string{"/lab/run", "/lab/events", "/lab/questions", "/lab/question", "/lab/calls",
			"/lab/report", "/lab/plot"} {
			got := h.get(t, path+"?format=html&at="+url.QueryEscape(at))
			if got.StatusCode != 404 && got.StatusCode != 422 {
				t.Errorf("%s %q: %s", path, at, got.Status)
			}
		}
	}
	h.get(t, "/lab/report?at=done&format=exe").wants(t, 404, "text, json")
	h.get(t, "/lab/plot?at=done&name=../x.svg").wants(t, 404)
	journals := filepath.Join(dir, "done", "journals-1.seg")
	b, err := os.ReadFile(journals)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 1
	if err := os.WriteFile(journals, b, 0o600); err != nil {
		t.Fatal(err)
	}
	later := time.Now().Add(time.Second)
	if err := os.Chtimes(journals, later, later); err != nil {
		t.Fatal(err)
	}
	h.get(t, "/lab/report?at=done&format=html").wants(t, 422, "There is no report")
	h.get(t, "/lab/run?at=done").wants(t, 200, `role="alert"`)
}

// TestLabRights: only a key made for it sees the lab; without a folder the page says how to give one.
func TestLabRights(t *testing.T) {
	dir := t.TempDir()
	aRun(t, filepath.Join(dir, "done"), 3)
	h := withRuns(t, dir, func(o *gateway.Options) { o.NeedKey = true })
	h.login(t, h.key(t, store.Key{Name: "some"}))
	for _, path := range []string{"/lab", "/lab/run?at=done", "/lab/events?at=done",
		"/lab/questions?at=done", "/lab/question?at=done&key=one-0",
		"/lab/report?at=done&format=html", "/lab/plot?at=done&name=x.svg"} {
		h.get(t, path).wants(t, 403, "--admin")
	}
	h.login(t, h.key(t, store.Key{Name: "boss", Admin: true}))
	h.get(t, "/lab/run?at=done").wants(t, 200, "questions decided")
	h.page.o.Runs = ""
	h.get(t, "/lab").wants(t, 200, "--runs FOLDER")
	h.get(t, "/lab/run?at=done").wants(t, 404, "--runs FOLDER")
}
