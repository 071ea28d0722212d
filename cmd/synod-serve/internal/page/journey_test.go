//go:build browser

package page

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"

	"synod.dev/synod/internal/llmtest"
)

// prose is a council whose members write texts and judge their claims.
const prose = `council: writers
protocol: {name: panel}
graph: {family: complete}
f: 1
claims: true
form: prose
models: {writer: {provider: openai, url: "URL", model: stub, attempts: 1, max_tokens: 600}}
seats: [{id: w, model: writer, count: 4}]
`

// TestJourney does in a browser what a person does: ask, watch, look at the history, share, and see an error. The
// page changes while the council works, without being loaded again.
func TestJourney(t *testing.T) {
	var calls atomic.Int64
	gate := make(chan struct{})
	server := llmtest.Start(t, func(c llmtest.Call) string {
		if calls.Add(1) > 5 {
			<-gate
		}
		if calls.Load()%3 == 0 {
			return "It looks like 41.\nAnswer: 41"
		}
		return "I add them.\nAnswer: 42"
	})
	h := open(t, map[string]string{"stubbed": stubbed(server.URL)})
	b := surf(t, h)
	b.open(t, "/")
	b.run(t, chromedp.SendKeys(chromedp.CSS("#question"), sum), chromedp.Click(chromedp.CSS("form.composer button")),
		chromedp.WaitVisible(chromedp.CSS(".board")))
	b.wait(t, "the first answers", `document.querySelectorAll(".board .chip").length > 0`)
	value[bool](t, b, `window.same = true`)
	if s := b.text(t, "[role=status]"); !strings.Contains(s, "of 5 members have replied") {
		t.Error(s)
	}
	b.accessible(t, "a run that goes on")
	for _, l := range looks {
		b.set(t, l)
		b.fits(t, "live, "+l.name)
		b.picture(t, "live-"+l.name)
	}
	b.set(t, looks[0])
	close(gate)
	b.wait(t, "the decision without loading the page again", `document.querySelector(".decision") && window.same`)
	b.quiet(t, "ask and watch")
	run := value[string](t, b, `location.pathname`)

	b.run(t, chromedp.Click(`//nav//a[.="History"]`), chromedp.WaitVisible(chromedp.CSS("table.history")),
		chromedp.SendKeys(chromedp.CSS("#q"), "17 +"), chromedp.Click(chromedp.CSS("form.filters button")),
		chromedp.WaitVisible(chromedp.CSS(`#q[value="17 +"]`)), chromedp.Click(chromedp.CSS("table.history a")),
		chromedp.WaitVisible(chromedp.CSS(".decision")))
	b.quiet(t, "history")

	file := b.download(t, `//a[.="Share as a file"]`, strings.TrimPrefix(run, "/runs/")+".html")
	b.run(t, chromedp.Navigate("file://"+file), chromedp.WaitVisible(chromedp.CSS(".decision")))
	b.fits(t, "the file")
	b.accessible(t, "the file")
	b.picture(t, "file")
	b.quiet(t, "the file")

	h.edited(t, b)

	b.open(t, "/runs/req-none")
	if s := b.text(t, "[role=alert]"); !strings.Contains(s, "There is no run req-none") {
		t.Error(s)
	}
	b.open(t, "/")
	b.run(t, chromedp.SendKeys(chromedp.CSS("#question"), sum), chromedp.Click(chromedp.CSS("details summary")),
		chromedp.SendKeys(chromedp.CSS("#deadline"), "soon"), chromedp.Click(chromedp.CSS("form.composer button")),
		chromedp.WaitVisible(chromedp.CSS("[role=alert]")))
	if s := b.text(t, "[role=alert]"); !strings.Contains(s, "soon") {
		t.Error(s)
	}
	b.quiet(t, "errors")
}

