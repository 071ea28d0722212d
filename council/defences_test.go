package council_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"synod.dev/synod"
	adversaries "synod.dev/synod/adversary"
	"synod.dev/synod/adversary/defence"
	"synod.dev/synod/council"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
	"synod.dev/synod/protocol/catalog"
)

const guarded = `
models: {m: {provider: simulated, ability: 0.8}}
seats: [{id: a, model: m, count: 5}]
`

// plan returns the plan of a council of five with a protocol and switches.
func guardedPlan(t *testing.T, text string) *plan.Plan {
	t.Helper()
	spec, err := plan.Parse([]byte(text + guarded))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	p, err := plan.New(spec)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return p
}

// A switch sets the key that means the same, so that both spellings are one plan; a plan lists what is on; other
// switches are other plans.
func TestDefenceSwitches(t *testing.T) {
	for _, same := range [][2]string{
		{"defences: {strict-trim: on}", "protocol: {name: sac, strict-trim: true}"},
		{"defences: {support: on}\nf: 2", "rule: {support: 3}\nf: 2"},
		{"defences: {rationale: off}", "protocol: {name: sac, rationale: 4000}"},
		{"", "defences: {fence: on}"},
	} {
		if a, b := guardedPlan(t, same[0]), guardedPlan(t, same[1]); a.Digest() != b.Digest() {
			t.Errorf("%q and %q are different plans", same[0], same[1])
		}
	}
	on, off := guardedPlan(t, ""), guardedPlan(t, "defences: {fence: off}")
	if on.Digest() == off.Digest() {
		t.Error("a plan without fences has the digest of one with them")
	}
	if !slices.Contains(on.DefencesOn(), "fence") || slices.Contains(off.DefencesOn(), "fence") {
		t.Errorf("on: %v; off: %v", on.DefencesOn(), off.DefencesOn())
	}
	if d := guardedPlan(t, "exact: paper\ndefences: {support: on}").DefencesOn(); !slices.Contains(d, "support") ||
		slices.Contains(d, "order") || slices.Contains(d, "meta-talk") {
		t.Errorf("exact: paper has %v", d)
	}
}

