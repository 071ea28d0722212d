package council

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/sim"
)

// A round in which nothing changed and no call failed is a fixed point; seats that patience made late need not be
// waited for if they are few and the decision is the same without them.
func TestFixedPoints(t *testing.T) {
	const spare = "f: 1\npatience: {spare: 1}\n"
	for _, c := range []struct {
		name, council string
		rounds        []string
		faulty, kept  []synod.NodeID // in the last round
		change        func(last []sim.Noted)
		want          bool
		complete      int
	}{
		{"the first answers", "", []string{"1 1 1"}, nil, nil, nil, false, 0},
		{"nothing changes", "", []string{"1 2 1", "1 2 1"}, nil, nil, nil, true, 1},
		{"one changes", "", []string{"1 2 1", "1 1 1"}, nil, nil, nil, false, 1},
		{"it changed before", "", []string{"1 2 1", "1 1 1", "1 1 1"}, nil, nil, nil, true, 2},
		{"one is missing", "", []string{"1 2 1", "1 2 ."}, nil, nil, nil, false, 0},
		{"one never noted", "", []string{"1 1 .", "1 1 ."}, nil, nil, nil, true, 1},
		{"one has no answer", "", []string{"1 1 -", "1 1 -"}, nil, nil, nil, false, 1},
		{"a call failed", "", []string{"1 1 1", "1 1 1"}, nil, nil, func(n []sim.Noted) { n[1].Failed = 1 }, false, 1},
		{"a confidence appears", "", []string{"1 1 1", "1 1 1"}, nil, nil,
			func(n []sim.Noted) { n[1].Confidence = new(float64) }, false, 1},
		{"random faults", "faults: {loss: 0.1}\n", []string{"1 1 1", "1 1 1"}, nil, nil, nil, false, 1},

		{"a late seat that agrees", spare, []string{"1 1 1", "1 1 2"}, []synod.NodeID{2}, nil, nil, true, 1},
		{"two late seats and one to spare", spare, []string{"1 1 1 1 1", "1 1 1 2 2"}, []synod.NodeID{3, 4}, nil, nil,
			false, 1},
		{"a late seat that decides", spare, []string{"1 1 2 2 1", "1 1 2 2 1"}, []synod.NodeID{4}, nil, nil, false, 1},
		{"a late seat, no decision", spare, []string{"1 2 3", "1 2 3"}, []synod.NodeID{2}, nil, nil, false, 1},
		{"a seat kept its answer", spare, []string{"1 1 1", "1 1 1"}, nil, []synod.NodeID{2}, nil, true, 1},
		{"two seats kept the answer of all", spare, []string{"1 1 1", "1 1 1"}, nil, []synod.NodeID{1, 2}, nil, true,
			1},
		{"two seats kept other answers", spare, []string{"1 1 1 2 2", "1 1 1 2 2"}, nil, []synod.NodeID{3, 4}, nil,
			false, 1},
		{"one seat kept another answer", spare, []string{"1 1 1 2", "1 1 1 2"}, nil, []synod.NodeID{3}, nil, true, 1},
		{"one is late and one kept another answer", spare, []string{"1 1 1 2 1", "1 1 1 2 1"}, []synod.NodeID{4},
			[]synod.NodeID{3}, nil, false, 1},
	} {
		f := newFixedPoint(planOf(t, len(strings.Fields(c.rounds[0])), c.council))
		for again := range 2 { // and after a reset
			got := false
			for round, answers := range c.rounds {
				last := round == len(c.rounds)-1
				notes := heard(round, answers)
				if last && c.change != nil {
					c.change(notes)
				}
				settled := f.after(notes, func(n sim.Noted) (faulty, kept bool) {
					return last && slices.Contains(c.faulty, n.Node), last && slices.Contains(c.kept, n.Node)
				})
				if settled && !last {
					t.Errorf("%s: settled after round %d", c.name, round)
				}
				got = settled
			}
			if got != c.want || f.complete != c.complete {
				t.Errorf("%s, run %d: settled %v, want %v; complete up to %d, want %d", c.name, again, got, c.want,
					f.complete,
					c.complete)
			}
			f.reset()
			if f.complete != -1 {
				t.Errorf("%s: after a reset round %d is complete", c.name, f.complete)
			}
		}
	}
}

func TestEqualConfidence(t *testing.T) {
	half, same, other := 0.5, 0.5, 0.6
	for _, c := range []struct {
		a, b *float64
		want bool
	}{{nil, nil, true}, {&half, nil, false}, {nil, &half, false}, {&half, &same, true}, {&half, &other, false}} {
		if got := equalConfidence(c.a, c.b); got != c.want {
			t.Errorf("%v and %v: %v", c.a, c.b, got)
		}
	}
}

// An adversary that changes its messages by itself rules a fixed point out; one that only repeats does not.
func TestWhoAllowsAnEarlyEnd(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, "protocol: {name: game}\n": false, "faults: {loss: 0.1}\n": false,
		"faults: {crashes: [{node: 0, at: 1s}]}\n":                    false,
		"adversaries: {adversary: {name: replay}, seats: [a1]}\n":     true,
		"adversaries: {adversary: {name: oscillator}, seats: [a1]}\n": false,
	} {
		if p := planOf(t, 4, text); p.mayEndEarly() != want {
			t.Errorf("%q: a run may end early: %v", text, !want)
		}
	}
}

// cut makes the outcome of a run that the given reason ended; a round for each string of answers.
func cut(t *testing.T, p *Plan, stopped string, rounds ...string) Outcome {
	t.Helper()
	records := make([]Record, len(p.seats))
	for i := range records {
		records[i] = Record{Seat: synod.NodeID(i), Stopped: stopped}
	}
	for round, answers := range rounds {
		for _, n := range heard(round, answers) {
			r := &records[n.Node]
			r.Opinions = append(r.Opinions, Noted{synod.Tick(round), n.Opinion})
		}
	}
	return Judge(p, Instance{Question: synod.Question{Text: "?", Form: synod.Number}}, records)
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
		if whole.Guarantee == None {
			t.Fatalf("%s: there is no claim: %s", c.name, whole.Note)
		}
		if (b.Guarantee != None) != c.holds || !strings.Contains(b.Note, c.note) || c.note == "" && b != whole {
			t.Errorf("%s: %s, %q; want %q", c.name, b.Guarantee, b.Note, c.note)
		}
	}
}
