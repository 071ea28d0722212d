package adversary

import (
	"synod.dev/synod"
	"synod.dev/synod/protocol/grade"
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
	switch p.Purpose {
	case grade.One:
		g, err := grade.Read(r)
		if err != nil {
			return r
		}
		turned.Text = turn(g).Text()
	case grade.All:
		all, err := grade.ReadAll(r, len(p.Peers))
		if err != nil {
			return r
		}
		for i := range all {
			all[i] = turn(all[i])
		}
		turned.Text = grade.TextOfAll(all)
	case synod.Scoring:
		s, read := read.Score(r, p.Exact)
		if !read {
			return r
		}
		turned.Typed, turned.Value = true, 1-float64(s)
	default:
		return r
	}
	return &turned
}

// turn makes good grades bad ones, and bad ones good.
func turn(g grade.Grades) grade.Grades {
	for i := range g {
		g[i] = grade.Max - g[i]
	}
	return g
}
