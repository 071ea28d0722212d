package bench

import (
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
)

// Scores are measured against the grades of the answers that members held when they were given: once for each judge,
// without judges that are adversaries, and without answers of adversaries that may send something else to others.
func TestJudging(t *testing.T) {
	seats := []plan.Seat{{Model: "m"}, {Model: "m"}, {Model: "n"}, {Model: "n", Adversary: "replay"},
		{Model: "n", Adversary: "equivocator"}, {Model: "s", Kind: llm.Simulated}}
	note := func(node synod.NodeID, round int, scores ...synod.Score) journal.Noted {
		o := synod.Opinion{Round: round}
		for i, s := range scores {
			o.Scores = append(o.Scores, synod.Judged{Of: synod.NodeID(i), Score: s})
		}
		return journal.Noted{Node: node, Opinion: o}
	}
	of := metrics.GradedQuestion{Question: "q",
		Rounds:   [][]synod.Answer{{"4", "5", "4", "5", "5", "5"}, {"4", "4", "4", "5", "5", "5"}},
		Verdicts: map[synod.Answer]task.Verdict{"4": task.Right, "5": task.Wrong}}
	j := newJudging(seats)
	j.add(&result{GradedQuestion: of, noted: []journal.Noted{
		note(0, 0), note(0, 1, 0.9, 0.2, 0.8, 0.1, 1), // the equivocator's score does not count
		note(1, 1, 0.3, 0.6, synod.Untrusted, 0.6, 1), note(2, 1, 0.5, 0.5, 0.5, 0.5, 1),
		note(3, 1, 0, 1, 0, 1, 1), note(0, 2, 0, 1, 0, 1, 1), // an adversary, and a later round
		note(5, 1, 0, 1, 0, 1, 1), // a simulated member
	}})
	got := j.report()
	if got == nil || got.N != 11 || got.Missing != 1 || len(got.Models) != 2 {
		t.Fatalf("%+v", got)
	}
	// Of 5 right scores (.9 .8 .3 .5 .5) and 6 wrong ones (.2 .1 .6 .6 .5 .5), 20 of 30 pairs are in order, ties half.
	if got.AUC.Value != 20.0/30 || got.Models[1].AUC.Value != 0.5 || got.Models[0].Prefers.Value != 0.5 {
		t.Errorf("area %v, of n %v; m prefers %v", got.AUC.Value, got.Models[1].AUC.Value, got.Models[0].Prefers.Value)
	}
}
