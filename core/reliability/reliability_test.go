package reliability_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"synod.dev/synod/core/reliability"
)

// history draws answers: member i is right with probability ability[i]; wrong answers are one of four.
func history(seed uint64, from, questions int, ability []float64) (all []reliability.Observation) {
	chance := rand.New(rand.NewPCG(seed, 1))
	for q := from; q < from+questions; q++ {
		for i, p := range ability {
			answer := "right"
			if chance.Float64() >= p {
				answer = fmt.Sprint("wrong", chance.IntN(4))
			}
			all = append(all, reliability.Observation{Question: fmt.Sprint("q", q), Kind: "choice",
				Member: fmt.Sprint("m", i), Answer: answer})
		}
	}
	return all
}

func member(t *testing.T, e *reliability.Estimates, name string) reliability.MemberReliability {
	t.Helper()
	for _, m := range e.Members {
		if m.Name == name {
			return m
		}
	}
	t.Fatalf("no member %s in %+v", name, e)
	return reliability.MemberReliability{}
}

// EM finds the reliabilities of independent members without labels, and twice the same. That of the best is
// found too low,
// because nobody counts more than the median member.
func TestReliabilities(t *testing.T) {
	ability := []float64{0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3}
	all := history(1, 0, 1000, ability)
	e := reliability.Estimate(all, "choice", 2)
	for i, p := range ability {
		if m := member(t, e, fmt.Sprint("m", i)); math.Abs(m.Overall-p) > 0.07 || m.Answers != 1000 || m.Share < 0.8 {
			t.Errorf("ability %v: %+v", p, m)
		}
	}
	if math.Abs(e.Collision-0.25) > 0.06 {
		t.Errorf("collision rate %v; wrong answers are one of four", e.Collision)
	}
	if again := reliability.Estimate(all, "choice", 2); !reflect.DeepEqual(e, again) {
		t.Error("the same observations give other estimates")
	}
}

// With fewer than MinQuestions questions of a kind that two members answered there is no estimate.
func TestNoHistory(t *testing.T) {
	all := history(1, 0, reliability.MinQuestions-1, []float64{0.9, 0.5})
	all = append(all, history(1, 50, 100, []float64{0.9})...)
	if e := reliability.Estimate(all, "choice", 0); e != nil {
		t.Errorf("%+v", e)
	}
	if e := reliability.Estimate(history(1, 0, 20, []float64{0.9, 0.5}), "number", 0); e != nil {
		t.Errorf("another kind: %+v", e)
	}
}

// A member that defects loses its trust within the last Recent answers; one that improves does not gain it in as many.
func TestLostFasterThanGained(t *testing.T) {
	before, after := []float64{0.95, 0.3, 0.7, 0.7, 0.7}, []float64{0.3, 0.95, 0.7, 0.7, 0.7}
	all := append(history(2, 0, 300, before), history(3, 300, reliability.Recent, after)...)
	e := reliability.Estimate(all, "choice", 1)
	fallen, risen := member(t, e, "m0"), member(t, e, "m1")
	if fallen.Reliability > 0.55 || !fallen.Changed || fallen.LogOdds > reliability.MinWeight {
		t.Errorf("after %d wrong answers: %+v", reliability.Recent, fallen)
	}
	if risen.Reliability > 0.45 {
		t.Errorf("after %d right answers: %+v", reliability.Recent, risen)
	}
}

// Three copies of a member share little more than one voice, and count as one supporter.
func TestCopies(t *testing.T) {
	all := history(4, 0, 200, []float64{0.75, 0.7, 0.65, 0.6})
	for _, o := range history(4, 0, 200, []float64{0.75, 0.7, 0.65, 0.6}) {
		for k := range 2 {
			if o.Member == "m0" {
				o.Member = fmt.Sprint("copy", k)
				all = append(all, o)
				o.Member = "m0"
			}
		}
	}
	e := reliability.Estimate(all, "choice", 2)
	sum := 0.0
	for _, name := range []string{"m0", "copy0", "copy1"} {
		sum += member(t, e, name).Share
	}
	if sum > 1.3 || member(t, e, "m1").Share < 0.8 {
		t.Errorf("three equal members have %.2f voices, another one %.2f", sum, member(t, e, "m1").Share)
	}
	together := 0
	for _, p := range e.Pairs {
		if p.Together {
			together++
		}
	}
	if together != 3 {
		t.Errorf("%d pairs are together: %+v", together, e.Pairs)
	}
}

