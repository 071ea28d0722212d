package council_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"synod.dev/synod/graph"
	"synod.dev/synod/graph/robustness"
)

// The harm of the seats that the rule worst picked is the largest of all sets of as many seats, by
// the measure that it says.
func TestHarmOfWorstSeats(t *testing.T) {
	for seed := range 12 {
		rng := rand.New(rand.NewPCG(uint64(seed), 3))
		n := 5 + rng.IntN(3)
		g := fmt.Sprintf("graph: {family: random, p: %.2f, seed: %d}", 0.3+0.5*rng.Float64(), seed)
		p, err := planOf(t, simulated(n, g, "adversaries: {adversary: {name: replay}, members: 2, seats: worst}"))
		if err != nil {
			t.Fatal(err)
		}
		h := p.Harm()
		least := n
		for i := range n {
			for j := range i {
				if rest, _, err := graph.Without(p.Graph().Graph, []int{i, j}); err == nil {
					least = min(least, robustness.Find(rest, nil).R)
				}
			}
		}
		if h == nil || h.R == nil || *h.R != least || len(h.Seats) != 2 {
			t.Errorf("%s: %v; the least r without two seats is %d", g, h, least)
		}
	}
}

func TestHarm(t *testing.T) {
	p, err := planOf(t, simulated(5, "graph: {family: star}",
		"adversaries: {adversary: {name: replay}, members: 1, seats: [a3]}"))
	if err != nil {
		t.Fatal(err)
	}
	h := p.Harm()
	if got := h.String(); got != "adversaries at a3: r=1 without them, at most 1 heard by one honest member, 1 edge "+
		"to others" {
		t.Error(got)
	}
	if got := h.Reach(); got != "never hear an adversary: a2, a4, a5" {
		t.Error(got)
	}
	b, err := json.Marshal(h)
	if err != nil || !strings.HasPrefix(string(b), `{"seats":["a3"],"r":1,"f_local":1,"edges":1,"unheard":["a2",`) {
		t.Errorf("%s %v", b, err)
	}
	if p, err = planOf(t, simulated(5, "graph: {family: star}")); err != nil || p.Harm() != nil {
		t.Errorf("without adversaries: %v %v", p.Harm(), err)
	}
	p, err = planOf(t, simulated(30, "graph: {family: circulant}",
		"adversaries: {adversary: {name: replay}, members: 2, seats: worst}"))
	if err != nil || p.Harm().R != nil || !strings.Contains(p.Harm().String(), "not measured") {
		t.Errorf("30 seats: %v %v", p.Harm(), err)
	}
}
