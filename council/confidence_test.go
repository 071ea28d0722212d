package council

import (
	"errors"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/llm"
	"synod.dev/synod/protocol"
)

type protocolWithConfidence struct {
	protocol.Protocol
	mode synod.ConfidenceMode
}

func (p protocolWithConfidence) ConfidenceMode() synod.ConfidenceMode { return p.mode }

type member struct {
	llm.Model
	can bool
}

func (m member) GivesHiddenConfidence() bool { return m.can }
func (m member) CanWeigh() bool              { return m.can }

// A protocol that reads hidden states is refused before it runs if one member has
// no probe. [CP-2]
func TestHiddenConfidenceNeedsProbes(t *testing.T) {
	c := &Council{plan: &Plan{seats: []Seat{{ID: "a", Model: "good"}, {ID: "b", Model: "bare"}}},
		models: map[string]llm.Model{"good": member{can: true}, "bare": member{}}}
	for _, mode := range []synod.ConfidenceMode{synod.NoConfidence, synod.StatedConfidence, synod.HiddenConfidence} {
		refused := mode == synod.HiddenConfidence
		c.plan.protocol = protocolWithConfidence{mode: mode}
		err := c.checkPowers()
		var bad *ConfigError
		if (err != nil) != refused || refused && (!errors.As(err, &bad) ||
			!strings.Contains(err.Error(), `model "bare" has none`)) {
			t.Errorf("%q: %v", mode, err)
		}
	}
	c.models["bare"] = member{can: true}
	if err := c.checkPowers(); err != nil {
		t.Error(err)
	}
}

// weighing is a protocol that needs the likelihoods of texts.
type weighing struct{ protocolWithConfidence }

func (weighing) Weighs() bool { return true }

// A protocol that needs likelihoods is refused before it runs if a member that votes cannot give them: the error names
// the parameter. Members without a vote, such as workers, need not.
func TestLikelihoodNeedsWeighers(t *testing.T) {
	c := &Council{plan: &Plan{seats: []Seat{{ID: "a", Model: "good"}, {ID: "b", Model: "bare"}}},
		models: map[string]llm.Model{"good": member{can: true}, "bare": member{}}}
	for mode, want := range map[synod.ConfidenceMode]string{
		synod.LikelihoodConfidence: `probe: likelihood needs members that return the likelihood of a text, and model ` +
			`"bare" does not; use probe: stated`,
		synod.NoConfidence: "use score: stated",
	} {
		c.plan.protocol = weighing{protocolWithConfidence{mode: mode}}
		var bad *ConfigError
		if err := c.checkPowers(); !errors.As(err, &bad) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", mode, err)
		}
	}
	c.plan.seats[1].NonVoting = true
	if err := c.checkPowers(); err != nil {
		t.Error(err)
	}
}
