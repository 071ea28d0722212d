package page

import (
	"bufio"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/bench"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/durable"
)

// aGrid makes the folder of a grid of cells by name, each a council file, with two hostile questions, one of them
// graded, and two repeats.
func aGrid(t *testing.T, dir string, names []string, councils ...string) *bench.Grid {
	t.Helper()
	sum, err := task.Keyed{Key: "2",
		Question: synod.Question{ID: "two", Text: "What is 1 + 1?", Form: synod.Number}}.Item()
	if err != nil {
		t.Fatal(err)
	}
	items := []task.Item{task.Ungraded(synod.Question{ID: hostileText, Text: "What is " + hostileText + "?",
		Form: synod.Text}), sum}
	m, plans := bench.GridManifest{Preset: "swept", Members: hostileText}, []bench.RunPlan(nil)
	for i, name := range names {
		spec, err := plan.Parse([]byte(councils[i]))
		if err != nil {
			t.Fatal(err)
		}
		m.Cells = append(m.Cells, bench.Cell{Name: name})
		plans = append(plans, bench.RunPlan{Task: "t", Items: items, Repeat: 2, Spec: spec})
	}
	grid, err := bench.DraftGrid(m, plans)
	if err == nil {
		err = grid.Create(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	return grid
}

// event is a server-sent event.
type event struct{ name, data string }

// events reads a stream of the page as it comes.
func (h *house) events(t *testing.T, path string) <-chan event {
	t.Helper()
	res, err := h.viewer.Get(h.url + path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	if kind := res.Header.Get("Content-Type"); res.StatusCode != 200 || !strings.HasPrefix(kind, "text/event-stream") {
		t.Fatal(res.Status, kind)
	}
	all := make(chan event, 1000)
	go func() {
		defer close(all)
		var e event
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
			switch line := lines.Text(); {
			case line == "":
				all <- e
				e = event{}
			case strings.HasPrefix(line, "event: "):
				e.name = line[len("event: "):]
			default:
				e.data += strings.TrimPrefix(line, "data: ") + "\n"
			}
		}
	}()
	return all
}

func (e event) wants(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(e.data, text) {
			t.Errorf("the event %s lacks %q: %s", e.name, text, e.data)
		}
	}
}

// await returns the first event with a name and a text.
func await(t *testing.T, all <-chan event, name, text string) event {
	t.Helper()
	var last []event
	late := time.After(10 * time.Second)
	for {
		select {
		case e, more := <-all:
			last = append(last, e)
			if !more {
				t.Fatalf("the stream ended without an event %s with %q", name, text)
			}
			if strings.Contains(e.data, "<script") || strings.Contains(e.data, "<img") {
				t.Fatalf("the event %s has %s", e.name, e.data)
			}
			if e.name == name && strings.Contains(e.data, text) {
				return e
			}
		case <-late:
			t.Fatalf("no event %s with %q: %v", name, text, last)
		}
	}
}

// TestLabLive: the page of a sweep gets the counts of its cells, failures by cause and its workers as events while
// others write to the folder, and "done" when all is finished.
func TestLabLive(t *testing.T) {
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, `{"error": {"message": "no such thing"}}`, http.StatusBadRequest)
	}))
	defer model.Close()
	dir := t.TempDir()
	grid := aGrid(t, filepath.Join(dir, "sweep"), []string{"simulated", "refused"}, dice, `council: refused
protocol: {name: majority}
models: {m: {provider: openai, model: stub, url: "`+model.URL+`"}}
seats: [{id: a, model: m, count: 2}]
`)
	h := withRuns(t, dir)
	h.get(t, "/lab/run?at=sweep").wants(t, 200, `sse-connect="/lab/events?at=sweep"`, `sse-swap="cell1"`, "0 of 4",
		"waiting")
	all := h.events(t, "/lab/events?at=sweep")
	await(t, all, "cell0", "0 of 4")
	if _, err := grid.Work(t.Context(), bench.Options{}); err != nil {
		t.Fatal(err)
	}
	await(t, all, "state", "partly, going on")
	progress := await(t, all, "progress", "<dd>4 <small>of 8")
	progress.wants(t, "<dt>failed</dt><dd>4</dd>")
	causes := await(t, all, "causes", "rejects the request")
	causes.wants(t, "<td>4</td>", "cell=refused&amp;show=failed")
	cell := await(t, all, "cell1", "0 of 4")
	cell.wants(t, `>4</a>`, "cell=refused")
	h.get(t, "/lab/questions?at=sweep&cell=refused&show=failed").wants(t, 200, "1 to 4 of 4", "seats have an answer")
	status := `{"version": 1, "state": "working", "address": "` + strings.ReplaceAll(hostileText, `"`, "") +
		`", "written": "` + time.Now().UTC().Format(time.RFC3339) + `", "workers": [{"id": "w1", "host": "beta", ` +
		`"parallel": 8, "playing": 3}]}`
	if err := os.Mkdir(filepath.Join(dir, "sweep", "hub"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := durable.WriteFile(filepath.Join(dir, "sweep", "hub", "status.json"), []byte(status)); err != nil {
		t.Fatal(err)
	}
	await(t, all, "workers", "beta").wants(t, "3 of 8", "working")
	grid = aGrid(t, filepath.Join(dir, "easy"), []string{"simulated"}, dice)
	all = h.events(t, "/lab/events?at=easy")
	await(t, all, "state", "waiting")
	if _, err := grid.Work(t.Context(), bench.Options{}); err != nil {
		t.Fatal(err)
	}
	await(t, all, "progress", "<dd>4 <small>of 4")
	await(t, all, "done", "done")
	if _, more := <-all; more {
		t.Error("events after the last")
	}
	page := h.get(t, "/lab/run?at=easy")
	page.wants(t, 200, "finished", "4 <small>of 4")
	if strings.Contains(page.body, "sse-connect") {
		t.Error("the page of a finished sweep waits for events")
	}
}

// TestLabTranscript: from a cell to its questions and from there to the transcript of each, with hostile texts.
func TestLabTranscript(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "My # Study")
	grid := aGrid(t, dir, []string{"one"}, dice)
	if _, err := grid.Work(t.Context(), bench.Options{}); err != nil {
		t.Fatal(err)
	}
	h := withRuns(t, dir) // the folder is itself a run
	run := h.get(t, "/lab")
	run.wants(t, 200, "My # Study", "/lab/questions?at=.&amp;cell=one")
	list := h.get(t, "/lab/questions?at=.&cell=one")
	list.wants(t, 200, "1 to 4 of 4", "What is 1 &#43; 1?", "&lt;script&gt;")
	links := regexp.MustCompile(`href="(/lab/question\?[^"]*)"`).FindAllStringSubmatch(list.body, -1)
	if len(links) != 4 {
		t.Fatal(links)
	}
	pages := []seen{run, list}
	for _, link := range links {
		page := h.get(t, html.UnescapeString(link[1]))
		page.wants(t, 200, "Members", "Rounds", "cell one")
		calls := regexp.MustCompile(`href="(/lab/calls\?[^"]*)"`).FindStringSubmatch(page.body)
		if calls == nil {
			t.Fatal("no link to the calls")
		}
		list := h.get(t, html.UnescapeString(calls[1]))
		list.wants(t, 200, "← the run", `name="cell" value="one"`)
		pages = append(pages, page, list)
	}
	pages[6].wants(t, 200, "What is 1 &#43; 1?", "question <bdi>two-0</bdi>")
	for _, page := range pages {
		for _, bad := range []string{"<script>alert", "<img", `href="/runs/`} {
			if strings.Contains(page.body, bad) {
				t.Errorf("%s has %q", page.Request.URL, bad)
			}
		}
	}
	for _, query := range []string{"cell=one&key=two-9", "cell=one&key=", "cell=none&key=two-0", "cell=&key=two-0",
		"cell=../one&key=two-0", "key=" + url.QueryEscape(hostileText)} {
		h.get(t, "/lab/question?at=.&"+query).wants(t, 404)
	}
}

// TestOnlyRuns: the page of "synod bench watch" has the lab and nothing else.
func TestOnlyRuns(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "done")
	aRun(t, dir, 3)
	h := withRuns(t, dir)
	o := h.page.o
	o.OnlyRuns = true
	h.gateway.Mount("/", New(o))
	s := httptest.NewServer(h.gateway.Handler())
	defer s.Close()
	h.url = s.URL
	page := h.get(t, "/")
	page.wants(t, 200, "Run done", "3 <small>of 3", "All questions")
	if strings.Contains(page.body, "Log in") || strings.Contains(page.body, ">Ask<") {
		t.Error("it has more than the lab")
	}
	for _, path := range []string{"/history", "/councils", "/keys", "/login"} {
		h.get(t, path).wants(t, 404)
	}
}
