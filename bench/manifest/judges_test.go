package manifest

import (
	"slices"
	"strings"
	"testing"

	"synod.dev/synod/bench"
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

// The judges of judge-range prefer the right one of two answers with the probability that names them, and judge
// otherwise as measured. Each of the three axes of judges changes every simulated member and nothing else.
func TestJudgesAsAxes(t *testing.T) {
	const base = "experiment: judging\nsummary: s\nbase:\n  task: builtin\n  questions: 1\n  models:\n" +
		"    m: {provider: simulated}\n    n: {provider: simulated, ability: 0.9}\n" +
		"  seats: [{id: a, model: m, count: 2}, {id: b, model: n}]\naxes:\n"
	preset, err := presets.File("judge-range.yaml")
	if err != nil {
		t.Fatal(err)
	}
	measured := "prefers the right one of two answers with probability 0.61, takes the first of a list with " +
		"probability 0.13, and shares 0.55 of the variance of its noise with other judges"
	for text, want := range map[string][]string{
		string(preset): {"probability 0.55,", measured, "probability 0.7,", "probability 0.8 (better"},
		base + "  judges.prefers: [0.55, 0.7]\n  judges.primacy: [0.4]\n": {
			"probability 0.55, takes the first of a list with probability 0.4, and shares 0.55",
			"probability 0.7, takes the first of a list with probability 0.4,"},
		base + "  judges.shared: [0, 0.9]\n": {
			"0.61, takes the first of a list with probability 0.13, and shares 0 of",
			"shares 0.9"},
		base + "  protocol: [sac, majority]\n": {measured},
	} {
		said := judgingOf(t, text)
		for _, w := range want {
			if !slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, w) }) {
				t.Errorf("no member judges so: %s; they do: %q", w, said)
			}
		}
	}
	for text, want := range map[string]string{
		strings.Replace(base, "simulated}", "simulated, noise: 0}", 1) +
			"  judges.prefers: [0.6]\n": "needs members with noise",
		strings.ReplaceAll(strings.ReplaceAll(base, ", ability: 0.9", ""), "simulated", "openai, model: x") +
			"  judges.prefers: [0.6]\n": "no member is simulated",
		base + "  judges.prefers: [1.5]\n": "0.01 and 0.99",
		base + "  judges.skill: [0.5]\n":   "skill",
	} {
		if _, err := drafted(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, not: %s", err, want)
		}
	}
}

// judgingOf returns how the members of all cells of a manifest judge, each way once, and fails if the members of a cell
// do not judge alike.
func judgingOf(t *testing.T, text string) (said []string) {
	t.Helper()
	d, err := drafted(t, text)
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range d.Runs {
		spec, err := run.Spec()
		if err != nil {
			t.Fatal(err)
		}
		own := ""
		for _, m := range spec.Models {
			if j := llm.Judging(m); own == "" {
				own = j
			} else if j != own {
				t.Errorf("two members of one cell judge differently: %s; %s", own, j)
			}
		}
		if !slices.Contains(said, own) {
			said = append(said, own)
		}
	}
	return said
}

func drafted(t *testing.T, text string) (*bench.Grid, error) {
	t.Helper()
	m, err := Parse([]byte(text), "")
	if err != nil {
		return nil, err
	}
	return m.Draft(Options{N: 1})
}
