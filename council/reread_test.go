package council_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/council"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/llmtest"
)

// panelOf is a council of so many seats at a stub server, with the model name of each.
func panelOf(url, protocol string, names ...string) string {
	return strings.Replace(seven(url, names...), "protocol: {name: sac, rounds: 6}", "protocol: "+protocol, 1)
}

const vague = "It is hard to say; 40 or 42, I would think"

// hesitant answers the first request of a conversation vaguely if its model is called so, and the second one well.
func hesitant(c llmtest.Call) string {
	if strings.HasPrefix(c.Model, "late") && c.Said == "" {
		return vague
	}
	return stubborn(c)
}

// A reply that cannot be read is followed by one request in the same conversation, which is paid for, is in the
// journal, and replays.
func TestReread(t *testing.T) {
	s := llmtest.Start(t, hesitant)
	c := convene(t, panelOf(s.URL, "{name: majority}", "late42", "s42", "s41"), "f=1")
	path := filepath.Join(t.TempDir(), "j")
	o := decide(t, c, council.Ask{Seed: 7, Journal: path})
	if o.Decision != "42" || o.Rereads != 1 || o.Calls.Made != 4 || o.Calls.Planned != 3 || s.Count() != 4 {
		t.Errorf("%s %q: %d rereads, calls %+v, %d arrived", o.Status, o.Decision, o.Rereads, o.Calls, s.Count())
	}
	if m := o.Members[0]; m.First == nil || *m.First != "42" || m.Calls.Of(synod.OK) != 1 ||
		m.Calls.Of(synod.Unreadable) != 0 {
		t.Errorf("%+v", m)
	}
	var second llmtest.Call
	for _, c := range s.Calls() {
		if c.Said != "" {
			second = c
		}
	}
	if second.Said != vague || !strings.Contains(second.User, "Answer: <your answer>") || second.Format != "" {
		t.Errorf("the second request has %q and asks %q with format %q", second.Said, second.User, second.Format)
	}
	run, err := journal.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if digest, err := council.Replay(run); err != nil || digest != o.Digest {
		t.Errorf("replay gives %s, %v; the run's digest is %s", digest, err, o.Digest)
	}
	again := outcome.Judge(c.Plan(), plan.Instance{Question: run.Head.Question, Seed: 7}, outcome.RecordsOf(c.Plan(),
		run))
	if again.Rereads != 1 || again.Calls != o.Calls || !reflect.DeepEqual(again.Members, o.Members) {
		t.Errorf("the journal says %d rereads, calls %+v, %+v", again.Rereads, again.Calls, again.Members)
	}
	if len(run.Unanswered) != 0 {
		t.Errorf("%+v are without a reply", run.Unanswered)
	}
}

// Where a second request is not allowed or cannot help, there is none, or one that changes nothing.
func TestRereadIsRefused(t *testing.T) {
	never := func(llmtest.Call) string { return vague }
	silent := func(c llmtest.Call) string { // the papers' readers take the last number of a text for its answer
		if strings.HasPrefix(c.Model, "late") && c.Said == "" {
			return "It is hard to say."
		}
		return stubborn(c)
	}
	for name, c := range map[string]struct {
		answer      llmtest.Handler
		set         []string
		calls, took int
		first       string
	}{
		"switched off":     {hesitant, []string{"reread=never"}, 3, 0, ""},
		"exact":            {silent, []string{"exact=paper"}, 3, 0, ""},
		"once":             {hesitant, []string{"reread=once"}, 4, 1, "42"},
		"the default":      {hesitant, nil, 4, 1, "42"},
		"never readable":   {never, nil, 6, 3, ""},
		"readable at once": {stubborn, nil, 3, 0, "42"},
	} {
		t.Run(name, func(t *testing.T) {
			s := llmtest.Start(t, c.answer)
			o := decide(t, convene(t, panelOf(s.URL, "{name: majority}", "late42", "s42", "s41"),
				append(c.set, "f=1")...), council.Ask{})
			first := ""
			if m := o.Members[0]; m.First != nil {
				first = string(*m.First)
			}
			if s.Count() != c.calls || o.Rereads != c.took || first != c.first || o.Calls.Made != c.calls {
				t.Errorf("%d calls, %d rereads, first %q; want %d, %d, %q", s.Count(), o.Rereads, first, c.calls,
					c.took, c.first)
			}
			if want := 1; first == "" && o.Members[0].Calls.Of(synod.Unreadable) != want {
				t.Errorf("%+v; want one unreadable reply", o.Members[0].Calls)
			}
		})
	}
}

