package metrics

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"synod.dev/synod/core/stats"
)

// The area is that of stats.AUC over all scores, and the share of pairs is by judge: a judge who orders the answers of
// every question rightly, and scores one question far below another, has a low area and prefers the right one always.
func TestJudging(t *testing.T) {
	var all Judges
	var list []stats.Forecast
	rng := rand.New(rand.NewPCG(1, 2))
	for q := range 40 {
		base := 0.4 * float64(q%2)
		right, wrong := base+0.2+0.1*rng.Float64(), base+0.1*rng.Float64()
		list = append(list, stats.Forecast{Confidence: right, Right: true}, stats.Forecast{Confidence: wrong})
		all.Add(&GradedQuestion{Question: fmt.Sprint(q)}, [][]Scored{{{Score: right, Right: true}, {Score: wrong},
			{Missing: true}}, {{Score: 0.5, Missing: true, Right: true}}})
	}
	got := all.Judging()
	want, _ := stats.AUC(list)
	if math.Abs(got.AUC.Value-want) > 0.01 || want > 0.9 || got.AUC.Low >= want || got.AUC.High <= want {
		t.Errorf("area %v, not %v", *got.AUC, want)
	}
	if got.Prefers.Value != 1 || got.Prefers.N != 40 || got.N != 80 || got.Missing != 80 {
		t.Errorf("prefers %v of %d scores, %d missing", *got.Prefers, got.N, got.Missing)
	}
	var none, one Judges
	none.Add(&GradedQuestion{Question: "q"}, [][]Scored{{{Score: 1, Right: true}}})
	one.Add(&GradedQuestion{Question: "q"}, [][]Scored{{{Score: 1, Right: true}, {Score: 0}}})
	if none.Judging() != nil {
		t.Error("an area without a wrong answer")
	}
	if a := one.Judging().AUC; a.Value != 1 || a.Low != 0 || a.High != 1 {
		t.Errorf("the area of one question is %v", *a)
	}
}

// Of judges whose scores of one question are alike, about 95 of 100 intervals cover the true area.
func TestJudgingCovers(t *testing.T) {
	const repeats, questions, judges, shift = 400, 60, 5, 0.1
	truth := (1 + math.Erf(shift/(2*0.15))) / 2
	rng, covered := rand.New(rand.NewPCG(3, 4)), 0
	for range repeats {
		var j Judges
		for q := range questions {
			var lists [][]Scored
			right, wrong := rng.NormFloat64(), rng.NormFloat64() // what all judges think of the two answers
			for range judges {
				score := func(mean, shared float64) float64 {
					return mean + 0.15*(math.Sqrt(0.55)*shared+math.Sqrt(0.45)*rng.NormFloat64())
				}
				lists = append(lists, []Scored{{Score: score(0.5+shift/2, right), Right: true},
					{Score: score(0.5-shift/2, wrong)}})
			}
			j.Add(&GradedQuestion{Question: fmt.Sprint(q)}, lists)
		}
		if a := j.Judging().AUC; a.Low <= truth && truth <= a.High {
			covered++
		}
	}
	if share := float64(covered) / repeats; share < 0.92 || share > 0.985 {
		t.Errorf("%.3f of the intervals cover the area %.3f", share, truth)
	}
}
