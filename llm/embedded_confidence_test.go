package llm

import (
	"math"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/llm/engine"
)

// The confidence by likelihood is an option's share of the probability of all options, the probability of a token of a
// free answer, and missing where the reply has no answer or no text that it continues.
func TestEmbeddedConfidenceByLikelihood(t *testing.T) {
	likely := map[string]float64{" apple": math.Log(0.6), " hammer": math.Log(0.2), " 4": math.Log(0.5)}
	cold, wordy := embeddedDefaults(), embeddedDefaults()
	cold.Temperature, wordy.Answers = 0, written
	for _, c := range []struct {
		name    string
		cfg     embeddedConfig
		p       synod.Prompt
		writes  string
		want    float64 // -1: none
		answers synod.Answer
	}{
		{"options", cold, synod.Prompt{Purpose: synod.Answering, Question: fruit}, "", 0.75, "B"},
		{"free", cold, synod.Prompt{Purpose: synod.Answering, Question: twoTwo}, " 4\n", 0.5, "4"},
		{"a choice among peers' answers", cold, synod.Prompt{Purpose: synod.Refining, Question: fruit, Own: "A",
			Peers: []synod.Rated{{Answer: "B"}}}, "", 0.75, "B"},
		{"as JSON", wordy, synod.Prompt{Purpose: synod.Answering, Question: fruit}, `{"answer":"A"}`, 0.25, ""},
		{"JSON without an answer", wordy, synod.Prompt{Purpose: synod.Answering, Question: fruit}, `{}`, -1, ""},
		{"nothing to continue", cold, synod.Prompt{Purpose: synod.Answering, Question: fruit, Template: "box/plain"},
			`{"answer":"A"}`, -1, ""},
	} {
		c.p.ConfidenceMode = synod.LikelihoodConfidence
		e := &lines{likely: likely, written: engine.Result{Text: c.writes, Finish: "stop"}}
		r, err := replyOf(t, c.cfg, e, c.p)
		got := -1.0
		if r.Confidence != nil {
			got = *r.Confidence
		}
		if err != nil || math.Abs(got-c.want) > 1e-9 || r.Answer != c.answers {
			t.Errorf("%s: confidence %v in %+v, %v; want %v", c.name, got, r, err, c.want)
		}
	}
}

// A member that is to persuade others, who go by the likelihood of options, gives the second likeliest option and
// writes nothing. Where the answer is free it writes a solution.
func TestEmbeddedPersuades(t *testing.T) {
	four := &synod.Question{Text: "Which is a fruit?", Form: synod.Choice, Options: []synod.Option{
		{Label: "A", Text: "hammer"}, {Label: "B", Text: "apple"}, {Label: "C", Text: "stone"},
		{Label: "D", Text: "pear"}}}
	likely := map[string]float64{" apple": -1, " pear": -2, " stone": -3}
	for q, want := range map[*synod.Question]synod.Answer{four: "D", wet: "false"} {
		e := &lines{likely: likely}
		if q == wet {
			e.likely = map[string]float64{" true": -1, " false": -2}
		}
		r, err := replyOf(t, embeddedDefaults(), e, synod.Prompt{Purpose: synod.Answering, Question: q,
			Goal: synod.Persuade})
		if err != nil || r.Answer != want || len(e.asked) > 0 {
			t.Errorf("%s: %+v, %v, %d texts; want %s", q.Text, r, err, len(e.asked), want)
		}
	}
	e := &lines{written: engine.Result{Text: `{"reasoning":"","answer":"5"}`, Finish: "stop"}}
	r, err := replyOf(t, embeddedDefaults(), e, synod.Prompt{Purpose: synod.Answering, Question: twoTwo,
		Goal: synod.Persuade})
	if err != nil || r.Typed || len(e.asked) != 1 || e.asked[0].Messages == nil {
		t.Errorf("a free answer: %+v, %v", r, err)
	}
}