// A call that failed has no second request: there is no reply to ask about.
func TestFailedCallIsNotReread(t *testing.T) {
	s := llmtest.Start(t, stubborn, llmtest.With(llmtest.ContentFilter()))
	o := decide(t, convene(t, panelOf(s.URL, "{name: majority}", "s42", "s42"), "f=0"), council.Ask{})
	if s.Count() != 2 || o.Rereads != 0 || o.Members[0].Calls.Of(synod.Refused) != 1 {
		t.Errorf("%d calls, %d rereads, %+v", s.Count(), o.Rereads, o.Members[0].Calls)
	}
}

// A second request that fails leaves the first reply, and is paid for.
func TestRereadThatFails(t *testing.T) {
	s := llmtest.Start(t, hesitant, llmtest.With(func(x *llmtest.Exchange) {
		if x.Said != "" {
			llmtest.ContentFilter()(x)
			return
		}
		x.OK()
	}))
	o := decide(t, convene(t, panelOf(s.URL, "{name: majority}", "late42", "s42", "s42"), "f=1"), council.Ask{})
	m := o.Members[0]
	if o.Rereads != 1 || o.Calls.Made != 4 || m.First != nil || m.Calls.Of(synod.Unreadable) != 1 ||
		o.Decision != "42" {
		t.Errorf("%q: %d rereads, %+v, %+v", o.Decision, o.Rereads, o.Calls, m)
	}
}

// Scores, grades and confidences get the same second chance.
func TestRereadOfJudgements(t *testing.T) {
	grades := `{"reasoning":"","factual_contradiction":15,"factual_fabrication":15,"instruction_inconsistency":15,` +
		`"context_inconsistency":15,"logical_inconsistency":15}`
	for name, c := range map[string]struct {
		protocol string
		sets     []string
		first    func(llmtest.Call) bool // the requests whose reply cannot be read
		second   string
	}{
		"scores": {"{name: sac, rounds: 1}", nil, llmtest.Call.Scoring, "Score: 0.8"},
		"grades": {"{name: decentllms}", nil, func(c llmtest.Call) bool {
			return strings.Contains(c.User, "logical_inconsistency")
		}, grades},
		"confidences": {"{name: cp-wbft, probe: stated}", nil, func(llmtest.Call) bool { return true },
			"Answer: 42, Confidence: 0.7"},
	} {
		t.Run(name, func(t *testing.T) {
			s := llmtest.Start(t, func(call llmtest.Call) string {
				switch {
				case call.Said != "":
					return c.second
				case c.first(call):
					return "Good, about 0.8 or 0.9"
				}
				return stubborn(call)
			})
			text := panelOf(s.URL, c.protocol, "s42", "s42", "s42", "s42")
			if name == "grades" {
				for i, role := range []string{"worker", "worker", "evaluator", "evaluator"} {
					text = strings.Replace(text, fmt.Sprintf("model: m%d}", i), fmt.Sprintf("model: m%d, role: %s}", i,
						role), 1)
				}
				c.sets = nil
			}
			for _, reread := range []string{"once", "never"} {
				o := decide(t, convene(t, text, append(c.sets, "f=0", "reread="+reread)...), council.Ask{})
				unread := 0
				for _, m := range o.Members {
					unread += m.Calls.Of(synod.Unreadable)
				}
				if once := reread == "once"; once && (o.Rereads == 0 || unread > 0) || !once && (o.Rereads > 0 ||
					unread == 0) {
					t.Errorf("reread %s: %d rereads, %d unreadable, %s", reread, o.Rereads, unread, o.Reason)
				}
			}
		})
	}
}

