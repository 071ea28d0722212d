package bench

import (
	"math"
	"slices"
	"testing"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/bench/report/inspectai"
	"synod.dev/synod/bench/store"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/council/plan"
)

// What is known of a question beside its text is in its sample, and nothing else.
func TestMetadataOfSamples(t *testing.T) {
	plain := metadata(task.Keyed{Question: synod.Question{Form: synod.Number}})
	if len(plain) != 1 || plain["form"] != synod.Number {
		t.Errorf("%v", plain)
	}
	m := metadata(task.Keyed{Level: 1, Topic: "fruit", Note: "easy", Question: synod.Question{Form: synod.Choice,
		Options: []synod.Option{{Label: "A"}, {Label: "B"}}}})
	if labels, _ := m["labels"].([]string); len(m) != 5 || m["level"] != 1 || m["topic"] != "fruit" ||
		m["note"] != "easy" ||
		!slices.Equal(labels, []string{"A", "B"}) {
		t.Errorf("%v", m)
	}
}

// A sample began as long before its end as its last attempt took; all attempts together are its time.
func TestTimesOfSamples(t *testing.T) {
	var s inspectai.Sample
	(history{}).times(&s)
	if s.CompletedAt != "" || s.StartedAt != "" || s.TotalTime != nil {
		t.Errorf("no attempt: %+v", s)
	}
	end := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	(history{seconds: 7.5, last: store.Attempt{Seconds: 2.5, Ended: end}}).times(&s)
	if s.CompletedAt != "2026-01-02T03:04:05.000+00:00" || s.StartedAt != "2026-01-02T03:04:02.500+00:00" ||
		s.TotalTime == nil || *s.TotalTime != 7.5 {
		t.Errorf("%s to %s, %v", s.StartedAt, s.CompletedAt, s.TotalTime)
	}
}

// samplerOf is a sampler of a run of seats a, b and c; c has another model.
func samplerOf() *sampler {
	run := &Run{RunManifest: RunManifest{Seats: []plan.Seat{{ID: "a"}, {ID: "b"}, {ID: "c"}}}}
	return &sampler{&export{reader: &reader{Run: run}, models: []string{"m", "m", "n"}, model: "all"},
		&inspectai.Sample{Target: "4", Scores: map[string]inspectai.Score{}, Metadata: map[string]any{},
			ModelUsage: map[string]inspectai.Usage{}}, &shown{run: &journal.Run{}},
		&result{sum: &journal.Summary{End: &journal.End{Stopped: "rounds"}}}}
}

// Tokens are added up by model. Those of seats that do not exist are left out.
func TestUsageOfSamples(t *testing.T) {
	s := samplerOf()
	s.usage()
	if len(s.sample.ModelUsage) > 0 || s.sample.Output.Usage != nil {
		t.Errorf("no tokens: %+v", s.sample)
	}
	use := func(prompt, completion int) synod.Reply {
		return synod.Reply{Usage: synod.Usage{Prompt: prompt, Completion: completion}}
	}
	s.shown.run.Replies = journal.Replies{{Node: 0, ID: 1}: use(10, 1), {Node: 1, ID: 1}: use(20, 2), {Node: 2,
		ID: 1}: use(40, 4),
		{Node: 0, ID: 2}: {}, {Node: -1, ID: 1}: use(1, 1), {Node: 3, ID: 1}: use(1, 1)}
	s.usage()
	m, n, all := s.sample.ModelUsage["m"], s.sample.ModelUsage["n"], s.sample.Output.Usage
	if m.Input != 30 || m.Output != 3 || m.Total != 33 || n.Total != 44 || all == nil || all.Total != 77 ||
		len(s.sample.ModelUsage) != 2 {
		t.Errorf("%+v, %+v, %+v", m, n, all)
	}
}

