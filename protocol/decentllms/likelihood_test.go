package decentllms

import (
	"math"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/protocol/grade"
)

// With score: likelihood an evaluator asks for the likelihood of each answer and nothing else, and all its grades of an
// answer are the same share of the best grade. What is not a log-probability is no grade.
func TestGradesByLikelihood(t *testing.T) {
	for _, c := range []struct {
		reply synod.Reply
		want  float64 // -1: none
	}{
		{synod.Reply{Status: synod.OK, Typed: true, Value: math.Log(0.25)}, 5},
		{synod.Reply{Status: synod.OK, Typed: true}, grade.Max},
		{synod.Reply{Status: synod.OK, Typed: true, Value: math.Inf(-1)}, 0},
		{synod.Reply{Status: synod.OK, Typed: true, Value: 0.5}, -1},
		{synod.Reply{Status: synod.OK, Typed: true, Value: math.NaN()}, -1},
		{synod.Reply{Status: synod.OK, Text: "0"}, -1},
		{synod.Reply{Status: synod.Timeout, Typed: true}, -1},
	} {
		g, err := gradesByLikelihood(&c.reply)
		if (err != nil) != (c.want < 0) || err == nil && (math.Abs(g[0]-c.want) > 1e-9 || g != grade.Uniform(g[0])) {
			t.Errorf("%+v: %v, %v; want %v", c.reply, g, err, c.want)
		}
	}
	x := &trial{w: 2, e: 3, f: 1, p: New(), grade: func(synod.NodeID, synod.Answer) grade.Grades {
		return grade.Grades{}
	}}
	x.weighs = func(a synod.Answer) float64 { return map[synod.Answer]float64{"1": 0.25, "2": 0.5}[a] }
	x.p.Score = Likelihood
	o := x.play()
	if len(o.held) != 3 || o.held[0].answer != "2" || math.Abs(*o.held[0].Answers[1].Total-50) > 1e-9 {
		t.Errorf("answer 1 has likelihood 0.25 and answer 2 has 0.5: %+v", o.held)
	}
	for _, call := range o.calls {
		if p := call.Prompt.Purpose; p != synod.Weighing && p != synod.Answering {
			t.Errorf("asked for %s", p)
		}
	}
	if !x.p.Weighs() || New().Weighs() {
		t.Error("members must be able to weigh with score: likelihood, and only then")
	}
	x.p.Judge = All
	if err := x.p.Validate(); err == nil || !strings.Contains(err.Error(), "judge: one") {
		t.Errorf("all answers in one call: %v", err)
	}
}
