package outcome

import (
	"fmt"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/council/plan"
)

// cut makes the outcome of a run that the given reason ended; a round for each string of answers.
func cut(t *testing.T, p *plan.Plan, stopped string, rounds ...string) Outcome {
	t.Helper()
	records := make([]Record, len(p.Seats()))
	for i := range records {
		records[i] = Record{Seat: synod.NodeID(i), Stopped: stopped}
	}
	for round, answers := range rounds {
		for _, n := range heard(round, answers) {
			r := &records[n.Node]
			r.Opinions = append(r.Opinions, Noted{synod.Tick(round), n.Opinion})
		}
	}
	return Judge(p, plan.Instance{Question: synod.Question{Text: "?", Form: synod.Number}}, records)
}

// A run that was cut off keeps a decision that the rest of it cannot change, and no other.
func TestDecisionsOfRunsThatWereCutOff(t *testing.T) {
	const sac, plurality, majority = "", "rule: {name: plurality}\n", "protocol: {name: majority}\n"
	own := func(rounds int) string {
		return fmt.Sprintf("protocol: {name: cp-wbft, rounds: %d}\nrule: {name: protocol}\n", rounds)
	}
	for _, c := range []struct {
		name, council, stopped string
		rounds                 []string
		status, answer, reason string
	}{
		{"the deadline", sac, PastTime, []string{"1 1 1 2 3"}, Agreed, "1", "3 of 5 chose 1"},
		{"a limit", sac, OverBudget, []string{"1 1 1 2 3"}, Agreed, "1", "; a limit on calls"},
		{"some have no answer", sac, PastTime, []string{"1 1 1 - -"}, Degraded, "1",
			"; [a4 a5] had no answer yet; the deadline"},
		{"one has noted nothing", sac, PastTime, []string{"1 1 1 2 ."}, Degraded, "1", "; [a5] had no answer yet"},
		{"no majority yet", sac, PastTime, []string{"1 1 2 2 -"}, Undecided, "",
			"the deadline passed; until then 2 of 5"},
		{"an interruption", sac, Interrupted, []string{"1 1 1 1 1"}, Undecided, "",
			"the run was interrupted; until then"},
		{"a full disk", sac, Unwritten, []string{"1 1 1 1 1"}, Undecided, "", "could not be written"},
		{"a stall", sac, sim.Stalled, []string{"1 1 1 1 1"}, Undecided, "", "the run stalled"},
		{"a plurality that leads by more", plurality, PastTime, []string{"1 1 1 2 -"}, Degraded, "1", ""},
		{"a plurality that leads by as much", plurality, PastTime, []string{"1 1 2 -"}, Undecided, "", ""},
		{"a plurality that nobody opposes", plurality, PastTime, []string{"1 1 1 - -"}, Degraded, "1", ""},
		{"a plurality and nobody missing", plurality, PastTime, []string{"1 1 2"}, Agreed, "1", ""},
		{"a tie of pluralities", plurality, PastTime, []string{"1 1 2 2"}, Undecided, "", "a tie"},
		{"a protocol's own step before the last round", own(2), PastTime, []string{"1 1 1", "1 1 1"}, Undecided, "",
			""},
		{"a protocol's own step after the last round", own(1), PastTime, []string{"1 1 1", "1 1 1"}, Agreed, "1", ""},
		{"a protocol's own step with one missing", own(1), PastTime, []string{"1 1 1 -", "1 1 1 -"}, Undecided, "", ""},
		{"votes end the game", "protocol: {name: game, rounds: 1}\nf: 0\n", PastTime, []string{"1 1 1", "1 1 1"},
			Undecided,
			"", "no vote ended the game"},
		{"one round", majority, PastTime, []string{"1 1 1 2 -"}, Degraded, "1", ""},
	} {
		o := cut(t, planOf(t, len(strings.Fields(c.rounds[0])), c.council), c.stopped, c.rounds...)
		if o.Status != c.status || string(o.Decision) != c.answer || !strings.Contains(o.Reason, c.reason) ||
			(o.Answer == nil) != (c.answer == "") || o.Answered() != (c.answer != "") {
			t.Errorf("%s: %s %q, %s; want %s %q, %s", c.name, o.Status, string(o.Decision), o.Reason, c.status,
				c.answer,
				c.reason)
		}
	}
}

// The claim of a run whose last rounds were not played holds for the rounds that all have finished, or not at all.
func TestClaimsOfRunsThatWereCutOff(t *testing.T) {
	const sac, wmsr = "protocol: {name: sac, rounds: 3}\nf: 1\n", "protocol: {name: w-msr, rounds: 3}\nf: 1\n"
	for _, c := range []struct {
		name, council, stopped string
		rounds                 []string
		note                   string
		holds                  bool
	}{
		{"no round", sac, PastTime, []string{"1 1 1 1 1"}, "before all members had finished a round of exchange",
			false},
		{"one round", sac, PastTime, []string{"1 1 1 1 1", "1 1 1 1 1"},
			"it holds for the 1 of 3 rounds that every member", true},
		{"one round, one seat silent", sac, PastTime, []string{"1 1 1 1 .", "1 1 1 1 ."}, "for the 1 of 3 rounds",
			true},
		{"one round, two seats silent", sac, PastTime, []string{"1 1 1 . .", "1 1 1 . ."}, "a round of exchange",
			false},
		{"one round, of which one seat has not finished any", sac, PastTime, []string{"1 1 1 1 1", "1 1 1 1 .",
			"1 1 1 1 ."},
			"a round of exchange", false},
		{"two rounds of the slowest", sac, PastTime, []string{"1 1 1 1 1", "1 1 1 1 1", "1 1 1 1 1", ". 1 1 1 1"},
			"for the 2 of 3 rounds", true},
		{"all rounds", sac, PastTime, []string{"1 1 1 1 1", "1 1 1 1 1", "1 1 1 1 1", "1 1 1 1 1"}, "", true},
		{"an early end without a round", sac, Early, []string{"1 1 1 1 1"}, "a round of exchange", false},
		{"an early end after a round", sac, Early, []string{"1 1 1 1 1", "1 1 1 1 1"}, "", true},
		{"a claim about the whole run", wmsr, PastTime, []string{"1 1 1 1 1", "1 1 1 1 1"},
			"the run ended after round 1 of 3, and the claim is about all rounds", false},
	} {
		p := planOf(t, 5, c.council)
		b := cut(t, p, c.stopped, c.rounds...).Bound
		whole := p.Bound()
		if whole.Guarantee == plan.None {
			t.Fatalf("%s: there is no claim: %s", c.name, whole.Note)
		}
		if (b.Guarantee != plan.None) != c.holds || !strings.Contains(b.Note, c.note) || c.note == "" && b != whole {
			t.Errorf("%s: %s, %q; want %q", c.name, b.Guarantee, b.Note, c.note)
		}
	}
}
