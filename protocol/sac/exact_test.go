package sac_test

import (
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/script"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/internal/simtest"
	"synod.dev/synod/protocol/sac"
)

// exactly plays four members with exact: paper, of which member 3 writes nothing that can be read as an answer, and
// score calls of member 0 fail. It returns the opinions by member.
func exactly(p *sac.SAC) [][]*synod.Opinion {
	notes := make([][]*synod.Opinion, 4)
	machines := make([]synod.Machine, len(notes))
	for i := range machines {
		machines[i] = p.Join(synod.Seat{Self: synod.NodeID(i), Peers: simtest.Neighbours(4, "complete")[i], F: 1,
			Pace: synod.Pace{Think: 2, Within: 4}, Question: &synod.Question{Text: "?", Form: synod.Number},
			Seed: script.Derive(1, uint64(i))})
	}
	sim.Run(sim.Config{Machines: machines, Ask: sim.Immediate(func(asked []sim.Call) []synod.Reply {
		out := make([]synod.Reply, len(asked))
		for i, c := range asked {
			out[i] = synod.Reply{Status: synod.OK, Text: "Answer: 42"}
			switch purpose := c.Prompt.Purpose; {
			case purpose == synod.Scoring && c.Node == 0:
				out[i] = synod.Reply{Status: synod.Timeout}
			case purpose == synod.Scoring:
				out[i].Text = "0.9"
			case purpose == synod.Answering && c.Node == 3:
				out[i].Text = "I would rather not say."
			}
		}
		return out
	}), Watch: func(_ synod.Tick, all []sim.Noted) string {
		for _, n := range all {
			notes[n.Node] = append(notes[n.Node], n.Opinion)
		}
		return ""
	}})
	return notes
}

// SAC, Appendix B.2: "If parsing fails or the LLM returns an invalid response, the score defaults to 0.5". So a call
// that failed scores 0.5 with exact: paper, and is the lowest without.
func TestExactFailedScore(t *testing.T) {
	p := sac.New()
	p.Paper()
	for _, s := range exactly(p)[0][1].Scores {
		if s.Score != .5 {
			t.Errorf("exact: the score of %d is %v", s.Of, s.Score)
		}
	}
	for _, s := range exactly(sac.New())[0][1].Scores {
		if s.Score != synod.Untrusted {
			t.Errorf("the score of %d is %v", s.Of, s.Score)
		}
	}
}

// SAC, Algorithm 1: every agent scores, filters and refines in every round, whatever its first response was. A member
// whose first reply cannot be read takes over what the others say; without exact: paper it has nothing to refine.
func TestExactUnreadableAnswer(t *testing.T) {
	p := sac.New()
	p.Paper()
	notes := exactly(p)
	if first := notes[3][0]; first.Answer != synod.None {
		t.Fatalf("member 3 begins with %q", first.Answer)
	}
	if o := notes[3][1]; o.Answer != notes[0][0].Answer || len(o.Scores) != 4 || len(o.Retained) != 3 ||
		o.Scores[3].Score != .5 {
		t.Errorf("after round 1 it holds %q, with %d scores and %d retained answers", o.Answer, len(o.Scores),
			len(o.Retained))
	}
	if o := exactly(sac.New())[3][1]; o.Answer != synod.None || len(o.Scores) != 0 {
		t.Errorf("without exact: paper it holds %q, with %d scores", o.Answer, len(o.Scores))
	}
}
