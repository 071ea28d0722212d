package page

import (
	"strings"
	"testing"

	"synod.dev/synod/internal/llmtest"
)

// A question that follows a run is put with the conversation before it, which its page shows.
func TestFollowUp(t *testing.T) {
	server := llmtest.Start(t, func(c llmtest.Call) string { return "I add them.\nAnswer: 42" })
	h := open(t, map[string]string{"stubbed": stubbed(server.URL)})
	path, first := h.asked(t, "question", sum, "council", "stubbed", "system", "Be brief.")
	contains(t, "the first run", first, `name="after" value="`+strings.TrimPrefix(path, "/runs/")+`"`)
	_, second := h.asked(t, "question", "And 18 + 25?", "council", "stubbed", "after",
		strings.TrimPrefix(path, "/runs/"))
	contains(t, "the second run", second, `<div class="turn user">`, "What is 17 &#43; 25?",
		`<div class="turn assistant">`, "<p>I add them.</p>", "And 18 &#43; 25?", "Be brief.")
	calls := server.Calls()
	last := string(calls[len(calls)-1].Body)
	for _, want := range []string{"17 + 25", "I add them.", "18 + 25", "Be brief."} {
		if !strings.Contains(last, want) {
			t.Errorf("a member is not told %q: %s", want, last)
		}
	}
	contains(t, "the form", h.get(t, "/"), "Earlier questions", path, "And 18 &#43; 25?")
	got := h.post(t, "/ask", "csrf", h.get(t, "/").token(t), "question", "And?", "council", "stubbed",
		"after", "req-none")
	if got.StatusCode != 404 {
		t.Errorf("after a run that does not exist: %d %s", got.StatusCode, got.body)
	}
}

// The council that was asked last is chosen in the form, if it is still there.
func TestLastCouncil(t *testing.T) {
	server := llmtest.Start(t, func(c llmtest.Call) string { return "I add them.\nAnswer: 42" })
	h := open(t, map[string]string{"first": stubbed(server.URL), "second": stubbed(server.URL)})
	if got := h.get(t, "/"); strings.Contains(got.body, "selected>second") {
		t.Error("the second council is chosen before anything was asked")
	}
	h.asked(t, "question", sum, "council", "second")
	contains(t, "the form", h.get(t, "/"), `<option value="second" selected>`)
}

// What a member says is shown when it arrives, before the others have replied and before members see it.
func TestSaidOnArrival(t *testing.T) {
	hold := make(chan struct{})
	server := llmtest.Start(t, func(c llmtest.Call) string {
		if c.Model != "quick" {
			<-hold
		}
		return "I add " + c.Model + ".\nAnswer: 42"
	})
	h := open(t, map[string]string{"three": `protocol: {name: majority}
models:
  quick: {provider: openai, url: "` + server.URL + `", model: quick}
  slow: {provider: openai, url: "` + server.URL + `", model: slow}
seats: [{id: a, model: quick}, {id: b, model: slow}, {id: c, model: slow}]
`})
	path := h.begin(t, "question", sum, "council", "three")
	now := h.until(t, path, func(body string) bool { return strings.Contains(body, "I add quick.") })
	contains(t, "the run that goes on", now, "1 of 3 members have replied; awaited: <bdi>b, c</bdi>", "no reply yet")
	if strings.Contains(now.body, "I add slow.") {
		t.Error("a reply is shown that has not come")
	}
	close(hold)
	end := h.until(t, path, func(body string) bool { return strings.Contains(body, "How it was reached") })
	contains(t, "the run", end, "I add slow.")
}
