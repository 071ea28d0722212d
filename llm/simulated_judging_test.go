package llm

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod"
)

// recordedPair is a pair of a right and a wrong solution, and what judges said about it. Decisions are "A>B", "B>A" or
// "A=B" by position: as shown, and with the order exchanged. Reward models score each solution alone.
type recordedPair struct {
	Label  string
	Judges map[string]struct {
		Decisions [2]string
		Scores    []float64
	}
}

// credit is what a judge earns that is to say want: one half for "A=B" and for no decision.
func credit(decision, want string) float64 {
	switch decision {
	case want:
		return 1
	case "A>B", "B>A":
		return 0
	}
	return 0.5
}

func recordedPairs(t *testing.T) (all []recordedPair) {
	path := filepath.Join("..", "..", "shared", "data", "votes", "judges.jsonl.gz")
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("SKIPPED: no recorded judges at " + path)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for d := json.NewDecoder(z); ; {
		var p recordedPair
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// The figures of simulated judges come from recorded ones. Each judged every pair in both orders, and one half of a tie
// or of no decision counts as right: how often a judge prefers the right one of two, in the mean over all seven judges
// and for the best of them; of the decisions of the two that were prompted, how many more name the first than the
// second; and how the errors of the six judges correlate that judged the same 190 pairs, as shown, in the mean over the
// fifteen pairs of judges. Reward models score each solution alone, so the order cannot change what they prefer; the
// errors of the five of them alone correlate by 0.42.
func TestRecordedJudges(t *testing.T) {
	pairs := recordedPairs(t)
	right, asked, first := map[string]float64{}, map[string]float64{}, map[string]float64{}
	errs := map[string][]float64{} // of the judges of the same pairs, by pair
	for _, p := range pairs {
		exchanged := map[string]string{"A>B": "B>A", "B>A": "A>B"}[p.Label]
		for name, j := range p.Judges {
			asked[name] += 2
			for i, want := range [2]string{p.Label, exchanged} {
				right[name] += credit(j.Decisions[i], want)
				first[name] += 2*credit(j.Decisions[i], "A>B") - 1
			}
			if len(p.Judges) == 6 {
				errs[name] = append(errs[name], 1-credit(j.Decisions[0], p.Label))
			}
		}
	}
	mean, best, bias := 0.0, 0.0, 0.0
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		share, of := right[name]/asked[name], first[name]/asked[name]
		t.Logf("%-40s right in %.3f of %v, position bias %+.3f", name, share, asked[name], of)
		mean, best = mean+share/float64(len(asked)), max(best, share)
		if name == "claude-3-haiku-20240307" || name == "o1-mini-2024-09-12" {
			bias += of / 2
		}
	}
	together := inPairs(errs, slices.Sorted(maps.Keys(errs)))
	delete(errs, "o1-mini-2024-09-12")
	models := inPairs(errs, slices.Sorted(maps.Keys(errs)))
	t.Logf("%d pairs: right %.4f, best %.4f, position bias %.4f, errors correlate by %.4f (%.4f of reward models)",
		len(pairs), mean, best, bias, together, models)
	if len(asked) != 7 || len(errs) != 5 || len(pairs) != 331 {
		t.Errorf("%d judges, %d reward models, %d pairs; want 7, 5 and 331", len(asked), len(errs), len(pairs))
	}
	near(t, "right, all judges", mean, measuredRight, 0.005)
	near(t, "right, the best judge", best, bestRight, 0.0005)
	near(t, "position bias", bias, measuredFirst, 0.005)
	near(t, "correlation of errors", together, measuredTogether, 0.005)
	near(t, "correlation of errors of reward models", models, 0.42, 0.005)
}

// inPairs returns the mean correlation of the lists of two names.
func inPairs(lists map[string][]float64, names []string) float64 {
	sum, n := 0.0, 0.0
	for i, a := range names {
		for _, b := range names[:i] {
			sum, n = sum+correlation(lists[a], lists[b]), n+1
		}
	}
	return sum / n
}

// correlation is Pearson's; of zeros and ones it is phi.
func correlation(a, b []float64) float64 {
	n, ma, mb := float64(len(a)), 0.0, 0.0
	for i := range a {
		ma, mb = ma+a[i]/n, mb+b[i]/n
	}
	ab, aa, bb := 0.0, 0.0, 0.0
	for i := range a {
		ab, aa, bb = ab+(a[i]-ma)*(b[i]-mb), aa+(a[i]-ma)*(a[i]-ma), bb+(b[i]-mb)*(b[i]-mb)
	}
	return ab / math.Sqrt(aa*bb)
}

func near(t *testing.T, what string, got, want, slack float64) {
	t.Helper()
	if !(math.Abs(got-want) <= slack) {
		t.Errorf("%s: %.4f; want %.4f ± %.4f", what, got, want, slack)
	}
}

// Simulated judges with the default settings judge as the recorded ones do: each figure of TestRecordedJudges within
// 0.03. Judges of another skill, without shared noise and without primacy do not.
func TestSimulatedJudges(t *testing.T) {
	right, bias, together := judged(t, nil)
	near(t, "right", right, measuredRight, 0.03)
	near(t, "position bias", bias, measuredFirst, 0.03)
	near(t, "correlation of errors", together, measuredTogether, 0.03)
	for _, noise := range []float64{0.05, 0.3} { // the default skill follows the noise
		right, _, _ := judged(t, func(c *SimulatedConfig) { c.Noise = noise })
		near(t, fmt.Sprintf("right with noise %v", noise), right, measuredRight, 0.03)
	}
	skill := 0.5
	if right, bias, together = judged(t, func(c *SimulatedConfig) {
		c.Skill, c.Shared, c.Primacy = &skill, 0, 0
	}); right < bestRight || math.Abs(bias) > 0.03 || together > 0.1 {
		t.Errorf("judges by other settings: right %.3f, bias %.3f, correlation %.3f", right, bias, together)
	}
}

// judged measures simulated judges as TestRecordedJudges measures the recorded ones: two judges score a right and a
// wrong answer to many questions, and one takes an answer from a list of two equal ones.
func judged(t *testing.T, set func(*SimulatedConfig)) (right, bias, together float64) {
	t.Helper()
	const n = 4000
	one := newMember(t, func(*synod.Question) synod.Answer { return "42" }, func(c *SimulatedConfig) {
		if set != nil {
			set(c)
		}
		c.Stubbornness, c.Sharpness, c.Seed = 0, 20, 1
	})
	two := newMember(t, one.truth, func(c *SimulatedConfig) { *c = one.cfg; c.Seed = 2 })
	var errs [2][]float64
	first, second := 0.0, 0.0
	for i := range n {
		q := numberQuestion(i)
		for k, m := range []*simulated{one, two} {
			score := func(a synod.Answer) float64 {
				return draw(t, m, synod.Prompt{Purpose: synod.Scoring, Question: q, Candidate: a, Seed: uint64(i)},
					fmt.Sprint("judge", k)).Value
			}
			wrong := 0.0
			if score("42") <= score("41") {
				wrong = 1
			}
			errs[k] = append(errs[k], wrong)
			right += (1 - wrong) / (2 * n)
		}
		// Both answers have score 1, so the judge takes one of the two instead of its own. It judges the pair in both
		// orders.
		both := [2]synod.Answer{}
		for k, peers := range [2][]synod.Rated{{{Answer: "42", Score: 1}, {Answer: "41", Score: 1}},
			{{Answer: "41", Score: 1}, {Answer: "42", Score: 1}}} {
			both[k] = draw(t, one, synod.Prompt{Purpose: synod.Refining, Question: q, Own: "40", Peers: peers,
				Seed: uint64(i)}, "judge").Answer
			if both[k] == peers[0].Answer {
				first++
			} else if both[k] == peers[1].Answer {
				second++
			}
		}
	}
	return right, (first - second) / (first + second), correlation(errs[0], errs[1])
}

// Judges that share all noise err on the same pairs; another study errs on others.
func TestSharedNoise(t *testing.T) {
	if _, _, together := judged(t, func(c *SimulatedConfig) { c.Shared = 1 }); together < 0.999 {
		t.Errorf("judges with all noise in common: errors correlate by %.3f", together)
	}
}

// A judge that is better than the best measured one says so in its name and in what outputs state of it; one that is
// not does not.
func TestBetterThanMeasured(t *testing.T) {
	at := func(p, noise float64) float64 { return 2 * noise * math.Erfinv(2*p-1) }
	for _, c := range []struct {
		skill, noise float64
		better       bool
	}{{at(measuredRight, 0.15), 0.15, false}, {at(bestRight, 0.15), 0.15, false}, {at(0.72, 0.15), 0.15, true},
		{at(0.72, 0.4), 0.4, true}, {1, 0, true}, {0, 0, false}, {-1, 0, false}, {0.5, 0.15, true}} {
		m := newMember(t, nil, func(s *SimulatedConfig) { s.Skill, s.Noise = &c.skill, c.noise })
		settings := map[string]any{"provider": "simulated", "skill": c.skill, "noise": c.noise, "ability": 0.5}
		for what, said := range map[string]string{"name": m.Info().Name, "fooling": Fooling(settings, false),
			"judging": Judging(settings)} {
			if strings.Contains(said, betterThanMeasured) != c.better {
				t.Errorf("skill %v, noise %v: the %s is %q", c.skill, c.noise, what, said)
			}
		}
	}
	if s := Judging(map[string]any{"provider": "simulated"}); s != "prefers the right one of two answers with "+
		"probability 0.61, takes the first of a list with probability 0.13, and shares 0.55 of the variance of its "+
		"noise with other judges" {
		t.Errorf("outputs say %q", s)
	}
	if s := Judging(map[string]any{"provider": "openai", "skill": 1}) + Fooling(map[string]any{"provider": "openai",
		"skill": 1}, false); s != "" {
		t.Errorf("outputs say %q of an endpoint", s)
	}
}

// A run of before judges were measured goes on with the same identity if its file names what was then the default.
func TestOldIdentityOfJudges(t *testing.T) {
	skill := 0.625
	m := newMember(t, nil, func(c *SimulatedConfig) { c.Skill, c.Primacy, c.Shared = &skill, 0, 0 })
	const was = "simulated v1 {Ability:0.7 Spread:1 Skill:<nil> Noise:0.15 Stubbornness:0.3 Sharpness:4 " +
		"Correlation:0 Gullible:0.8 Wrong:4 Seed:0 Study:0} skill=0.625"
	if got := m.Info().Identity; got != was {
		t.Errorf("the identity is\n%s\nand was\n%s", got, was)
	}
}