// Mistakes in switches say what to do.
func TestDefenceMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"defences: {fense: off}":     `did you mean "fence"?`,
		"defences: {fence: maybe}":   `must be on or off`,
		"defences: {one-answer: on}": `in protocol sac it does nothing`,
		"defences: {strict-trim: off}\nprotocol: {name: sac, strict-trim: true}": `which says the opposite`,
		"defences: {rationale: on}\nprotocol: {name: sac, rationale: 3000}":      `which says the opposite`,
		"defences: {support: off}\nf: 1\nrule: {support: 2}":                     `which says the opposite`,
	} {
		if _, err := plan.Parse([]byte(text + guarded)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// What the catalogue names exists, every entry is complete, and each can be toggled in a protocol that it is for.
func TestDefenceCatalogue(t *testing.T) {
	for _, e := range defence.Catalogue.All() {
		if e.Summary == "" || e.About == "" || e.Cost == "" || e.Default == "" || len(e.Against) == 0 ||
			e.Guard() == (e.Key != "") {
			t.Errorf("%s is incomplete", e.Name)
		}
		for _, name := range e.Against {
			if _, err := adversaries.Catalogue.Find(name); err != nil {
				t.Errorf("%s: %v", e.Name, err)
			}
		}
		if len(catalog.Admitted(e.Where)) == 0 {
			t.Errorf("%s does nothing in any protocol", e.Name)
		}
	}
	p := guardedPlan(t, "defences: {support: on, fence: off}")
	for name, was := range map[string]bool{"support": true, "fence": false, "strict-trim": false, "rationale": true} {
		overlay, on, err := plan.Toggle(p, name)
		if err != nil || on != was || overlay["defences"] == nil {
			t.Errorf("%s: %v %v %v", name, overlay, on, err)
		}
	}
	if _, _, err := plan.Toggle(p, "one-answer"); err == nil {
		t.Error("one-answer is toggled in sac")
	}
}

// reads answers and keeps the prompts that it is asked.
type reads struct{ prompts *[]synod.Prompt }

func (reads) Info() llm.Info { return llm.Info{Kind: llm.Simulated, Name: "reads", Identity: "reads"} }

func (r reads) Complete(_ context.Context, q llm.Request) (synod.Reply, error) {
	readLock.Lock()
	*r.prompts = append(*r.prompts, *q.Prompt)
	readLock.Unlock()
	reply := synod.Reply{Status: synod.OK, Calls: 1, Text: fmt.Sprintf("I am %s.\nAnswer: %d", q.Seat, len(q.Seat))}
	if q.Prompt.Purpose == synod.Scoring {
		reply.Text = `{"score": 0.5}`
	}
	return reply, nil
}

var (
	readPrompts []synod.Prompt
	readLock    sync.Mutex
)

func init() {
	llm.Providers.Add(llm.Provider{Kind: llm.Simulated, Entry: synod.Entry{Name: "reads", Summary: "for tests"},
		Settings: func() any { return &struct{}{} },
		Open: func(o llm.Opening) (llm.Opened, error) {
			return llm.Opened{Model: reads{&readPrompts}}, o.Decode(&struct{}{})
		}})
}

// Switches reach the prompts of members: names, fences, control tokens, and a judge's own answer.
func TestDefencesReachPrompts(t *testing.T) {
	ask := func(switches string) (all []synod.Prompt) {
		readPrompts = nil
		spec, err := plan.Parse([]byte("protocol: {name: sac, rounds: 1, rationale: 100}\n" +
			"models: {m: {provider: reads}}\n" + "seats: [{id: a, model: m, count: 3}]\n" + switches))
		if err != nil {
			t.Fatal(err)
		}
		c, err := council.Convene(spec, llm.Env{Getenv: func(string) string { return "" }})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		q := synod.Question{Text: "How many?", Form: synod.Number}
		if _, err := c.Decide(context.Background(), council.Ask{Question: q, Seed: 1}); err != nil {
			t.Fatal(err)
		}
		return readPrompts
	}
	named, first, unfenced := 0, 0, 0
	for _, p := range ask("defences: {blind: off, fence: off, tokens: off, answer-first: on}\n") {
		unfenced += bit(p.Unfenced && p.Raw)
		first += bit(p.Purpose == synod.Scoring && p.Own != synod.None)
		for _, peer := range p.Peers {
			named += bit(strings.HasPrefix(peer.Name, "a"))
		}
	}
	if named == 0 || first == 0 || unfenced != len(readPrompts) {
		t.Errorf("%d named, %d judges with their own answer, %d of %d unfenced", named, first, unfenced,
			len(readPrompts))
	}
	for _, p := range ask("defences: {answer-first: off}\n") {
		if p.Unfenced || p.Raw || p.Purpose == synod.Scoring && p.Own != synod.None ||
			slices.ContainsFunc(p.Peers, func(r synod.Rated) bool { return r.Name != "" }) {
			t.Errorf("a prompt of a council with all defences: %+v", p)
		}
	}
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A text that is no answer of the form wins no vote, even where its sender alone states that it is certain.
func TestTypedVotes(t *testing.T) {
	for value, decided := range map[string]bool{defence.On: false, defence.Off: true} {
		spec, err := plan.Parse([]byte(`protocol: {name: cp-wbft}
rule: {name: protocol}
models: {m: {provider: simulated, ability: 1}}
seats: [{id: a, model: m, count: 4}, {id: x, model: m, adversary: {name: null-model}}]
defences: {typed: ` + value + "}\n"))
		if err != nil {
			t.Fatal(err)
		}
		c, err := council.Convene(spec, llm.Env{Getenv: func(string) string { return "" }})
		if err != nil {
			t.Fatal(err)
		}
		o, err := c.Decide(context.Background(), council.Ask{Question: synod.Question{Text: "What is 17 + 25?",
			Form: synod.Number}})
		if err != nil || !o.Answered() {
			t.Fatal(err, o.Status)
		}
		if (*o.Answer != "42") != decided {
			t.Errorf("typed %s: %q is decided", value, *o.Answer)
		}
	}
}
