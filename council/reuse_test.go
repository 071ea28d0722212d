package council_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/council"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/llm"
)

// A council uses the machines of earlier questions again. Its outcomes are those of new
// machines, whatever was asked before.
func TestMachinesAreReused(t *testing.T) {
	for _, text := range []string{
		`{name: sac, rounds: 3}`, `{name: sac, rounds: 3, strict-trim: true, rationale: 100}`,
		`{name: debate}`, `{name: cp-wbft}`, `{name: w-msr}`, `{name: weighted-majority}`, `{name: majority}`,
		`{name: self-consistency}`,
	} {
		for _, adversary := range []string{"replay", "equivocator", "late-revealer", "silent"} {
			spec := `
protocol: ` + text + `
f: 1
models: {m: {provider: simulated, ability: 0.5}}
seats: [{id: a, model: m, count: 6}, {id: x, model: m, adversary: {name: ` + adversary + `}}]
limits: {calls: 0, tokens: 0, deadline: 0s}
`
			reuse := convene(t, spec)
			fresh, err := council.Open(reuse.Plan(), council.Options{Runner: council.SimRunner{}, Env: llm.Env{}})
			if err != nil {
				t.Fatal(err)
			}
			for i, form := range []synod.Form{synod.Number, synod.Text, synod.Number, synod.Bool, synod.Number,
				synod.Number} {
				q := synod.Question{ID: strconv.Itoa(i % 4), Text: "an item", Form: form}
				if reuse.Plan().Accepts(&q) != nil {
					continue
				}
				if got, want := outcomeJSON(t, reuse, q, i), outcomeJSON(t, fresh, q, i); got != want {
					t.Fatalf("%s %s, question %d:\n%s\nwith new machines:\n%s", text, adversary, i, got, want)
				}
			}
			fresh.Close()
		}
	}
}

func outcomeJSON(t *testing.T, c *council.Council, q synod.Question, seed int) string {
	t.Helper()
	return playedJSON(t, c, council.Ask{Question: q, Seed: uint64(seed + 1)})
}

func playedJSON(t *testing.T, c *council.Council, ask council.Ask) string {
	t.Helper()
	o, err := c.Decide(context.Background(), ask)
	if err != nil {
		t.Fatal(err)
	}
	o.Seconds, o.Journal = 0, ""
	b, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// sixAndReplay is a council of six members and an adversary, with half of the answers wrong.
const sixAndReplay = `
protocol: {name: sac, rounds: 3}
f: 1
models: {m: {provider: simulated, ability: 0.5}}
seats: [{id: a, model: m, count: 6}, {id: x, model: m, adversary: {name: replay}}]
limits: {calls: 0, tokens: 0, deadline: 0s}
`

// Questions that are asked at the same time never share machines.
func TestMachinesAreReusedConcurrently(t *testing.T) {
	c, question := convene(t, sixAndReplay), synod.Question{ID: "1", Text: "an item", Form: synod.Number}
	var want [20]string
	for i := range want {
		want[i] = outcomeJSON(t, c, question, i)
	}
	t.Run("at the same time", func(t *testing.T) {
		for k := range 4 {
			t.Run(strconv.Itoa(k), func(t *testing.T) {
				t.Parallel()
				for i := range want {
					if got := outcomeJSON(t, c, question, i); got != want[i] {
						t.Fatalf("question %d:\n%s\nand alone:\n%s", i, got, want[i])
					}
				}
			})
		}
	})
}

// Machines that are used again have the journals of new ones: the digest is the same.
func TestMachinesAreReusedWithJournals(t *testing.T) {
	reuse, dir := convene(t, sixAndReplay), t.TempDir()
	fresh, err := council.Open(reuse.Plan(), council.Options{Runner: council.SimRunner{}, Env: llm.Env{}})
	if err != nil {
		t.Fatal(err)
	}
	defer fresh.Close()
	for i := range 10 {
		play := func(name string, c *council.Council) string {
			q := synod.Question{ID: strconv.Itoa(i % 3), Text: "an item", Form: synod.Number}
			path := filepath.Join(dir, name+strconv.Itoa(i))
			return playedJSON(t, c, council.Ask{Question: q, Seed: uint64(i), Journal: path})
		}
		if got, want := play("reused", reuse), play("fresh", fresh); got != want || !strings.Contains(got,
			`"digest":"`) {
			t.Fatalf("question %d:\n%s\nwith new machines:\n%s", i, got, want)
		}
	}
}

// An outcome keeps nothing of the memory that later questions use again.
func TestOutcomesOutliveLaterQuestions(t *testing.T) {
	for _, protocol := range []string{"{name: sac, rounds: 3}", "{name: cp-wbft}", "{name: game}"} {
		c := convene(t, strings.Replace(sixAndReplay, "{name: sac, rounds: 3}", protocol, 1))
		var outcomes []outcome.Outcome
		var want []string
		for i := range 10 {
			o := decide(t, c, council.Ask{Seed: uint64(i + 1),
				Question: synod.Question{ID: strconv.Itoa(i % 3), Text: "an item", Form: synod.Number}})
			outcomes, want = append(outcomes, o), append(want, encoded(t, &o))
		}
		for i := range outcomes {
			if got := encoded(t, &outcomes[i]); got != want[i] || outcomes[i].Rounds.Len() < 2 {
				t.Fatalf("%s, question %d: the outcome became\n%s\nit was\n%s", protocol, i, got, want[i])
			}
		}
	}
}

func encoded(t *testing.T, o *outcome.Outcome) string {
	t.Helper()
	b, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
