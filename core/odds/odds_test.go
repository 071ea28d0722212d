package odds

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var members = []string{"a", "b", "c", "d"}

// Without labels the model is the prior: more voices are more, and "none" keeps its share.
func TestWithoutLabels(t *testing.T) {
	m := Fit(members, nil)
	all := m.Chances("number", []string{"1", "1", "2", ""}, nil, 0)
	if m.Labels != 0 || len(all) != 2 || all[0].Answer != "1" || len(all[0].Given) != 2 ||
		!(all[0].Probability > all[1].Probability) || !(all[0].Probability+all[1].Probability < 1) {
		t.Errorf("%+v", all)
	}
	if got := m.Chances("number", []string{"", "", "", ""}, nil, 0); len(got) != 0 {
		t.Errorf("nobody answered: %+v", got)
	}
}

// drawLabelled draws questions that members answer with what rapid likes.
func drawLabelled(t *rapid.T) []Labelled {
	answer := rapid.SampledFrom([]string{"", "r", "x", "y"})
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Labelled {
		return Labelled{Kind: rapid.SampledFrom([]string{"number", "choice"}).Draw(t, "kind"),
			Answers: rapid.SliceOfN(answer, len(members), len(members)).Draw(t, "answers"), Right: "r"}
	}), 0, 40).Draw(t, "questions")
}

// Probabilities are probabilities, intervals hold them, lies of members add no certainty that Least does not take away,
// and a model that was written and read again says the same.
func TestChances(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := Fit(members, drawLabelled(t))
		answers := rapid.SliceOfN(rapid.SampledFrom([]string{"", "r", "x", "z"}), len(members), len(members)).
			Draw(t, "asked")
		b, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		again := &Predictor{}
		if err := json.Unmarshal(b, again); err != nil {
			t.Fatal(err)
		}
		all := m.Chances("number", answers, nil, 0)
		if !reflect.DeepEqual(all, again.Chances("number", answers, nil, 0)) {
			t.Fatalf("%+v, and when it was read again %+v", all, again.Chances("number", answers, nil, 0))
		}
		sum := 0.0
		for i, c := range all {
			sum += c.Probability
			if !(0 <= c.Low && c.Low <= c.Probability && c.Probability <= c.High && c.High <= 1) ||
				i > 0 && c.Probability > all[i-1].Probability {
				t.Fatalf("%+v", all)
			}
			if of := chanceOf(m.Chances("number", answers, nil, len(c.Given)), c.Answer); of.Probability != 0 {
				t.Fatalf("without everybody who gave it an answer has the probability %v", of.Probability)
			}
		}
		if sum > 1+1e-9 {
			t.Fatalf("the sum is %v", sum)
		}
	})
}

// The fit is where the slope of the posterior is zero: there no coefficient can be moved up or down with a gain.
func TestFitIsTheTop(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		labelled := drawLabelled(t)
		m := Fit(members, labelled)
		s := start(m)
		var choices []choice
		for _, q := range labelled {
			options, given := m.options(q.Kind, q.Answers, q.Sure)
			right := len(given)
			for i, g := range given {
				if g.answer == q.Right {
					right = i
				}
			}
			choices = append(choices, choice{options, right})
		}
		top := s.height(m.Coefficients, choices)
		for i := range m.Coefficients {
			for _, by := range []float64{-1e-3, 1e-3} {
				at := append([]float64(nil), m.Coefficients...)
				at[i] += by
				if h := s.height(at, choices); h > top+1e-9 {
					t.Fatalf("coefficient %d moved by %v: %v, at the fit %v", i, by, h, top)
				}
			}
		}
	})
}

// Members that err alike add less than members that err apart.
func TestTogether(t *testing.T) {
	apart, alike := make([]Labelled, 0, 200), make([]Labelled, 0, 200)
	for k := range 200 {
		// Each is right on three of four questions; wrong ones are 1 for the first member and 2 for the second, or 1.
		one, other := k%4 == 0, k/4%4 == 0
		a := []string{"r", "r", "", ""}
		if one {
			a[0] = "1"
		}
		b := []string{"r", "r", "", ""}
		b[0] = a[0]
		if one {
			b[1] = "1"
		}
		if other {
			a[1] = "2"
		}
		apart, alike = append(apart, Labelled{Answers: a, Right: "r"}), append(alike, Labelled{Answers: b, Right: "r"})
	}
	both := []string{"9", "9", "", ""}
	far, near := Fit(members, apart).Chances("", both, nil, 0)[0], Fit(members, alike).Chances("", both, nil, 0)[0]
	if !(far.Probability > 0.9 && near.Probability < 0.85) {
		t.Errorf("two that err apart: %.3f, alike: %.3f", far.Probability, near.Probability)
	}
}

// A kind of question with few labels leans on all kinds; one without labels has the figures of all.
func TestKinds(t *testing.T) {
	var labelled []Labelled
	for k := range 60 {
		labelled = append(labelled, Labelled{Kind: "number", Answers: []string{"r", "r", "r", "r"}, Right: "r"})
		if k < 10 {
			labelled = append(labelled, Labelled{Kind: "choice", Answers: []string{"x", "y", "z", "x"}, Right: "r"})
		}
	}
	m := Fit(members, labelled)
	number, choice, text := m.Kinds["number"].LogOdds[0], m.Kinds["choice"].LogOdds[0], m.Kinds[""].LogOdds[0]
	if !(choice < text && text < number) || m.Kinds["choice"].Labels != 10 {
		t.Errorf("number %v, choice %v, all %v", number, choice, text)
	}
	ask := []string{"1", "1", "1", "2"}
	got, want := m.Chances("text", ask, nil, 0)[0].Probability, m.Chances("choice", ask, nil, 0)[0].Probability
	if !(got > want) {
		t.Errorf("a kind without labels: %v; one that members cannot answer: %v", got, want)
	}
}

