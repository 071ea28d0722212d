package council_test

import (
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/council"
)

// Clients send conversations with texts that are empty, and pictures in a message of their own. The question is the
// last text of the user; what says nothing is left out, and a picture after the question belongs to it.
func TestConverse(t *testing.T) {
	user := func(text string, parts ...synod.Part) synod.Turn {
		return synod.Turn{Role: synod.ByUser, Text: text, Parts: parts}
	}
	reply := func(text string) synod.Turn { return synod.Turn{Role: synod.ByAssistant, Text: text} }
	picture := synod.Part{Kind: synod.Image, Name: "p"}
	for _, c := range []struct {
		name                 string
		given                synod.Question
		turns                []synod.Turn
		text                 string
		before, after, parts int
	}{
		{"one message", synod.Question{}, []synod.Turn{user("Q")}, "Q", 0, 0, 0},
		{"an empty one at the end", synod.Question{}, []synod.Turn{user("P"), reply("A"),
			user("Q"), reply("B"), user("")}, "Q", 2, 1, 0},
		{"an empty one before", synod.Question{}, []synod.Turn{user(""), user("Q")}, "Q", 0, 0, 0},
		{"pictures after it", synod.Question{}, []synod.Turn{user("Q"), user("", picture),
			user("", picture, picture), reply("A")}, "Q", 0, 1, 3},
		{"pictures before it", synod.Question{}, []synod.Turn{user("", picture), user("Q")},
			"Q", 1, 0, 0},
		{"a question beside it", synod.Question{Text: "Q"}, []synod.Turn{user("P"), user("")},
			"Q", 1, 0, 0},
		{"nothing but pictures", synod.Question{}, []synod.Turn{user("", picture)}, "", 0, 0, 0},
		{"no text", synod.Question{}, []synod.Turn{user("")}, "", 0, 0, 0},
	} {
		q := c.given
		err := council.Converse(&q, c.turns)
		if (err != nil) != (c.text == "") {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if q.Text != c.text || len(q.Before) != c.before || len(q.After) != c.after || len(q.Parts) != c.parts {
			t.Errorf("%s: %q with %d turns before, %d after, and %d parts; want %q, %d, %d, %d", c.name, q.Text,
				len(q.Before), len(q.After), len(q.Parts), c.text, c.before, c.after, c.parts)
		}
	}
}
