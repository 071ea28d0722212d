package outcome

import (
	"fmt"
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

// What Judge says about every vote of up to seven seats is what Judge itself decides when seats change what they say,
// fall silent or are left out.
func TestJudgeWithstandsChanges(t *testing.T) {
	rules := []plan.Rule{{Name: plan.Plurality}, {Name: plan.Majority}, {Name: plan.Supermajority},
		{Name: plan.Majority, Support: 3}}
	for _, rule := range rules {
		for _, ballot := range strings.Fields("aaaaaaa aaaaaab aaaaabb aaaaabc aaaabbb aaaabc- aaabbc- aaa aab aaa-- " +
			"aaaa- aaaaa-- aaab--") {
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
			stays := func(ballot string) bool {
				after := voted(t, rule, ballot)
				return after.Answer != nil && *after.Answer == "a"
			}
			k := o.Withstands.Changed // seats, and one more, leave a for b, or say nothing
			for i, want := range []bool{true, false} {
				if k+i <= len(ballot) && want != (stays(strings.Repeat("b", k+i)+ballot[k+i:]) &&
					stays(strings.Repeat("-", k+i)+ballot[k+i:])) {
					t.Errorf("%v of %s withstands %d changes, and after %d it stays: %v", rule, ballot, k, k+i, !want)
				}
			}
			k = o.Withstands.Ignored
			for i, want := range []bool{true, false} {
				if k+i < len(ballot) && rule.Support <= len(ballot)-k-i && want != stays(ballot[k+i:]) {
					t.Errorf("%v of %s withstands %d left out, and after %d it stays: %v", rule, ballot, k, k+i, !want)
				}
			}
		}
	}
}

// Support counts voices: a voice with one seat may be the last that is needed, however many seats others have.
func TestSupportWithstands(t *testing.T) {
	for _, c := range []struct {
		models, rule     string
		ignored, changed int
	}{
		{"aabbccd", "name: plurality, support: 4", 0, 0}, // without d there are three voices
		{"aabbccd", "name: plurality, support: 3", 1, 1}, // without d, and not without two others
		{"aabbccd", "name: plurality", 3, 1},
		{"abcdefg", "name: majority, support: 5", 2, 2},
	} {
		p := voiced(t, c.models, "f: 1\nprotocol: {name: majority}\nrule: {"+c.rule+"}\n")
		var records []Record
		for i := range p.Seats() {
			records = append(records, Record{Seat: synod.NodeID(i), Stopped: "rounds",
				Opinions: []Noted{{Opinion: &synod.Opinion{Answer: "7"}}}})
		}
		o := Judge(p, plan.Instance{Question: synod.Question{Text: "?", Form: synod.Number}}, records)
		if o.Withstands == nil || *o.Withstands != (robust.Withstood{Ignored: c.ignored, Changed: c.changed}) {
			t.Errorf("%s by %s: %+v %s", c.models, c.rule, o.Withstands, o.Fragile)
		}
	}
}

// A support that the rule asks for binds a protocol that counts by itself, too.
func TestSupportOfTiersWithstands(t *testing.T) {
	for support, want := range map[int]robust.Withstood{0: {Ignored: 2, Changed: 1}, 3: {Ignored: 1, Changed: 1},
		4: {}} {
		p := voiced(t, "abcd", fmt.Sprintf("f: 1\nprotocol: {name: cascade, tiers: [[0, 1, 2, 3]]}\n"+
			"rule: {name: protocol, support: %d}\n", support))
		var records []Record
		for i := range p.Seats() {
			records = append(records, Record{Seat: synod.NodeID(i), Stopped: "rounds",
				Opinions: []Noted{{Opinion: &synod.Opinion{Answer: "7"}}}})
		}
		o := Judge(p, plan.Instance{Question: synod.Question{Text: "?", Form: synod.Number}}, records)
		if o.Withstands == nil || *o.Withstands != want {
			t.Errorf("support %d: %+v %s %s", support, o.Withstands, o.Fragile, o.Reason)
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

// What a hostile member says that nobody can read, or that fails a check, counts no more for Judge than for members: it
// neither outweighs an answer in tiers nor is it one that somebody missed.
func TestUnreadableFirstAnswers(t *testing.T) {
	sure, certain := .9, 1.0
	for _, bad := range []synod.Answer{"many", "13"} {
		records := func(rounds int) (all []Record) {
			for i, a := range []synod.Answer{bad, "7", "7", "7"} {
				first := &synod.Opinion{Answer: a, Confidence: &sure}
				if i == 0 {
					first.Confidence = &certain
				}
				r := Record{Seat: synod.NodeID(i), Stopped: "rounds", Opinions: []Noted{{Opinion: first}}}
				if rounds > 0 {
					r.Opinions = append(r.Opinions, Noted{Tick: 1, Opinion: &synod.Opinion{Round: 1, Answer: "7",
						Silent: []synod.NodeID{0}}})
				}
				all = append(all, r)
			}
			return all
		}
		in := plan.Instance{Question: synod.Question{Text: "?", Form: synod.Number}}
		if bad == "13" {
			in.Question.Checks = []synod.Check{{Name: "small", Regex: "^[0-9]$"}}
		}
		p := voiced(t, "abcd", "f: 0\nprotocol: {name: cascade, tiers: [[0, 1, 2], [3]], "+
			"weights: {number: [9, 1, 1, 1]}}\n")
		if o := Judge(p, in, records(0)); o.Decision != "7" || !strings.Contains(o.Reason, "all that answered agree") {
			t.Errorf("%s is said in a tier: %q, %s", bad, o.Decision, o.Reason)
		}
		p = voiced(t, "abcd", "f: 0\nprotocol: {name: weighted-majority}\nrule: {name: majority}\n")
		if o := Judge(p, in, records(1)); o.Withstands == nil {
			t.Errorf("%s is said in a weighted vote: withstands nothing: %s", bad, o.Fragile)
		}
	}
}

// With compose: never the last member that gave the whole value is needed, although others gave each of its parts.
func TestComposeNeverWithstands(t *testing.T) {
	for compose, ignored := range map[string]int{"fields": 2, "never": 0} {
		p := voiced(t, "abcde", "f: 0\nprotocol: {name: majority}\nrule: {name: majority}\ncompose: "+compose+"\n")
		q := synod.Question{Text: "Which?", Form: synod.JSON,
			Schema: []byte(`{"type":"object","properties":{"x":{"type":"number"},"y":{"type":"number"}}}`)}
		var records []Record
		for i, text := range []string{"1,5", "2,5", "2,4", "2,6", "3,5"} { // the second one is the middle of both
			x, y, _ := strings.Cut(text, ",")
			o := &synod.Opinion{Answer: synod.Answer(`{"x":` + x + `,"y":` + y + `}`)}
			records = append(records, Record{Seat: synod.NodeID(i), Opinions: []Noted{{Opinion: o}}, Stopped: "rounds"})
		}
		o := Judge(p, plan.Instance{Question: q}, records)
		if o.Decision != `{"x":2,"y":5}` || o.Withstands == nil || o.Withstands.Ignored != ignored {
			t.Errorf("%s: %q withstands %+v %s", compose, o.Decision, o.Withstands, o.Reason)
		}
	}
}
