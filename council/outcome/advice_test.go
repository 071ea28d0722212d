package outcome

import (
	"slices"
	"strings"
	"testing"

	"synod.dev/synod"
)

// Every ending has its exit code and says what to do next.
func TestAdvice(t *testing.T) {
	const resume = "synod ask --resume %s"
	lost := Member{ID: "a1", Model: "m", Calls: StatusCount{}.with(synod.Auth), Trouble: "the key was refused"}
	mute := Member{ID: "a2", Model: "m", Calls: StatusCount{}.with(synod.Timeout)}
	fine := Member{ID: "a3", Model: "m", Calls: StatusCount{}.with(synod.OK), Final: new(synod.Answer)}
	for _, c := range []struct {
		name string
		o    Outcome
		code int
		err  string   // "": none
		next []string // parts of it
	}{
		{"a decision", Outcome{Status: Agreed, Decision: "4"}, ExitAgreed, "", nil},
		{"a decision at the deadline", Outcome{Status: Agreed, Decision: "4", Stopped: PastTime}, ExitAgreed, "", nil},
		{"an interruption", Outcome{Stopped: Interrupted, Journal: "j", Resume: resume}, ExitInterrupted, "",
			[]string{"all replies are kept. Resume with:\n  synod ask --resume j"}},
		{"an interruption without a journal", Outcome{Stopped: Interrupted, Resume: resume}, ExitInterrupted, "",
			[]string{"(there is no journal, so the run cannot be resumed)"}},
		{"the deadline", Outcome{Stopped: PastTime, Reason: "late", Journal: "a b", Resume: resume}, ExitDeadline,
			"late", []string{"limits.deadline=…", "synod ask --resume 'a b'"}},
		{"a limit", Outcome{Stopped: OverBudget, Reason: "dear", Journal: "j", Resume: resume,
			Exceeded: []Exceeded{{"limits.calls", "7", "7 were made"}}},
			ExitBudget, "dear", []string{"limits.calls is 7; 7 were made\nresume with twice the limit",
				"synod ask --resume j"}},
		{"a full disk", Outcome{Stopped: Unwritten, Reason: "full", Journal: "j", Resume: resume}, ExitError, "full",
			[]string{"free some disk space", "synod ask --resume j"}},
		{"too few members", Outcome{Status: Degraded, Reason: "1 of 3", Members: []Member{lost, mute, fine}},
			ExitDegraded,
			"too few members answered: 1 of 3", []string{"  a1 (m): the key was refused\n  a2 (m): none of its calls " +
				"was answered\nwhat to do:\n  m: "}},
		{"no consensus", Outcome{Protocol: "sac", Status: Undecided, Reason: "a tie", Members: []Member{fine}},
			ExitUndecided,
			"no consensus: a tie", []string{"more rounds", "--on-no-consensus best-effort"}},
		{"no consensus without some", Outcome{Status: Undecided, Reason: "a tie", Members: []Member{fine, lost}},
			ExitUndecided, "no consensus: a tie", []string{"more rounds do not change:\n  a1 (m): the key was refused",
				"\nwhat to do:\n  m: "}},
		{"a breaker", Outcome{Stopped: Tripped, Status: Undecided, Journal: "j",
			Resume: resume + " --set breakers.drift=0",
			Trip:   &Trip{Breaker: Drift, Round: 3, Detail: "no closer"},
			Votes:  []Vote{{Answer: "4\n5", Seats: []string{"a1", "a2"}}, {Answer: "6", Seats: []string{"a3"}}}},
			ExitUndecided, "stopped by the breaker drift after round 3: no closer",
			[]string{"candidates: 4 5 (a1, a2); 6 (a3)\ncontinue past the breaker with:\n  synod ask " +
				"--resume j --set breakers.drift=0"}},
		{"a breaker without candidates", Outcome{Stopped: Tripped, Status: Degraded, Trip: &Trip{Breaker: NoQuorum}},
			ExitDegraded, "stopped by the breaker no-quorum", []string{"no member has an answer"}},
	} {
		a := c.o.Advice()
		if a.Code != c.code || (a.Err == nil) != (c.err == "") || a.Err != nil && !strings.HasPrefix(a.Err.Error(),
			c.err) {
			t.Errorf("%s: exit code %d, %v", c.name, a.Code, a.Err)
		}
		for _, part := range c.next {
			if !strings.Contains(a.Next, part) {
				t.Errorf("%s: next is %q; want %q", c.name, a.Next, part)
			}
		}
		if (a.Next == "") != (c.next == nil) || c.name == "a breaker without candidates" && a.Next != c.next[0] {
			t.Errorf("%s: next is %q", c.name, a.Next)
		}
	}
}

// A member without an answer says why, and members of one model with the same trouble share
// a line.
func TestWhyMembersLackAnAnswer(t *testing.T) {
	four := synod.Answer("4")
	count := func(all ...synod.Status) (c StatusCount) {
		for _, s := range all {
			c = c.with(s)
		}
		return c
	}
	for want, m := range map[string]Member{
		"it was not asked":    {},
		"the key was refused": {Trouble: "the key was refused", First: &four},
		"it gave an answer first, but has none at the end":   {First: &four, Calls: count(synod.OK)},
		"it answered, and none of its answers could be read": {Calls: count(synod.Unreadable)},
		"none of its calls was answered":                     {Calls: count(synod.Dropped, synod.Timeout)},
	} {
		if got := m.lacking(); got != want {
			t.Errorf("%+v: %q, want %q", m, got, want)
		}
	}
	if m := (&Member{Calls: count(synod.OK, synod.Timeout)}); m.lacking() != "it answered, and none of its answers "+
		"could be read" {
		t.Error(m.lacking())
	}
	o := Outcome{Members: []Member{{ID: "a", Model: "m", Trouble: "gone\nforever"}, {ID: "b", Model: "m", Final: &four},
		{ID: "c", Model: "n", Trouble: "gone forever"}, {ID: "d", Model: "m", Trouble: "gone  forever"}}}
	if got, want := o.troubles(), "  a, d (m): gone forever\n  c (n): gone forever"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Advice about failures comes once a model, for members none of whose calls succeeded.
func TestRemedies(t *testing.T) {
	refused := StatusCount{}.with(synod.Auth)
	o := Outcome{Members: []Member{
		{ID: "a", Model: "m", Calls: refused, Trouble: "401"}, {ID: "b", Model: "m", Calls: refused, Trouble: "401"},
		{ID: "c", Model: "n", Calls: refused.with(synod.OK), Trouble: "401"}, {ID: "d", Model: "o"},
		{ID: "e", Model: "p", Calls: refused.with(synod.Timeout), Trouble: "401"},
	}}
	lines := strings.Split(o.remedies(), "\n")
	named := make([]string, len(lines))
	for i, line := range lines {
		named[i], _, _ = strings.Cut(strings.TrimSpace(line), ":")
	}
	if !slices.Equal(named, []string{"m", "p"}) {
		t.Errorf("advice about %v: %q", named, lines)
	}
	if none := (&Outcome{}).remedies(); none != "" {
		t.Errorf("advice about nobody: %q", none)
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
