package cascade_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/odds"
	"synod.dev/synod/council"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/nightly"
	"synod.dev/synod/llm"
)

// tiered is a council of three tiers with odds in which the members' likelihoods count.
func tiered(probe string, adversaries ...string) plan.Spec {
	spec := seven("probable", 1, 0.7, adversaries...)
	spec.Protocol["tiers"], spec.Protocol["odds"], spec.Protocol["probe"] = tiers, oddsOfTiers(), probe
	spec.Protocol["p"] = 0.96
	return spec
}

var tiers = [][]int{{0, 1, 2}, {3, 4}, {5, 6}}

// oddsOfTiers are from 200 questions in which the likelihoods of right answers are higher.
var oddsOfTiers = sync.OnceValue(func() (models []*odds.Predictor) {
	var names []string
	for _, tier := range tiers {
		for _, i := range tier {
			names = append(names, fmt.Sprint("s", i))
		}
		var labelled []odds.Labelled
		for k := range 200 {
			q := odds.Labelled{Kind: "number", Right: "42"}
			for i := range names {
				answer, sure := "42", 0.6+0.3*float64(k%10)/10
				if (k+3*i)%10 < 3 {
					answer, sure = fmt.Sprint(k%3), sure-0.5
				}
				q.Answers, q.Sure = append(q.Answers, answer), append(q.Sure, sure)
			}
			labelled = append(labelled, q)
		}
		models = append(models, odds.Fit(slices.Clone(names), labelled))
	}
	return models
})

// Members that hear one another's likelihoods ask exactly whom the records say were asked, also beside adversaries that
// claim to be certain, and the journal replays. That the probe matters is shown by runs in which fewer or more are
// asked than without it.
func TestPlayByLikelihood(t *testing.T) {
	other := 0
	for seed := range uint64(nightly.Size(6, 60)) {
		for _, cast := range [][]string{{}, {"overconfident"}, {"inverter"}, {"silent"}} {
			path := filepath.Join(t.TempDir(), "j")
			o := ask(t, tiered("likelihood", cast...), seed, path)
			replays(t, path, o)
			for _, m := range o.Members {
				asked := slices.Contains(o.Asked, m.ID)
				if m.Adversary == nil && asked != (m.First != nil) {
					t.Errorf("seed %d, %v: %s was asked: %v, and answered %v", seed, cast, m.ID, asked, m.First)
				}
				if m.Adversary == nil && asked && m.First != nil && m.Likelihood == nil {
					t.Errorf("seed %d, %v: %s has no likelihood", seed, cast, m.ID)
				}
			}
			if o.Probability != nil && !o.Probability.Likelihood {
				t.Errorf("seed %d, %v: %+v does not rest on likelihoods", seed, cast, o.Probability)
			}
			plain := ask(t, tiered("none", cast...), seed, filepath.Join(t.TempDir(), "j"))
			if plain.Probability != nil && plain.Probability.Likelihood || plain.Members[6].Likelihood != nil {
				t.Errorf("seed %d, %v: without a probe %+v", seed, cast, plain.Probability)
			}
			if len(plain.Asked) != len(o.Asked) {
				other++
			}
		}
	}
	if other == 0 {
		t.Error("the likelihoods never matter")
	}
}

// A trust file learns the likelihoods that members report, of any protocol that asks for them, and no confidence that a
// member states in its own words.
func TestLearnsLikelihoods(t *testing.T) {
	for _, c := range []struct {
		protocol plan.Params
		want     bool
	}{
		{plan.Params{"name": "majority", "probe": "likelihood"}, true},
		{plan.Params{"name": "majority"}, false},
		{plan.Params{"name": "cp-wbft", "probe": "likelihood"}, true},
		{plan.Params{"name": "cp-wbft", "probe": "stated"}, false},
	} {
		spec := seven("", 1, 0.7)
		spec.Protocol, spec.F = c.protocol, 0
		convened, err := council.Convene(spec, llm.Env{})
		if err != nil {
			t.Fatal(err)
		}
		p := convened.Plan()
		convened.Close()
		o := ask(t, spec, 1, filepath.Join(t.TempDir(), "j"))
		q := synod.Question{ID: "q1", Text: "What is 17 + 25?", Form: synod.Number}
		for i, seen := range outcome.FirstAnswers(p, &q, &o, nil) {
			sure := o.Members[i].Likelihood
			if (sure != nil) != c.want || c.want && seen.Sure != *sure || !c.want && seen.Sure != 0 {
				t.Errorf("%v: %s has %v, and %v is learned", c.protocol, seen.Member, sure, seen.Sure)
			}
		}
	}
}
