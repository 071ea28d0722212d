package adversary_test

import (
	"context"
	"flag"
	"fmt"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/council"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
)

var (
	trials    = flag.Int("trials", 120, "questions to each simulated council")
	firstSeed = flag.Uint64("seed", 11, "of the first question")
)

// captures asks a council of simulated members n sums, and returns how often it decides the wrong
// answer of the seat w5. Questions that no honest worker got right are left out, because no
// right decision was possible.
func captures(t *testing.T, n int, file string, firstSeed uint64) *metrics.Rate {
	t.Helper()
	spec, err := plan.Parse([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	c, err := council.Convene(spec, llm.Env{Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	captured, counted := 0, 0
	for i := range n {
		q := synod.Question{Text: fmt.Sprintf("What is %d + 25?", i), Form: synod.Number}
		o, err := c.Decide(context.Background(), council.Ask{Question: q, Seed: firstSeed + uint64(i)})
		if err != nil {
			t.Fatal(err)
		}
		wrong, hope := synod.None, len(o.Members) == 1
		for _, m := range o.Members {
			switch right := m.First != nil && string(*m.First) == fmt.Sprint(i+25); {
			case m.ID != "w5":
				hope = hope || right
			case m.First == nil || right:
				t.Fatalf("seed %d: the adversary answers %v", firstSeed+uint64(i), m.First)
			default:
				wrong = *m.First
			}
		}
		if hope {
			counted++
			if o.Answer != nil && *o.Answer == wrong {
				captured++
			}
		}
	}
	return metrics.Share(captured, counted)
}

// panelFile returns a council file with four workers, one adversary, and seven evaluators, of
// which the first form a cartel for the adversary.
func panelFile(aggregate, judge, name string, cartel int) string {
	s := fmt.Sprintf(`protocol: {name: decentllms, aggregate: %s}
graph: {family: complete}
f: 3
rule: {name: majority}
models:
  worker: {provider: simulated, ability: 0.7}
  sure: {provider: simulated, ability: 1}
  judge: {provider: simulated, ability: 0.9, noise: 0.15, %s}
seats:
  - {id: w, model: worker, role: worker, count: 4}
  - {id: w5, model: sure, role: worker, adversary: {name: %s}}
`, aggregate, judge, name)
	for i := range 7 {
		adversary := ""
		if i < cartel {
			adversary = ", adversary: {name: cartel, favours: w5}"
		}
		s += fmt.Sprintf("  - {id: e%d, model: judge, role: evaluator%s}\n", i, adversary)
	}
	return s
}

// The scores of right and wrong answers, out of 100: middling evaluators 65 and 35 with a standard
// deviation of 7, sharp ones 94 and 6. Both are better than any measured judge, and err independently; measured ones
// have the default settings.
const (
	middling = "skill: 0.3, primacy: 0, shared: 0"
	sharp    = "skill: 0.875, primacy: 0, shared: 0"
	measured = "seed: 0"
)

// How often a wrong number is decided, with and without a cartel for it, with N and Wilson's 95 %
// interval. With sharp evaluators both aggregates hold up to the bound. With middling ones the
// geometric median fails within its own bound (finding F6), and the median of totals rarely. Above
// the bound both always fail, and so does a member that decides alone. With measured evaluators the median of totals
// fails within its bound, even without a cartel: they often prefer a wrong answer, and err together.
func TestCaptureRates(t *testing.T) {
	n, seed := *trials, *firstSeed
	for _, c := range []struct {
		what      string
		file      string
		least, up float64 // limits of the interval
	}{
		{"middling judges, no cartel, geometric-median", panelFile("geometric-median", middling, "number-alterer", 0),
			0, 0.06},
		{"middling judges, cartel of 3, geometric-median", panelFile("geometric-median", middling, "number-alterer", 3),
			0.2, 0.6},
		{"middling judges, cartel of 3, median-total", panelFile("median-total", middling, "number-alterer", 3), 0,
			0.06},
		{"measured judges, no cartel, median-total", panelFile("median-total", measured, "number-alterer", 0), 0.2,
			0.55},
		{"measured judges, cartel of 3, median-total", panelFile("median-total", measured, "number-alterer", 3), 0.3,
			0.75},
		{"sharp judges, cartel of 3, geometric-median", panelFile("geometric-median", sharp, "number-alterer", 3), 0,
			0.06},
		{"sharp judges, cartel of 3, median-total", panelFile("median-total", sharp, "number-alterer", 3), 0, 0.06},
		{"sharp judges, delimiter-forger, cartel of 3", panelFile("median-total", sharp, "delimiter-forger", 3), 0,
			0.06},
		{"sharp judges, cartel of 4, geometric-median", panelFile("geometric-median", sharp, "number-alterer", 4), 0.9,
			1},
		{"sharp judges, cartel of 4, median-total", panelFile("median-total", sharp, "number-alterer", 4), 0.9, 1},
		{"single, the adversary alone", "protocol: {name: single}\nmodels: {sure: {provider: simulated, ability: " +
			"1}}\nseats: [{id: w5, model: sure, adversary: {name: number-alterer}}]\n", 0.9, 1},
	} {
		r := captures(t, n, c.file, seed)
		t.Logf("%-48s captured %5.1f %% [%.1f, %.1f] of %d, seeds %d to %d (simulated members)", c.what, 100*r.Value,
			100*r.Low, 100*r.High, r.N, seed, seed+uint64(n)-1)
		if r.Low < c.least || r.High > c.up {
			t.Errorf("%s: captured in %.3f [%.3f, %.3f]; want within [%v, %v]", c.what, r.Value, r.Low, r.High, c.least,
				c.up)
		}
	}
}
