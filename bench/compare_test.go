package bench_test

import (
	"context"
	"strings"
	"testing"

	"synod.dev/synod/bench"
)

// Two runs on the same questions are compared question by question.
func TestCompare(t *testing.T) {
	good, bad := create(t, plan(t, seven, 20, 2)), create(t, plan(t, strings.Replace(seven, "0.8", "0.05", 1), 20, 2))
	work(t, good, 2)
	work(t, bad, 2)
	c, err := bench.Compare(good, bad)
	if err != nil {
		t.Fatal(err)
	}
	if c.Questions != 40 || c.Pairs.N() != 40 || c.Decision.Low <= 0 || c.FAA.Low <= 0 || c.McNemar > 0.01 {
		t.Errorf("%+v, decision %+v, faa %+v", c, c.Decision, c.FAA)
	}
	back, err := bench.Compare(bad, good)
	if err != nil {
		t.Fatal(err)
	}
	if back.Decision.Value != -c.Decision.Value || back.McNemar != c.McNemar || back.FAA.Value != -c.FAA.Value {
		t.Errorf("the other way round: %+v, faa %+v", back.Decision, back.FAA)
	}
}

// A run whose protocol decides itself is compared by these decisions, as first and as
// second run.
func TestCompareByProtocol(t *testing.T) {
	honest := strings.Replace(seven, ", adversary: {name: replay}", "", 1)
	text := strings.Replace(honest, "{name: sac, rounds: 3}", "{name: cp-wbft}\nrule: {name: protocol}", 1)
	run, other := create(t, plan(t, text, 20, 1)), create(t, plan(t, honest, 20, 1))
	work(t, run, 2)
	work(t, other, 2)
	open := func(r *bench.Run) *bench.Run {
		again, err := bench.Open(r.Dir())
		if err != nil {
			t.Fatal(err)
		}
		return again
	}
	report, err := open(run).Report()
	if err != nil {
		t.Fatal(err)
	}
	for _, forth := range []bool{true, false} {
		r, against := open(run), open(other)
		if !forth {
			r, against = against, r
		}
		c, err := bench.Compare(r, against)
		if err != nil {
			t.Fatal(err)
		}
		right := c.Pairs[1][1] + c.Pairs[0][1]
		if !forth {
			right = c.Pairs[1][1] + c.Pairs[1][0]
		}
		if want := report.Metrics.Decision.Value * float64(report.Metrics.Decision.N); right == 0 ||
			float64(right) != want {
			t.Errorf("%d right decisions in the comparison, %v in the report", right, want)
		}
	}
}

// The amounts of an estimate are ordered, and a simulated run lies between low and worst.
func TestEstimate(t *testing.T) {
	run := create(t, plan(t, seven, 30, 2))
	e, err := run.Estimate(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	made := work(t, run, 2).Calls
	if e.Low.Calls > e.Expected.Calls || e.Expected.Calls > e.Worst.Calls || e.Worst.Calls != 60*175 ||
		made < e.Low.Calls || made > e.Worst.Calls {
		t.Errorf("%+v; %d were made", e, made)
	}
	if e.Low.Prompt > e.Expected.Prompt || e.Expected.Prompt > e.Worst.Prompt || e.Low.Prompt == 0 {
		t.Errorf("tokens %+v", e)
	}
	run = create(t, plan(t, "exact: paper\n"+seven, 30,
		1)) // every call is made, and long agreement is longer than its opposite
	if e, err = run.Estimate(context.Background()); err != nil || e.Low.Prompt > e.Expected.Prompt ||
		e.Low.Completion > e.Expected.Completion {
		t.Errorf("exact: paper: %+v, %v", e, err)
	}
	run = create(t, plan(t, "models: {m: {provider: openai, url: \"http://127.0.0.1:9/v1\", model: x, max_tokens: "+
		"7}}\nseats: [{id: p, model: m, count: 3}]\nf: 0\n", 3, 1))
	if e, err = run.Estimate(context.Background()); err != nil || e.Worst.Completion != 7*e.Worst.Calls ||
		e.Expected.Completion != 7*e.Expected.Calls {
		t.Errorf("replies of 7 tokens at most: %+v, %v", e, err)
	}
}

// The amounts are ordered for a game too, where members cannot agree from the start.
func TestEstimateOfAGame(t *testing.T) {
	run := create(t, plan(t, "protocol: {name: game, rounds: 20}\nmodels: {d: {provider: simulated}}\nseats: [{id: p, "+
		"model: d, count: 6}]\nf: 0\n", 8, 1))
	e, err := run.Estimate(context.Background())
	if err != nil || e.Low.Calls == 0 || e.Low.Calls >= e.Expected.Calls || e.Expected.Calls >= e.Worst.Calls ||
		e.Low.Completion >= e.Expected.Completion {
		t.Errorf("%+v, %v", e, err)
	}
}
