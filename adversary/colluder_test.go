package adversary_test

import (
	"fmt"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/reliability"
	"synod.dev/synod/council"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
)

// seven returns a council file with simulated members of which the last three have the adversary; they err in many
// ways, so that honest members seldom make the adversaries' mistake.
func sevenWith(protocol, adversary string) string {
	return fmt.Sprintf(`protocol: %s
graph: {family: complete}
f: 3
models: {m: {provider: simulated, ability: 0.5, wrong: 20}}
seats:
  - {id: a, model: m, count: 4}
  - {id: x, model: m, adversary: %s}
  - {id: y, model: m, adversary: %s}
  - {id: z, model: m, adversary: %s}
`, protocol, adversary, adversary, adversary)
}

// play asks n sums and hands every outcome to see, with the right answer.
func play(t *testing.T, file string, n int, see func(o *outcome.Outcome, q *synod.Question, right synod.Answer)) {
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
	for i := range n {
		q := synod.Question{ID: fmt.Sprint(i), Text: fmt.Sprintf("What is %d + 25?", i), Form: synod.Number}
		o, err := c.Decide(t.Context(), council.Ask{Question: q, Seed: *firstSeed + uint64(i)})
		if err != nil {
			t.Fatal(err)
		}
		see(&o, &q, synod.Answer(fmt.Sprint(i+25)))
	}
}

// Colluders always give one wrong answer. That is more than four honest members of middling ability can outvote, and
// never enough for cascade, in which an honest member must have given the answer as well.
func TestColluder(t *testing.T) {
	captured := map[string]int{}
	for _, protocol := range []string{"{name: majority}\nrule: {name: plurality}", "{name: cascade, stop: certain}"} {
		play(t, sevenWith(protocol, "{name: colluder}"), 60, func(o *outcome.Outcome, _ *synod.Question,
			right synod.Answer) {
			lie := synod.None
			for _, m := range o.Members[4:] {
				switch {
				case m.First == nil: // cascade did not ask it
				case *m.First == right || lie != synod.None && *m.First != lie:
					t.Fatalf("seed %d: colluders answer %v and %v", o.Seed, lie, *m.First)
				default:
					lie = *m.First
				}
			}
			honest := 0
			for _, m := range o.Members[:4] {
				if m.First != nil && *m.First == lie {
					honest++
				}
			}
			if o.Answer != nil && *o.Answer == lie {
				if captured[protocol]++; protocol[7:14] == "cascade" && honest == 0 {
					t.Errorf("seed %d: cascade decides %v, which no honest member gave", o.Seed, lie)
				}
			}
		})
	}
	plural := captured["{name: majority}\nrule: {name: plurality}"]
	if certain := captured["{name: cascade, stop: certain}"]; plural < 15 || certain > 3 {
		t.Errorf("of 60 questions plurality is captured in %d, cascade in %d", plural, certain)
	}
}

// A colluder joins the answer of an accomplice that it has heard: in a chain of stages all give the first one's answer,
// though their models would have given others.
func TestColludersJoin(t *testing.T) {
	file := `protocol: {name: cascade, stop: certain}
graph: {family: complete}
f: 0
models:
  m: {provider: simulated, ability: 0.5, study: 1}
  n: {provider: simulated, ability: 0.5, study: 2}
  o: {provider: simulated, ability: 0.5, study: 3}
seats:
  - {id: a, model: m, adversary: {name: colluder%[1]s}}
  - {id: b, model: n, adversary: {name: colluder%[1]s}}
  - {id: c, model: o, adversary: {name: colluder%[1]s}}
`
	for _, c := range []struct {
		with string
		join bool
	}{{" ", false}, {", with: [a, b, c]", true}} {
		joined, later := 0, 0
		play(t, fmt.Sprintf(file, c.with), 20, func(o *outcome.Outcome, _ *synod.Question, _ synod.Answer) {
			first := map[string]synod.Answer{}
			for _, m := range o.Members {
				if m.First != nil {
					first[m.ID] = *m.First
				}
			}
			for _, id := range o.Asked[1:] {
				later++
				if first[id] == first[o.Asked[0]] {
					joined++
				}
			}
		})
		if later < 20 || c.join && joined != later || !c.join && joined > later*3/4 {
			t.Errorf("with %q: %d of %d later colluders give the first one's answer", c.with, joined, later)
		}
	}
}

// Copiers give the answer of the seat that they copy, so a vote has three more of it; reliability, learned without
// labels, finds them: all four have little more than one voice and count as one supporter. When they defect, they give
// one wrong answer.
func TestCopier(t *testing.T) {
	var seen []reliability.Observation
	history := sevenWith("{name: sac, rounds: 1}", "{name: copier, copies: a1}") + "defences: {commit: off}\n"
	play(t, history, 60, func(o *outcome.Outcome, q *synod.Question, _ synod.Answer) {
		for _, m := range o.Members[4:] {
			if m.First == nil || *m.First != *o.Members[0].First {
				t.Fatalf("seed %d: %s answers %v, and a1 %v", o.Seed, m.ID, m.First, o.Members[0].First)
			}
		}
		for _, m := range o.Members {
			seen = append(seen, reliability.Observation{Question: q.ID, Kind: "number", Member: m.ID,
				Answer: string(*m.First)})
		}
	})
	e := reliability.Estimate(seen, "number", 3)
	voices, together := 0.0, 0
	for _, m := range e.Members {
		if m.Name == "a1" || m.Name[0] != 'a' {
			voices += m.Share
		}
	}
	for _, p := range e.Pairs {
		if p.Together && (p.A == "a1" || p.A[0] != 'a') && p.B[0] != 'a' {
			together++
		}
	}
	if voices > 1.5 || together != 6 {
		t.Errorf("a1 and its copiers have %.2f voices, and %d of their 6 pairs are together", voices, together)
	}
	play(t, sevenWith("{name: majority}\nrule: {name: plurality}", "{name: copier, copies: a1, defects: 1}"), 20,
		func(o *outcome.Outcome, _ *synod.Question, right synod.Answer) {
			x, y, z := *o.Members[4].First, *o.Members[5].First, *o.Members[6].First
			if x == right || x != y || x != z {
				t.Errorf("seed %d: defectors answer %v, %v and %v", o.Seed, x, y, z)
			}
		})
}

// A copier that does not hear whom it copies gives its own model's answer, and a share of questions is the same for all
// copiers.
func TestCopierAlone(t *testing.T) {
	file := `protocol: {name: majority}
graph: {family: complete}
f: 1
models: {m: {provider: simulated, ability: 1}}
seats:
  - {id: a, model: m, adversary: {name: silent}}
  - {id: x, model: m, adversary: {name: copier, copies: a, waits: 5, defects: 0.5}}
  - {id: y, model: m, adversary: {name: copier, copies: a, waits: 5, defects: 0.5}}
`
	lies := 0
	play(t, file, 60, func(o *outcome.Outcome, _ *synod.Question, right synod.Answer) {
		x, y := o.Members[1].First, o.Members[2].First
		if x == nil || y == nil || *x != *y {
			t.Fatalf("seed %d: copiers answer %v and %v", o.Seed, x, y)
		}
		if *x != right {
			lies++
		}
	})
	if lies < 18 || lies > 42 {
		t.Errorf("they defect in %d of 60 questions, half of them in expectation", lies)
	}
}
