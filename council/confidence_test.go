package council

import (
	"errors"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/council/plan"
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

func (m member) CanWeigh() bool { return m.can }

// powers checks what all seats can do.
func powers(p protocol.Protocol, seats []plan.Seat, models map[string]llm.Model) error {
	for i := range seats {
		if err := checkPowers(p, &seats[i], models[seats[i].Model]); err != nil {
			return err
		}
	}
	return nil
}

// A protocol that reads hidden states is refused before it runs if one member has
// no probe. [CP-2]
func TestHiddenConfidenceNeedsProbes(t *testing.T) {
	seats := []plan.Seat{{ID: "a", Model: "good"}, {ID: "b", Model: "bare"}}
	models := map[string]llm.Model{"good": member{can: true}, "bare": member{}}
	for _, mode := range []synod.ConfidenceMode{synod.NoConfidence, synod.StatedConfidence, synod.HiddenConfidence} {
		refused := mode == synod.HiddenConfidence
		err := powers(protocolWithConfidence{mode: mode}, seats, models)
		var bad *plan.ConfigError
		if (err != nil) != refused || refused && (!errors.As(err, &bad) ||
			!strings.Contains(err.Error(), `model "bare" has none`)) {
			t.Errorf("%q: %v", mode, err)
		}
	}
	models["bare"] = member{can: true}
	if err := powers(protocolWithConfidence{mode: synod.HiddenConfidence}, seats, models); err != nil {
		t.Error(err)
	}
}

// ofAnswers is a model that gives the likelihood of its own answers, and of no other text.
type ofAnswers struct{ member }

func (ofAnswers) GivesLikelihood() bool { return true }

// weighing is a protocol that needs the likelihoods of texts.
type weighing struct{ protocolWithConfidence }

func (weighing) Weighs() bool { return true }

// A protocol that needs likelihoods is refused before it runs if a member that votes cannot give them: the error names
// the parameter. Members without a vote, such as workers, need not.
func TestLikelihoodNeedsWeighers(t *testing.T) {
	seats := []plan.Seat{{ID: "a", Model: "good"}, {ID: "b", Model: "bare"}}
	models := map[string]llm.Model{"good": member{can: true}, "bare": member{}}
	for mode, want := range map[synod.ConfidenceMode]string{
		synod.LikelihoodConfidence: `probe: likelihood needs members that return the likelihood of a text, and model ` +
			`"bare" does not; give an endpoint logprobs: true, or use probe: stated`,
		synod.NoConfidence: "use score: stated",
	} {
		var bad *plan.ConfigError
		if err := powers(weighing{protocolWithConfidence{mode: mode}}, seats, models); !errors.As(err, &bad) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", mode, err)
		}
	}
	models["bare"] = ofAnswers{}
	if err := powers(weighing{protocolWithConfidence{mode: synod.LikelihoodConfidence}}, seats, models); err != nil {
		t.Error("a probe is content with the likelihood of answers:", err)
	}
	if err := powers(weighing{}, seats, models); err == nil {
		t.Error("scores need the likelihood of any text")
	}
	seats[1].NonVoting = true
	if err := powers(weighing{}, seats, models); err != nil {
		t.Error(err)
	}
}
