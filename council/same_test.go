package council_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/council"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/llmtest"
)

// city is a question with a short text as its answer.
var city = synod.Question{ID: "c", Text: "Which is the largest city of the USA?", Form: synod.Text}

// comparer replies with the answer in the model's name, m-POLICY-ANSWER. By its policy it calls all answers the same
// (all), none (none), those with the same first letter (knows), or replies without verdicts (junk).
func comparer(c llmtest.Call) string {
	name := strings.SplitN(c.Model, "-", 3)
	if reply, ok := llmtest.Compare(c, func(a, b string) bool {
		return name[1] == "all" || name[1] == "knows" && strings.EqualFold(a[:1], b[:1])
	}); ok && name[1] != "junk" {
		return reply
	}
	b, _ := json.Marshal(name[2])
	return `{"reasoning":"","answer":` + string(b) + `}`
}

// comparing is a council of such members.
func comparing(url string, f int, members ...string) string {
	return "same: members\n" + saying(url, "majority", f, "plurality", members...)
}

func TestSameMembers(t *testing.T) {
	s := llmtest.Start(t, comparer)
	for _, test := range []struct {
		name    string
		f       int
		members []string
		want    synod.Answer
		joined  string
	}{
		{"joined, shown as the first of equals", 1, []string{"knows-NYC", "knows-NYC", "knows-New York City",
			"knows-New York City", "knows-Boston", "knows-Boston", "knows-Boston"}, "new york city",
			`[{"new york city" ["nyc"]}]`},
		{"joined, shown as most spell it", 1, []string{"knows-NYC", "knows-NYC", "knows-NYC",
			"knows-New York City", "knows-Boston", "knows-Boston", "none-Boston"}, "nyc",
			`[{"nyc" ["new york city"]}]`},
		{"called different", 1, []string{"none-NYC", "none-NYC", "none-New York City", "none-New York City",
			"none-Boston", "none-Boston", "none-Boston"}, "boston", "[]"},
		{"F say same of everything", 2, []string{"none-NYC", "none-NYC", "none-NYC", "none-New York", "none-New York",
			"all-Boston", "all-Chicago"}, "nyc", "[]"},
		{"authors have no say", 1, []string{"all-NYC", "all-NYC", "all-NYC", "all-Boston", "all-Boston",
			"none-Chicago", "none-Dallas"}, "nyc", "[]"},
		{"F withhold their verdicts", 1, []string{"knows-NYC", "knows-NYC", "knows-NYC", "knows-New York",
			"knows-Boston", "knows-Boston", "none-Boston"}, "nyc", `[{"nyc" ["new york"]}]`},
		{"no readable verdicts", 1, []string{"junk-NYC", "junk-NYC", "junk-New York", "junk-New York",
			"junk-Boston", "junk-Boston", "junk-Boston"}, "boston", "[]"},
		{"nothing to compare", 1, []string{"all-NYC", "all-NYC", "all-NYC", "all-Boston"}, "nyc", "[]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "j")
			c := convene(t, comparing(s.URL, test.f, test.members...))
			o := decide(t, c, council.Ask{Question: city, Journal: path})
			if o.Decision != test.want || fmt.Sprint(o.Joined) != test.joined {
				t.Fatalf("%s %q: %s; joined %v", o.Status, o.Decision, o.Reason, o.Joined)
			}
			run, err := journal.Load(path)
			if err != nil {
				t.Fatal(err)
			}
			if digest, err := council.Replay(run); err != nil || digest != o.Digest {
				t.Errorf("replay: %s, %v; the run had %s", digest, err, o.Digest)
			}
			plan, err := plan.Of(run)
			if err != nil {
				t.Fatal(err)
			}
			again := outcome.Judge(plan, outcome.InstanceOf(run), outcome.RecordsOf(plan, run))
			if again.Decision != o.Decision || fmt.Sprint(again.Joined) != test.joined ||
				fmt.Sprint(again.Votes) != fmt.Sprint(o.Votes) {
				t.Errorf("from the journal: %q, joined %v, %v", again.Decision, again.Joined, again.Votes)
			}
			if asked := !slices.Contains([]string{"nothing to compare", "no readable verdicts"}, test.name); asked !=
				(o.Withstands == nil) {
				t.Errorf("withstands %v: %s", o.Withstands, o.Fragile)
			}
		})
	}
}

