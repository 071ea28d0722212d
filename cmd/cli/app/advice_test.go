package app

import (
	"errors"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
)

// Every ending has its exit code and says what to do next.
func TestAdvice(t *testing.T) {
	lost := outcome.Member{ID: "a1", Model: "m", Calls: counted(synod.Auth),
		Trouble: "the key was refused"}
	mute := outcome.Member{ID: "a2", Model: "m", Calls: counted(synod.Timeout)}
	fine := outcome.Member{ID: "a3", Model: "m", Calls: counted(synod.OK), Final: new(synod.Answer)}
	for _, c := range []struct {
		name string
		o    outcome.Outcome
		code int
		err  string   // "": none
		next []string // parts of it
	}{
		{"a decision", outcome.Outcome{Status: outcome.Agreed, Decision: "4"}, ExitOK, "", nil},
		{"a decision at the deadline",
			outcome.Outcome{Status: outcome.Agreed, Decision: "4", Stopped: outcome.PastTime}, ExitOK, "", nil},
		{"an interruption", outcome.Outcome{Stopped: outcome.Interrupted, Journal: "j", Resumable: true},
			ExitInterrupted, "",
			[]string{"all replies are kept. Resume with:\n  synod ask --resume j"}},
		{"an interruption without a journal", outcome.Outcome{Stopped: outcome.Interrupted, Resumable: true},
			ExitInterrupted, "",
			[]string{"(there is no journal, so the run cannot be resumed)"}},
		{"the deadline", outcome.Outcome{Stopped: outcome.PastTime, Reason: "late", Journal: "a b", Resumable: true},
			ExitDeadline,
			"late", []string{"limits.deadline=…", "synod ask --resume 'a b'"}},
		{"a limit", outcome.Outcome{Stopped: outcome.OverBudget, Reason: "dear", Journal: "j", Resumable: true,
			Exceeded: []outcome.Exceeded{{Name: "limits.calls", Is: "7", Needs: "7 were made"}}},
			ExitBudget, "dear", []string{"limits.calls is 7; 7 were made\nresume with twice the limit",
				"synod ask --resume j"}},
		{"a full disk", outcome.Outcome{Stopped: outcome.Unwritten, Reason: "full", Journal: "j", Resumable: true},
			ExitFailure, "full",
			[]string{"free some disk space", "synod ask --resume j"}},
		{"too few members", outcome.Outcome{Status: outcome.Degraded, Reason: "1 of 3",
			Members: []outcome.Member{lost, mute, fine}},
			ExitDegraded,
			"too few members answered: 1 of 3", []string{"  a1 (m): the key was refused\n  a2 (m): none of its calls " +
				"was answered\nwhat to do:\n  m: "}},
		{"no consensus", outcome.Outcome{Protocol: "sac", Status: outcome.Undecided, Reason: "a tie",
			Members: []outcome.Member{fine}},
			exitUndecided,
			"no consensus: a tie", []string{"more rounds", "--on-no-consensus best-effort"}},
		{"no consensus without some", outcome.Outcome{Status: outcome.Undecided, Reason: "a tie",
			Members: []outcome.Member{fine, lost}},
			exitUndecided, "no consensus: a tie", []string{"more rounds do not change:\n  a1 (m): the key was refused",
				"\nwhat to do:\n  m: "}},
		{"a breaker", outcome.Outcome{Stopped: outcome.Tripped, Status: outcome.Undecided, Journal: "j",
			Resumable: true, Past: []string{"breakers.drift=0"},
			Trip: &outcome.Trip{Breaker: outcome.Drift, Round: 3, Detail: "no closer"},
			Votes: []outcome.Vote{{Answer: "4\n5", Seats: []string{"a1", "a2"}},
				{Answer: "6", Seats: []string{"a3"}}}},
			exitUndecided, "stopped by the breaker drift after round 3: no closer",
			[]string{"candidates: 4 5 (a1, a2); 6 (a3)\ncontinue past the breaker with:\n  synod ask " +
				"--resume j --set breakers.drift=0"}},
		{"a breaker without candidates", outcome.Outcome{Stopped: outcome.Tripped, Status: outcome.Degraded,
			Trip: &outcome.Trip{Breaker: outcome.NoQuorum}},
			ExitDegraded, "stopped by the breaker no-quorum", []string{"no member has an answer"}},
	} {
		next, err := Ask.Advice(&c.o), Ask.Verdict(&c.o)
		var e *Error
		if errors.As(err, &e); e == nil {
			e = &Error{}
		}
		if e.Code != c.code || (e.Err == nil) != (c.err == "") || e.Err != nil &&
			!strings.HasPrefix(e.Err.Error(), c.err) {
			t.Errorf("%s: exit code %d, %v", c.name, e.Code, e.Err)
		}
		for _, part := range c.next {
			if !strings.Contains(next, part) {
				t.Errorf("%s: next is %q; want %q", c.name, next, part)
			}
		}
		if (next == "") != (c.next == nil) || e.Hint != next ||
			c.name == "a breaker without candidates" && next != c.next[0] {
			t.Errorf("%s: next is %q", c.name, next)
		}
	}
}

