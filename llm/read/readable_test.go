package read_test

import (
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/llm/read"
	"synod.dev/synod/protocol/game"
	"synod.dev/synod/protocol/grade"
)

// Whether a reply can be read is what the reader of its prompt says.
func TestReadable(t *testing.T) {
	number := &synod.Question{Form: synod.Number}
	grades := grade.Uniform(12).Text()
	for name, c := range map[string]struct {
		p         synod.Prompt
		good, bad string
	}{
		"answer":     {synod.Prompt{Purpose: synod.Answering, Question: number}, "Answer: 42", "40 or 42"},
		"refinement": {synod.Prompt{Purpose: synod.Refining, Question: number}, "Answer: 42", "40 or 42"},
		"confidence": {synod.Prompt{Purpose: synod.Answering, Question: number,
			ConfidenceMode: synod.StatedConfidence}, "Answer: 42, Confidence: 0.7", "Answer: 42, Confidence: high"},
		"score":  {synod.Prompt{Purpose: synod.Scoring, Question: number}, "Score: 0.5", "about 0.5"},
		"grades": {synod.Prompt{Purpose: grade.One, Detail: grade.Detail{}, Question: number}, grades, "twelve"},
		"all grades": {synod.Prompt{Purpose: grade.All, Detail: grade.Detail{}, Question: number,
			Peers: make([]synod.Rated, 2)}, grade.TextOfAll(make([]grade.Grades, 2)), grades},
		"vote": {synod.Prompt{Purpose: game.Voting, Detail: &game.Table{}, Question: number}, `{"decision":"stop"}`,
			"stop it"},
		"proposal": {synod.Prompt{Purpose: game.Proposing, Detail: &game.Table{High: 50}, Question: number},
			`{"value":7}`, `{"value":70}`},
	} {
		for text, want := range map[string]bool{c.good: true, c.bad: false} {
			r := &synod.Reply{Status: synod.OK, Text: text}
			read.SetVersion(r)
			if read.Readable(&c.p, r) != want {
				t.Errorf("%s: %q is readable: %v", name, text, !want)
			}
		}
	}
	for _, form := range []synod.Form{synod.Prose, synod.Stance} {
		if !read.Readable(&synod.Prompt{Purpose: synod.Answering, Question: &synod.Question{Form: form}},
			&synod.Reply{Status: synod.OK, Text: "well"}) {
			t.Errorf("%s: the whole reply is the answer", form)
		}
	}
}
