package sac_test

import (
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/protocol/sac"
)

// With score: random no model scores an answer, and the scores of equal answers differ.
func TestRandomScores(t *testing.T) {
	p := sac.New()
	p.Score = sac.Random
	if err := p.Validate(); err != nil || p.Settles() {
		t.Fatalf("%v; settles: %v, and the next round draws other scores", err, p.Settles())
	}
	j := judges{protocol: p, form: synod.Number, f: 1,
		first: []string{"Answer: 1", "Answer: 1", "Answer: 1", "Answer: 1"},
		score: func(sim.Call) float64 { return 1 }}
	calls, notes := j.run()
	if n := len(calls[synod.Scoring]); n != 0 {
		t.Errorf("%d calls for scores", n)
	}
	seen := map[synod.Score]bool{}
	for _, member := range notes {
		for _, s := range member[1].Scores {
			if s.Score < 0 || s.Score >= 1 || seen[s.Score] {
				t.Errorf("score %v, which is not in [0,1) or was drawn twice", s.Score)
			}
			seen[s.Score] = true
		}
	}
	if len(seen) != 16 {
		t.Errorf("%d scores of four members", len(seen))
	}
	_, again := j.run()
	if a, b := notes[2][1].Scores[0].Score, again[2][1].Scores[0].Score; a != b {
		t.Errorf("%v in one run and %v in another", a, b)
	}
}
