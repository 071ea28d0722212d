package council

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"synod.dev/synod/core/journal"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
	"synod.dev/synod/protocol/catalog"
)

// pure is the JSON of an outcome without what only the open models, the clock and the
// journal's owner know.
func pure(t *testing.T, o outcome.Outcome) string {
	t.Helper()
	o.Seconds, o.Journal, o.Digest, o.Money, o.Cost = 0, "", "", llm.Money{}, nil
	for i := range o.Models {
		o.Models[i].Cost, o.Models[i].Served = nil, ""
	}
	b, err := json.MarshalIndent(o, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// The outcome of the records in a journal is the outcome that was printed, for every
// protocol, with an adversary and without, whether the run came to its end, settled
// early or was stopped by a breaker.
func TestJudgeOfJournal(t *testing.T) {
	endings := map[string]int{}
	for _, e := range catalog.Protocols.All() {
		for _, variant := range []string{"", "adversary", "breakers", "crash"} {
			spec := smallest(t, e)
			seat := &spec.Seats[0]
			switch variant {
			case "adversary":
				seat.Adversary = plan.Params{"name": "equivocator"}
			case "breakers":
				seat.Adversary = plan.Params{"name": "equivocator"}
				spec.Breakers = plan.Breakers{NoProgress: 1, Oscillation: 1, Drift: 1, Quorum: true, Equivocation: true}
			case "crash":
				spec.Faults.Crashes = []plan.Crash{{Node: 0}}
			}
			for seed := range uint64(3) {
				name := fmt.Sprintf("%s %s seed %d", e.Name, variant, seed)
				c, err := Convene(spec, llm.Env{})
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				q := suited(e)
				printed, err := c.Decide(context.Background(),
					Ask{Question: q, Seed: seed, Journal: filepath.Join(t.TempDir(), "j"), Final: true})
				c.Close()
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				run, err := journal.Load(printed.Journal)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				p, err := plan.Of(run)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				judged := outcome.Judge(p, plan.Instance{Question: run.Head.Question, Seed: run.Head.Seed},
					outcome.RecordsOf(p, run))
				if a, b := pure(t, printed), pure(t, judged); a != b {
					t.Errorf("%s: %s", name, firstDifference(a, b))
				}
				endings[printed.Stopped]++
			}
		}
	}
	for _, stopped := range []string{sim.Finished, outcome.Early, outcome.Tripped} {
		if endings[stopped] == 0 {
			t.Errorf("no run ended by %s: %v", stopped, endings)
		}
	}
}

func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range x {
		if i >= len(y) || x[i] != y[i] {
			return fmt.Sprintf("printed\n%s\njudged\n%s", strings.Join(x[max(0, i-3):min(i+3, len(x))], "\n"),
				strings.Join(y[max(0, i-3):min(i+3, len(y))], "\n"))
		}
	}
	return "the judged outcome is longer"
}
