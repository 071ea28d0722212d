package outcome

import (
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/robust"
	"synod.dev/synod/council/plan"
)

// voted is the outcome of a plain vote on the given answers, a dash for none.
func voted(t *testing.T, rule plan.Rule, answers string) Outcome {
	t.Helper()
	p, err := plan.New(plan.Spec{Protocol: plan.Params{"name": "majority"}, Rule: rule,
		Graph:  plan.Params{"family": "complete"},
		Models: map[string]plan.Params{"m": {"provider": "simulated", "ability": 1}},
		Seats:  []plan.SeatSpec{{ID: "s", Model: "m", Count: len(answers)}}})
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
	return Judge(p, plan.Instance{Question: synod.Question{Text: "?", Form: synod.Text}}, records)
}

// What Judge says about every vote of up to seven seats is what Judge itself decides when seats change what they say.
func TestJudgeWithstandsChanges(t *testing.T) {
	rules := []plan.Rule{{Name: plan.Plurality}, {Name: plan.Majority}, {Name: plan.Supermajority},
		{Name: plan.Majority, Support: 3}}
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

// Without rounds, CP-WBFT's own step is a mean of independent answers: seats may be missing, and one that claims to be
// certain can win.
func TestMeanVoteWithstands(t *testing.T) {
	p, err := plan.New(plan.Spec{Protocol: plan.Params{"name": "cp-wbft", "rounds": 0},
		Rule:   plan.Rule{Name: plan.ByProtocol},
		Graph:  plan.Params{"family": "complete"},
		Models: map[string]plan.Params{"m": {"provider": "simulated", "ability": 1}},
		Seats:  []plan.SeatSpec{{ID: "s", Model: "m", Count: 5}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		sure    []float64 // the last is of another answer
		ignored int       // -1: not known
	}{{[]float64{.9, .9, .9, .9, .3}, 3}, {[]float64{.9, .4, .4, .4, .5}, 0}, {[]float64{1, 1, 1, 1, 1}, -1}} {
		records := make([]Record, 5)
		for i := range records {
			o := &synod.Opinion{Answer: "a", Confidence: &c.sure[i], Source: synod.Own}
			if i == 4 {
				o.Answer = "b"
			}
			records[i] = Record{Seat: synod.NodeID(i), Opinions: []Noted{{1, o}}, Stopped: "rounds"}
		}
		o := Judge(p, plan.Instance{Question: synod.Question{Text: "?", Form: synod.Text}}, records)
		switch {
		case o.Decision != "a":
			t.Errorf("%v: %s %s", c.sure, o.Decision, o.Reason)
		case c.ignored < 0 && (o.Withstands != nil || !strings.Contains(o.Fragile, "same mean")):
			t.Errorf("%v: %+v %s", c.sure, o.Withstands, o.Fragile)
		case c.ignored >= 0 && (o.Withstands == nil || *o.Withstands != robust.Withstood{Ignored: c.ignored}):
			t.Errorf("%v: %+v %s", c.sure, o.Withstands, o.Fragile)
		}
	}
}
