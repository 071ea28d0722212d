package council_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"synod.dev/synod/core/journal"
	"synod.dev/synod/council"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/llmtest"
)

// slowScoring answers at once with the number in the name of the model, but a model called
// slow… takes a minute to score.
func slowScoring(x *llmtest.Exchange) {
	if x.Call.Scoring() {
		llmtest.Hang(time.Minute)(x)
		return
	}
	x.OK()
}

func slowAnswer(x *llmtest.Exchange) {
	if !x.Call.Scoring() {
		llmtest.Hang(time.Minute)(x)
		return
	}
	x.OK()
}

// All members said 42, and one later call is slow: the answer comes without it.
func TestDecidedBeforeASlowCall(t *testing.T) {
	s := llmtest.Start(t, stubborn, llmtest.For("slow42", slowScoring))
	path := filepath.Join(t.TempDir(), "j")
	start := time.Now()
	o := decide(t, convene(t, seven(s.URL, "s42", "s42", "slow42"), "f=1", "limits.deadline=30s"),
		council.Ask{Journal: path})
	if took := time.Since(start); took > 15*time.Second {
		t.Errorf("it took %v", took)
	}
	if o.Status != outcome.Agreed || o.Decision != "42" || o.Stopped != outcome.Early {
		t.Errorf("%s %s, stopped %s", o.Status, o.Reason, o.Stopped)
	}
	if o.Bound.Guarantee == plan.None || !strings.Contains(o.Bound.Note, "(a2) used up 1 of F=1") {
		t.Errorf("the round was played without a seat: %+v", o.Bound)
	}
	sameFromJournal(t, o, path)
}

// In a protocol of one round the slowest member is not waited for when the others decide.
func TestDecidedWithoutTheSlowest(t *testing.T) {
	s := llmtest.Start(t, stubborn, llmtest.For("slow42", slowAnswer))
	for rule, want := range map[string]string{"majority": outcome.Agreed, "supermajority": outcome.Degraded} {
		path := filepath.Join(t.TempDir(), rule)
		o := decide(t, convene(t, seven(s.URL, "s42", "s42", "s41", "slow42"), "protocol={name: majority}", "f=0",
			"rule.name="+rule, "limits.deadline=3s", "seats=[{id: a, model: m0, count: 2}, {id: b, model: m3}]"),
			council.Ask{Journal: path})
		if rule == "majority" && (o.Status != want || o.Stopped != "rounds") {
			t.Errorf("%s: %s %s, stopped %s", rule, o.Status, o.Reason, o.Stopped)
		}
		sameFromJournal(t, o, path)
	}
	// Two against one: a third 41 would make a tie.
	o := decide(t, convene(t, seven(s.URL, "s42", "s42", "s41", "slow42"), "protocol={name: majority}", "f=0",
		"rule.name=plurality", "limits.deadline=2s"), council.Ask{})
	if o.Answered() || o.Stopped != outcome.PastTime {
		t.Errorf("%s %v, stopped %s", o.Status, o.Answer, o.Stopped)
	}
}

// The deadline ends a run whose rule is met: the answer is printed, with the guarantee that
// holds. A rule that is not met stays undecided. The journal has the same result.
func TestDeadlineKeepsTheDecision(t *testing.T) {
	s := llmtest.Start(t, stubborn, llmtest.For("slow42", slowScoring), llmtest.For("never42", slowAnswer))
	for _, c := range []struct {
		name, sets, status string
		models             []string
		answered           bool
	}{
		{"met by all", "", outcome.Agreed, []string{"s42", "s42", "s42", "s41", "slow42"}, true},
		{"met without one", "", outcome.Degraded, []string{"s42", "s42", "s42", "s41", "never42"}, true},
		{"not met", "", outcome.Undecided, []string{"s42", "s42", "s41", "s41", "never42"}, false},
		{"a plurality that the missing may change", "rule.name=plurality", outcome.Undecided,
			[]string{"s42", "s42", "s41", "s43", "never42"}, false},
		{"support", "rule.support=4", outcome.Undecided, []string{"s42", "s42", "s42", "s41", "s41"}, false},
	} {
		path := filepath.Join(t.TempDir(), "j")
		if c.sets == "" {
			c.sets = "exact=paper"
		}
		if c.name == "support" {
			c.models[4] = "never42"
		}
		sets := []string{c.sets, "f=1", "limits.deadline=1500ms"}
		if c.sets != "exact=paper" {
			sets = append(sets, "patience.spare=0")
		}
		o := decide(t, convene(t, seven(s.URL, c.models...), sets...),
			council.Ask{Journal: path})
		if o.Status != c.status || o.Answered() != c.answered || o.Stopped != outcome.PastTime {
			t.Errorf("%s: %s %s, answered %v, stopped %s", c.name, o.Status, o.Reason, o.Answered(), o.Stopped)
		}
		if c.answered && o.Bound.Guarantee != plan.None {
			t.Errorf("%s: %+v", c.name, o.Bound)
		}
		if !c.answered && o.Problem() != o.Reason {
			t.Errorf("%s: %s", c.name, o.Problem())
		}
		sameFromJournal(t, o, path)
		if run, err := journal.Load(path); err != nil || run.End == nil || !outcome.Unfinished(run) {
			t.Errorf("%s: %v, end %v", c.name, err, run.End)
		}
	}
}

// A budget that ends a run after some rounds leaves the guarantee of those rounds.
func TestBudgetKeepsTheGuaranteeOfPlayedRounds(t *testing.T) {
	s := llmtest.Start(t, stubborn)
	path := filepath.Join(t.TempDir(), "j")
	o := decide(t, convene(t, seven(s.URL, fiveToTwo...), "exact=paper", "limits.calls=130"),
		council.Ask{Journal: path})
	if o.Decision != "42" || o.Stopped != outcome.OverBudget || o.Bound.Guarantee != "4.3" ||
		!strings.Contains(o.Bound.Note, "it holds for the 2 of 6 rounds that every member finished") {
		t.Errorf("%s %s, stopped %s, %+v", o.Status, o.Reason, o.Stopped, o.Bound)
	}
	sameFromJournal(t, o, path)
}
