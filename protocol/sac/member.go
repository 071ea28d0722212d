package sac

import (
	"cmp"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/protocol/answer"
)

// member is one seat playing.
type member struct {
	*SAC
	*answer.Member
	prompts []synod.Prompt // scratch of score
	peers   []synod.Rated  // scratch of refine
}

// note records r_i^(t) and how it came about.
func (m *member) note(t int, r answer.Held, v verdict) {
	o := synod.Opinion{Dropped: v.dropped, Silent: v.silent}
	if t > 0 {
		o.Scores = make([]synod.Judged, 0, len(v.scored)+1)
		for _, j := range v.scored {
			o.Scores = append(o.Scores, synod.Judged{Of: j.From, Score: j.score})
		}
		if r.Answer != synod.None {
			self := synod.Judged{Of: m.Me.Seat().Self, Score: v.self}
			at, _ := slices.BinarySearchFunc(o.Scores, self, func(a, b synod.Judged) int { return cmp.Compare(a.Of, b.Of) })
			o.Scores = slices.Insert(o.Scores, at, self)
		}
		o.Retained = make([]synod.NodeID, len(v.retained))
		for i, j := range v.retained {
			o.Retained[i] = j.From
		}
	}
	m.Note(t, r, o)
}
