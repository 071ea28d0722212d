//go:build browser

package page

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"

	"github.com/chromedp/chromedp"

	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/llmtest"
)

// sums are the questions of adders.
var sums = regexp.MustCompile(`What is (\d+) \+ 26`)

// adders answer wrongly where the first number is divisible by three.
func adders(c llmtest.Call) string {
	n, _ := strconv.Atoi(sums.FindStringSubmatch(c.User)[1])
	if n%3 == 0 {
		return fmt.Sprintf("I add them.\nAnswer: %d", n+27)
	}
	return fmt.Sprintf("I add them.\nAnswer: %d", n+26)
}

// TestJourneyOfFeedback: a person marks answers with the buttons of the page. With the thirtieth label the next answer
// has a probability, and the page of the council draws how well the stated ones hold.
func TestJourneyOfFeedback(t *testing.T) {
	server := llmtest.Start(t, adders)
	h := open(t, map[string]string{"tier": tier(server.URL)})
	asked := 0
	label := func(to int) { // as other visits have done
		for ; asked < to; asked++ {
			question := fmt.Sprintf("What is %d + 26?", asked)
			run, shown := h.asked(t, "question", question, "council", "tier", "form", "number")
			mark := map[bool]string{true: "wrong", false: "right"}[asked%3 == 0]
			contains(t, run, h.post(t, run+"/label", "csrf", shown.token(t), "label", mark), "You said: "+mark)
		}
	}
	b := surf(t, h)
	ask := func() {
		b.open(t, "/")
		b.run(t, chromedp.SendKeys(chromedp.CSS("#question"), fmt.Sprintf("What is %d + 26?", asked)),
			chromedp.Click(chromedp.CSS("form.composer button")), chromedp.WaitVisible(chromedp.CSS(".decision")))
		asked++
	}
	probability := func() bool { return value[bool](t, b, `document.querySelector(".likely") != null`) }
	const least = plan.LeastLabels
	label(least - 3)
	for i, click := range []string{`button[value=wrong]`, `button[value=right]`, `button[value=value]`} {
		ask()
		if probability() {
			t.Errorf("a probability with %d labels", least-3+i)
		}
		if i == 2 {
			b.run(t, chromedp.SendKeys(chromedp.CSS(".feedback input[name=value]"), fmt.Sprint(asked+25)))
		}
		b.picture(t, fmt.Sprint("feedback-", i))
		b.run(t, chromedp.Click(chromedp.CSS(".feedback "+click)),
			chromedp.WaitVisible(chromedp.CSS(".feedback button[value=withdraw]")))
		b.wait(t, "the number of labels", fmt.Sprintf(`document.querySelector(".feedback").innerText.includes("%d answers")`,
			least-2+i))
	}
	if err := h.councils.Reload(); err != nil { // a gateway does so when it looks at its files
		t.Fatal(err)
	}
	ask()
	b.wait(t, "a probability", `document.querySelector(".likely").innerText.includes("from 30 labels")`)
	for _, l := range looks {
		b.set(t, l)
		b.fits(t, "feedback, "+l.name)
		b.accessible(t, "feedback, "+l.name)
		b.picture(t, "feedback-"+l.name)
	}
	b.run(t, chromedp.Click(chromedp.CSS(".feedback button[value=wrong]")),
		chromedp.WaitVisible(chromedp.CSS(".feedback button[value=withdraw]")))
	label(least + 15)
	b.open(t, "/councils/tier")
	b.wait(t, "the diagram", `document.querySelector("figure svg[aria-label*='stated probability, of 15 labelled']")`)
	for _, l := range looks {
		b.set(t, l)
		b.fits(t, "diagram, "+l.name)
		b.accessible(t, "diagram, "+l.name)
		value[bool](t, b, `document.querySelector("figure svg[aria-label*='stated probability']").scrollIntoView(), true`)
		b.picture(t, "diagram-"+l.name)
	}
	b.quiet(t, "feedback")
}
