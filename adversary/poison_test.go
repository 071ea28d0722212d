package adversary_test

import (
	"fmt"
	"slices"
	"testing"

	"synod.dev/synod"
	adversaries "synod.dev/synod/adversary"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/core/reliability"
	"synod.dev/synod/council"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
)

// poisonTrial is a cascade of simulated members: a good one, fair ones, and the last ones with an adversary.
type poisonTrial struct {
	fair, liars  int    // members; F is the number of liars
	history, use string // the adversary while weights are learned, and then
	past, now    []task.Item
}

// ended is how often the decision was wrong and that of the adversary, and how often it was right.
type ended struct{ captured, right int }

// play learns from the history, of which every member answers all, and returns how the measured questions end: in the
// cascade, in a plurality, and in a vote with trust without its rules: weights are not capped, who errs together has
// more voices than one, and what a member did lately counts no more than what it did before. All count the same first
// answers. Every member gives one, so the adversary, which waits, hears all of them.
func (x *poisonTrial) play(t *testing.T) (real, plurality, naive ended) {
	t.Helper()
	var seen []reliability.Observation
	protocol := plan.Params{"name": "cascade", "audit": 1.0, "secret": 1}
	made := x.asks(t, protocol, x.history, x.past, func(p *plan.Plan, it *task.Item, o *outcome.Outcome) {
		seen = append(seen, outcome.Observations(p, &it.Question, o, nil)...)
	})
	protocol["weights"], protocol["together"] = plan.Learned(made, seen)
	kind := string(x.past[0].Question.Form)
	e := reliability.Estimate(seen, kind, x.liars)
	names, best := map[string]float64{}, 0.0
	for _, m := range e.Members {
		names[m.Name] = reliability.Weight(m.Overall, e.Collision, 1)
		best = max(best, names[m.Name])
	}
	x.asks(t, protocol, x.use, x.now, func(_ *plan.Plan, it *task.Item, o *outcome.Outcome) {
		count := func(to *ended, decision synod.Answer) {
			switch {
			case decision == synod.None:
			case it.Grade(decision).Verdict == task.Right:
				to.right++
			case slices.ContainsFunc(o.Members, func(m outcome.Member) bool {
				return m.Adversary != nil && m.First != nil && *m.First == decision
			}):
				to.captured++
			}
		}
		count(&real, o.Decision)
		count(&plurality, voted(o, func(int) float64 { return 1 }))
		count(&naive, voted(o, func(i int) float64 {
			if w, known := names[o.Members[i].Model]; known {
				return w
			}
			return best
		}))
	})
	return real, plurality, naive
}

// asks plays items, and hands every outcome to see.
func (x *poisonTrial) asks(t *testing.T, protocol plan.Params, adversary string, items []task.Item,
	see func(p *plan.Plan, it *task.Item, o *outcome.Outcome)) *plan.Plan {
	t.Helper()
	models, seats := "", ""
	for i := range 1 + x.fair + x.liars {
		ability, of := 0.75, ""
		if i == 0 {
			ability = 0.95
		} else if i > x.fair {
			of = ", adversary: " + adversary
		}
		// They judge as well as they answer: what is tested is trust, not what judges do to a contest.
		models += fmt.Sprintf("  m%d: {provider: simulated, ability: %v, wrong: 5, seed: %d, skill: %v, primacy: 0, "+
			"shared: 0}\n", i, ability, i, ability-(1-ability)/5)
		seats += fmt.Sprintf("  - {id: m%d, model: m%d%s}\n", i, i, of)
	}
	text := fmt.Sprintf("protocol: {name: cascade}\ngraph: {family: complete}\nf: %d\nmodels:\n%sseats:\n%s", x.liars,
		models, seats)
	text += "defences: {commit: off}\n" // with commitments liars of the first stage hear nobody
	spec, err := plan.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	spec.Protocol = protocol
	c, err := council.Convene(spec, llm.Env{Truth: task.Truth(items), Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for i := range items {
		o, err := c.Decide(t.Context(), council.Ask{Question: items[i].Question, Seed: *firstSeed + uint64(i)})
		if err != nil {
			t.Fatal(err)
		}
		see(c.Plan(), &items[i], &o)
	}
	return c.Plan()
}

// voted returns the first answer with the largest weight; None: two have it.
func voted(o *outcome.Outcome, weight func(member int) float64) (best synod.Answer) {
	sum, most := map[synod.Answer]float64{}, 0.0
	for i := range o.Members {
		if first := o.Members[i].First; first != nil {
			sum[*first] += weight(i)
		}
	}
	for a, w := range sum {
		switch {
		case w > most:
			best, most = a, w
		case w == most:
			best = synod.None
		}
	}
	return best
}

// sums returns addition problems from a number on.
func sums(t *testing.T, from, n int) (all []task.Item) {
	t.Helper()
	for i := from; i < from+n; i++ {
		q := synod.Question{ID: fmt.Sprint(i), Text: fmt.Sprintf("What is %d + 25?", i), Form: synod.Number}
		it, err := task.NewItem(q, fmt.Sprint(i+25))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, it)
	}
	return all
}

// statements returns statements from a number on, of which the share of one in every is true.
func statements(t *testing.T, from, n, every int) (all []task.Item) {
	t.Helper()
	for i := from; i < from+n; i++ {
		q := synod.Question{ID: fmt.Sprint("s", i), Text: fmt.Sprintf("Is statement %d so?", i), Form: synod.Bool}
		it, err := task.NewItem(q, fmt.Sprint(i%every == 0))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, it)
	}
	return all
}

