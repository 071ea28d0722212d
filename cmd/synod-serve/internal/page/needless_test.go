package page

import (
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"synod.dev/synod/internal/llmtest"
)

// A call that a race has begun early and not needed is counted and listed, and its member has said nothing: the third
// member of the tier replies when the next tier was called, and two of three are enough.
func TestNeedlessCallOnPage(t *testing.T) {
	called := make(chan struct{})
	var once sync.Once
	stub := llmtest.Start(t, func(c llmtest.Call) string {
		switch c.Model {
		case "mb":
			return `{"reasoning": "", "answer": "41"}`
		case "mc":
			<-called
		case "md":
			once.Do(func() { close(called) })
			return `{"reasoning": "by md", "answer": "43"}`
		}
		return `{"reasoning": "", "answer": "42"}`
	})
	file := filepath.Join(t.TempDir(), "trust.json")
	graded(t, file)
	h := open(t, map[string]string{"race": `council: race
protocol: {name: cascade, tiers: [[a, b, c], [d]], p: 0.5, race: true}
graph: {family: complete}
f: 0
models:
  a: {provider: openai, url: "` + stub.URL + `", model: ma, attempts: 1}
  b: {provider: openai, url: "` + stub.URL + `", model: mb, attempts: 1}
  c: {provider: openai, url: "` + stub.URL + `", model: mc, attempts: 1}
  d: {provider: openai, url: "` + stub.URL + `", model: md, attempts: 1}
seats: [{id: a, model: a}, {id: b, model: b}, {id: c, model: c}, {id: d, model: d}]
trust: {file: ` + strconv.Quote(file) + "}\n"})
	run, r := h.asked(t, "question", sum, "council", "race", "form", "number")
	contains(t, "the run", r, `<dd>4 <small>of 4, 1 of them begun early and not needed</small></dd>`)
	if strings.Contains(r.body, "by md") {
		t.Error("the member of the needless call has said something")
	}
	contains(t, "calls", h.get(t, run+"/calls?seat=d"), "begun early, not needed", "1 to 1 of 1 call")
	council := h.get(t, "/councils/race")
	contains(t, "the council", council, "cascade, p: 0.5, race: true, tiers: [a, b, c], [d]")
	if strings.Contains(council.body, "0x") {
		t.Error("the page of the council shows an address of memory")
	}
}
