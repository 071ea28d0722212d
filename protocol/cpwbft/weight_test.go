package cpwbft_test

import (
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/protocol/cpwbft"
)

// The weight of a first answer is the confidence that its member states. It is 0 if the member states none, and 1 if
// the protocol asks for none. Only a vote without rounds in which everyone counts is a vote by means.
func TestWeights(t *testing.T) {
	p, half := cpwbft.New(), 0.5
	if p.Probe == cpwbft.NoProbe {
		t.Fatal("the default asks for no confidence")
	}
	if a, b := p.Weight(&synod.Opinion{Confidence: &half}), p.Weight(&synod.Opinion{}); a != 0.5 || b != 0 {
		t.Errorf("weights %v and %v", a, b)
	}
	for _, c := range []struct {
		rounds int
		weigh  cpwbft.Weigh
		probe  bool
		want   bool
	}{{0, cpwbft.Everyone, true, true}, {1, cpwbft.Everyone, true, false}, {0, cpwbft.Half, true, false},
		{0, cpwbft.Everyone, false, false}} {
		p := cpwbft.New()
		if p.Rounds, p.Weigh = c.rounds, c.weigh; !c.probe {
			p.Probe = cpwbft.NoProbe
			if w := p.Weight(&synod.Opinion{Confidence: &half}); w != 1 {
				t.Errorf("without a probe the weight is %v", w)
			}
		}
		if p.VotesByMean() != c.want {
			t.Errorf("%+v: %v", c, !c.want)
		}
	}
}
