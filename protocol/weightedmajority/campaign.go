package weightedmajority

import (
	"synod.dev/synod"
	"synod.dev/synod/internal/reference"
	"synod.dev/synod/protocol/check"
)

// campaign is how campaigns try the protocol.
var campaign = func() check.Subject {
	s := check.Ordinary(6, "{}").At(16)
	s.Relies = []string{"WI-1"}
	s.Watch, s.Check = check.KeepDiary, checkAdopted
	return s.Deciding("I-WM-D", "each member takes over the answer with the largest sum of confidences, and the rule "+
		"counts", "own", nil)
}()

// checkAdopted compares what each member takes over with the reference, from what it heard.
func checkAdopted(t *check.Trace) {
	for i, notes := range t.Notes {
		if !t.Plain(synod.NodeID(i)) || len(notes) < 2 {
			continue
		}
		own := reference.Confident{Answer: notes[0].Answer}
		if c := notes[0].Confidence; c != nil {
			own.Sure = *c
		}
		all := []reference.Confident{own}
		from, heard := t.Answers(i, 0, t.Diaries[i].Noted[1].Heard)
		for _, r := range heard {
			all = append(all, reference.Confident{Answer: r.Answer, Sure: r.Confidence})
		}
		t.Credited("I-WM-D", i, 1, own.Answer, from, heard)
		want := reference.WeightedMajority(all)
		t.Claim("I-WM-D", notes[1].Answer == want, "n%d takes over %q, and the reference %q: %v", i, notes[1].Answer,
			want, all)
	}
}
