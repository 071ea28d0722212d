package cascade

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/odds"
	"synod.dev/synod/protocol/answer"
)

// sureOdds are the odds of tiers of two and one from 200 questions, in which a likelihood tells whether its answer is
// right: those of right answers are above 0.5.
func sureOdds() (models []*odds.Predictor) {
	chance := rand.New(rand.NewPCG(3, 4))
	questions := make([]odds.Labelled, 200)
	for k := range questions {
		q := &questions[k]
		q.Kind, q.Right = "text", "r"
		for range 3 {
			answer, sure := "r", 0.5+chance.Float64()/2
			if chance.IntN(10) < 4 {
				answer, sure = fmt.Sprint("w", chance.IntN(3)), sure-0.45
			}
			q.Answers, q.Sure = append(q.Answers, answer), append(q.Sure, sure)
		}
	}
	for _, n := range []int{2, 3} {
		some := make([]odds.Labelled, len(questions))
		for k, q := range questions {
			some[k] = odds.Labelled{Kind: q.Kind, Right: q.Right, Answers: q.Answers[:n], Sure: q.Sure[:n]}
		}
		models = append(models, odds.Fit([]string{"m0", "m1", "m2"}[:n], some))
	}
	return models
}

// With probe: likelihood a tier ends by how likely members say their answers are, and the outcome says so. Without the
// probe, whatever a member writes beside its answer does not count.
func TestTiersByLikelihood(t *testing.T) {
	for what, c := range map[string]struct {
		probe  answer.Probe
		votes  string
		sure   [3]float64
		want   synod.Answer
		asked  int
		likely bool
		atMost float64
	}{
		"sure, one tier":       {answer.LikelihoodProbe, "a a b", [3]float64{0.97, 0.95}, "a", 2, true, 1},
		"two doubtful ones":    {answer.LikelihoodProbe, "a a b", [3]float64{0.1, 0.1, 0.97}, "b", 3, true, 1},
		"all doubtful":         {answer.LikelihoodProbe, "a a -", [3]float64{0.1, 0.1}, "a", 3, true, 0.5},
		"the sure one of two":  {answer.LikelihoodProbe, "a b -", [3]float64{0.1, 0.97}, "b", 2, true, 1},
		"the other one of two": {answer.LikelihoodProbe, "a b -", [3]float64{0.97, 0.1}, "a", 2, true, 1},
		"none reports":         {answer.LikelihoodProbe, "a a b", [3]float64{}, "a", 3, false, 1},
		"no probe":             {answer.NoProbe, "a a b", [3]float64{0.97, 0.95}, "a", 3, false, 1},
	} {
		p := New()
		p.Tiers, p.Odds, p.P, p.Probe = [][]synod.NodeID{{0, 1}, {2}}, sureOdds(), 0.94, c.probe
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		var noted [][]*synod.Opinion
		for i, v := range strings.Fields(c.votes) {
			o := &synod.Opinion{Answer: synod.Answer(strings.Trim(v, "-"))}
			if c.sure[i] > 0 {
				o.Confidence = &c.sure[i]
			}
			noted = append(noted, []*synod.Opinion{o})
		}
		d := p.Decide(&synod.Question{ID: what, Form: synod.Text}, noted, 0)
		if d.Answer != c.want || d.Asked != c.asked || d.Probability == nil || d.Probability.Likelihood != c.likely ||
			d.Probability.Value > c.atMost || strings.Contains(d.Why, "likelihoods that models report") != c.likely {
			t.Errorf("%s: %q with %d asked, %+v: %s", what, d.Answer, d.Asked, d.Probability, d.Why)
		}
	}
}

// The probe needs tiers.
func TestProbeRefused(t *testing.T) {
	p := New()
	p.Probe = answer.LikelihoodProbe
	if err := p.Validate(); err == nil || !strings.Contains(err.Error(), "probe: likelihood needs tiers") {
		t.Error(err)
	}
}
