package attack_test

import (
	"slices"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/adversary"
	"synod.dev/synod/bench/attack"
	"synod.dev/synod/core/script"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/answer"
	"synod.dev/synod/protocol/catalog"
)

// twice is a protocol of another module: members answer, tell one another their answers once, and keep them.
type twice struct {
	answer.Plain `yaml:",inline"`
}

func (p *twice) Join(seat synod.Seat) synod.Machine {
	return script.New(seat, script.Options{}, func(me *script.Agent) synod.Answer {
		m := answer.New(me, answer.Settings{Templates: "twice"})
		r := m.Answer()
		m.Note(0, r, synod.Opinion{})
		_, silent := m.Exchange(0, &r, 1)
		m.Note(1, r, synod.Opinion{Silent: silent})
		return r.Answer
	})
}

func (p *twice) MaxRounds() int          { return 1 }
func (p *twice) Calls(degrees []int) int { return len(degrees) }
func (p *twice) TellsFirst() bool        { return true }

// A new protocol is attacked by every adversary that its traits admit, and by all if it declares none. What is left out
// is said, with the trait that is missing. Nothing outside the protocol names it.
func TestNewProtocolIsAttacked(t *testing.T) {
	telling := []synod.Trait{synod.Tells, synod.Votes, synod.FirstVotes}
	for name, traits := range map[string][]synod.Trait{"twice": telling, "twice-undeclared": nil} {
		catalog.Protocols.Add(protocol.Entry{Entry: synod.Entry{Name: name, Summary: "of another module"},
			Traits: traits, New: func() protocol.Protocol { return &twice{} }, Prompts: answer.Templates})
		s := attack.Spec{Council: council(t, "protocol: {name: "+name+"}"+members), Questions: 1}
		var attacked []string
		for _, a := range play(t, s).Attacks {
			attacked = append(attacked, a.Adversary)
		}
		out, err := s.LeftOut()
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range adversary.Seated(false) {
			if slices.Contains(attacked, e.Name) != e.Where.Admits(traits) || strings.Contains(out, e.Name) ==
				e.Where.Admits(traits) {
				t.Errorf("%s is attacked by %v, and left out: %q", name, attacked, out)
			}
		}
		for adversary, want := range map[string]bool{"sleeper": true, "colluder": true, "equivocator": true,
			"copier": true, "bandwagon": traits == nil, "vote-jammer": traits == nil} {
			if slices.Contains(attacked, adversary) != want {
				t.Errorf("%s is attacked by %s: %v", name, adversary, !want)
			}
		}
		if traits != nil && !strings.Contains(out, "reasons and rounds: adaptive-persuader, bandwagon") {
			t.Errorf("what is left out is not explained: %q", out)
		}
	}
}

// A protocol that declares fewer traits than it has would look safe, and would lose commitments: it is refused.
func TestHiddenTraits(t *testing.T) {
	catalog.Protocols.Add(protocol.Entry{Entry: synod.Entry{Name: "twice-hidden", Summary: "of another module"},
		Traits: []synod.Trait{synod.Votes}, New: func() protocol.Protocol { return &twice{} },
		Prompts: answer.Templates})
	s := attack.Spec{Council: council(t, "protocol: {name: twice-hidden}"+members), Questions: 1}
	if _, err := s.Manifest(); err == nil || !strings.Contains(err.Error(), "does not declare the trait tells") {
		t.Errorf("a protocol that hides a trait: %v", err)
	}
}
