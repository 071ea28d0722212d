package cpwbft_test

import (
	"slices"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/adversary"
	"synod.dev/synod/core/script"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/graph"
	"synod.dev/synod/graph/topology"
	"synod.dev/synod/protocol/cpwbft"
	"synod.dev/synod/protocol/sac"
)

// mind is how a typed member answers, and with which confidence.
type mind struct {
	answer synod.Answer
	sure   float64
}

// council is a graph with a mind at every node, or an adversary.
type council struct {
	protocol    synod.Protocol
	graph       graph.Graph
	minds       []mind
	adversaries map[int]string // adversary by node; each answers "wrong"
}

// run plays it and returns every member's first and last opinion.
func (c council) run(t *testing.T) (first, last []synod.Opinion) {
	t.Helper()
	n := c.graph.N()
	machines := make([]synod.Machine, n)
	for i := range n {
		seat := synod.Seat{Self: synod.NodeID(i), F: 3, Pace: synod.Pace{Think: 2, Within: 4},
			Question: &synod.Question{Text: "?", Form: synod.Text}, Seed: script.Derive(1, uint64(i))}
		for _, j := range c.graph.In(i) {
			seat.Peers = append(seat.Peers, synod.NodeID(j))
		}
		machines[i] = c.protocol.Join(seat)
		if name := c.adversaries[i]; name != "" {
			machines[i] = corrupt(t, name).Corrupt(seat, machines[i])
		}
	}
	first, last = make([]synod.Opinion, n), make([]synod.Opinion, n)
	sim.Run(sim.Config{Machines: machines, Ask: sim.Immediate(func(calls []sim.Call) []synod.Reply {
		out := make([]synod.Reply, len(calls))
		for i, call := range calls {
			out[i] = c.minds[call.Node].reply(call.Prompt)
		}
		return out
	}), Watch: func(_ synod.Tick, notes []sim.Noted) string {
		for _, o := range notes {
			if o.Round == 0 {
				first[o.Node] = *o.Opinion
			}
			last[o.Node] = *o.Opinion
		}
		return ""
	}})
	return first, last
}

