package cascade

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/internal/golden"
	"synod.dev/synod/protocol/sac"
)

// Decisions, their reasons and what they withstand stay as they are: recorded members are counted again from stored
// answers, and documents quote the reasons. The weights are such that all ways to stop occur.
func TestSameDecisions(t *testing.T) {
	var s strings.Builder
	chance := rand.New(rand.NewPCG(11, 11))
	weights := [][]float64{nil, {2.5, 2, 1.5, 1, 0.6, 0.4, 0.2}, {0.9, 0.8, 0.8, 0.7, 0.7, 0.6, 0.5}}
	for q := range 240 {
		p, n, f := New(), 3+q%5, q%3
		if p.Stop = []Stop{Certain, Probable}[q/3%2]; 2*f+1 > n {
			f = 1
		}
		p.Doubt, p.P = []float64{0, 0.05, 0.3}[q/5%3], []float64{0.6, 0.95, 0.9999}[q/2%3]
		if w := weights[q%len(weights)]; w != nil {
			p.Weights = map[string][]float64{"text": w[:n]}
		}
		if q%7 == 0 {
			p.Together = [][2]synod.NodeID{{1, 2}, {0, 1}}
		}
		votes := make([]synod.Answer, n)
		for i := range votes {
			votes[i] = synod.Answer([]string{"", "a", "a", "a", "b", "b", "c"}[chance.IntN(7)])
		}
		d := p.Recorded(&synod.Question{ID: fmt.Sprint(q), Form: synod.Text}, votes, f)
		fmt.Fprintf(&s, "%d: F=%d %s doubt %v p %v %v: %v asked %d of %v lacking %v", q, f, p.Stop, p.Doubt, p.P,
			votes, d.Answer, d.Asked, d.Order, d.Lacking)
		if d.Withstands != nil {
			fmt.Fprintf(&s, " withstands %+v", *d.Withstands)
		}
		fmt.Fprintf(&s, " %s\n  %s\n", d.Fragile, d.Why)
	}
	golden.Compare(t, "testdata/decisions.golden", s.String())
}

// After a contest the last answers count by weight: of those members only that have played all rounds, and of answers
// only that were contested. A tie decides nothing.
func TestContestCount(t *testing.T) {
	p := New()
	p.Stop, p.Rounds = Certain, 1 // a contest ends with round 2
	first := []synod.Answer{"a", "a", "b", "b", "c"}
	for what, c := range map[string]struct {
		last   []synod.Answer
		rounds int
		want   synod.Answer
		why    string
	}{
		"a majority":         {[]synod.Answer{"a", "a", "a", "b", "b"}, 2, "a", "this one has the most weight"},
		"a tie":              {[]synod.Answer{"a", "a", "b", "b", "c"}, 2, "", "none has more weight than the others"},
		"some not contested": {[]synod.Answer{"a", "c", "c", "c", "c"}, 2, "a", "this one has the most weight"},
		"not finished":       {[]synod.Answer{"a", "a", "a", "b", "b"}, 1, "", "none has more weight"},
		"other answers only": {[]synod.Answer{"c", "c", "c", "c", "c"}, 2, "", "none has more weight"},
	} {
		noted := make([][]*synod.Opinion, len(first))
		for i, a := range first {
			noted[i] = []*synod.Opinion{{Answer: a}, {Round: c.rounds, Answer: c.last[i]}}
		}
		d := p.Decide(&synod.Question{ID: "q", Form: synod.Text}, noted, 1)
		if d.Answer != c.want || !strings.Contains(d.Why, "contested: 2 answers have more than F=1") ||
			!strings.Contains(d.Why, c.why) {
			t.Errorf("%s: %q, %s", what, d.Answer, d.Why)
		}
	}
}

// Weights are allowed from 0 on, and pairs of seats that err together must be seats of the council.
func TestListsOfSeats(t *testing.T) {
	for weight, valid := range map[float64]bool{0: true, -1: false} {
		p := New()
		p.Weights = map[string][]float64{"text": {weight, 1}}
		if err := p.Validate(); (err == nil) != valid {
			t.Errorf("weight %v: %v", weight, err)
		}
	}
	p := New()
	p.Together = [][2]synod.NodeID{{0, 4}, {4, 0}}
	if err := p.CheckCast(make([]synod.Role, 5), 2); err != nil {
		t.Error(err)
	}
	for _, pair := range [][2]synod.NodeID{{-1, 0}, {0, -1}, {5, 0}, {0, 5}, {3, 3}} {
		p.Together = [][2]synod.NodeID{pair}
		want := fmt.Sprintf("together: [%d, %d] is not a pair of seats; they count from 0 to 4", pair[0], pair[1])
		if err := p.CheckCast(make([]synod.Role, 5), 2); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", pair, err)
		}
	}
	if !p.WantsPrices() || p.MaxRounds() != 3 || p.Weighs() {
		t.Errorf("prices %v, rounds %d, weighs %v", p.WantsPrices(), p.MaxRounds(), p.Weighs())
	}
	if p.Prices, p.Score = []float64{1}, sac.Likelihood; p.WantsPrices() || !p.Weighs() {
		t.Error("prices or the score are not looked at")
	}
}

// Members that err together in a chain of pairs are one supporter, in whichever order the pairs are listed.
func TestTogetherInAnyOrder(t *testing.T) {
	pairs := [][2]synod.NodeID{{0, 1}, {1, 3}, {3, 4}}
	for range 6 {
		p := New()
		p.Together = slices.Clone(pairs)
		c := p.convene(&synod.Question{Form: synod.Text}, 5, 1)
		if got := c.voices([]synod.NodeID{0, 1, 2, 3, 4}); got != 2 {
			t.Errorf("%v: %d voices, want 2", pairs, got)
		}
		i, j := len(pairs)-1, 0
		pairs[i], pairs[j] = pairs[j], pairs[i]
		pairs[0], pairs[1] = pairs[1], pairs[0]
	}
}

// A run lacks answers if the members that gave none could have made a decision: more than F together with the largest
// group; and where fields are merged, if no more than F answered.
func TestLacking(t *testing.T) {
	for _, c := range []struct {
		form  synod.Form
		f     int
		votes []synod.Answer
		want  bool
	}{
		{synod.Text, 2, []synod.Answer{"a", "b", "c", "d", ""}, false},
		{synod.Text, 2, []synod.Answer{"a", "b", "c", "", ""}, true},
		{synod.Text, 2, []synod.Answer{"a", "a", "b", "c", ""}, true},
		{synod.Text, 2, []synod.Answer{"a", "a", "b", "b", "c"}, false},
		{synod.JSON, 1, []synod.Answer{`1`, "", "", "", ""}, true},
		{synod.JSON, 1, []synod.Answer{`1`, `2`, "", "", ""}, false},
	} {
		p := New()
		p.Stop = Certain
		d := p.Recorded(&synod.Question{ID: "q", Form: c.form}, c.votes, c.f)
		if d.Answer != synod.None || d.Lacking != c.want {
			t.Errorf("%v F=%d %v: %+v", c.form, c.f, c.votes, d)
		}
	}
}
