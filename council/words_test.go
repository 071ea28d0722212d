package council

import (
	"testing"

	"synod.dev/synod"
)

// What is said in the same words is rendered once, whatever the seed, and what is
// not is told apart.
func TestSayings(t *testing.T) {
	var s sayings
	q, other := &synod.Question{Text: "?"}, &synod.Question{Text: "!"}
	first := s.of(&synod.Prompt{Template: "x/score", Question: q, Candidate: "7", Seed: 1})
	if s.of(&synod.Prompt{Template: "x/score", Question: q, Candidate: "7", Seed: 2}) != first {
		t.Error("the same words are not shared")
	}
	for name, p := range map[string]synod.Prompt{
		"candidate": {Template: "x/score", Question: q, Candidate: "8"},
		"question":  {Template: "x/score", Question: other, Candidate: "7"},
		"spelling":  {Template: "x/score", Question: q, Candidate: "7", Spelling: map[synod.Answer]string{"7": "seven"}},
	} {
		if s.of(&p) == first {
			t.Errorf("another %s gets the same words", name)
		}
	}
	for i := range 3 * mostSayings {
		s.of(&synod.Prompt{F: 10 + i})
	}
	if len(s.prompts) != mostSayings {
		t.Errorf("%d prompts are kept", len(s.prompts))
	}
}
