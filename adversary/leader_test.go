package adversary

import (
	"fmt"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/protocol/fixedleader"
	"synod.dev/synod/protocol/grade"
	"synod.dev/synod/protocol/leader"
	"synod.dev/synod/protocol/rotatingleader"
	"synod.dev/synod/script"
	"synod.dev/synod/sign"
	"synod.dev/synod/sim"
)

// led is what honest members of seven hold when the first k seats, which lead first,
// lie: the answer, and the round of its certificate. Seat i answers 9-i, and honest
// members mark an answer by its number, or all answers alike.
func led(t *testing.T, p synod.Protocol, liar string, k int, alike bool) (synod.Answer, int) {
	t.Helper()
	const n, f = 7, 2
	entry, err := Catalogue.Find(liar)
	if err != nil {
		t.Fatal(err)
	}
	a, err := entry.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	keys, q := sign.DeriveSymbolic(1, n), &synod.Question{Text: "?", Form: synod.Number}
	machines := make([]synod.Machine, n)
	for i := range machines {
		seat := synod.Seat{Self: synod.NodeID(i), F: f, Pace: synod.Pace{Think: 2, Within: 4}, Question: q, Seed: script.Derive(1, uint64(i)), Signer: keys.Signer(synod.NodeID(i), "run")}
		for j := range n {
			if j != i {
				seat.Peers = append(seat.Peers, synod.NodeID(j))
			}
		}
		if i < k {
			machines[i] = Seat(a, seat, p.Join)
		} else {
			machines[i] = p.Join(seat)
		}
	}
	last := map[synod.NodeID]*synod.Opinion{}
	sim.Run(sim.Config{Machines: machines, Ask: sim.Immediate(func(calls []sim.Call) []synod.Reply {
		out := make([]synod.Reply, len(calls))
		for i, c := range calls {
			said, mark := synod.Answer(fmt.Sprint(9-c.Node)), 10.0
			if c.Prompt.Purpose == grade.One && (!alike || int(c.Node) < k) {
				mark = min(float64(c.Prompt.Candidate[0]-'0'), 20)
			}
			out[i] = synod.Reply{Status: synod.OK, Typed: true, Answer: said, Text: grade.Uniform(mark).Text()}
		}
		return out
	}), Watch: func(_ synod.Tick, notes []sim.Noted) string {
		for _, x := range notes {
			if int(x.Node) >= k {
				last[x.Node] = x.Opinion
			}
		}
		return ""
	}})
	answer, round := synod.None, 0
	for id, o := range last {
		c := leader.RecordOf(o).Certificate
		if c == nil {
			t.Fatalf("%s: n%d has no decision: %s", liar, id, o)
		}
		if round != 0 && (answer != o.Answer || round != c.Round) {
			t.Fatalf("%s: honest members differ: %s", liar, o)
		}
		answer, round = o.Answer, c.Round
	}
	return answer, round
}

func rotating(propose string) synod.Protocol {
	p := rotatingleader.New()
	p.Propose = propose
	return p
}

func fixed(propose string) synod.Protocol {
	p := fixedleader.New()
	p.Propose = propose
	return p
}

// The inverter as leader proposes the worst answer of all. Where members cannot tell
// answers apart, the twin of a quality vote, it is accepted at once; where they can,
// it is turned down, and the next leader's best is decided.
func TestInverter(t *testing.T) {
	for name, p := range map[string]synod.Protocol{"rotating": rotating("best"), "fixed": fixed("best")} {
		if a, round := led(t, p, "inverter", 1, true); a != "3" || round != 1 {
			t.Errorf("%s: members without judgement decide %s in round %d", name, a, round)
		}
		if a, round := led(t, p, "inverter", 1, false); a != "9" || round == 1 {
			t.Errorf("%s: members with judgement decide %s in round %d", name, a, round)
		}
	}
}

// Byzantine leaders, one after another, cost a view each, or three rounds, and no
// more [I-LB-3]. The equivocator is left out with fixed-leader, which it splits.
func TestLeaderLiars(t *testing.T) {
	for k := 1; k <= 2; k++ {
		for _, liar := range []string{"silent", "inverter", "equivocator"} {
			a, round := led(t, rotating("best"), liar, k, false)
			if round > k+1 || a < synod.Answer(fmt.Sprint(9-k)) {
				t.Errorf("rotating-leader, %d %s: %s in view %d", k, liar, a, round)
			}
			if liar == "equivocator" {
				continue
			}
			a, round = led(t, fixed("best"), liar, k, false)
			if round > 3*k+1 || a < synod.Answer(fmt.Sprint(9-k)) {
				t.Errorf("fixed-leader, %d %s: %s in round %d", k, liar, a, round)
			}
		}
	}
}
