package council_test

import (
	"fmt"
	"strings"
	"testing"

	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
)

const delayed = `protocol: {name: sac, rounds: 4, asynchronous: %t}
graph: {family: complete}
f: 2
pace: {think: 10s, within: 1s}
faults: {delay: {min: 0s, max: 90s}}
models: {d: {provider: simulated, ability: 0.8}}
seats:
  - {id: a, model: d, count: 7}
  - {id: s, model: d, adversary: {name: silent}}
  - {id: l, model: d, adversary: {name: late-revealer}}
`

// Messages that take up to ninety times as long as rounds allow, with a member that is silent
// and one that sends late or to a few only: asynchronous rounds lose nothing. Every honest
// member hears all neighbours but at most F in every round, which the claim rests on, and
// retains all that it hears but at most F. With fixed round ends more are silent and the claim
// is withdrawn.
func TestAsynchronousRoundsBearDelays(t *testing.T) {
	worst := map[bool]int{}
	for _, asynchronous := range []bool{false, true} {
		for i := range 5 {
			text := fmt.Sprintf(delayed, asynchronous) + fmt.Sprintf("council: c%d\n", i)
			o := tried(t, text, llm.Env{})
			if claimed := o.Bound.Guarantee == "4.3"; claimed != asynchronous {
				t.Fatalf("asynchronous %v: %+v", asynchronous, o.Bound)
			}
			for _, r := range o.Rounds.All() {
				for _, m := range r.Members {
					if r.T == 0 || m.ID == "s" || m.ID == "l" {
						continue
					}
					heard := len(m.Retained) + len(m.Dropped)
					worst[asynchronous] = max(worst[asynchronous], 8-heard)
					if len(m.Dropped) > 2 || asynchronous && (heard < 6 || len(m.Retained) < 4) {
						t.Errorf("asynchronous %v: %s in round %d heard %d, retained %v, dropped %v", asynchronous,
							m.ID, r.T, heard, m.Retained, m.Dropped)
					}
				}
			}
		}
	}
	if worst[true] > 2 || worst[false] <= 2 {
		t.Errorf("neighbours that were not heard, at most: %v", worst)
	}
}

// Asynchronous rounds need r ≥ 2F+1: a complete graph of nine is good for F=2 and not for 3.
func TestAsynchronousBound(t *testing.T) {
	for f, want := range map[int]string{1: "4.3-strong", 2: "4.3", 3: plan.None} {
		text := strings.Replace(fmt.Sprintf(delayed, true), "f: 2", fmt.Sprintf("f: %d", f), 1)
		spec, err := plan.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		p, err := plan.New(spec)
		if err != nil {
			t.Fatal(err)
		}
		if b := p.Bound(); b.Guarantee != want {
			t.Errorf("F=%d: %+v", f, b)
		}
	}
}
