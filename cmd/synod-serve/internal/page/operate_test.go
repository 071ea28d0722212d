//go:build browser

package page

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"synod.dev/synod"
	"synod.dev/synod/bench"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/council/plan"
)

// alert returns what the page warns of.
func (b *tab) alert(t *testing.T) string {
	t.Helper()
	b.run(t, chromedp.WaitVisible(chromedp.CSS("[role=alert]")))
	return b.text(t, "[role=alert]")
}

// enter replaces the text of the editor as a person does.
func (b *tab) enter(t *testing.T, text string) {
	t.Helper()
	b.run(t, chromedp.SetValue(chromedp.CSS("#text"), text), chromedp.SendKeys(chromedp.CSS("#text"), " "))
}

// TestEditJourney edits a council in a browser: a mistake is shown while it is typed and is not saved; the text
// without it is saved and served; what somebody else has changed is shown.
func TestEditJourney(t *testing.T) {
	h := open(t, map[string]string{"dice": dice})
	b := surf(t, h)
	b.open(t, "/")
	b.run(t, chromedp.Click(`//nav//a[.="Councils"]`), chromedp.Click(`//a[.="dice"]`),
		chromedp.WaitVisible(`//a[.="Edit"]`), chromedp.Click(`//a[.="Edit"]`),
		chromedp.WaitVisible(chromedp.CSS("#text")))
	value[bool](t, b, `window.same = true`)
	b.enter(t, strings.Replace(dice, "rounds: 2", "runds: 2", 1))
	b.wait(t, "the mistake without loading the page", `window.same && document.querySelector("#check mark")`)
	if s := b.text(t, "#check"); !strings.Contains(s, `did you mean "rounds"`) || !strings.Contains(s, "line 2") {
		t.Error(s)
	}
	b.accessible(t, "a mistake")
	b.picture(t, "edit-mistake")
	b.run(t, chromedp.Click(`//button[.="Save"]`))
	if s := b.alert(t); !strings.Contains(s, "was not saved") {
		t.Error(s)
	}
	if h.disk(t, "dice") != dice {
		t.Error("a text with a mistake was saved")
	}
	b.enter(t, strings.Replace(dice, "count: 5", "count: 7", 1))
	b.run(t, chromedp.Click(`//button[.="Save"]`), chromedp.WaitVisible(`//h2[.="What is guaranteed"]`))
	if s := b.text(t, "main"); !strings.Contains(s, "d7") {
		t.Error(s)
	}
	b.run(t, chromedp.Click(`//a[.="Edit"]`), chromedp.WaitVisible(chromedp.CSS("#text")))
	if err := os.WriteFile(filepath.Join(h.dir, "dice.yaml"), []byte(dice+"# theirs\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.run(t, chromedp.Click(`//button[.="Save"]`))
	shown := b.alert(t) + b.text(t, "pre.file")
	if !strings.Contains(shown, "was changed") || !strings.Contains(shown, "# theirs") {
		t.Error(shown)
	}
	b.accessible(t, "a conflict")
	b.quiet(t, "the editor")
}

// TestDoctorJourney changes a graph by clicks and by keys; the page is not loaded again, and the focus stays.
func TestDoctorJourney(t *testing.T) {
	b := surf(t, open(t, map[string]string{"dice": dice}))
	b.open(t, "/doctor?do=build&family=ring&n=6")
	value[bool](t, b, `window.same = true`)
	b.run(t, chromedp.Click(chromedp.CSS("#node-0 circle")))
	b.wait(t, "chosen", `document.querySelector("#node-0 .picked")`)
	b.run(t, chromedp.Click(chromedp.CSS("#node-3 circle")))
	b.wait(t, "added", `document.querySelector(".verdict").textContent.includes("7 edges")`)
	value[bool](t, b, `document.querySelector("#node-1").focus() || true`)
	b.run(t, chromedp.KeyEvent("\r"))
	b.wait(t, "chosen by a key", `document.querySelector("#node-1 .picked")`)
	if id := value[string](t, b, `document.activeElement.id`); id != "node-1" {
		t.Errorf("the focus is at %q", id)
	}
	b.run(t, chromedp.KeyEvent("\t"), chromedp.KeyEvent("\r"))
	b.wait(t, "removed by a key", `document.querySelector(".verdict").textContent.includes("6 edges")`)
	// until htmx knows the new links, a click loads the page; and the mouse would meet a page that still scrolls
	b.wait(t, "settled", `!document.querySelector(".htmx-request, .htmx-swapping, .htmx-settling")`)
	value[bool](t, b, `[...document.querySelectorAll("a")].find(a => a.textContent === "Add them").click() || true`)
	b.wait(t, "improved", `document.querySelector(".verdict").textContent.includes("r = 2")`)
	if !value[bool](t, b, `window.same === true`) {
		t.Error("the page was loaded again")
	}
	b.accessible(t, "doctor")
	b.picture(t, "doctor-changed")
	b.quiet(t, "doctor")
}

// TestLabLooks shows the pages of the lab light, dark and on a phone.
func TestLabLooks(t *testing.T) {
	dir := t.TempDir()
	aRun(t, filepath.Join(dir, "done"), 3)
	aRun(t, filepath.Join(dir, "fresh"), 0)
	b := surf(t, withRuns(t, dir))
	for _, l := range looks {
		b.set(t, l)
		for name, path := range map[string]string{"lab-list": "/lab", "lab-run": "/lab/run?at=done",
			"lab-fresh": "/lab/run?at=fresh", "lab-report": "/lab/report?at=done&format=html"} {
			b.open(t, path)
			b.fits(t, name+", "+l.name)
			b.accessible(t, name+", "+l.name)
			b.quiet(t, name+", "+l.name)
			b.picture(t, name+"-"+l.name)
		}
	}
}

// inYAML is a text as a quoted value of YAML.
func inYAML(text string) string { b, _ := json.Marshal(text); return string(b) }

// TestHostileFiles has council files, graphs and runs with 200 hostile texts shown on every page that shows them.
func TestHostileFiles(t *testing.T) {
	texts := hostile(t)
	files, dir := map[string]string{}, t.TempDir()
	text := func(i int) string { return texts[i%len(texts)] }
	var paths []string
	for i := 0; i < len(texts); i += 4 {
		id := fmt.Sprint("c", i)
		files[id] = fmt.Sprintf("council: %s\nprotocol: {name: majority}\n"+
			"models: {%s: {provider: openai, url: \"http://127.0.0.1:1/v1\", model: %s}}\n"+
			"seats: [{id: a, model: %s, group: %s, count: 4}]\n", inYAML(text(i)), inYAML(text(i+1)), inYAML(text(i+2)),
			inYAML(text(i+1)), inYAML(text(i+3)))
		files["b"+fmt.Sprint(i)] = inYAML(text(i)) + ": " + inYAML(text(i+1)) + "\n"
		paths = append(paths, "/councils/"+id, "/councils/"+id+"/edit", fmt.Sprintf("/councils/b%d/edit", i))
		graph, err := json.Marshal(map[string]any{"nodes": []string{text(i), text(i+1) + "x", text(i+2) + "y", "z"},
			"edges": [][2]int{{0, 1}, {1, 2}, {2, 3}}})
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, "/doctor?graph="+url.QueryEscape(string(graph))+"&pick="+url.QueryEscape(text(i)))
	}
	for i := 0; i < len(texts); i += 5 {
		if at := fmt.Sprint("r", i); hostileRun(t, filepath.Join(dir, at), text, i) {
			paths = append(paths, "/lab/run?at="+at, "/lab/report?format=html&at="+at)
		}
	}
	h := open(t, files)
	h.page.o.Runs = dir
	b := surf(t, h)
	b.set(t, looks[2])
	for _, path := range append(paths, "/councils", "/lab", "/councils/-/new") {
		b.open(t, path)
		if strings.HasPrefix(path, "/lab/report") { // a page of its own
			if value[bool](t, b, `window.pwned !== undefined`) {
				t.Errorf("%s: a script has run", path)
			}
			b.fits(t, path)
			b.quiet(t, path)
			continue
		}
		b.check(t, path)
	}
	t.Logf("%d texts on %d pages", len(texts), len(paths)+3)
}

// hostileRun makes and plays a run with hostile texts; false if its council cannot be made with them.
func hostileRun(t *testing.T, dir string, text func(int) string, i int) bool {
	t.Helper()
	spec, err := plan.Parse([]byte(fmt.Sprintf("council: %s\nprotocol: {name: sac, rounds: 1}\n"+
		"models: {%s: {provider: simulated}}\nseats: [{id: a, model: %s, group: weak, count: 5}]\n", inYAML(text(i)),
		inYAML(text(i+1)), inYAML(text(i+1)))))
	if err != nil {
		return false
	}
	items := []task.Item{task.Ungraded(synod.Question{ID: "q", Text: text(i + 2), Form: synod.Text}),
		task.Ungraded(synod.Question{ID: "r", Text: text(i + 3), Form: synod.Text})}
	run, err := bench.Draft(bench.RunPlan{Task: text(i + 4), Items: items, Repeat: 1, Spec: spec})
	if err != nil || run.Create(dir) != nil {
		return false
	}
	if _, err := run.Work(t.Context(), bench.Options{}); err != nil {
		t.Fatal(err)
	}
	return true
}
