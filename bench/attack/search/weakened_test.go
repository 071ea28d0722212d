package search_test

import (
	"flag"
	"fmt"
	"testing"

	"synod.dev/synod/bench/attack/search"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
)

// weakTries is how many tries a search for a known capture makes before it makes all that are asked for: what it looks
// for after it has found one does not matter here.
const weakTries = 200

var (
	tries     = flag.Int("tries", 40, "tries of each search in TestWeakenedProtocols; make weakened: 10000")
	questions = flag.Int("questions", 6, "questions of each try in TestWeakenedProtocols")
)

// weakened is a protocol without one of its defences, and the same protocol with it.
type weakened struct {
	what        string
	weak, firm  string
	adversaries []string // those that the defence is said to stop, with their own texts; nil: all that apply
	members     int      // 0: 3
	seats       []string // that may have an adversary; nil: all
}

// members of which honest ones know every answer and judge without error, except where a text fools them. So every
// capture is the work of the adversaries.
const sure = `
models: {m: {provider: simulated, ability: 1, skill: 1, noise: 0, gullible: 0.9, fooled: 0.9}}
`

func seven(protocol, more string) string {
	return "protocol: {name: " + protocol + "}\n" + more + "\nseats: [{id: a, model: m, count: 7}]" + sure
}

func panel(settings, more string) string {
	return "protocol: {name: decentllms, " + settings + "}\n" + more + `
seats: [{id: w, model: m, role: worker, count: 4}, {id: e, model: m, role: evaluator, count: 7}]` + sure
}

// judging is a panel whose evaluators tell right from wrong, but not by much, and whom no text fools.
func judging(more string) string {
	return `protocol: {name: decentllms, aggregate: trimmed-mean}
models:
  m: {provider: simulated, ability: 1, gullible: 0}
  e: {provider: simulated, ability: 1, skill: 0.3, noise: 0, gullible: 0}
seats: [{id: w, model: m, role: worker, count: 4}, {id: e, model: e, role: evaluator, count: 7}]
` + more
}

// unsure has one honest member that is always wrong, and that follows what it is shown whatever its scores. Its own
// answer scores as low as those of adversaries, so only strict-trim drops these. No text fools anybody. The adversaries
// against it invent an answer. An adversary that guesses the member's own wrong answer is left out: it wins if the
// member keeps that answer, which strict-trim does not prevent.
func unsure(more string) string {
	return `protocol: {name: sac, rounds: 1}
f: 3
models:
  m: {provider: simulated, ability: 1, skill: 1, noise: 0, gullible: 0}
  w: {provider: simulated, ability: 0, skill: 1, noise: 0, gullible: 0, sharpness: 0}
seats: [{id: a, model: m, count: 6}, {id: w, model: w}]
` + more
}

func weakenedProtocols() []weakened {
	const reasons = "sac, rationale: 600"
	return []weakened{
		{what: "support rule off", weak: seven(reasons, "f: 3"), firm: seven(reasons, "f: 3\ndefences: {support: on}")},
		{what: "F understated, support rule", weak: seven(reasons, "f: 1\ndefences: {support: on}"),
			firm: seven(reasons, "f: 3\ndefences: {support: on}")},
		{what: "F understated, cascade", weak: seven("cascade, p: 0.5", "f: 1"),
			firm: seven("cascade, p: 0.5", "f: 3")},
		{what: "fence off", weak: seven(reasons, "f: 3\ndefences: {fence: off}"), firm: seven(reasons, "f: 3"),
			adversaries: []string{"delimiter-forger"}},
		{what: "control tokens kept", weak: seven(reasons, "f: 3\ndefences: {tokens: off}"),
			firm: seven(reasons, "f: 3"), adversaries: []string{"role-breaker"}},
		{what: "one answer a call off", weak: panel("judge: all", "f: 3"), firm: panel("judge: one", "f: 3"),
			adversaries: []string{"rival-slander", "position-squatter"}},
		{what: "cap on reasoning off", weak: seven("sac, rationale: 4000", "f: 3"), firm: seven(reasons, "f: 3"),
			adversaries: []string{"essayist"}},
		{what: "own confidence counts", weak: seven("cp-wbft", "f: 1\nrule: {name: protocol}"),
			firm: seven("sac", "f: 1"), adversaries: []string{"replay", "weak-answer", "overconfident"}, members: 1},
		{what: "typed form off", weak: seven(reasons, "f: 3\ndefences: {typed: off}"), firm: seven(reasons, "f: 3"),
			adversaries: []string{"null-model", "master-key"}},
		{what: "strict-trim off", weak: unsure(""), firm: unsure("defences: {strict-trim: on}"),
			adversaries: []string{"anchor-poisoner", "sybil-clones", "oscillator"}},
		{what: "F understated, DecentLLMs", weak: judging("f: 1"), firm: judging("f: 3"), members: 4,
			seats: []string{"w1", "e1", "e2", "e3"}},
	}
}

var noEnv = llm.Env{Getenv: func(string) string { return "" }}

// problems returns questions for a search, and others.
func problems(t *testing.T, n, fresh int) (items, others []task.Item) {
	t.Helper()
	set, err := task.Open("builtin", task.Options{Seed: 1, Number: n + fresh})
	if err != nil {
		t.Fatal(err)
	}
	all, err := set.Items()
	if err != nil {
		t.Fatal(err)
	}
	return all[:n], all[n:]
}

func spec(t *testing.T, text string) plan.Spec {
	t.Helper()
	s, err := plan.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return s
}

// A search finds the known capture of every protocol that lacks a defence, and none with the defence, in as many tries.
func TestWeakenedProtocols(t *testing.T) {
	items, fresh := problems(t, *questions, 30)
	for _, w := range weakenedProtocols() {
		t.Run(w.what, func(t *testing.T) {
			t.Parallel()
			if w.members == 0 {
				w.members = 3
			}
			var keep []string
			if w.adversaries != nil {
				keep = []string{"text"}
			}
			of := func(text string, n int) *search.Findings {
				r, err := search.Run(t.Context(), t.TempDir(), search.Options{Spec: spec(t, text), Tries: n, Seed: 1,
					Adversaries: w.adversaries, Members: w.members, Seats: w.seats, Items: items, Fresh: fresh,
					Keep: keep, Env: noEnv})
				if err != nil {
					t.Fatal(err)
				}
				return r
			}
			weak := of(w.weak, min(*tries, weakTries))
			if weak.First == 0 && *tries > weakTries {
				weak = of(w.weak, *tries)
			}
			firm := of(w.firm, *tries)
			t.Logf("| %s | %d of %d | `%s` | %s | %d in %d tries |", w.what, weak.First, weak.Tries, weak.Worst,
				share(weak.After.Score), firm.Found.Score.Captured, firm.Tries)
			if weak.First == 0 || weak.After.Score.Captured == 0 {
				t.Errorf("the search did not find the capture: %+v", weak)
			}
			if firm.First != 0 {
				t.Errorf("captured in spite of the defence in try %d: %s", firm.First, firm.Worst)
			}
		})
	}
}

func share(s search.Damage) string {
	c := s.Capture()
	if c == nil {
		return "none right"
	}
	return fmt.Sprintf("%.1f %% [%.1f, %.1f] of %d", 100*c.Value, 100*c.Low, 100*c.High, c.N)
}