// counted is a call with this status.
func counted(s synod.Status) (c outcome.StatusCount) {
	c.Count(s)
	return c
}

// Members of one model with the same trouble share a line.
func TestTroublesShareALine(t *testing.T) {
	four := synod.Answer("4")
	o := outcome.Outcome{Members: []outcome.Member{{ID: "a", Model: "m", Trouble: "gone\nforever"},
		{ID: "b", Model: "m", Final: &four},
		{ID: "c", Model: "n", Trouble: "gone forever"}, {ID: "d", Model: "m", Trouble: "gone  forever"}}}
	if got, want := troubles(&o), "  a, d (m): gone forever\n  c (n): gone forever"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// What to do after a panel without a decision has no rounds in it.
func TestOtherSettings(t *testing.T) {
	for _, protocol := range []string{"panel", "sac"} {
		p, err := plan.New(plan.Spec{Protocol: plan.Params{"name": protocol}, F: 1,
			Graph:  plan.Params{"family": "complete"},
			Models: map[string]plan.Params{"m": {"provider": "simulated"}},
			Seats:  []plan.SeatSpec{{ID: "a", Model: "m", Count: 5}}})
		if err != nil {
			t.Fatal(err)
		}
		o := outcome.Outcome{Protocol: protocol, Rule: p.Rule(), Bound: p.Bound(), Status: outcome.Undecided}
		next := Ask.Advice(&o)
		if sac := protocol == "sac"; strings.Contains(next, "rounds") != sac ||
			strings.Contains(next, "grades") == sac || strings.Contains(next, "plurality") != sac {
			t.Errorf("%s: %s", protocol, next)
		}
	}
}

// The command that resumes a run is that of its verb, and there is none for a complete run or without a journal.
func TestResume(t *testing.T) {
	o := outcome.Outcome{Journal: "the j", Resumable: true, Past: []string{"limits.calls=42"}}
	if got, want := Game.Resume(&o), "synod research game --resume 'the j' --set limits.calls=42"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for _, o := range []outcome.Outcome{{Journal: "j"}, {Resumable: true}} {
		if got := Ask.Resume(&o); got != "" {
			t.Errorf("%+v: %q", o, got)
		}
	}
}

func TestShellWord(t *testing.T) {
	for text, want := range map[string]string{
		"plain": "plain", "/runs/a-b_c.jsonl": "/runs/a-b_c.jsonl", "a b": "'a b'", "it's": `'it'\''s'`, "": "''",
		"-rf": "'-rf'", "$HOME": "'$HOME'", "a;b": "'a;b'",
	} {
		if got := ShellWord(text); got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}