// Records are a Byzantine member's choice: repeated, unknown and impossible pairs do not count, and being the same is
// not carried over from pair to pair.
func TestSameOfHostileRecords(t *testing.T) {
	p := convene(t, "same: members\nf: 1\nprotocol: {name: majority}\nmodels: {m: {provider: simulated}}\n"+
		"seats: [{id: a, model: m, count: 7}]\n").Plan()
	noted := func(round int, a synod.Answer, record string) outcome.Noted {
		o := &synod.Opinion{Round: round, Answer: a, Source: synod.Own}
		if record != "" {
			o.Record = synod.RawRecord(record)
		}
		return outcome.Noted{Opinion: o}
	}
	const letters = `{"answers":["a","b","c"],"same":`
	answers := []synod.Answer{"a", "b", "c", "d", "d", "d", "e"}
	for name, test := range map[string]struct {
		records map[int]string // by seat
		joined  string
	}{
		"two say so":         {map[int]string{3: letters + `[[0,1]]}`, 4: letters + `[[1,0]]}`}, `[{"a" ["b"]}]`},
		"one says so twice":  {map[int]string{3: letters + `[[0,1],[1,0],[0,1]]}`}, "[]"},
		"an author says so":  {map[int]string{3: letters + `[[0,1]]}`, 0: letters + `[[1,0]]}`}, "[]"},
		"indices of nothing": {map[int]string{3: letters + `[[0,9],[-1,1]]}`, 4: letters + `[[0,9],[0,0]]}`}, "[]"},
		"unknown answers": {map[int]string{3: `{"answers":["a","z"],"same":[[0,1]]}`,
			4: `{"answers":["a","z"],"same":[[0,1]]}`}, "[]"},
		"no record of its kind": {map[int]string{3: `[1]`, 4: letters + `[[0,1]]}`}, "[]"},
		"a chain":               {map[int]string{3: letters + `[[0,1],[1,2]]}`, 4: letters + `[[0,1],[1,2]]}`}, "[]"},
		"all pairs of three": {map[int]string{3: letters + `[[0,1],[1,2],[0,2]]}`,
			4: letters + `[[0,1],[1,2],[0,2]]}`}, `[{"a" ["b" "c"]}]`},
	} {
		records := make([]outcome.Record, len(answers))
		for i, a := range answers {
			records[i] = outcome.Record{Seat: synod.NodeID(i), Stopped: "rounds",
				Opinions: []outcome.Noted{noted(0, a, ""), noted(1, a, test.records[i])}}
		}
		o := outcome.Judge(p, plan.Instance{Question: city, Seed: 1}, records)
		if got := fmt.Sprint(o.Joined); got != test.joined {
			t.Errorf("%s: joined %s, want %s", name, got, test.joined)
		}
		// A run that was cut off before all verdicts has no decision that they could change.
		records[6].Opinions, records[6].Stopped = records[6].Opinions[:1], outcome.PastTime
		if o := outcome.Judge(p, plan.Instance{Question: city, Seed: 1}, records); o.Answered() {
			t.Errorf("%s: cut off, yet decided %q", name, o.Decision)
		}
	}
}

// The key is refused where it cannot work, before a model is asked.
func TestSameRefused(t *testing.T) {
	const rest = "models: {m: {provider: simulated}}\nseats: [{id: a, model: m, count: 4}]\n"
	for text, want := range map[string]string{
		"same: members\nprotocol: {name: sac}\n":                             "use protocol: majority",
		"same: always\nprotocol: {name: majority}\n":                         `it must be off or members`,
		"same: members\nprotocol: {name: majority}\nform: number\n":          "the form is number: set form: text",
		"same: members\nprotocol: {name: majority}\nexact: paper\n":          "no paper joins answers",
		"same: members\nprotocol: {name: majority}\nf: 2\n":                  "at least 5 seats are needed",
		"same: members\nprotocol: {name: majority}\ngraph: {family: ring}\n": "needs a complete graph",
	} {
		_, err := plan.Parse([]byte(text + rest))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	plan := convene(t, "same: members\nprotocol: {name: majority}\n"+rest).Plan()
	for _, form := range []synod.Form{synod.Number, synod.Choice, synod.Bool, synod.Math, synod.Stance} {
		q := synod.Question{Text: "x?", Form: form}
		if form == synod.Choice {
			q.Options = []synod.Option{{Label: "A", Text: "x"}, {Label: "B", Text: "y"}}
		}
		if err := plan.Accepts(&q); err == nil || !strings.Contains(err.Error(), "of the form text only") {
			t.Errorf("%s: %v", form, err)
		}
	}
	if err := plan.Accepts(&city); err != nil {
		t.Error(err)
	}
}
