package council

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/core/robust"
	"synod.dev/synod/internal/llmtest"
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

// say replies with the part of the model's name after the dash: an answer, a dash, and a confidence in percent.
func say(c llmtest.Call) string {
	part := strings.Split(c.Model, "-")
	return fmt.Sprintf(`{"reasoning":"","answer":%q,"confidence":%s}`, part[1], part[2])
}

// claimed is the outcome of a weighted vote on these replies.
func claimed(t *testing.T, url, graph, rule string, replies []string) Outcome {
	t.Helper()
	spec := Spec{Voices: VoicesSeats, Protocol: Params{"name": "weighted-majority"}, Rule: Rule{Name: rule},
		Graph: Params{"family": graph}, Models: map[string]Params{}}
	for i, r := range replies {
		id := fmt.Sprintf("s%d", i)
		spec.Models[id] = Params{"provider": "openai", "url": url, "model": "m-" + r, "timeout": "2m"}
		spec.Seats = append(spec.Seats, SeatSpec{ID: id, Model: id})
	}
	council, err := Convene(spec, llm.Env{})
	if err != nil {
		t.Fatal(err)
	}
	defer council.Close()
	o, err := council.Decide(context.Background(), Ask{Seed: 3, Final: true,
		Question: synod.Question{ID: "q", Text: "Which city?", Form: synod.Text}})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// A weighted vote states what it withstands, and the council itself decides the same when so many seats say something
// else with any confidence, or are not there. With one more they can change the decision.
func TestWeightedVoteWithstands(t *testing.T) {
	s := llmtest.Start(t, say)
	for _, c := range []struct {
		rule             string
		replies          string
		ignored, changed int
		attack           []string // of one seat more than it withstands
	}{
		{Majority, "a-0.9 a-0.9 a-0.9 a-0.9 b-0.2", 3, 1, []string{"b-1.0", "b-1.0"}},
		{Plurality, "a-1.0 a-1.0 a-1.0 a-1.0 a-1.0", 4, 2, []string{"b-1.0", "b-1.0", "b-1.0"}},
		{Majority, "a-0.3 a-0.3 a-0.3 b-0.1 b-0.1", 2, 0, []string{"b-1.0"}}, // without claims: any 1 changed
		{Supermajority, "a-1.0 a-1.0 a-1.0 a-1.0 a-1.0", 4, 1, nil},          // two of five that keep b
	} {
		replies := strings.Fields(c.replies)
		o := claimed(t, s.URL, "complete", c.rule, replies)
		if o.Answer == nil || *o.Answer != "a" || o.Withstands == nil {
			t.Fatalf("%s of %s: %v %v %s", c.rule, c.replies, o.Answer, o.Withstands, o.Fragile)
		}
		if want := (robust.Withstood{Ignored: c.ignored, Changed: c.changed}); *o.Withstands != want {
			t.Errorf("%s of %s: %+v, want %+v", c.rule, c.replies, *o.Withstands, want)
		}
		for _, k := range []int{len(c.attack) - 1, len(c.attack)} {
			if k < 1 {
				continue
			}
			stays := k < len(c.attack)
			after := claimed(t, s.URL, "complete", c.rule, slices.Concat(c.attack[:k], replies[k:]))
			if kept := after.Answer != nil && *after.Answer == "a"; kept != stays {
				t.Errorf("%s of %s after %d changes: %v", c.rule, c.replies, k, after.Answer)
			}
		}
		if left := replies[o.Withstands.Ignored:]; len(left) > 1 {
			if without := claimed(t, s.URL, "complete", c.rule, left); without.Answer == nil || *without.Answer != "a" {
				t.Errorf("%s of %s without %d: %v", c.rule, c.replies, o.Withstands.Ignored, without.Answer)
			}
		}
	}
	o := claimed(t, s.URL, "ring", Plurality, strings.Fields("a-0.9 a-0.9 a-0.9 a-0.9 a-0.9"))
	if o.Withstands != nil || !strings.Contains(o.Fragile, "on this graph") {
		t.Errorf("on a ring: %v %q", o.Withstands, o.Fragile)
	}
}

// A decision after hearing others, and one of a protocol's own step, say why they state nothing.
func TestWithstandsUnknown(t *testing.T) {
	for _, c := range []struct{ protocol, rule, why string }{
		{"debate", Majority, "members had heard others"},
		{"weighted-majority", Plurality, ""},
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

// Without rounds, CP-WBFT's own step is a mean of independent answers: seats may be missing, and one that claims to be
// certain can win.
func TestMeanVoteWithstands(t *testing.T) {
	p, err := NewPlan(Spec{Protocol: Params{"name": "cp-wbft", "rounds": 0}, Rule: Rule{Name: ByProtocol},
		Graph:  Params{"family": "complete"},
		Models: map[string]Params{"m": {"provider": "simulated", "ability": 1}},
		Seats:  []SeatSpec{{ID: "s", Model: "m", Count: 5}}})
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
		o := Judge(p, Instance{Question: synod.Question{Text: "?", Form: synod.Text}}, records)
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