// download clicks a link and returns the path of the file, when the browser says that it is whole.
func (b *tab) download(t *testing.T, link, name string) string {
	t.Helper()
	folder, ended := t.TempDir(), make(chan browser.DownloadProgressState, 1)
	hear := func(event any) {
		if p, ok := event.(*browser.EventDownloadProgress); ok && p.State != browser.DownloadProgressStateInProgress {
			select {
			case ended <- p.State:
			default: // it was said before
			}
		}
	}
	allow := browser.SetDownloadBehaviorParams{Behavior: browser.SetDownloadBehaviorBehaviorAllow, DownloadPath: folder,
		EventsEnabled: new(true)}
	err := chromedp.ListenBrowser(b.Context, hear)
	if err == nil {
		_, err = chromedp.CallBrowser(b.Context, browser.SetDownloadBehavior, allow)
	}
	if err != nil {
		t.Fatal(err)
	}
	b.run(t, chromedp.Click(link))
	select {
	case state := <-ended:
		if state != browser.DownloadProgressStateCompleted {
			t.Fatalf("the download is %s", state)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the file is not there")
	}
	return filepath.Join(folder, name)
}

// edited changes the file of a council in the editor: a mistake is said and not saved, a good text is.
func (h *house) edited(t *testing.T, b *tab) {
	t.Helper()
	b.open(t, "/")
	b.run(t, chromedp.Click(chromedp.Search(`//nav//a[.="Councils"]`)),
		chromedp.WaitVisible(chromedp.Search(`//main//a[.="stubbed"]`)))
	b.open(t, "/councils/stubbed/edit")
	text := value[string](t, b, `document.querySelector("#text").value`)
	file := func() string {
		saved, err := os.ReadFile(filepath.Join(h.dir, "stubbed.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		return string(saved)
	}
	b.run(t, chromedp.SetValue(chromedp.CSS("#text"), strings.Replace(text, "f: 1", "ff: 1", 1)),
		chromedp.Click(chromedp.CSS("button[value=save]")), chromedp.WaitVisible(chromedp.CSS("#check .problem")))
	if s := b.text(t, "#check .problem"); !strings.Contains(s, `unknown key "ff"`) {
		t.Error(s)
	}
	if strings.Contains(file(), "ff: 1") {
		t.Error("a council file with a mistake was saved")
	}
	b.open(t, "/councils/stubbed/edit")
	b.run(t, chromedp.SetValue(chromedp.CSS("#text"), strings.Replace(text, "rounds: 2", "rounds: 1", 1)),
		chromedp.Click(chromedp.CSS("button[value=save]")), chromedp.WaitVisible(chromedp.CSS("main h1")))
	b.wait(t, "the page of the council", `location.pathname == "/councils/stubbed"`)
	for begun := time.Now(); !strings.Contains(file(), "rounds: 1"); time.Sleep(20 * time.Millisecond) {
		if time.Since(begun) > 10*time.Second {
			t.Fatal("the council file was not saved: ", b.text(t, "main"))
		}
	}
	b.quiet(t, "edit a council")
}

// TestKeyboard: everything can be reached and used with the keyboard alone.
func TestKeyboard(t *testing.T) {
	h := open(t, map[string]string{"dice": dice})
	b := surf(t, h)
	b.open(t, "/")
	where := func() string {
		return value[string](t, b, `document.activeElement.className || document.activeElement.id || `+
			`document.activeElement.textContent.trim()`)
	}
	b.run(t, chromedp.KeyEvent("\t"))
	if s := where(); s != "skip" {
		t.Errorf("the first stop is %q", s)
	}
	b.run(t, chromedp.KeyEvent("\r"), chromedp.KeyEvent("\t"))
	if s := where(); s != "question" {
		t.Errorf("after the skip link comes %q", s)
	}
	b.run(t, chromedp.KeyEvent(sum))
	for range 20 {
		b.run(t, chromedp.KeyEvent("\t"))
		if where() == "Ask" {
			break
		}
	}
	b.run(t, chromedp.KeyEvent("\r"), chromedp.WaitVisible(chromedp.CSS(".decision")))
	b.run(t, chromedp.Focus(chromedp.CSS(".follow textarea")), chromedp.KeyEvent("And 18 + 25?"),
		chromedp.KeyEvent("\r", chromedp.KeyModifiers(chromedp.ModifierCtrl)),
		chromedp.WaitVisible(chromedp.CSS(".turn.user")))
	b.quiet(t, "keyboard")
}

// TestLooks shows every page light, dark and on a phone: nothing is too wide, and axe finds nothing serious.
func TestLooks(t *testing.T) {
	server := llmtest.Start(t, writers)
	h := open(t, map[string]string{"stubbed": stubbed(server.URL),
		"writers": strings.Replace(prose, "URL", server.URL, 1),
		"dice":    dice})
	run, _ := h.asked(t, "question", sum, "council", "stubbed")
	other, _ := h.asked(t, "question", "What is 19 * 3?", "council", "dice")
	text, _ := h.asked(t, "question", "Explain why the sky is blue.", "council", "writers")
	pages := map[string]string{"ask": "/", "history": "/history", "run": run, "prose": text, "calls": run + "/calls",
		"compare": "/compare?a=" + run[6:] + "&b=" + other[6:], "keys": "/keys", "login": "/login",
		"error": "/runs/req-none"}
	for name, path := range morePages {
		pages[name] = path
	}
	b := surf(t, h)
	for _, l := range looks {
		b.set(t, l)
		for name, path := range pages {
			b.open(t, path)
			where := name + ", " + l.name
			b.fits(t, where)
			b.accessible(t, where)
			b.quiet(t, where)
			b.picture(t, name+"-"+l.name)
		}
	}
}

// morePages are further pages for TestLooks by name.
var morePages = map[string]string{"doctor": "/doctor", "doctor-directed": "/doctor?do=build&family=circulant&n=9&" +
	"params=k%3D2+directed%3Dtrue", "councils": "/councils", "council": "/councils/writers",
	"council-edit": "/councils/writers/edit", "council-new": "/councils/-/new", "lab": "/lab"}

var claimName = regexp.MustCompile(`(?m)^(\w+):$`)

// writers replies as the members of both councils.
func writers(c llmtest.Call) string {
	const text = "**Rayleigh scattering** makes the sky blue.\n\nShort waves are scattered more than long ones:\n\n" +
		"- blue light reaches us from all sides\n- red light goes straight on\n\nSee [a page](https://example.org/sky)."
	switch {
	case strings.Contains(c.System, "check the sentences"):
		names := map[string]string{}
		for i, m := range claimName.FindAllStringSubmatch(c.User, -1) {
			names[m[1]] = []string{"supported", "contradicted"}[i%2]
		}
		b, _ := json.Marshal(names)
		return string(b)
	case strings.Contains(c.System, "mark a text"):
		return `{"reasoning": "It is right.", "factual_contradiction": 20, "factual_fabrication": 19,
			"instruction_inconsistency": 20, "context_inconsistency": 20, "logical_inconsistency": 18}`
	case strings.Contains(c.User, "17 + 25"):
		return "I add them.\nAnswer: 42"
	}
	return text
}
