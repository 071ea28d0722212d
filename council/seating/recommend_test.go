package seating

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"synod.dev/synod/core/odds"
)

// drawn returns a sample of models that are right with these probabilities, and give one of five wrong answers else.
func drawn(seed uint64, n int, usd, ability []float64) *Sample {
	chance := rand.New(rand.NewPCG(seed, 9))
	s := &Sample{USD: usd}
	for i := range ability {
		s.Models = append(s.Models, fmt.Sprintf("m%d", i))
	}
	for range n {
		q := odds.Labelled{Kind: "number", Right: "right"}
		for _, p := range ability {
			answer := "right"
			if chance.Float64() >= p {
				answer = fmt.Sprint("wrong", chance.IntN(5))
			}
			q.Answers = append(q.Answers, answer)
		}
		s.Questions = append(s.Questions, q)
	}
	return s
}

// The answer of a tier stands if more than F models gave it and it is probable enough.
func TestDecide(t *testing.T) {
	s := drawn(1, 400, []float64{1, 1, 5}, []float64{0.8, 0.8, 0.95})
	for _, c := range []struct {
		tiers   Tiers
		answers []string
		want    string
		asked   int
	}{
		{Tiers{Tiers: [][]int{{0, 1}, {2}}, Stop: 0.9}, []string{"1", "1", "2"}, "1", 2},
		{Tiers{Tiers: [][]int{{0, 1}, {2}}, Stop: 0.9}, []string{"1", "3", "2"}, "2", 3},
		{Tiers{Tiers: [][]int{{0, 1}, {2}}, Stop: 0.9999}, []string{"1", "1", "1"}, "1", 3},
		{Tiers{Tiers: [][]int{{0, 1}, {2}}, Stop: 0.9, F: 1}, []string{"1", "3", "2"}, "", 3},
		{Tiers{Tiers: [][]int{{0}, {1, 2}}, Stop: 0.5, F: 1}, []string{"1", "2", "2"}, "2", 3},
		{Tiers{Tiers: [][]int{{0}, {2}}, Stop: 0.5}, []string{"", "", "2"}, "2", 2},
		{Tiers{Tiers: [][]int{{0, 1, 2}}}, []string{"", "", ""}, "", 3},
	} {
		d := s.Fit(c.tiers, every).Decide(&odds.Labelled{Kind: "number", Answers: c.answers})
		if d.Answer != c.want || len(d.Asked) != c.asked || d.Answer != "" && d.Chance.Probability <= 0 {
			t.Errorf("%+v of %q: %q with %v asked: %+v", c.tiers, c.answers, d.Answer, d.Asked, d.Chance)
		}
	}
}

// Two cheap models that agree save the dear one; one that is far better than all others and not dear stands alone.
func TestRecommend(t *testing.T) {
	s := drawn(2, 300, []float64{1, 1, 20, 1}, []float64{0.82, 0.8, 0.9, 0.4})
	r := s.Recommend(Aim{Cheapest: true}, 1)
	if r == nil || len(r.Tiers.Tiers) != 2 || slices.Contains(r.Tiers.Tiers[0], 2) || r.Single.Model != 2 ||
		!(r.USD < 0.8*r.Single.USD) || r.Right.Value < r.Single.Right.Value-0.03 {
		t.Errorf("%+v, single %+v", r, r.Single)
	}
	if r := drawn(2, 300, []float64{1, 1, 1, 1}, []float64{0.3, 0.3, 0.95, 0.3}).Recommend(Aim{Cheapest: true},
		1); !r.Alone() {
		t.Errorf("%+v", r)
	}
	if r := s.Recommend(Aim{Budget: 3}, 1); r.Single.Model == 2 || r.USD > 3.3 {
		t.Errorf("within a budget of 3: %+v, single %+v", r, r.Single)
	}
	if r := s.Recommend(Aim{Budget: 0.5}, 1); r != nil {
		t.Errorf("within a budget that no model meets: %+v", r)
	}
	if r := drawn(2, 100, []float64{1}, []float64{0.9}).Recommend(Aim{F: 1}, 1); r != nil && r.Right.Value > 0 {
		t.Errorf("one model cannot withstand a liar: %+v", r)
	}
}

// Whoever lies alone decides nothing in a council that withstands one liar.
func TestRecommendWithstands(t *testing.T) {
	s := drawn(3, 200, []float64{1, 1, 1, 1, 1}, []float64{0.8, 0.8, 0.8, 0.8, 0.8})
	r := s.Recommend(Aim{F: 1}, 1)
	f := s.Fit(r.Tiers, every)
	for _, q := range s.Questions {
		for liar := range s.Models {
			asked := q
			asked.Answers = slices.Clone(q.Answers)
			asked.Answers[liar] = "lie"
			if f.Decide(&asked).Answer == "lie" {
				t.Fatalf("model %d alone made %q a decision of %+v", liar, "lie", r.Tiers)
			}
		}
	}
}

// Of models that are all equally good the best looks better than it is by the questions that chose it. The nested
// figure does not; the share of right answers among all questions, which is the control, does.
func TestNestedFiguresAreHonest(t *testing.T) {
	flattered, honest := 0.0, 0.0
	const trials = 10
	for seed := range uint64(trials) {
		s := drawn(seed, 100, slices.Repeat([]float64{1}, 6), slices.Repeat([]float64{0.6}, 6))
		best := s.single(0, every)
		flattered += float64(s.right(every)[best])/100/trials - 0.6/trials
		honest += s.Recommend(Aim{Cheapest: true}, seed).Single.Right.Value/trials - 0.6/trials
	}
	if honest > 0.025 || flattered < 0.04 {
		t.Errorf("more than is true: nested %+.3f, by the questions that chose it %+.3f", honest, flattered)
	}
}
