package council

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/journal"
	"synod.dev/synod/llm"
)

// voted is the outcome of a plain vote on the given answers, a dash for none.
func voted(t *testing.T, rule Rule, answers string) Outcome {
	t.Helper()
	p, err := NewPlan(Spec{Protocol: Params{"name": "majority"}, Rule: rule, Graph: Params{"family": "complete"},
		Models: map[string]Params{"m": {"provider": "simulated", "ability": 1}},
		Seats:  []SeatSpec{{ID: "s", Model: "m", Count: len(answers)}}})
	if err != nil {
		t.Fatal(err)
	}
	records := make([]Record, len(answers))
	for i, c := range answers {
		o := &synod.Opinion{Answer: synod.Answer(c), Source: synod.Own}
		if c == '-' {
			o.Answer, o.Source = synod.None, synod.Absent
		}
		records[i] = Record{Seat: synod.NodeID(i), Opinions: []Noted{{1, o}}, Stopped: "rounds"}
	}
	return Judge(p, Instance{Question: synod.Question{Text: "?", Form: synod.Text}}, records)
}

// What Judge says about every vote of up to seven seats is what Judge itself decides when seats change what they say.
func TestJudgeWithstandsChanges(t *testing.T) {
	rules := []Rule{{Name: Plurality}, {Name: Majority}, {Name: Supermajority}, {Name: Majority, Support: 3}}
	for _, rule := range rules {
		for _, ballot := range strings.Fields("aaaaaaa aaaaaab aaaaabb aaaaabc aaaabbb aaaabc- aaabbc- aaa aab") {
			if rule.Support > len(ballot) {
				continue
			}
			o := voted(t, rule, ballot)
			if o.Answer == nil {
				if o.Withstands != nil || o.Fragile != "there is no decision" {
					t.Errorf("%v of %s: %v %q", rule, ballot, o.Withstands, o.Fragile)
				}
				continue
			}
			if o.Withstands == nil {
				t.Fatalf("%v of %s: nothing: %s", rule, ballot, o.Fragile)
			}
			k := o.Withstands.Changed
			for i, stays := range []bool{true, false} { // k seats, and one more, leave a for b
				if k+i > len(ballot) {
					continue
				}
				after := voted(t, rule, strings.Repeat("b", k+i)+ballot[k+i:])
				if kept := after.Answer != nil && *after.Answer == "a"; kept != stays {
					t.Errorf("%v of %s withstands %d changes, and after %d it decides %v", rule, ballot, k, k+i,
						after.Answer)
				}
			}
		}
	}
}

// A decision after hearing others, and one of a protocol's own step, say why they state nothing.
func TestWithstandsUnknown(t *testing.T) {
	for _, c := range []struct{ protocol, rule, why string }{
		{"debate", Majority, "members had heard others"},
		{"weighted-majority", Plurality, "members had heard others"},
		{"cp-wbft", ByProtocol, "the protocol's own step decided"},
		{"majority", Majority, ""}, {"single", Plurality, ""}, {"self-consistency", Plurality, ""},
	} {
		spec := Spec{Protocol: Params{"name": c.protocol}, Rule: Rule{Name: c.rule},
			Graph:  Params{"family": "complete"},
			Models: map[string]Params{"m": {"provider": "simulated", "ability": 1}},
			Seats:  []SeatSpec{{ID: "s", Model: "m", Count: 5}}}
		council, err := Convene(spec, llm.Env{})
		if err != nil {
			t.Fatalf("%s: %v", c.protocol, err)
		}
		path := filepath.Join(t.TempDir(), "j")
		o, err := council.Decide(context.Background(), Ask{Seed: 3, Final: true, Journal: path,
			Question: synod.Question{ID: "q", Text: "What is 17 + 25?", Form: synod.Number}})
		council.Close()
		if err != nil || o.Answer == nil {
			t.Fatalf("%s: %v %v", c.protocol, o.Reason, err)
		}
		if (o.Withstands != nil) != (c.why == "") || !strings.Contains(o.Fragile, c.why) {
			t.Errorf("%s: %v, %q", c.protocol, o.Withstands, o.Fragile)
		}
		b, err := json.Marshal(o)
		want := `"withstands":null,"withstands_null":`
		if err != nil || strings.Contains(string(b), want) != (c.why != "") {
			t.Errorf("%s: %s", c.protocol, b)
		}
		run, err := journal.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if again := Judge(council.Plan(), InstanceOf(run), RecordsOf(council.Plan(), run)); c.why == "" &&
			*again.Withstands != *o.Withstands {
			t.Errorf("%s: the journal gives %+v, the run gave %+v", c.protocol, again.Withstands, o.Withstands)
		}
	}
}