func corrupt(t *testing.T, name string) adversary.Adversary {
	t.Helper()
	entry, err := adversary.Catalogue.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	var params map[string]any
	if name == "replay" {
		params = map[string]any{"answer": "wrong"}
	}
	a, err := entry.New(params)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// reply answers typed prompts: a right answer scores 0.9, any other 0.1, and the
// right answer is taken if it is shown.
func (m mind) reply(p *synod.Prompt) synod.Reply {
	r := synod.Reply{Status: synod.OK, Typed: true, Answer: m.answer, Confidence: &m.sure}
	switch p.Purpose {
	case synod.Scoring:
		r.Answer, r.Value = "", 0.1
		if p.Candidate == "right" {
			r.Value = 0.9
		}
	case synod.Refining:
		r.Answer = p.Own
		for _, peer := range p.Peers {
			if peer.Answer == "right" {
				r.Answer = "right"
			}
		}
	}
	return r
}

func build(t *testing.T, family string, seed uint64) topology.Built {
	t.Helper()
	g, err := topology.Build(family, 7, nil, seed)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func count(os []synod.Opinion, a synod.Answer) (n int) {
	for _, o := range os {
		if o.Answer == a {
			n++
		}
	}
	return n
}

// I-CP-4, [CP-7], finding F8: one adversary on a complete graph captures every
// honest member that is not itself certain, and stage 2. It captures none under SAC, which
// ignores what a sender claims about itself. If this fails, the protocol has changed.
func TestOneAdversaryCaptures(t *testing.T) {
	minds := slices.Repeat([]mind{{"right", 0.99}}, 7)
	minds[6] = mind{"wrong", 0.5} // of the adversary that asks its model
	g := build(t, "complete", 0).Graph
	for _, name := range []string{"replay", "overconfident", "weak-answer"} {
		for _, adopt := range []cpwbft.Adopt{cpwbft.Surest, cpwbft.Pooled} {
			for _, rounds := range []int{1, 3} {
				p := cpwbft.New()
				p.Adopt, p.Rounds = adopt, rounds
				_, last := council{p, g, minds, map[int]string{6: name}}.run(t)
				if count(last, "wrong") != 7 || p.Conclude(last) != "wrong" {
					t.Errorf("%s, adopt %s, %d rounds: %d of 7 captured, stage 2 decides %s", name, adopt, rounds,
						count(last, "wrong"), p.Conclude(last))
				}
			}
		}
		_, last := council{sac.New(), g, minds, map[int]string{6: name}}.run(t)
		if count(last[:6], "right") != 6 {
			t.Errorf("%s: SAC keeps %d of 6 honest members", name, count(last[:6], "right"))
		}
	}
}

// Members that are certain keep their answer.
func TestTheCertainStay(t *testing.T) {
	minds := slices.Repeat([]mind{{"right", 1}}, 7)
	_, last := council{cpwbft.New(), build(t, "complete", 0).Graph, minds, map[int]string{6: "replay"}}.run(t)
	if count(last[:6], "right") != 6 {
		t.Errorf("%d of 6 stay", count(last[:6], "right"))
	}
}

// On SAC's MERG with the adversary at 6, nodes 1 and 5 are not its neighbours: in one round they
// keep their answer, and the neighbours lose theirs. In a second round the wrong answer reaches
// nodes 1 and 5 too.
func TestExposureOnMERG(t *testing.T) {
	minds := slices.Repeat([]mind{{"right", 0.9}}, 7)
	g := build(t, "merg", 0).Graph
	for rounds, safe := range map[int][]int{1: {1, 5}, 2: nil} {
		p := cpwbft.New()
		p.Rounds = rounds
		_, last := council{p, g, minds, map[int]string{6: "replay"}}.run(t)
		var kept []int
		for i, o := range last[:6] {
			if o.Answer == "right" {
				kept = append(kept, i)
			}
		}
		if !slices.Equal(kept, safe) {
			t.Errorf("%d rounds: %v keep the right answer, want %v", rounds, kept, safe)
		}
	}
}

// Table 1, traditional agents: with two malicious members of seven, and three on the
// complete graph, at every attacked position FAA is IAA (71.4 %, 57.1 %) and the
// plurality is right (CP-5, CP-6). The paper does not state where its two members are.
func TestTable1Traditional(t *testing.T) {
	for _, row := range []struct {
		family, place string
		malicious     int
	}{
		{"chain", "head", 2}, {"chain", "tail", 2}, {"tree", "leaf", 2}, {"complete", "degree-low", 2},
		{"complete", "degree-low", 3},
		{"layered", "bottom", 2}, {"star", "leaf", 2}, {"star", "centre", 1}, {"random", "degree-low", 2},
	} {
		g := build(t, row.family, 0)
		nodes, err := topology.Place(g, row.place, row.malicious, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		adversaries := map[int]string{}
		for _, i := range nodes {
			adversaries[i] = "replay"
		}
		p := cpwbft.New()
		p.Probe, p.Adopt, p.Rounds = cpwbft.NoProbe, cpwbft.ByNumber, 3
		first, last := council{p, g.Graph, slices.Repeat([]mind{{answer: "right"}}, 7), adversaries}.run(t)
		if was, is := count(first, "right"), count(last, "right"); was != 7-row.malicious || is != was {
			t.Errorf("%s, %s, %d malicious: %d right at first, %d at the end", row.family, row.place, row.malicious,
				was, is)
		}
	}
}

// The pilot study's LLM agents: with six malicious of seven, the star's leaves, all
// that hear the honest centre and can judge adopt its answer by reflection; the
// centre hears only wrong answers, judges them, and keeps its own (CP-5).
func TestReflectionCarriesARightAnswer(t *testing.T) {
	minds := slices.Repeat([]mind{{answer: "wrong"}}, 7)
	minds[0].answer = "right"
	p := cpwbft.New()
	p.Probe, p.Adopt, p.Reflect = cpwbft.NoProbe, cpwbft.Nothing, true
	_, last := council{protocol: p, graph: build(t, "star", 0).Graph, minds: minds}.run(t)
	if count(last, "right") != 7 {
		t.Errorf("%d of 7 end right", count(last, "right"))
	}
	p.Reflect = false
	_, last = council{protocol: p, graph: build(t, "star", 0).Graph, minds: minds}.run(t)
	if count(last, "right") != 1 {
		t.Errorf("without reflection %d of 7 end right", count(last, "right"))
	}
}

// [CP-7] Nothing is guaranteed on any graph.
func TestGuarantee(t *testing.T) {
	for r := range 8 {
		if name, note := cpwbft.New().Guarantee(1, r, true); name != "" || note == "" {
			t.Errorf("r=%d: %q, %q", r, name, note)
		}
	}
}
