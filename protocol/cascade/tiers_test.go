package cascade

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/odds"
)

// graded are the odds of tiers from 200 questions: the first three members are right on three of four, the others on
// nineteen of twenty, and wrong answers differ.
func graded(tiers ...[]synod.NodeID) (models []*odds.Predictor) {
	chance := rand.New(rand.NewPCG(1, 2))
	questions := make([]odds.Labelled, 200)
	for k := range questions {
		questions[k] = odds.Labelled{Kind: "text", Right: "r"}
		for i := range 5 {
			answer, right := "r", 0.75
			if i > 2 {
				right = 0.95
			}
			if chance.Float64() >= right {
				answer = fmt.Sprint("w", chance.IntN(4))
			}
			questions[k].Answers = append(questions[k].Answers, answer)
		}
	}
	var asked []synod.NodeID
	for _, tier := range tiers {
		asked = append(asked, tier...)
		names, some := make([]string, len(asked)), make([]odds.Labelled, len(questions))
		for k, q := range questions {
			some[k] = odds.Labelled{Kind: q.Kind, Right: q.Right}
			for i, id := range asked {
				names[i] = fmt.Sprint("m", id)
				some[k].Answers = append(some[k].Answers, q.Answers[id])
			}
		}
		models = append(models, odds.Fit(names, some))
	}
	return models
}

// Without graded questions the answer of a tier stands if all that answered agree, with them if it is probable enough;
// never without more than F voices. After the last tier the most probable answer with more than F voices stands.
func TestTiers(t *testing.T) {
	tiers := [][]synod.NodeID{{0, 1}, {2}, {3, 4}}
	const agree, graded200 = "all that answered agree", "by 200 graded questions"
	for what, c := range map[string]struct {
		votes   string
		f       int
		odds    bool
		p       float64
		atLeast float64
		want    synod.Answer
		asked   int
		why     string
	}{
		"two agree":              {votes: "a a b b b", want: "a", asked: 2, why: agree},
		"two differ":             {votes: "a b b b c", want: "b", asked: 5, why: "it has the most weight"},
		"one is silent":          {votes: "- b c c c", want: "b", asked: 2},
		"silence is no voice":    {votes: "- b b c c", f: 1, want: "b", asked: 3, why: "after 2 of 3 tiers"},
		"nobody":                 {votes: "- - - - -", asked: 5, why: "at most 0 gave"},
		"too few voices":         {votes: "a b c d e", f: 1, asked: 5, why: "at most 1 gave"},
		"odds, probable":         {votes: "a a b b b", odds: true, p: 0.8, want: "a", asked: 2, why: graded200},
		"odds, not yet":          {votes: "a a a b b", odds: true, p: 0.99, want: "a", asked: 3},
		"odds, the better ones":  {votes: "a a b b b", odds: true, p: 0.999, want: "b", asked: 5, why: "after 3 of 3"},
		"odds, two against one":  {votes: "a b c d d", odds: true, p: 0.9, want: "d", asked: 5},
		"odds, one good member":  {votes: "a b c d -", odds: true, p: 0.9, want: "d", asked: 5},
		"odds, F = 1, one voice": {votes: "a b c d -", f: 1, odds: true, p: 0.9, asked: 5},
		"less than wanted":       {votes: "a b c d e", odds: true, p: 0.9, atLeast: 0.9, asked: 5, why: "at_least"},
		"not known":              {votes: "a a a a a", atLeast: 0.9, asked: 5, why: "is not known"},
	} {
		p := New()
		p.Tiers, p.AtLeast = tiers, c.atLeast
		if c.odds {
			p.P, p.Odds = c.p, graded(tiers...)
		}
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		if err := p.CheckCast(make([]synod.Role, 5), c.f); err != nil {
			t.Fatal(err)
		}
		var votes []synod.Answer
		for _, v := range strings.Fields(c.votes) {
			votes = append(votes, synod.Answer(strings.Trim(v, "-")))
		}
		d := p.Recorded(&synod.Question{ID: what, Form: synod.Text}, votes, c.f)
		if d.Answer != c.want || d.Asked != c.asked || !strings.Contains(d.Why, c.why) {
			t.Errorf("%s: %q with %d asked: %s; want %q, %d", what, d.Answer, d.Asked, d.Why, c.want, c.asked)
		}
		known := d.Probability != nil && d.Probability.Labels == 200 && d.Probability.Value > 0
		if d.Answer != "" && c.odds != known {
			t.Errorf("%s: the probability is %+v", what, d.Probability)
		}
	}
}

