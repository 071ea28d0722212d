package computed

import (
	"math"
	"math/rand/v2"
	"testing"

	"synod.dev/synod/core/odds"
	"synod.dev/synod/core/stats"
	"synod.dev/synod/council/seating"
	"synod.dev/synod/internal/nightly"
)

// reportLikelihoods gives every vote of a sample a likelihood that the member's model might report: a logistic normal
// number whose mean is higher if the answer is right. The recordings have none, so these are a stub.
func reportLikelihoods(s *seating.Sample, higher float64, chance *rand.Rand) {
	for k := range s.Questions {
		q := &s.Questions[k]
		q.Sure = make([]float64, len(q.Answers))
		for i, a := range q.Answers {
			x := 2 + chance.NormFloat64()
			if a == q.Right {
				x += higher
			}
			q.Sure[i] = 1 / (1 + math.Exp(-x))
		}
	}
}

// surestHalf is the share of right answers in the half of the questions whose answer is most probable.
func surestHalf(known, rest *seating.Sample, f int) float64 {
	m := odds.Fit(known.Models, known.Questions)
	var all []stats.Forecast
	for _, q := range rest.Questions {
		if c := m.Chances(q.Kind, q.Answers, q.Sure, f); len(c) > 0 {
			all = append(all, stats.Forecast{Confidence: c[0].Probability, Right: c[0].Answer == q.Right})
		}
	}
	return surest(all, 0.5)
}

// gainOfLikelihoods is by how much likelihoods raise surestHalf on recorded votes, over casts of four models and 60
// labels, with a 95 % interval.
func gainOfLikelihoods(t *testing.T, set string, higher float64, f int) stats.Estimate {
	t.Helper()
	needVotes(t)
	v, err := (&Work{}).realVotes(votesFolder, set)
	if err != nil {
		t.Fatal(err)
	}
	v = v.priced()
	var gain stats.ClusterMean
	for split := range nightly.Size(16, 60) {
		chance := rand.New(rand.NewPCG(uint64(split), 5))
		members, err := v.drawCast(chance, 4)
		if err != nil {
			t.Fatal(err)
		}
		known, rest := v.samples(members, 60, 400, chance)
		without := surestHalf(known, rest, f)
		reportLikelihoods(known, higher, chance)
		reportLikelihoods(rest, higher, chance)
		gain.Add(surestHalf(known, rest, f)-without, 1)
	}
	e, ok := gain.Estimate()
	if !ok {
		t.Fatal("no estimate")
	}
	return e
}

// Likelihoods that tell right answers from wrong ones (area 0.76) raise the accuracy of the surer half of the
// questions, also where one liar is allowed for; those that tell nothing do not lower it beyond the interval.
func TestLikelihoodsRaiseAccuracyOverCoverage(t *testing.T) {
	for _, set := range []string{"math-l5", "crux", "mmlu-pro"} {
		for _, f := range []int{0, 1} {
			telling, noise := gainOfLikelihoods(t, set, 1, f), gainOfLikelihoods(t, set, 0, f)
			if telling.Low <= 0 {
				t.Errorf("%s, F=%d: telling likelihoods gain %+v", set, f, telling)
			}
			if noise.High < 0 || noise.Value < -0.01 {
				t.Errorf("%s, F=%d: likelihoods without meaning gain %+v", set, f, noise)
			}
			t.Logf("%s, F=%d: telling %+.4f (%.4f to %.4f), noise %+.4f (%.4f to %.4f)", set, f, telling.Value,
				telling.Low, telling.High, noise.Value, noise.Low, noise.High)
		}
	}
}