// A run that is cut off between the two requests goes on with the second one: what was paid for is neither lost nor
// asked for again.
func TestResumeBetweenBothRequests(t *testing.T) {
	s := llmtest.Start(t, hesitant)
	c := convene(t, panelOf(s.URL, "{name: majority}", "late42"), "f=0")
	dir := t.TempDir()
	whole := decide(t, c, council.Ask{Seed: 7, Journal: filepath.Join(dir, "whole")})
	text, err := os.ReadFile(filepath.Join(dir, "whole"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	pending := 0
	for cut := range lines {
		if cut == 0 || !strings.HasPrefix(lines[cut-1], `{"k":"sum"`) {
			continue
		}
		before := s.Count()
		run, err := journal.Read(strings.NewReader(strings.Join(lines[:cut], "")))
		if err != nil {
			t.Fatal(err)
		}
		if run.End != nil {
			continue
		}
		o := decide(t, c, council.Ask{Question: run.Head.Question, Seed: run.Head.Seed, Resume: run,
			Journal: filepath.Join(dir, fmt.Sprint(cut))})
		asked, want := s.Count()-before, 2
		for _, r := range run.Replies {
			if want = 0; r.Reread == synod.RereadPending {
				want = 1
				pending++
			}
		}
		lost := 0
		for _, u := range run.Unanswered {
			lost += u.Calls
		}
		if asked != want || o.Decision != "42" || o.Digest != whole.Digest || o.Calls.Made != 2+lost || o.Rereads != 1 {
			t.Errorf("cut after line %d: %d requests left, want %d; %q, %d calls with %d lost, %d rereads", cut, asked,
				want, o.Decision, o.Calls.Made, lost, o.Rereads)
		}
		continued, err := journal.Load(filepath.Join(dir, fmt.Sprint(cut)))
		if err != nil {
			t.Fatal(err)
		}
		if digest, err := council.Replay(continued); err != nil || digest != whole.Digest {
			t.Errorf("cut after line %d: replay gives %s, %v", cut, digest, err)
		}
	}
	if pending == 0 {
		t.Error("no cut was between the two requests: this test shows nothing")
	}
}

// The second request is held to the limits of the question, like every call. Who raises them goes on with it.
func TestRereadIsWithinTheBudget(t *testing.T) {
	s := llmtest.Start(t, hesitant)
	path := filepath.Join(t.TempDir(), "j")
	text := panelOf(s.URL, "{name: majority}", "late42")
	o := decide(t, convene(t, text, "f=0", "limits.calls=1"), council.Ask{Journal: path})
	if s.Count() != 1 || o.Stopped != outcome.OverBudget {
		t.Errorf("%d requests arrived; stopped %s", s.Count(), o.Stopped)
	}
	run, err := journal.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if o = decide(t, convene(t, text, "f=0", "limits.calls=2"), council.Ask{Resume: run}); s.Count() != 2 ||
		o.Decision != "42" {
		t.Errorf("%d requests arrived; %s %q", s.Count(), o.Stopped, o.Decision)
	}
}

// A Byzantine member that never sends anything readable costs one more call for each of its own answers, and changes
// nothing for others.
func TestUnreadableAdversaryCostsItselfOneCall(t *testing.T) {
	type result struct {
		outcome outcome.Outcome
		byModel map[string]int
	}
	play := func(handler llmtest.Handler, reread string) result {
		s := llmtest.Start(t, handler)
		o := decide(t, convene(t, seven(s.URL, "s42", "s42", "s41", "x1"), "protocol.rounds=3", "f=1",
			"reread="+reread), council.Ask{Seed: 3})
		by := map[string]int{}
		for _, c := range s.Calls() {
			by[c.Model]++
		}
		return result{o, by}
	}
	garbage := func(c llmtest.Call) string {
		if c.Model == "x1" {
			return strings.Repeat(`{"answer": "1", "answer": "2"} `, 50)
		}
		return stubborn(c)
	}
	without, with := play(garbage, "never"), play(garbage, "once")
	for model, n := range without.byModel {
		want := n
		if model == "x1" {
			want = 2 * n
		}
		if with.byModel[model] != want {
			t.Errorf("%s was sent %d requests, want %d", model, with.byModel[model], want)
		}
	}
	if with.byModel["x1"] == 0 || with.outcome.Decision != without.outcome.Decision ||
		with.outcome.Ticks != without.outcome.Ticks ||
		!reflect.DeepEqual(finals(with.outcome), finals(without.outcome)) {
		t.Errorf("%q in %d ticks with second chances, %q in %d without", with.outcome.Decision, with.outcome.Ticks,
			without.outcome.Decision, without.outcome.Ticks)
	}
}

func finals(o outcome.Outcome) string {
	var all []*synod.Answer
	for _, m := range o.Members {
		all = append(all, m.Final)
	}
	b, _ := json.Marshal(all)
	return string(b)
}

// By the clock, both requests have the time of one call: a member whose second reply does not come holds up no round.
func TestRereadHasTheTimeOfOneCall(t *testing.T) {
	s := llmtest.Start(t, hesitant, llmtest.With(func(x *llmtest.Exchange) {
		if x.Said != "" {
			select {
			case <-x.R.Context().Done():
			case <-time.After(20 * time.Second):
			}
		}
		x.OK()
	}))
	c := convene(t, panelOf(s.URL, "{name: rotating-leader}", "late42", "s42", "s42", "s42"), "f=1",
		"runner.name=clock", "pace.think=500ms", "pace.within=50ms")
	o, err := c.Decide(context.Background(), council.Ask{Question: sum})
	if err != nil {
		t.Fatal(err)
	}
	if o.Seconds > 15 || o.Decision != "42" || o.Rereads == 0 {
		t.Errorf("%s %q after %.1f s, %d rereads", o.Status, o.Decision, o.Seconds, o.Rereads)
	}
}
