package odds

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// telling are questions on which four members are right on seven of ten and report likelihoods that are higher by so
// much, in standard deviations, if they are.
func telling(n int, higher float64, seed uint64) (labelled []Labelled) {
	chance := rand.New(rand.NewPCG(seed, 7))
	for range n {
		q := Labelled{Right: "r"}
		for range members {
			answer, x := "r", 2+higher+chance.NormFloat64()
			if chance.Float64() >= 0.7 {
				answer, x = fmt.Sprint("w", chance.IntN(3)), x-higher
			}
			q.Answers, q.Sure = append(q.Answers, answer), append(q.Sure, logistic(x))
		}
		labelled = append(labelled, q)
	}
	return labelled
}

// An answer whose supporters are surer than they mostly are is more probable, and a doubtful one less; noise changes
// little. A member that reports nothing counts as one that is as sure as it mostly is.
func TestSure(t *testing.T) {
	answers := []string{"1", "1", "2", "3"}
	p := func(m *Predictor, sure ...float64) float64 {
		return chanceOf(m.Chances("", answers, sure, 0), "1").Probability
	}
	m := Fit(members, telling(200, 1.5, 1))
	low, middle, high := p(m, 0.1, 0.1, 0.5, 0.5), p(m, 0, 0, 0, 0), p(m, 0.999, 0.999, 0.5, 0.5)
	if !(low < middle-0.1 && middle+0.1 < high) {
		t.Errorf("doubtful %.3f, nothing reported %.3f, sure %.3f", low, middle, high)
	}
	noise := Fit(members, telling(200, 0, 1))
	if low, high := p(noise, 0.1, 0.1, 0, 0), p(noise, 0.999, 0.999, 0, 0); math.Abs(high-low) > 0.1 {
		t.Errorf("noise: doubtful %.3f, sure %.3f", low, high)
	}
	for _, c := range []struct {
		sure []float64
		want bool
	}{{nil, false}, {[]float64{0, 0, 0, 0}, false}, {[]float64{0, 0, 0, 0.5}, true}} {
		if got := m.Chances("", answers, c.sure, 0)[0].Sure; got != c.want {
			t.Errorf("%v: used %v", c.sure, got)
		}
	}
}

