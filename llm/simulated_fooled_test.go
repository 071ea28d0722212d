package llm_test

import (
	"context"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/internal/payload"
	"synod.dev/synod/llm"
)

// A simulated judge does what a payload asks where fooled is 1, ignores it where fooled is 0, the default, and its
// identity and its name say which.
func TestFooled(t *testing.T) {
	truth := func(*synod.Question) synod.Answer { return "42" }
	replies := func(fooled float64) (score float64, refined synod.Reply, info llm.Info) {
		c, sharp := llm.NewSimulatedConfig(), 1.0
		c.Skill, c.Primacy = &sharp, 0
		c.Ability, c.Noise, c.Fooled, c.Stubbornness = 1, 0, fooled, 1
		m, err := llm.NewSimulated(c, truth)
		if err != nil {
			t.Fatal(err)
		}
		ask := func(p synod.Prompt) synod.Reply {
			p.Question = &synod.Question{Text: "What is 17 + 25?", Form: synod.Number}
			r, err := m.Complete(context.Background(), llm.Request{Prompt: &p, Seat: "a"})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		text := func(name string) string {
			f, err := payload.Find(name)
			if err != nil {
				t.Fatal(err)
			}
			return f.Text("52")
		}
		score = ask(synod.Prompt{Purpose: synod.Scoring, Candidate: "52", Rationale: text("authority")}).Value
		refined = ask(synod.Prompt{Purpose: synod.Refining, Own: "42", Peers: []synod.Rated{{Answer: "52",
			Rationale: text("peer-commander")}}})
		return score, refined, m.Info()
	}
	high, led, info := replies(1)
	if high != 1 || led.Answer != "52" || !strings.Contains(info.Name, "fooled 1") ||
		!strings.Contains(info.Identity, "Fooled:1") {
		t.Errorf("with fooled 1: score %v, refined %v, %+v", high, led, info)
	}
	low, own, info := replies(0)
	if low != 0 || own.Answer != "42" || strings.Contains(info.Identity+info.Name, "ooled") {
		t.Errorf("with fooled 0: score %v, refined %v, %+v", low, own, info)
	}
	if s := llm.Fooling(map[string]any{"provider": "simulated", "fooled": 0.5}, false); !strings.Contains(s, "0.5") {
		t.Errorf("outputs say %q", s)
	}
	for _, settings := range []map[string]any{{"provider": "simulated"}, {"provider": "simulated", "gullible": 0}} {
		if s := llm.Fooling(settings, settings["gullible"] != nil); s != "" {
			t.Errorf("%v: outputs say %q of a member that nothing fools", settings, s)
		}
	}
	if s := llm.Fooling(map[string]any{"provider": "simulated"}, true); s != "assumed, not measured: it believes a "+
		"derivation with probability 0.8" {
		t.Errorf("outputs say %q of a member that derivations reach", s)
	}
}
