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
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/llmtest"
	"synod.dev/synod/llm"
)

// say replies with the part of the model's name after the dash: an answer, a dash, and a confidence in percent.
func say(c llmtest.Call) string {
	part := strings.Split(c.Model, "-")
	return fmt.Sprintf(`{"reasoning":"","answer":%q,"confidence":%s}`, part[1], part[2])
}

// claimed is the outcome of a weighted vote on these replies.
func claimed(t *testing.T, url, graph, rule string, replies []string) outcome.Outcome {
	t.Helper()
	spec := plan.Spec{Voices: plan.VoicesSeats, Protocol: plan.Params{"name": "weighted-majority"},
		Rule:  plan.Rule{Name: rule},
		Graph: plan.Params{"family": graph}, Models: map[string]plan.Params{}}
	for i, r := range replies {
		id := fmt.Sprintf("s%d", i)
		spec.Models[id] = plan.Params{"provider": "openai", "url": url, "model": "m-" + r, "timeout": "2m"}
		spec.Seats = append(spec.Seats, plan.SeatSpec{ID: id, Model: id})
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
		{plan.Majority, "a-0.9 a-0.9 a-0.9 a-0.9 b-0.2", 3, 1, []string{"b-1.0", "b-1.0"}},
		{plan.Plurality, "a-1.0 a-1.0 a-1.0 a-1.0 a-1.0", 4, 2, []string{"b-1.0", "b-1.0", "b-1.0"}},
		{plan.Majority, "a-0.3 a-0.3 a-0.3 b-0.1 b-0.1", 2, 0, []string{"b-1.0"}}, // without claims: any 1 changed
		{plan.Supermajority, "a-1.0 a-1.0 a-1.0 a-1.0 a-1.0", 4, 1, nil},          // two of five that keep b
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
	o := claimed(t, s.URL, "ring", plan.Plurality, strings.Fields("a-0.9 a-0.9 a-0.9 a-0.9 a-0.9"))
	if o.Withstands != nil || !strings.Contains(o.Fragile, "on this graph") {
		t.Errorf("on a ring: %v %q", o.Withstands, o.Fragile)
	}
}

// A decision after hearing others, and one of a protocol's own step, say why they state nothing.
func TestWithstandsUnknown(t *testing.T) {
	for _, c := range []struct{ protocol, rule, why string }{
		{"debate", plan.Majority, "members had heard others"},
		{"weighted-majority", plan.Plurality, ""},
		{"cp-wbft", plan.ByProtocol, "the protocol's own step decided"},
		{"majority", plan.Majority, ""}, {"single", plan.Plurality, ""}, {"self-consistency", plan.Plurality, ""},
	} {
		spec := plan.Spec{Protocol: plan.Params{"name": c.protocol}, Rule: plan.Rule{Name: c.rule},
			Graph:  plan.Params{"family": "complete"},
			Models: map[string]plan.Params{"m": {"provider": "simulated", "ability": 1}},
			Seats:  []plan.SeatSpec{{ID: "s", Model: "m", Count: 5}}}
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
		if again := outcome.Judge(council.Plan(), outcome.InstanceOf(run), outcome.RecordsOf(council.Plan(),
			run)); c.why == "" &&
			*again.Withstands != *o.Withstands {
			t.Errorf("%s: the journal gives %+v, the run gave %+v", c.protocol, again.Withstands, o.Withstands)
		}
	}
}
