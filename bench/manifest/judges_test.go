package manifest

import (
	"fmt"
	"strings"
	"testing"

	"synod.dev/synod/bench/presets"
	"synod.dev/synod/llm"
)

// Simulated members of the presets of papers keep the judges with which their figures were calibrated, so each states
// skill, primacy and shared; in the game nobody judges. Those of our own presets judge as measured: they state none.
func TestJudgesOfPresets(t *testing.T) {
	stated, measured := 0, 0
	for _, name := range presets.Names() {
		b, err := presets.File(name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		text := string(b)
		own := strings.Contains(text, "\nsource: our own")
		for _, line := range strings.Split(text, "\n") {
			models := strings.Split(line, "provider: simulated")[1:]
			for _, m := range models {
				m, _, _ = strings.Cut(m, "}")
				keeps := strings.Contains(m, "skill: ") && strings.Contains(m, "primacy: 0, shared: 0")
				states := strings.Contains(m, "skill: ") || strings.Contains(m, "primacy: ") ||
					strings.Contains(m, "shared: ")
				switch {
				case strings.HasPrefix(name, "game-"):
				case own && states:
					t.Errorf("%s is our own, and states how members judge: %s", name, line)
				case !own && !keeps:
					t.Errorf("%s is a paper's, and does not state how members judge: %s", name, line)
				case own:
					measured++
				default:
					stated++
				}
			}
		}
	}
	if stated < 20 || measured < 5 {
		t.Errorf("%d members that state how they judge, and %d that judge as measured: the test reads too few", stated,
			measured)
	}
}

// The skills of judge-range are those at which judges prefer the right one of two answers with the probability that
// names them.
func TestJudgeRange(t *testing.T) {
	b, err := presets.File("judge-range.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for judges, skill := range map[float64]string{0.55: "0.0267", 0.61: "0.0593", 0.7: "0.1112", 0.8: "0.1785"} {
		if line := fmt.Sprintf("{judges: %v}, models: {m: {skill: %s}, judge: {skill: %s}}", judges, skill,
			skill); !strings.Contains(string(b), line) {
			t.Errorf("the preset has no %s", line)
		}
		said := llm.Judging(map[string]any{"provider": "simulated", "skill": skill})
		if want := fmt.Sprintf("with probability %v", judges); !strings.Contains(said, want+",") &&
			!strings.Contains(said, want+" (better than any measured judge),") {
			t.Errorf("with skill %s a judge %s; want %s", skill, said, want)
		}
	}
}
