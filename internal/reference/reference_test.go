package reference_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/internal/reference"
)

// answers reads one answer a letter; a dot is none.
func answers(text string) (all []synod.Answer) {
	for _, c := range text {
		if c == '.' {
			all = append(all, synod.None)
		} else {
			all = append(all, synod.Answer(string(c)))
		}
	}
	return all
}

// The rules count as docs/use/council-file.md says.
func TestCouncil(t *testing.T) {
	protocol := reference.Step{Decides: true, Answer: "b"}
	alone, lacking, open := protocol, protocol, reference.Step{Open: true}
	alone.Alone, lacking.Lacking = true, true
	for _, c := range []struct {
		rule        string
		support     int
		step        reference.Step
		last, first string
		status      string
		answer      synod.Answer
	}{
		{"majority", 0, reference.Step{}, "aabbb", "aabbb", reference.Agreed, "b"},
		{"majority", 0, reference.Step{}, "aabb.", "aabb.", reference.Undecided, ""},
		{"majority", 0, reference.Step{}, "aa...", "aa...", reference.Degraded, ""},
		{"majority", 0, reference.Step{}, "aaa.", "aaa.", reference.Agreed, "a"},
		{"majority", 0, reference.Step{}, "aa..", "aa..", reference.Degraded, ""},
		{"plurality", 0, reference.Step{}, "abbc.", "abbc.", reference.Agreed, "b"},
		{"plurality", 0, reference.Step{}, "aabb.", "aabb.", reference.Undecided, ""},
		{"supermajority", 0, reference.Step{}, "aaaabb", "aaaabb", reference.Agreed, "a"},
		{"supermajority", 0, reference.Step{}, "aaabbb", "aaabbb", reference.Undecided, ""},
		{"supermajority", 0, reference.Step{}, "aaaa...", "aaaa...", reference.Degraded, ""},
		{"majority", 2, reference.Step{}, "aabbb", "aaab.", reference.Undecided, ""},
		{"majority", 1, reference.Step{}, "aabbb", "aaab.", reference.Agreed, "b"},
		{"majority", 0, open, "aabbb", "aabbb", reference.Undecided, ""},
		{"majority", 0, reference.Step{Voting: []bool{true, false, false}}, "abb", "abb", reference.Agreed, "a"},
		{"protocol", 0, protocol, "aab", "aab", reference.Agreed, "b"},
		{"protocol", 0, protocol, "aaa", "aab", reference.Undecided, ""},
		{"protocol", 0, protocol, "..b", "..b", reference.Degraded, ""},
		{"protocol", 0, alone, "..b", "..b", reference.Agreed, "b"},
		{"protocol", 2, alone, "..b", "..b", reference.Undecided, ""},
		{"protocol", 0, lacking, "bbb", "bbb", reference.Degraded, ""},
	} {
		v := reference.Council(reference.Rule{Name: c.rule, Support: c.support}, c.step, answers(c.last),
			answers(c.first))
		if v.Status != c.status || v.Answer != c.answer {
			t.Errorf("%s of %s, first %s, support %d, %+v: %+v; want %s %q", c.rule, c.last, c.first, c.support, c.step,
				v, c.status, c.answer)
		}
	}
}

// A cascade of equal weights decides as docs/research/cascade.md says. All are asked in order, in tiers of one.
func TestCascade(t *testing.T) {
	probable := reference.Cascade{P: .99, Doubt: 0, Rounds: 1}
	certain := reference.Cascade{Certain: true, Rounds: 1}
	for _, c := range []struct {
		rules       reference.Cascade
		f           int
		first, last string
		answer      synod.Answer
		contest     bool
	}{
		{certain, 1, "aaaaa", "aaaaa", "a", false},
		{certain, 1, "abcde", "abcde", "", false},  // no answer has more than F supporters
		{certain, 1, "aabcd", "aabcd", "a", false}, // the only candidate
		{probable, 1, "aabcd", "aabcd", "", false}, // its probability is below one half
		{probable, 1, "abbbb", "abbbb", "b", false},
		{certain, 1, "aabbc", "aabbb", "b", true},
		{certain, 1, "aabbc", "aabbc", "", true},  // a tie
		{certain, 1, "aabbc", "accc.", "a", true}, // c was not contested
		{certain, 2, "aabbc", "aabbc", "", false}, // F supporters are not enough
		{probable, 2, "aabbb", "aabbb", "", false},
	} {
		r := c.rules
		r.F, r.Question, r.Weights = c.f, &synod.Question{Text: "?"}, []float64{1, 1, 1, 1, 1}
		var last []reference.Last
		for _, a := range answers(c.last) {
			last = append(last, reference.Last{Round: 1, Answer: a})
		}
		if d := r.Decide(answers(c.first), last); d.Answer != c.answer || d.Contest != c.contest {
			t.Errorf("F=%d certain %v, first %s, last %s: %+v; want %q", c.f, r.Certain, c.first, c.last, d, c.answer)
		}
	}
}

// The cap is the largest one of all that are tried one after another.
func TestCapWeights(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		f, weights := chance.IntN(3), make([]float64, 3)
		weights = append(weights, make([]float64, 2*f)...)
		for i := range weights {
			weights[i] = float64(50+chance.IntN(200)) / 1000
		}
		whole := reference.CapWeights(weights, 0)
		top := slices.Max(whole)
		if f > 0 {
			top = slices.Sorted(slices.Values(whole))[(len(whole)-1)/2]
		}
		limit := int64(0)
		for c := top; c > 0 && limit == 0; c-- {
			limited, lead := []int64{}, int64(0)
			for _, w := range whole {
				limited = append(limited, min(w, c))
			}
			slices.Sort(limited)
			for i, w := range limited {
				if i < len(limited)-f {
					w = -w
				}
				lead += w
			}
			if lead < 0 {
				limit = c
			}
		}
		if got := slices.Max(reference.CapWeights(weights, f)); got != limit {
			t.Fatalf("F=%d %v: the cap is %d; all tried one by one give %d", f, weights, got, limit)
		}
	}
}

// Confidences are summed exactly; of equal sums more supporters win, then the first bytes.
func TestWeightedMajority(t *testing.T) {
	for _, c := range []struct {
		all  []reference.Confident
		want synod.Answer
	}{
		{[]reference.Confident{{"a", .9}, {"b", .5}, {"b", .5}}, "b"},
		{[]reference.Confident{{"a", .3}, {"b", .1}, {"b", .2}}, "b"},
		{[]reference.Confident{{"b", .3}, {"a", .3}}, "a"},
		{[]reference.Confident{{"a", 0}, {"", 1}}, "a"},
		{nil, ""},
	} {
		if got := reference.WeightedMajority(c.all); got != c.want {
			t.Errorf("%v: %q, want %q", c.all, got, c.want)
		}
	}
}

// A decision withstands what docs/use/ask.md says, here counted by hand.
func TestWithstands(t *testing.T) {
	for _, c := range []struct {
		rule             string
		votes            string
		ignored, changed int
	}{
		{"plurality", "aaab", 1, 0}, {"plurality", "aaaab", 2, 1}, {"plurality", "aa", 1, 0},
		{"majority", "aaabb", 0, 0}, {"majority", "aaaab", 2, 1}, {"supermajority", "aaaa", 3, 1},
	} {
		ignored, changed := reference.Withstands(reference.Rule{Name: c.rule}, answers(c.votes), "a")
		if ignored != c.ignored || changed != c.changed {
			t.Errorf("%s of %s withstands %d ignored and %d changed; want %d and %d", c.rule, c.votes, ignored, changed,
				c.ignored, c.changed)
		}
	}
}
