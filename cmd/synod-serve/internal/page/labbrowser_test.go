//go:build browser

package page

import (
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"synod.dev/synod/bench"
)

// TestLabInBrowser: the page of a sweep changes while others write, without being loaded again and without taking the
// focus from a link; with the keyboard a viewer comes to a transcript.
func TestLabInBrowser(t *testing.T) {
	dir := t.TempDir()
	grid := aGrid(t, filepath.Join(dir, "sweep"), []string{"one", "two"}, dice, dice)
	h := withRuns(t, dir)
	b := surf(t, h)
	b.open(t, "/lab/run?at=sweep")
	b.wait(t, "the cells", `document.querySelectorAll("tr[sse-swap] a").length == 2`)
	value[bool](t, b, `window.same = true`)
	value[bool](t, b, `document.getElementById("cell1").focus(), true`)
	if _, err := grid.Runs[0].Work(t.Context(), bench.Options{}); err != nil {
		t.Fatal(err)
	}
	b.wait(t, "the first cell", `document.querySelector('tr[sse-swap=cell0]').innerText.includes("4 of 4")`)
	b.accessible(t, "a sweep that goes on")
	for _, l := range looks {
		b.set(t, l)
		b.fits(t, "sweep, "+l.name)
		b.picture(t, "sweep-"+l.name)
	}
	b.wait(t, "the focus", `document.activeElement.id == "cell1"`)
	if _, err := grid.Work(t.Context(), bench.Options{}); err != nil {
		t.Fatal(err)
	}
	b.wait(t, "the figures", `document.body.innerText.includes("Full report") && window.same`)
	question := chromedp.CSS("a[href^='/lab/question?']")
	b.run(t, chromedp.SendKeys(chromedp.CSS("#cell1"), "\r"), chromedp.WaitVisible(question))
	b.accessible(t, "the questions of a cell")
	b.run(t, chromedp.SendKeys(question, "\r"), chromedp.WaitVisible(chromedp.CSS(".board")))
	b.accessible(t, "the transcript of a question")
	b.fits(t, "the transcript")
	b.quiet(t, "the lab")
}
