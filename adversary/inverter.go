package adversary

import (
	"synod.dev/synod"
	"synod.dev/synod/protocol/grade"
)

var inverterEntry = Entry{
	Entry: synod.Entry{Name: "inverter",
		Summary: "inverts its grades, so that it proposes the worst answer and votes against the best"},
	Facts: Facts{Place: AtSeat, Model: Restricted, Where: judging, Defence: "votes of a quorum; the median of " +
		"judgements",
		Kind: Statistical, Source: "DecentLLMs §II, Fig. 1"},
	About: `Answers as an honest member does, and inverts every grade and score of its model: the
best possible becomes the worst. As a leader that proposes what it grades highest it
proposes the worst answer; as a voter it rejects what is better than its own answer; as
an evaluator it grades good answers low. None of its messages is malformed.`,
	New: NoParams(inverter{}),
}

type inverter struct{}

func (inverter) Steady() bool { return true }

func (inverter) Corrupt(_ synod.Seat, honest synod.Machine) synod.Machine {
	return &PromptAnswerer{Honest: honest, Replace: invert}
}

// invert inverts a judgement that can be read, and returns every other reply unchanged.
func invert(p *synod.Prompt, r *synod.Reply) *synod.Reply {
	inverted := *r // with the model's cost
	switch p.Purpose {
	case grade.One:
		g, err := grade.Read(r)
		if err != nil {
			return r
		}
		inverted.Text = invertGrades(g).Text()
	case grade.All:
		all, err := grade.ReadAll(r, len(p.Peers))
		if err != nil {
			return r
		}
		for i := range all {
			all[i] = invertGrades(all[i])
		}
		inverted.Text = grade.TextOfAll(all)
	case synod.Scoring, synod.Weighing:
		return moved(p, r, func(_ synod.Answer, judgement float64) float64 { return 1 - judgement })
	default:
		return r
	}
	return &inverted
}

// invertGrades turns good grades into bad ones and bad ones into good.
func invertGrades(g grade.Grades) grade.Grades {
	for i := range g {
		g[i] = grade.Max - g[i]
	}
	return g
}
