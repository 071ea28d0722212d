package selfconsistency_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"synod.dev/synod"
	"synod.dev/synod/core/script"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/protocol/majority"
	"synod.dev/synod/protocol/sac"
	"synod.dev/synod/protocol/selfconsistency"
)

// [LB-4] Equal call budget: on any degrees and rounds, all members together may
// make exactly the calls that SAC plans.
func TestBudgetIsSACs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		degrees := rapid.SliceOfN(rapid.IntRange(0, 20), 1, 20).Draw(t, "degrees")
		p, s := selfconsistency.New(), sac.New()
		p.Budget, p.Rounds = selfconsistency.SAC, rapid.IntRange(0, 10).Draw(t, "rounds")
		s.Rounds = p.Rounds
		if got, want := p.Calls(degrees), s.Calls(degrees); got != want {
			t.Fatalf("%d calls, SAC plans %d", got, want)
		}
	})
}

// ask plays three members without neighbours and returns what they decide.
func ask(join func(synod.Seat) synod.Machine, model func(*synod.Prompt) string) (decided map[synod.NodeID]synod.Answer,
	seeds map[uint64]int) {
	seeds = map[uint64]int{}
	machines := make([]synod.Machine, 3)
	for i := range machines {
		machines[i] = join(synod.Seat{Self: synod.NodeID(i), Pace: synod.Pace{Think: 2, Within: 4},
			Question: &synod.Question{Text: "?", Form: synod.Number}, Seed: script.Derive(1, uint64(i))})
	}
	res := sim.Run(sim.Config{Machines: machines, Ask: sim.Immediate(func(calls []sim.Call) []synod.Reply {
		out := make([]synod.Reply, len(calls))
		for i, c := range calls {
			seeds[c.Prompt.Seed]++
			out[i] = synod.Reply{Status: synod.OK, Text: "Answer: " + model(c.Prompt)}
		}
		return out
	})})
	return res.Decided, seeds
}

// Every sample of every member has a seed of its own, with exact: paper too.
func TestEverySampleHasItsSeed(t *testing.T) {
	for _, exact := range []bool{false, true} {
		p := selfconsistency.New()
		if p.Samples = 20; exact {
			p.Paper()
		}
		if _, seeds := ask(p.Join, func(*synod.Prompt) string { return "4" }); len(seeds) != 60 || seeds[0] > 0 {
			t.Errorf("exact %v: %d seeds in 60 calls", exact, len(seeds))
		}
	}
}

// With models that are right in most samples, the plurality of many is right where
// a single one is not; with greedy ones it is the majority vote.
func TestSamplesHelpAndGreedyOnesDoNot(t *testing.T) {
	noisy := func(q *synod.Prompt) string {
		if q.Seed%10 < 6 {
			return "42"
		}
		return fmt.Sprint(q.Seed % 1000)
	}
	p := selfconsistency.New()
	p.Samples = 101
	decided, _ := ask(p.Join, noisy)
	for id, a := range decided {
		if a != "42" {
			t.Errorf("member %d decides %s", id, a)
		}
	}
	greedy := func(q *synod.Prompt) string { return "41" }
	often, _ := ask(p.Join, greedy)
	once, _ := ask(majority.New().Join, greedy)
	if fmt.Sprint(often) != fmt.Sprint(once) {
		t.Errorf("greedy members decide %v often and %v once", often, once)
	}
}

// Of answers that are as frequent as each other the first one is held.
func TestTieOfSamples(t *testing.T) {
	p := selfconsistency.New()
	p.Samples = 5
	calls := 0
	decided, _ := ask(p.Join, func(*synod.Prompt) string {
		calls++
		return []string{"3", "8", "4", "8", "4"}[(calls-1)%5]
	})
	if decided[0] != "8" {
		t.Errorf("member 0 decides %s of 3, 8, 4, 8 and 4", decided[0])
	}
}