// Fewer labels give a wider interval.
func TestIntervals(t *testing.T) {
	width := func(n int) float64 {
		var labelled []Labelled
		for k := range n {
			a := strings.Split("r r r x", " ")
			if k%3 == 0 {
				a = strings.Split("x y r z", " ")
			}
			labelled = append(labelled, Labelled{Answers: a, Right: "r"})
		}
		c := Fit(members, labelled).Chances("", []string{"1", "1", "2", "3"}, nil, 0)[0]
		return c.High - c.Low
	}
	if few, many := width(12), width(600); !(many < few/2) || math.IsNaN(few) {
		t.Errorf("12 labels: %v wide, 600: %v", few, many)
	}
}

func chanceOf(all []Chance, answer string) (of Chance) {
	for _, c := range all {
		if c.Answer == answer {
			of = c
		}
	}
	return of
}

// One member that lies now, however accurate it was, changes the trimmed probability of an answer that it joins by no
// more than the strongest of the votes against it does; and a lie of its own alone never has any. The control is the
// probability of all votes, to which the most accurate member can add far more.
func TestTrimmed(t *testing.T) {
	var labelled []Labelled
	for k := range 100 {
		a := []string{"r", "r", "r", "r"} // the first is always right, the others in three of four
		for i := 1; i < 4; i++ {
			if (k/i)%4 == 0 {
				a[i] = string(rune('0' + i))
			}
		}
		labelled = append(labelled, Labelled{Answers: a, Right: "r"})
	}
	m := Fit(members, labelled)
	alone := []string{"lie", "1", "2", "3"}
	all, one := m.Chances("", alone, nil, 0)[0], chanceOf(m.Chances("", alone, nil, 1), "lie")
	if all.Answer != "lie" || all.Probability < 0.5 || one.Probability != 0 {
		t.Errorf("alone: %+v, trimmed %+v", all, one)
	}
	joined := []string{"x", "x", "1", "1"}
	others := []string{"", "x", "", "1"}
	c, most := chanceOf(m.Chances("", joined, nil, 1), "x"), chanceOf(m.Chances("", others, nil, 0), "x")
	if c.Probability > most.Probability+1e-9 {
		t.Errorf("a lie that joins: %v; of the others alone: %v", c, most)
	}
}

// A model that Fit has made is accepted, and any that lacks a part, or has one of another size or without a number, is
// refused: used, it would panic.
func TestCheck(t *testing.T) {
	fitted := func() *Predictor {
		return Fit([]string{"a", "b"}, []Labelled{{Kind: "number", Answers: []string{"r", "x"}, Right: "r"}})
	}
	if err := fitted().Check(); err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string]func(m *Predictor){
		"nothing":          func(m *Predictor) { *m = Predictor{} },
		"no labels":        func(m *Predictor) { m.Labels = 0 },
		"a member more":    func(m *Predictor) { m.Members = append(m.Members, "c") },
		"no coefficients":  func(m *Predictor) { m.Coefficients = nil },
		"no number":        func(m *Predictor) { m.Coefficients[1] = math.NaN() },
		"infinite":         func(m *Predictor) { m.Coefficients[0] = math.Inf(1) },
		"a short row":      func(m *Predictor) { m.Same[1] = m.Same[1][:1] },
		"more than always": func(m *Predictor) { m.Same[0][1] = 2 },
		"no covariance":    func(m *Predictor) { m.Covariance = nil },
		"no kinds":         func(m *Predictor) { m.Kinds = nil },
		"a kind of nobody": func(m *Predictor) { m.Kinds["text"] = KindOdds{} },
		"certain log-odds": func(m *Predictor) { m.Kinds[""].LogOdds[0] = math.Inf(1) },
	} {
		m := fitted()
		if change(m); m.Check() == nil {
			t.Errorf("%s: accepted", what)
		}
	}
}

// After 40 questions without an error nobody can state more than 41/42, and the order of probabilities stays.
func TestStated(t *testing.T) {
	members := []string{"a", "b", "c"}
	var labelled []Labelled
	for range 40 {
		labelled = append(labelled, Labelled{Answers: []string{"1", "1", "1"}, Right: "1"})
	}
	sure := Fit(members, labelled).Chances("", []string{"1", "1", "1"}, nil, 0)[0]
	if got := sure.Stated(40); sure.Probability < 0.999 || got.Probability > 41./42 || got.High > 41./42 ||
		got.Probability < 0.97 {
		t.Errorf("%+v is stated as %+v", sure, got)
	}
	last := -1.0
	for p := 0.0; p <= 1; p += 0.01 {
		got := Chance{Probability: p}.Stated(30).Probability
		if got <= last || got > p || p < 0.3 && p-got > 0.003 {
			t.Errorf("%v is stated as %v, after %v", p, got, last)
		}
		last = got
	}
}