// One member that poisons the history captures more questions from trust without its rules than from a cascade with
// F = 1, which it captures no more often than a plurality of the same answers. Without an adversary both kinds of trust
// capture nothing to speak of: the control.
func TestPoisoners(t *testing.T) {
	past, now := sums(t, 0, 100), sums(t, 1000, 300)
	for name, x := range map[string]*poisonTrial{
		"none":          {history: "{name: honest-noise, error: 0}", use: "{name: honest-noise, error: 0}"},
		"follow-defect": {history: "{name: follow-defect}", use: "{name: follow-defect, defects: 1}"},
		"copy-defect":   {history: "{name: copier, copies: m0}", use: "{name: copy-defect, copies: m0, defects: 1}"},
		"lie-to-win":    {history: "{name: lie-to-win}", use: "{name: lie-to-win}"},
		"abstain":       {history: "{name: abstain}", use: "{name: abstain, defects: 1}"},
		"turns":         {history: "{name: turns}", use: "{name: turns, block: 1}"},
		// nine of ten statements of the history are false, as it says, and none of those that are measured
		"constant": {history: "{name: constant}", use: "{name: constant}", past: statements(t, 0, 100, 10),
			now: statements(t, 1000, 300, 1)},
	} {
		if x.fair, x.liars = 5, 1; x.past == nil {
			x.past, x.now = past, now
		}
		real, plurality, naive := x.play(t)
		t.Logf("%-13s of %d questions captured: cascade %d, plurality %d, trust without its rules %d; right: %d, %d, "+
			"%d (simulated members)", name, len(x.now), real.captured, plurality.captured, naive.captured, real.right,
			plurality.right, naive.right)
		switch least := real.captured + 5; {
		case name == "none":
			if real.captured > 6 || naive.captured > 6 {
				t.Errorf("an honest member captures %d and %d questions", real.captured, naive.captured)
			}
		case naive.captured < least:
			t.Errorf("%s captures %d questions from trust without its rules, and %d from cascade", name, naive.captured,
				real.captured)
		case real.captured > plurality.captured:
			t.Errorf("%s captures %d questions from cascade, and %d from a plurality", name, real.captured,
				plurality.captured)
		}
	}
}

// TestWhatPoisonersSay checks the answers of each adversary against those of the honest members. Of two that take
// turns, one lies in each block. The constant one always says the same. The one that abstains says nothing while trust
// is learned. The one that lies to win says what at least one honest member says.
func TestWhatPoisonersSay(t *testing.T) {
	items := sums(t, 0, 40)
	for adversary, check := range map[string]func(honest, liars []synod.Answer, right synod.Answer) bool{
		"{name: turns}": func(honest, liars []synod.Answer, right synod.Answer) bool {
			top := adversaries.Plurality(honest)
			return liars[0] == top && liars[1] != top
		},
		"{name: turns, block: 3}": func(honest, liars []synod.Answer, right synod.Answer) bool {
			top := adversaries.Plurality(honest)
			return liars[0] != top && liars[1] == top
		},
		"{name: follow-defect}": func(honest, liars []synod.Answer, _ synod.Answer) bool {
			top := adversaries.Plurality(honest)
			return liars[0] == top && liars[1] == top
		},
		"{name: follow-defect, defects: 1}": func(honest, liars []synod.Answer, _ synod.Answer) bool {
			return liars[0] != adversaries.Plurality(honest) && liars[0] == liars[1]
		},
		"{name: constant}": func(_, liars []synod.Answer, _ synod.Answer) bool {
			return liars[0] == "1776" && liars[1] == "1776"
		},
		"{name: abstain}": func(_, liars []synod.Answer, _ synod.Answer) bool {
			return liars[0] == synod.None && liars[1] == synod.None
		},
		"{name: lie-to-win}": func(honest, liars []synod.Answer, _ synod.Answer) bool {
			return slices.Contains(honest, liars[0]) && slices.Contains(honest, liars[1])
		},
		// its model may be wrong about what a lie is
		"{name: abstain, defects: 1}": func(honest, liars []synod.Answer, _ synod.Answer) bool {
			return liars[0] == synod.None || slices.Contains(honest, liars[0])
		},
	} {
		x := &poisonTrial{fair: 5, liars: 2}
		lies, honestly := 0, 0
		x.asks(t, plan.Params{"name": "sac", "rounds": 1}, adversary, items,
			func(_ *plan.Plan, it *task.Item, o *outcome.Outcome) {
				var all []synod.Answer
				for i := range o.Members {
					first := synod.None
					if o.Members[i].First != nil {
						first = *o.Members[i].First
					}
					all = append(all, first)
				}
				right := synod.Answer(it.Record().Key)
				if !check(all[:6], all[6:], right) {
					t.Errorf("%s: honest members say %v, and it %v; %s is right", adversary, all[:6], all[6:], right)
				}
				if all[6] == right {
					honestly++
				} else if all[6] != synod.None {
					lies++
				}
			})
		if adversary == "{name: lie-to-win}" && (lies == 0 || honestly < lies) {
			t.Errorf("who lies to win lies in %d questions and is right in %d", lies, honestly)
		}
		if adversary == "{name: abstain, defects: 1}" && (lies == 0 || lies > 20) {
			t.Errorf("who abstains otherwise lies in %d of 40 questions", lies)
		}
	}
}