// Members are named by their ids; a journal may name seats that do not exist.
func TestSeatsOfSamples(t *testing.T) {
	s := samplerOf()
	for id, want := range map[synod.NodeID]string{-1: "#-1", 0: "a", 2: "c", 3: "#3"} {
		if got := s.seat(id); got != want {
			t.Errorf("seat %d: %s, want %s", id, got, want)
		}
	}
	if nullable(synod.None) != nil || nullable("4") != synod.Answer("4") {
		t.Error("an answer is null, or no answer is one")
	}
	row := s.treated(&journal.Noted{Opinion: synod.Opinion{Scores: []synod.Judged{{Of: 1, Score: 0.5}},
		Retained: []synod.NodeID{0, 2}, Failed: 3}}, &noted{Seat: "b"})
	if !slices.Equal(row.Retained, []string{"a", "c"}) || row.Failed != 3 || row.Scores["b"] != 0.5 || row.Seat != "b" {
		t.Errorf("%+v", row)
	}
}

// A decision has a score where it is right or wrong.
func TestScoresOfSamples(t *testing.T) {
	for verdict, want := range map[task.Verdict]string{task.Right: inspectai.Correct, task.Wrong: inspectai.Incorrect,
		"": ""} {
		s := samplerOf()
		s.res.Agreed, s.res.Decision = true, "4"
		s.res.Verdicts = map[synod.Answer]task.Verdict{"4": verdict}
		s.decided()
		if score, ok := s.sample.Scores[decision]; ok != (want != "") || ok && score.Value != want ||
			s.sample.Output.Completion != "4" {
			t.Errorf("%s: %+v", verdict, s.sample)
		}
	}
	s := samplerOf()
	s.decided()
	if len(s.sample.Scores) > 0 || s.sample.Output.Completion != "" || s.sample.Metadata["stopped"] != "rounds" {
		t.Errorf("no decision: %+v", s.sample)
	}
}

// The time of a question is that of the last honest member that votes.
func TestTimeOfTheLastHonestVoter(t *testing.T) {
	r := &reader{Run: &Run{RunManifest: RunManifest{Seats: []plan.Seat{{ID: "a"}, {ID: "b"},
		{ID: "c", Adversary: "silent"}, {ID: "d", NonVoting: true}}}}}
	noted := []journal.Noted{{Tick: 3, Node: 1}, {Tick: 5, Node: 0}, {Tick: 7, Node: 1}, {Tick: 90, Node: 2},
		{Tick: 80, Node: 3}, {Tick: 99, Node: 4}}
	if got := r.took(noted); got != 7 {
		t.Errorf("%d ticks, want 7", got)
	}
}

// Answers are ranked by the record of the first honest seat that exists.
func TestRankedAnswersNeedARecord(t *testing.T) {
	r := &reader{Run: &Run{RunManifest: RunManifest{Protocol: "decentllms",
		Seats: []plan.Seat{{ID: "a", Adversary: "silent"}, {ID: "b"}}}}}
	item, err := task.NewItem(synod.Question{ID: "q", Text: "?", Form: synod.Number}, "4")
	if err != nil {
		t.Fatal(err)
	}
	if got := r.ranked(item, []journal.Noted{{Node: 1}, {Node: -1}, {Node: 2}}); got != nil {
		t.Errorf("without records: %v", got)
	}
	for _, protocol := range []string{"sac", "no such protocol"} {
		if r.Protocol = protocol; r.ranked(item, []journal.Noted{{Node: 1}}) != nil {
			t.Errorf("%s ranks nothing", protocol)
		}
	}
}

// Confidence is compared with what was right for all members and for each model.
func TestCalibrationByModel(t *testing.T) {
	r := &Run{RunManifest: RunManifest{Seats: []plan.Seat{{ID: "a", Model: "m"}, {ID: "b", Model: "n"}, {ID: "c",
		Model: "n"},
		{ID: "d", Model: "o"}}}}
	c := newCalibrators(r.Seats)
	if c.report() != nil {
		t.Error("nobody stated a confidence")
	}
	sure, half := 1.0, 0.5
	c.add(metrics.GradedQuestion{Question: "q", Rounds: [][]synod.Answer{{"4", "5", "4", "4"}},
		Confidences: []*float64{&sure, &half, &sure, nil},
		Verdicts:    map[synod.Answer]task.Verdict{"4": task.Right, "5": task.Wrong}}, r.roles())
	out := c.report()
	if out == nil || len(out.Models) != 2 || out.Models[0].Model != "m" || out.Models[1].Model != "n" {
		t.Fatalf("%+v", out)
	}
	if all, m, n := out.N, out.Models[0].N, out.Models[1].N; all != 3 || m != 1 || n != 2 {
		t.Errorf("%d answers, %d of m, %d of n", all, m, n)
	}
}

