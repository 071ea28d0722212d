package adversary

import (
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/read"
)

var inverterEntry = Entry{
	Entry: synod.Entry{Name: "inverter", Summary: "marks the wrong way round, so that it proposes the worst and votes against the best"},
	About: `Answers as an honest member does, and turns every mark and score of its model over:
the best possible becomes the worst. As a leader that proposes what it marks highest it
proposes the worst answer there is; as a voter it turns down what beats its own; as an
evaluator it marks good answers down. Nothing of it is malformed.`,
	New: plain(inverter{}),
}

type inverter struct{}

// Steady: its words change only where its model's do.
func (inverter) Steady() bool { return true }

func (inverter) Corrupt(_ synod.Seat, honest synod.Machine) synod.Machine {
	return &mouth{honest: honest, says: func(*synod.Prompt) *synod.Reply { return nil }, replaces: invert}
}

// invert turns a reply over that can be read, and leaves every other as it is.
func invert(p *synod.Prompt, r *synod.Reply) *synod.Reply {
	turned := *r // its cost stays what it was
	turned.Typed = true
	switch p.Purpose {
	case synod.Grading:
		g, err := read.Grades(r)
		if err != nil {
			return r
		}
		turn(&g)
		turned.Grades = &g
	case synod.GradeAll:
		sheet, err := read.AllGrades(r, len(p.Peers))
		if err != nil {
			return r
		}
		turned.Sheet = slices.Clone(sheet)
		for i := range turned.Sheet {
			turn(&turned.Sheet[i])
		}
	case synod.Scoring:
		s, ok := read.Score(r, p.Exact)
		if !ok {
			return r
		}
		turned.Value = 1 - float64(s)
	default:
		return r
	}
	return &turned
}

// turn makes good marks bad ones.
func turn(g *synod.Grades) {
	for i := range g {
		g[i] = synod.MaxGrade - g[i]
	}
}
