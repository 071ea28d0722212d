package read

import (
	"testing"

	"synod.dev/synod"
)

// The examples of finding F4. The paper's reader must get them as wrong as the paper does, ours must not.
func TestScoreIn(t *testing.T) {
	const none = synod.Untrusted
	for _, c := range []struct {
		text        string
		want, paper synod.Score
	}{
		{"Step 1: the answer is wrong.\nScore: 0.0", 0, 1},
		{"8/10 wrong", none, 1},
		{"-0.9", none, 0.9},
		{".1", 0.1, 1},
		{"The answer 27 is wrong. Score: 0.1", none, 1},
		{"I cannot help with that.", none, 0.5},
		{"0.7", 0.7, 0.7},
		{"Score: 0.7", 0.7, 0.7},
		{"**Score:** 0.70.", 0.7, 0.7},
		{"Final score = 1", 1, 1},
		{"0", 0, 0},
		{"1.01", none, 1},
		{"7", none, 1},
		{"70%", none, 1},
		{"0,7", none, 0},
		{"8/10", none, 1},
		{"0.5 or so", none, 0.5},
		{"0.9\nI am sure.", none, 0.9},
		{"", none, 0.5},
		{"NaN", none, 0.5},
		{"1e-1", none, 1},
		{"999999999999999999999999999999999999999999", none, 1},
		{`{"reasoning":"Step 1","score":0.25}`, 0.25, 1},
		{`{"score":-0.0}`, 0, 0},
		{`{"score":1.5}`, none, 1},
		{`{"score":"0.5"}`, none, 0.5},
		{`{"score":0.5,"score":1}`, none, 0.5},
		{`{"score":0.5,"Score":1}`, none, 0.5},
		{"{\"reasoning\":\"it says\n0.9", none, 0.9},
		{"```json\n{\"score\": 1}\n```", 1, 1},
		{"<think>\n1\n</think>\n0.2", 0.2, 1},
	} {
		if got, ok := ScoreIn(c.text); got != c.want || ok != (c.want != none) {
			t.Errorf("ScoreIn(%q) = %v, %v; want %v", c.text, float64(got), ok, float64(c.want))
		}
		if got := PaperScore(c.text); got != c.paper {
			t.Errorf("PaperScore(%q) = %v; want %v", c.text, float64(got), float64(c.paper))
		}
	}
}