// A member and its copies are found where they are the plurality, so that the others cannot show whom they follow; able
// members that are independent are not taken for copies, though they agree most.
func TestCopiesThatArePlural(t *testing.T) {
	able := []float64{0.9, 0.9, 0.9, 0.4, 0.35, 0.3, 0.3}
	for _, p := range reliability.Estimate(history(6, 0, 200, able), "choice", 3).Pairs {
		if p.Together {
			t.Errorf("independent members are taken for copies: %+v", p)
		}
	}
	one := history(6, 0, 100, []float64{0.75, 0.7, 0.65, 0.6})
	all := slices.Clone(one)
	for _, o := range one {
		for k := range 3 {
			if o.Member == "m0" {
				copied := o
				copied.Member = fmt.Sprint("copy", k)
				all = append(all, copied)
			}
		}
	}
	e := reliability.Estimate(all, "choice", 3)
	together := 0
	for _, p := range e.Pairs {
		if p.Together {
			together++
		}
	}
	if m := member(t, e, "copy0"); together != 6 || m.Share > 0.3 {
		t.Errorf("%d of 6 pairs of equal members are together, and a copy has %+v", together, m)
	}
}

// Two liars that answer alike do not become the truth against five honest members, although they agree most; and labels
// find four liars of seven, who do without.
func TestLiars(t *testing.T) {
	lie := func(honest []float64, liars int) (all []reliability.Observation) {
		all = history(5, 0, 200, honest)
		for q := range 200 {
			for k := range liars {
				all = append(all, reliability.Observation{Question: fmt.Sprint("q", q), Kind: "choice",
					Member: fmt.Sprint("liar", k), Answer: "wrong0"})
			}
		}
		return all
	}
	e := reliability.Estimate(lie([]float64{0.7, 0.65, 0.6, 0.55, 0.5}, 2), "choice", 2)
	if liar := member(t, e, "liar0"); liar.Reliability > 0.3 || member(t, e, "m0").Reliability < 0.55 {
		t.Errorf("the liar has %+v, the best member %+v", liar, member(t, e, "m0"))
	}
	all := lie([]float64{0.6, 0.5, 0.5}, 4)
	if e := reliability.Estimate(all, "choice", 3); member(t, e, "liar0").Overall < member(t, e, "m0").Overall {
		t.Errorf("four of seven liars: this case shows nothing: %+v", e.Members)
	}
	for i := range all {
		if all[i].Label = reliability.Wrong; all[i].Answer == "right" {
			all[i].Label = reliability.Right
		}
	}
	e = reliability.Estimate(all, "choice", 3)
	if liar := member(t, e, "liar0"); liar.Reliability > 0.05 || liar.Labelled != 200 {
		t.Errorf("with labels: %+v", liar)
	}
}

// The cap is the largest limit up to the median; equal weights stay as they are.
func TestCap(t *testing.T) {
	for _, c := range []struct {
		weights []float64
		f       int
		limit   float64
	}{
		{[]float64{1, 1, 1}, 1, 1}, {[]float64{5, 1, 1}, 1, 1}, {[]float64{3, 3, 2, 0.5, 0.5}, 2, 0.999999},
		{[]float64{5, 4, 3, 2}, 1, 3},
		{[]float64{3, 2, 1}, 0, 3}, {[]float64{3, 2}, 1, 2},
	} {
		if _, limit := reliability.Cap(c.weights, c.f); math.Abs(limit-c.limit) > 1e-9 && len(c.weights) > 2*c.f {
			t.Errorf("F=%d %v: limit %v, want %v", c.f, c.weights, limit, c.limit)
		}
	}
	if capped, _ := reliability.Cap([]float64{math.NaN(), math.Inf(1), -1}, 1); capped[0] != reliability.MinWeight ||
		capped[1] >= 0.1 {
		t.Errorf("%v", capped)
	}
}