// Results are counted by level and topic where questions have one.
func TestKindsOfQuestions(t *testing.T) {
	k := newKinds([]metrics.SeatFacts{{}, {}})
	c := &metrics.GradedQuestion{Question: "q", Rounds: [][]synod.Answer{{"4", "5"}}, Agreed: true, Decision: "4",
		Verdicts: map[synod.Answer]task.Verdict{"4": task.Right, "5": task.Wrong}}
	for _, it := range []task.Keyed{{Level: 1, Topic: "x"}, {Level: 2, Topic: "y"}, {Level: 2, Topic: "y"},
		{Topic: "y"}} {
		k.add(it, c)
	}
	if levels, topics := k.levels.List(), k.topics.List(); len(levels) != 2 || len(topics) != 2 {
		t.Errorf("levels %+v, topics %+v", levels, topics)
	}
}

// The mark of a folder's owner is in its files; an empty mark is none.
func TestMarksOfFiles(t *testing.T) {
	for mark, want := range map[string]string{"": "", sumOf([]byte("mine")): sumOf([]byte("mine"))} {
		var of string
		b, err := seal(map[string]int{"x": 1}, func(text []byte) string { of = string(text); return mark })
		if err != nil {
			t.Fatal(err)
		}
		var back map[string]int
		sum, origin, err := unseal(b, &back)
		if err != nil || origin != want || sum != of || back["x"] != 1 {
			t.Errorf("mark %q: %q, %v", mark, origin, err)
		}
	}
}

// The use of some questions stands for the whole run, rounded up, and no reply is longer than its model allows.
func TestEstimatesAreScaled(t *testing.T) {
	r := &Run{RunManifest: RunManifest{N: 10, Repeat: 3, Planned: 7, Seats: []plan.Seat{{ID: "a", Model: "m"}, {ID: "b",
		Model: "n"}}}}
	spec := plan.Spec{Models: map[string]plan.Params{"m": {"max_tokens": 20}, "n": {"max_tokens": 0}}}
	u := use{questions: 4, seats: []seatUse{{answers: 2, scores: 1, prompt: 101}, {answers: 1, scores: 0, prompt: 4}}}
	secondChance := false // of the first seat
	x := &estimator{Run: r, spec: spec, rereads: func(seat int) bool { return secondChance && seat == 0 }}
	uses := x.scale(u, 150, 10)
	if uses[0].Calls != 23 || uses[0].Prompt != 758 || uses[0].Completion != 375 || uses[1].Calls != 8 ||
		uses[1].Completion != 1125 {
		t.Errorf("%+v", uses)
	}
	w := x.worst(u, 50)
	if w.Calls != 210 || w.Prompt != 210*50 || w.Completion != 157*20+53*longestReply {
		t.Errorf("%+v", w)
	}
	if w := x.worst(use{questions: 1, seats: make([]seatUse, 2)}, 50); w.Calls != 0 {
		t.Errorf("a council that calls no model: %+v", w)
	}
	secondChance = true
	if w := x.worst(u, 50); w.Calls != 210+157 || w.Completion != 2*157*20+53*longestReply ||
		w.Prompt != 210*50+157*(50+20) {
		t.Errorf("with second chances for the first seat: %+v", w)
	}
	for value, want := range map[any]int{"7": 7, 1: 1, -1: longestReply, nil: longestReply, math.Inf(1): longestReply} {
		if got := longestOf(plan.Params{"max_tokens": value}); got != want {
			t.Errorf("max_tokens %v: %d", value, got)
		}
	}
}
