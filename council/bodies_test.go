package council_test

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/council"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/llmtest"
	"synod.dev/synod/llm"
)

// chooser replies with an answer and a score that follow from the bytes of the request, after a
// random time. So a request that differs changes the rest of the run.
func chooser(c llmtest.Call) string {
	time.Sleep(time.Duration(rand.IntN(3000)) * time.Microsecond)
	n := binary.BigEndian.Uint64(func() []byte { s := sha256.Sum256(c.Body); return s[:] }())
	answer := []string{"Ada Lovelace", "Alan Turing", "Grace Hopper"}[n%3]
	grade := n % 21
	switch body := string(c.Schema); {
	case c.Schema == nil && c.Scoring():
		return fmt.Sprintf("0.%d", n%10)
	case c.Schema == nil:
		return "I think so.\nAnswer: " + answer
	case strings.Contains(body, `"score"`):
		return fmt.Sprintf(`{"reasoning":"","score":0.%d}`, n%10)
	case strings.Contains(body, `"factual_contradiction"`):
		return fmt.Sprintf(`{"factual_contradiction":%d,"factual_fabrication":%d,"instruction_inconsistency":%d,`+
			`"context_inconsistency":%d,"logical_inconsistency":%d}`, grade, grade, 20-grade, 10, 7)
	case strings.Contains(body, `"confidence"`):
		return fmt.Sprintf(`{"reasoning":"so","answer":%q,"confidence":0.%d}`, answer, n%10)
	}
	return fmt.Sprintf(`{"reasoning":"because","answer":%q}`, answer)
}

var bodyCouncils = map[string]string{
	"sac":           "protocol: {name: sac, rounds: 2, rationale: 200}\nf: 1\n",
	"sac, exact":    "protocol: {name: sac, rounds: 2}\nexact: paper\nf: 1\n",
	"cp-wbft":       "protocol: {name: cp-wbft}\nf: 0\n",
	"debate":        "protocol: {name: debate, rounds: 2}\nf: 0\n",
	"rotating":      "protocol: {name: rotating-leader}\nf: 1\n",
	"fixed":         "protocol: {name: fixed-leader}\nf: 1\n",
	"decentllms":    "protocol: {name: decentllms}\nf: 1\n",
	"self-consist.": "protocol: {name: self-consistency}\nf: 0\n",
}

// one is a council of seats that share one model.
func one(url, head string) string {
	seats := "seats: [{id: a, model: m, count: 4}]\n"
	if strings.Contains(head, "decentllms") {
		seats = "seats: [{id: w, model: m, count: 3, role: worker}, {id: e, model: m, count: 3, role: evaluator}]\n"
	}
	return head + fmt.Sprintf("models: {m: {provider: openai, url: %q, model: x}}\n", url) + seats
}

// bodies returns the requests that a server received, sorted, and one text for all.
func bodies(s *llmtest.Server, skip int) (all []string) {
	for _, c := range s.Calls()[skip:] {
		all = append(all, string(c.Body))
	}
	slices.Sort(all)
	return all
}

var whoWrote = synod.Question{Text: "Who wrote the first program?", Form: synod.Text}

// Request bodies depend on the seed and the content only: one council, played with replies in
// any order, on one processor or several, sends the same bytes. Members of one tick share a
// model, and often a text.
func TestBodiesDependOnSeedAndContent(t *testing.T) {
	runs := 12
	if testing.Short() {
		runs = 4
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for name, head := range bodyCouncils {
		t.Run(name, func(t *testing.T) {
			s := llmtest.Start(t, chooser)
			var first []string
			for i := range runs {
				runtime.GOMAXPROCS(1 + i%4)
				before := len(s.Calls())
				decide(t, convene(t, one(s.URL, head)), council.Ask{Question: whoWrote, Seed: 7})
				got := bodies(s, before)
				if first == nil {
					first = got
				}
				compareBodies(t, fmt.Sprintf("run %d", i), got, first)
			}
			if len(first) < 4 {
				t.Fatalf("only %d requests", len(first))
			}
			decide(t, convene(t, one(s.URL, head)), council.Ask{Question: whoWrote, Seed: 8})
			if other := bodies(s, runs*len(first)); slices.Equal(other, first) && !strings.Contains(head, "exact") {
				t.Error("another seed sends the same requests")
			}
		})
	}
}

// A run that is cut off and resumed, several times, sends what an uninterrupted one sends, and
// so does one whose replies come from a cache, which misses none.
func TestBodiesOfResumedAndCachedRuns(t *testing.T) {
	for name, head := range bodyCouncils {
		t.Run(name, func(t *testing.T) {
			s := llmtest.Start(t, chooser)
			decide(t, convene(t, one(s.URL, head)), council.Ask{Question: whoWrote, Seed: 7})
			whole := bodies(s, 0)

			cut := llmtest.Start(t, chooser)
			ask := council.Ask{Question: whoWrote, Seed: 7}
			for limit := 3; ; limit += 3 {
				c := convene(t, one(cut.URL, head), fmt.Sprintf("limits.calls=%d", limit))
				ask.Journal = filepath.Join(t.TempDir(), fmt.Sprint(limit))
				o := decide(t, c, ask)
				if o.Stopped != outcome.OverBudget {
					break
				}
				run, err := journal.Load(ask.Journal)
				if err != nil {
					t.Fatal(err)
				}
				ask.Resume = run
			}
			compareBodies(t, "resumed", bodies(cut, 0), whole)

			stored, folder := llmtest.Start(t, chooser), t.TempDir()
			for range 3 {
				text := strings.Replace(one(stored.URL, head), "model: x}", "model: x, cache: true}", 1)
				spec, err := plan.Parse([]byte(text))
				if err != nil {
					t.Fatal(err)
				}
				c, err := council.Convene(spec, llm.Env{Cache: folder, Getenv: func(string) string { return "" }})
				if err != nil {
					t.Fatal(err)
				}
				decide(t, c, council.Ask{Question: whoWrote, Seed: 7})
				c.Close()
			}
			compareBodies(t, "cached", slices.Compact(bodies(stored, 0)), slices.Compact(slices.Clone(whole)))
			if n := stored.Count(); n > len(whole) {
				t.Errorf("three runs with a cache send %d requests, one without sends %d", n, len(whole))
			}
		})
	}
}

func compareBodies(t *testing.T, what string, got, want []string) {
	t.Helper()
	if slices.Equal(got, want) {
		return
	}
	for i, body := range got {
		if !slices.Contains(want, body) {
			near := ""
			for _, w := range want {
				if n := common(w, body); n > common(near, body) {
					near = w
				}
			}
			at := common(near, body)
			t.Fatalf("%s: request %d of %d (%d wanted) differs at byte %d:\n%.150s\nthe nearest is\n%.150s", what, i,
				len(got), len(want), at, body[max(0, at-30):], near[min(len(near), max(0, at-30)):])
		}
	}
	t.Fatalf("%s: %d requests, %d wanted", what, len(got), len(want))
}

// common returns how many bytes two texts begin with alike.
func common(a, b string) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
