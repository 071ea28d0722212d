package seating

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// draw asks models questions. Model i is right with probability p[i]; the models of one group but 0 are right
// and wrong together.
func draw(chance *rand.Rand, questions int, p []float64, group []int) *Measured {
	m := &Measured{}
	for i := range p {
		m.Columns = append(m.Columns, Column{Model: string(rune('a' + i)), Kind: "simulated"})
	}
	for q := range questions {
		common := []float64{chance.Float64(), chance.Float64(), chance.Float64()}
		marks := make([]byte, len(p))
		for i := range p {
			luck := chance.Float64()
			if g := group[i]; g > 0 {
				luck = common[g]
			}
			marks[i] = Wrong
			if luck < p[i] {
				marks[i] = Right
			}
		}
		m.Asked = append(m.Asked, Asked{ID: fmt.Sprint("q", q), Marks: string(marks)})
	}
	return m
}

// By hand: 20 questions, both wrong on 4, each alone on 2.
func TestVotesByHand(t *testing.T) {
	m := &Measured{Columns: []Column{{Model: "a"}, {Model: "b"}}}
	for q, marks := range strings.Fields("ww ww ww ww wr wr rw rw rr rr rr rr rr rr rr rr rr rr rr rr") {
		m.Asked = append(m.Asked, Asked{ID: fmt.Sprint(q), Marks: marks})
	}
	rho := (4.0/20 - 0.09) / 0.21
	if v := m.Votes([]string{"a", "b"}); v == nil || math.Abs(v.Value-2/(1+rho)) > 1e-12 {
		t.Errorf("%+v, want %v", v, 2/(1+rho))
	}
	p := m.Pairs()
	if len(p) != 1 || p[0].BothWrong != 4 || p[0].Questions != 20 || math.Abs(p[0].Correlation.Value-rho) > 1e-12 {
		t.Errorf("%+v", p)
	}
	if v := m.Votes([]string{"a", "a", "b"}); v != nil {
		t.Errorf("a model with two seats was measured once, and has %+v", v)
	}
	if v := m.Votes([]string{"a", "c"}); v != nil {
		t.Errorf("c was not measured: %+v", v)
	}
}

// Effective votes are between one and the number of seats, do not depend on the order of seats or questions, and
// copies that answer alike are one vote.
func TestVotesProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		chance := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
		m := draw(chance, 60, []float64{0.5, 0.6, 0.7, 0.4}, []int{0, 1, 1, 0})
		seats := []string{"a", "b", "c", "d"}[:rapid.IntRange(2, 4).Draw(t, "seats")]
		v := m.Votes(seats)
		if v == nil || v.Value < 1-1e-9 || v.Value > float64(len(seats))+1e-9 || v.Low > v.Value || v.High < v.Value {
			t.Fatalf("%+v", v)
		}
		again, other := *m, slices.Clone(seats)
		again.Asked = slices.Clone(m.Asked)
		slices.Reverse(again.Asked)
		slices.Reverse(other)
		if w := again.Votes(other); math.Abs(w.Value-v.Value) > 1e-9 || math.Abs(w.Low-v.Low) > 1e-9 {
			t.Fatalf("%+v, in another order %+v", v, w)
		}
		for i := range again.Asked { // a copy of a that answers alike
			again.Asked[i].Marks += again.Asked[i].Marks[:1]
		}
		again.Columns = append(slices.Clone(m.Columns), m.Columns[0])
		n := rapid.IntRange(2, 7).Draw(t, "copies")
		if w := again.Votes(slices.Repeat([]string{"a"}, n)); w == nil || math.Abs(w.Value-1) > 1e-9 {
			t.Fatalf("%d equal copies: %+v", n, w)
		}
	})
}

// A failed call is no wrong answer; an unreadable reply is not right.
func TestAccuracy(t *testing.T) {
	m := &Measured{Columns: []Column{{Model: "a"}}}
	for i, mark := range "rrrwuxx?" {
		m.Asked = append(m.Asked, Asked{ID: fmt.Sprint(i), Marks: string(mark)})
	}
	if a := m.Accuracy("a"); a.N != 5 || a.Value != 0.6 {
		t.Errorf("%+v", a)
	}
	m.Asked = []Asked{{ID: "1", Marks: "x"}}
	if a := m.Accuracy("a"); a != nil {
		t.Errorf("only failed calls: %+v", a)
	}
}