// Without likelihoods, or with too few of them, the model is the one that it is without the feature, to the last bit.
func TestWithoutLikelihoods(t *testing.T) {
	all := telling(60, 1, 2)
	few := make([]Labelled, len(all))
	for k, q := range all {
		if few[k] = q; k >= leastSure-1 {
			few[k].Sure = make([]float64, len(members))
		}
		all[k].Sure = nil
	}
	without := Fit(members, all)
	if got := Fit(members, few); !reflect.DeepEqual(got, without) || got.Marks != nil {
		t.Errorf("%+v, want %+v", got, without)
	}
	sure, answers := []float64{0.9, 0.9, 0.9, 0.9}, []string{"1", "1", "2", ""}
	if got, want := without.Chances("", answers, sure, 1), without.Chances("", answers, nil, 1); !reflect.DeepEqual(got,
		want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// A rank is between -1 and 1 whatever is reported, grows with it, and is 0 where nothing is known.
func TestRank(t *testing.T) {
	m := &Predictor{Members: members, Marks: [][]float64{{0.2, 0.4, 0.6, 0.8}, {0.5, 0.5, 0.5, 0.5}, {}, nil}}
	for _, c := range []struct {
		member int
		sure   float64
		want   float64
	}{{0, 0.1, -1}, {0, 0.5, 0}, {0, 0.8, 0.75}, {0, 1, 1}, {0, 1e300, 1}, {0, 0, 0}, {0, -3, 0},
		{0, math.NaN(), 0}, {1, 0.5, 0}, {1, 0.51, 1}, {2, 0.9, 0}, {3, 0.9, 0}} {
		sure := make([]float64, len(members))
		sure[c.member] = c.sure
		if got := m.rank(c.member, sure); got != c.want {
			t.Errorf("member %d, %v: %v, want %v", c.member, c.sure, got, c.want)
		}
	}
	if got := (&Predictor{Members: members}).rank(0, []float64{1}); got != 0 {
		t.Errorf("without marks: %v", got)
	}
}

// blank returns answers without those of some members.
func blank(answers []string, out ...int) []string {
	some := append([]string(nil), answers...)
	for _, i := range out {
		some[i] = ""
	}
	return some
}

// One liar, whatever it answers and whatever likelihood it reports, cannot raise the trimmed probability of an answer
// above, nor lower it below, what the others make of it: above it without the vote of the others that speaks most
// against it, below without the one that it rests on most. These bounds do not contain the liar's likelihood. The
// control: untrimmed, it moves the probability beyond them.
func TestLiarsLikelihood(t *testing.T) {
	beyond := 0
	fitted := []*Predictor{Fit(members, telling(200, 2, 3)), Fit(members, telling(100, -1, 4)), Fit(members,
		telling(40, 0.5, 5))}
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.SampledFrom(fitted).Draw(t, "model")
		answers := rapid.SliceOfN(rapid.SampledFrom([]string{"", "x", "x", "y", "z"}), 4, 4).Draw(t, "answers")
		sure := rapid.SliceOfN(rapid.Float64Range(0, 1), 4, 4).Draw(t, "likelihoods")
		liar := rapid.IntRange(0, 3).Draw(t, "liar")
		least, most := 1.0, 0.0
		for i, a := range answers {
			if i == liar {
				continue
			}
			of := func(out ...int) float64 {
				return chanceOf(m.Chances("", blank(answers, out...), sure, 0), "x").Probability
			}
			if a == "x" {
				least = min(least, of(liar, i))
			} else if a != "" {
				most = max(most, of(liar, i))
			}
		}
		most = max(most, chanceOf(m.Chances("", blank(answers, liar), sure, 0), "x").Probability)
		for _, says := range []float64{0, 1e-9, 0.5, 1, rapid.Float64Range(0, 1).Draw(t, "says")} {
			sure[liar] = says
			for _, lie := range []string{"x", "y", "w"} {
				answers[liar] = lie
				got := chanceOf(m.Chances("", answers, sure, 1), "x").Probability
				if lie == "x" && got > most+1e-9 {
					t.Fatalf("%v %v: the liar raises x to %v, above %v", answers, sure, got, most)
				}
				if lie != "x" && least < 1 && got < least-1e-9 {
					t.Fatalf("%v %v: the liar lowers x to %v, below %v", answers, sure, got, least)
				}
				if all := chanceOf(m.Chances("", answers, sure, 0), "x").Probability; lie == "x" && all > most+0.05 {
					beyond++
				}
			}
		}
	})
	if beyond == 0 {
		t.Error("the control never moves the probability")
	}
}

// A model with marks can be written and read again; one with marks that Fit cannot have made is refused.
func TestCheckMarks(t *testing.T) {
	b, err := json.Marshal(Fit(members, telling(60, 1, 6)))
	if err != nil {
		t.Fatal(err)
	}
	read := func() *Predictor {
		m := &Predictor{}
		if err := json.Unmarshal(b, m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	if err := read().Check(); err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string]func(m *Predictor){
		"no marks":           func(m *Predictor) { m.Marks = nil },
		"a member less":      func(m *Predictor) { m.Marks = m.Marks[1:] },
		"too few":            func(m *Predictor) { m.Marks[0] = m.Marks[0][1:] },
		"not ascending":      func(m *Predictor) { m.Marks[1][0] = 1 },
		"no number":          func(m *Predictor) { m.Marks[1][18] = math.NaN() },
		"above one":          func(m *Predictor) { m.Marks[1][18] = 1.5 },
		"a coefficient less": func(m *Predictor) { m.Coefficients = m.Coefficients[1:] },
	} {
		m := read()
		if change(m); m.Check() == nil {
			t.Errorf("%s: accepted", what)
		}
	}
}
