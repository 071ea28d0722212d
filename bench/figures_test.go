package bench

import (
	"fmt"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/llm"
	"synod.dev/synod/llm/prompt"
)

// A budget counts requests, tokens and money of the work before and now; the last attempt at a question counts.
func TestMeter(t *testing.T) {
	if sum := (Budget{1, 2, 0.5}).plus(Budget{10, 20, 0.25}); sum != (Budget{11, 22, 0.75}) {
		t.Errorf("the sum is %+v", sum)
	}
	outcome := func(calls, prompt, completion int, usd float64) *outcome.Outcome {
		return &outcome.Outcome{Calls: outcome.Calls{Made: calls}, Tokens: outcome.Tokens{Prompt: prompt,
			Completion: completion},
			Money: llm.Money{AtLeast: usd}}
	}
	for _, c := range []struct {
		budget Budget
		used   bool
	}{
		{Budget{Calls: 11}, false}, {Budget{Calls: 10}, true}, {Budget{Tokens: 101}, false}, {Budget{Tokens: 100},
			true},
		{Budget{USD: 1.5}, true}, {Budget{USD: 1.75}, false}, {Budget{}, false},
	} {
		m := &meter{budget: c.budget, base: Budget{1, 10, 0.5}, now: map[string]Budget{}}
		m.add("q", outcome(99, 999, 9, 99)) // replaced by the next attempt
		m.add("q", outcome(4, 30, 10, 0.5))
		m.add("r", outcome(5, 45, 5, 0.5))
		if err := m.check(); (err != nil) != c.used {
			t.Errorf("%+v: %v", c.budget, err)
		}
	}
	var none *meter
	none.add("q", outcome(1, 1, 1, 1))
	if none.check() != nil {
		t.Error("no budget is used up")
	}
}

// The difference of two runs is that of the second to the first, on what is known of both.
func TestDifferenceOfRuns(t *testing.T) {
	first := map[string]*graded{"a": {question: "a", right: true, decided: true, final: 3, asked: 4},
		"b": {question: "b", decided: true, final: 2, asked: 4}, "c": {question: "c", decided: true, right: true},
		"d": {question: "d", final: 2, asked: 4}}
	second := map[string]*graded{"a": {question: "a", right: true, decided: true, final: 1, asked: 4},
		"b": {question: "b", right: true, decided: true, final: 1, asked: 4}, "c": {question: "c", final: 4, asked: 4},
		"d": {question: "d", decided: true}}
	d := differ(first, second, []string{"a", "b", "c", "d"}).compared()
	if d.Questions != 4 || d.Clusters != 4 || d.Pairs.N() != 2 || d.FAA == nil || d.FAA.Value != -0.375 ||
		d.Decision.Value != 0.5 || d.P != 1 || d.FAAP != 0.5 {
		t.Errorf("%+v, faa %+v, decision %+v", d, d.FAA, d.Decision)
	}
}

// Repeats of a question are no further evidence: four that always differ alike are one pair.
func TestRepeatsAreOneCluster(t *testing.T) {
	first, second := map[string]*graded{}, map[string]*graded{}
	var all []string
	for k := range 20 {
		id := fmt.Sprint(k)
		all = append(all, id)
		first[id] = &graded{question: fmt.Sprint(k / 4), decided: true, final: 1, asked: 4}
		second[id] = &graded{question: fmt.Sprint(k / 4), decided: true, right: true, final: 2, asked: 4}
	}
	d := differ(first, second, all).compared()
	if d.Clusters != 5 || d.Questions != 20 || d.P != 0.0625 || d.FAAP != 0.0625 || d.McNemar > 1e-5 {
		t.Errorf("%+v: 5 questions that all differ one way have p = 2/32", d)
	}
}

// Opinions of rounds and seats that a run does not have are not shown.
func TestHeldOpinions(t *testing.T) {
	res := &result{GradedQuestion: metrics.GradedQuestion{Rounds: [][]synod.Answer{{"1", "2"}, {"1", "1"}}}}
	note := func(seat synod.NodeID, round int, from ...synod.NodeID) journal.Noted {
		return journal.Noted{Node: seat, Opinion: synod.Opinion{Round: round, Answer: "1", From: from}}
	}
	rounds := held(res, []journal.Noted{note(1, 0, 0), note(0, 1), note(-1, 0), note(2, 0), note(0, 2), note(0, -1)})
	if len(rounds) != 2 || rounds[0][0].Noted || !rounds[0][1].Noted || len(rounds[0][1].From) != 1 ||
		!rounds[1][0].Noted ||
		rounds[1][1].Noted || rounds[1][1].Answer != "1" {
		t.Errorf("%+v", rounds)
	}
}

// Four characters are about one token. A prompt without a template is as long as its question and candidate.
func TestTokensOfPrompts(t *testing.T) {
	none, err := prompt.NewTemplates("none")
	if err != nil {
		t.Fatal(err)
	}
	p := &synod.Prompt{Question: &synod.Question{Text: strings.Repeat("x", 40)}, Candidate: "12345678"}
	if got := tokens(none, p); got != 12 {
		t.Errorf("%d tokens, want 12", got)
	}
}