// The next tier is called early when a seat is late or two answers differ. Those of earlier tiers count where no
// probability could end the run after this one.
func TestAhead(t *testing.T) {
	tiers := [][]synod.NodeID{{0, 1}, {2}, {3, 4}}
	for what, c := range map[string]struct {
		of    []synod.NodeID
		votes string
		late  bool
		odds  bool
		want  []synod.NodeID
	}{
		"one answer":                   {of: tiers[0], votes: "a - - - -"},
		"one answer, and one is late":  {of: tiers[0], votes: "a - - - -", late: true, want: tiers[1]},
		"two agree":                    {of: tiers[0], votes: "a a - - -"},
		"two differ":                   {of: tiers[0], votes: "a b - - -", want: tiers[1]},
		"with odds too":                {of: tiers[0], votes: "a b - - -", odds: true, want: tiers[1]},
		"differed before":              {of: tiers[1], votes: "a b - - -", want: tiers[2]},
		"differs from those before":    {of: tiers[1], votes: "a a b - -", want: tiers[2]},
		"differed before, with odds":   {of: tiers[1], votes: "a b - - -", odds: true},
		"the last tier":                {of: tiers[2], votes: "a b a b a", late: true},
		"no answers, and one is late":  {of: tiers[0], votes: "- - - - -", late: true, want: tiers[1]},
		"all others at once, as audit": {of: []synod.NodeID{2, 3, 4}, votes: "a a b - -", want: tiers[2]},
	} {
		p := New()
		p.Tiers, p.Race = tiers, true
		if c.odds {
			p.Odds = graded(tiers...)
		}
		var first []synod.Answer
		for _, v := range strings.Fields(c.votes) {
			first = append(first, synod.Answer(strings.Trim(v, "-")))
		}
		if got := p.Ahead(c.of, first, c.late); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", what, got, c.want)
		}
	}
}

// Every answer that stands after any tiers was given by more than F members (Theorem 1), whatever the votes, with odds
// and without.
func TestTiersAreSupported(t *testing.T) {
	tiers := [][]synod.NodeID{{3, 0}, {1}, {2, 4}}
	fitted := graded(tiers...)
	for _, f := range []int{0, 1, 2} {
		for code := range 4 * 4 * 4 * 4 * 4 {
			votes := make([]synod.Answer, 5)
			for i, rest := 0, code; i < 5; i, rest = i+1, rest/4 {
				votes[i] = []synod.Answer{"", "a", "b", "c"}[rest%4]
			}
			p := New()
			p.Tiers, p.P = tiers, 0.9
			if code%2 == 0 {
				p.Odds = fitted
			}
			d := p.Recorded(&synod.Question{ID: "q", Form: synod.Text}, votes, f)
			voices := 0
			for _, id := range d.Order[:d.Asked] {
				if votes[id] == d.Answer {
					voices++
				}
			}
			if d.Answer != "" && voices <= f {
				t.Fatalf("F=%d, %q: %q has %d voices", f, votes, d.Answer, voices)
			}
		}
	}
}

// Tiers that are no division of the seats are refused, and what fits no tiers.
func TestTiersRefused(t *testing.T) {
	for want, change := range map[string]func(p *Cascade){
		"tiers[1] has no seat": func(p *Cascade) { p.Tiers = [][]synod.NodeID{{0, 1, 2}, {}} },
		"tiers[0] has seat 3":  func(p *Cascade) { p.Tiers = [][]synod.NodeID{{0, 1, 2, 3}} },
		"2 different ones":     func(p *Cascade) { p.Tiers = [][]synod.NodeID{{0, 1}, {1}} },
		"have 2 seats":         func(p *Cascade) { p.Tiers = [][]synod.NodeID{{0, 1}} },
		"stop must be":         func(p *Cascade) { p.Tiers, p.Stop = [][]synod.NodeID{{0, 1, 2}}, Certain },
		"need tiers":           func(p *Cascade) { p.AtLeast = 0.5 },
		"race need tiers":      func(p *Cascade) { p.Race = true },
		"odds has 2 entries": func(p *Cascade) {
			p.Tiers, p.Odds = [][]synod.NodeID{{0, 1, 2}}, graded([]synod.NodeID{0, 1}, []synod.NodeID{2})
		},
		"odds[0] is empty": func(p *Cascade) {
			p.Tiers, p.Odds = [][]synod.NodeID{{0, 1, 2}}, []*odds.Predictor{nil}
		},
		"odds[0]: odds: 0 coefficients": func(p *Cascade) {
			p.Tiers = [][]synod.NodeID{{0, 1, 2}}
			p.Odds = []*odds.Predictor{{Labels: 9, Members: []string{"a", "b", "c"}}}
		},
		"odds[0] is about 1 members": func(p *Cascade) {
			p.Tiers, p.Odds = [][]synod.NodeID{{0, 1}, {2}}, graded([]synod.NodeID{0}, []synod.NodeID{1, 2})
		},
	} {
		p := New()
		change(p)
		err := p.Validate()
		if err == nil {
			err = p.CheckCast(make([]synod.Role, 3), 0)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// A merged JSON value is none of the answers, so no probability is stated for it.
func TestTiersOfValues(t *testing.T) {
	p := New()
	p.Tiers = [][]synod.NodeID{{0, 1}, {2}, {3, 4}}
	p.Odds = graded(p.Tiers...)
	d := p.Recorded(&synod.Question{ID: "q", Form: synod.JSON}, []synod.Answer{`{"x":1}`, `{"x":1}`, `{"x":2}`, "", ""}, 0)
	if d.Probability != nil {
		t.Errorf("%+v", d.Probability)
	}
}