// Three models that err independently are suggested, not three better ones that err together.
func TestSuggest(t *testing.T) {
	chance := rand.New(rand.NewPCG(7, 7))
	m := draw(chance, 400, []float64{0.82, 0.82, 0.82, 0.8, 0.8, 0.8}, []int{1, 1, 1, 0, 0, 0})
	s, why := m.Suggest(nil, Now{Seats: []string{"a", "b", "c"}})
	if s == nil {
		t.Fatal(why)
	}
	t.Logf("%v: %.3f, held out %.3f", s.Models, s.Right.Value, s.HeldOut.Value)
	together := 0
	for _, name := range s.Models {
		together += strings.Count("abc", name)
	}
	if together > 1 {
		t.Errorf("suggested %v; a, b and c err together", s.Models)
	}
	if now := s.Against[1]; now.P > 0.05 || now.Difference.Low <= 0 || now.Right.Value > 0.87 {
		t.Errorf("against the council as it is: %+v", now)
	}
	for _, x := range []struct{ questions, models int }{{10, 4}, {100, 2}} {
		few := draw(chance, x.questions, []float64{0.8, 0.8, 0.8, 0.8}[:x.models], make([]int, x.models))
		if s, why := few.Suggest(nil, Now{}); s != nil || why == "" {
			t.Errorf("%+v: %+v, %q", x, s, why)
		}
	}
}

// A suggestion is compared with what the council's own rule decides where that is known, and else with a vote of more
// than half, which is called so.
func TestAgainstTheRule(t *testing.T) {
	m := draw(rand.New(rand.NewPCG(8, 8)), 60, []float64{0.9, 0.9, 0.9}, []int{0, 0, 0})
	now := Now{Seats: []string{"a", "b", "c"}, Rule: "cascade, F=1", Right: map[string]bool{}}
	s, why := m.Suggest(nil, now)
	if s == nil {
		t.Fatal(why)
	}
	if c := s.Against[1]; c.With != "the council as it is: cascade, F=1" || c.Right.Value != 0 ||
		c.Difference.Low <= 0 {
		t.Errorf("a rule that decides nothing rightly: %q, %+v", c.With, c)
	}
	now.Right = nil
	if s, _ = m.Suggest(nil, now); s.Against[1].Right.Value < 0.8 ||
		!strings.HasPrefix(s.Against[1].With, "more than half of the council's seats") {
		t.Errorf("where members talk: %+v", s.Against[1])
	}
}

// Of models that are equally right, the cheapest are suggested, and a model with an unknown price last.
func TestSuggestPrice(t *testing.T) {
	m := &Measured{}
	for i := range 5 {
		m.Columns = append(m.Columns, Column{Model: string(rune('a' + i))})
	}
	for q := range 50 {
		m.Asked = append(m.Asked, Asked{ID: fmt.Sprint(q), Marks: "rrrrr"})
	}
	s, _ := m.Suggest(map[string]float64{"a": 3, "b": 1, "d": 2, "e": 1}, Now{})
	if got := strings.Join(s.Models, ""); got != "bde" {
		t.Errorf("suggested %q, want bde", got)
	}
}

// The share on questions that the choice did not use estimates what a chosen council is worth on new questions; the
// share on the questions that chose it is higher.
func TestHeldOut(t *testing.T) {
	const runs, questions = 60, 60
	p, group := []float64{0.7, 0.7, 0.7, 0.7, 0.7, 0.7, 0.7}, make([]int, 7)
	bias, high := 0.0, 0.0
	for seed := range uint64(runs) {
		m := draw(rand.New(rand.NewPCG(seed, 9)), questions, p, group)
		s, _ := m.Suggest(nil, Now{})
		k, n, truth := len(s.Models), len(s.Models), 0.0
		for right := k/2 + 1; right <= n; right++ {
			truth += choose(n, right) * math.Pow(0.7, float64(right)) * math.Pow(0.3, float64(n-right))
		}
		bias, high = bias+(s.HeldOut.Value-truth)/runs, high+(s.Right.Value-truth)/runs
	}
	t.Logf("held out: %+.3f, by the same questions: %+.3f", bias, high)
	if math.Abs(bias) > 0.025 || high < 0.025 {
		t.Errorf("held out is off by %+.3f and the other share by %+.3f", bias, high)
	}
}

func choose(n, k int) float64 {
	c := 1.0
	for i := range k {
		c = c * float64(n-i) / float64(i+1)
	}
	return c
}
