package outcome

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/council/plan"
)

// What first answers foretell needs the votes of the configured protocol and rule: more than F for cascade, more than
// half or two thirds for a vote.
func TestForetell(t *testing.T) {
	const seed = 17
	chance := rand.New(rand.NewPCG(seed, 0))
	for _, of := range []string{"protocol: {name: cascade}\nf: 1\n", "protocol: {name: cascade, stop: certain}\nf: 2\n",
		"protocol: {name: majority}\nf: 1\n", "protocol: {name: majority}\nf: 1\nrule: {name: supermajority}\n"} {
		p, err := plan.New(parsed(t, of+"models: {d: {provider: simulated}}\nseats: [{id: a, model: d, count: 7}]\n"))
		if err != nil {
			t.Fatal(err)
		}
		if !Foretold(p) {
			t.Errorf("%s: not foretold", of)
		}
		decided := 0
		for range 200 {
			first, votes := make([]synod.Answer, 7), map[synod.Answer]int{}
			for i := range first {
				first[i] = synod.Answer(fmt.Sprint(chance.IntN(4)))
				votes[first[i]]++
			}
			q := synod.Question{ID: fmt.Sprint(chance.Uint64()), Text: "?", Form: synod.Number}
			got := Foretell(p, &q, first)
			if got == synod.None {
				continue
			}
			decided++
			least := p.Full().F + 1
			switch {
			case p.Full().Rule.Name == plan.Majority:
				least = 4
			case p.Full().Rule.Name == plan.Supermajority:
				least = 5
			}
			if votes[got] < least {
				t.Errorf("%s: %v: %s decided with %d votes (seed %d)", of, first, got, votes[got], seed)
			}
		}
		if decided == 0 || decided == 200 {
			t.Errorf("%s: %d of 200 decided", of, decided)
		}
	}
	talk, err := plan.New(parsed(t, "f: 1\nmodels: {d: {provider: simulated}}\nseats: [{id: a, model: d, count: 5}]\n"))
	if err != nil || Foretold(talk) {
		t.Errorf("sac is foretold by first answers (%v)", err)
	}
}
