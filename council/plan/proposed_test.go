package plan

import (
	"testing"
)

// Proposed files name the default protocol with the parameters that it has, so that another default needs no other
// edit: the file that synod init proposes can be played with the protocols that could be it.
func TestProposedProtocol(t *testing.T) {
	wanted := []string{"rounds: 3", "score: stated"}
	for name, want := range map[string]string{"sac": "{name: sac, rounds: 3, score: stated}",
		"cascade": "{name: cascade, rounds: 3, score: stated}", "majority": "{name: majority}"} {
		got := proposedProtocol(name, wanted)
		if got != want {
			t.Errorf("%s is proposed as %s", name, got)
		}
		p, err := New(parsed(t, "protocol: "+got+"\ngraph: {family: complete}\nf: 3\nrule: "+
			proposedRule(name)+"\nmodels: {m: {provider: simulated}}\nseats: [{id: a, model: m, count: 7}]\n"))
		if err != nil || p.entry.Name != name {
			t.Errorf("%s: %v", got, err)
		}
	}
	if got := Default().Protocol["name"]; got != DefaultProtocol {
		t.Errorf("a council file without a protocol has %v", got)
	}
}
