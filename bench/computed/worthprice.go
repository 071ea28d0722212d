package computed

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/adversary"
	"synod.dev/synod/bench/report"
)

// worthPrice measures, on recorded votes of real models, what can be done for a cast of which nothing is known but the
// prices: tiers by price, where the three cheapest models are asked first and the others where these do not agree.
type worthPrice struct {
	Folder  string `yaml:"folder" doc:"folder of the recorded votes, SET.jsonl.gz"`
	Set     string `yaml:"set" doc:"the set of questions" enum:"gsm8k|math-l5|crux|mmlu-pro"`
	F       int    `yaml:"f" doc:"an answer needs more than so many voices" range:"0:2"`
	Members int    `yaml:"members" doc:"models of a cast" range:"4:12"`
	Splits  int    `yaml:"splits" doc:"casts that are drawn" range:"1:1000"`
	Most    int    `yaml:"most" doc:"questions of a cast, at most" range:"20:100000"`
}

func newWorthPrice() *worthPrice { return &worthPrice{Members: 6, Splits: 40, Most: 1500} }

// Figures returns, as means over the casts: tiers, tiers_usd, how often the tiers are right and what they cost for
// 1,000 questions; all, all_usd, the same of the most frequent answer of all; dearest, dearest_usd, of the model with
// the highest price; best, best_usd, of the model that is right most often, which nobody knows without labels.
func (c *worthPrice) Figures(w *Work, t Trials) (how string, of Compute, err error) {
	v, err := w.realVotes(c.Folder, c.Set)
	if err != nil {
		return "", nil, err
	}
	v = v.priced()
	if _, err := v.drawCast(rand.New(rand.NewPCG(0, 0)), c.Members); err != nil {
		return "", nil, err
	}
	how = fmt.Sprintf("recorded votes of %s, prices of late 2024, %d casts drawn with seed %d", c.Set, c.Splits, t.Seed)
	return how, func(ctx context.Context) (*report.Figures, error) {
		played := make([]map[string]float64, c.Splits)
		err := splits(ctx, t.Seed, c.Splits, func(i int, chance *rand.Rand) { played[i] = c.cast(v, chance) })
		if err != nil {
			return nil, err
		}
		return means(played), nil
	}, nil
}

// cheapFirst is how many models the first tier has: with F = 1 two of them must agree.
const cheapFirst = 3

// cast draws a cast and questions, and returns its figures.
func (c *worthPrice) cast(v *votes, chance *rand.Rand) map[string]float64 {
	members, _ := v.drawCast(chance, c.Members) // that there are enough makers was checked
	slices.SortFunc(members, func(a, b int) int { return cmp.Or(cmp.Compare(v.usd(a), v.usd(b)), a-b) })
	_, s := v.samples(members, 0, c.Most, chance)
	f := map[string]float64{}
	right := make([]float64, len(members))
	n, all, cheap := float64(len(s.Questions)), 0.0, 0.0
	for i, usd := range s.USD {
		if all += usd; i < cheapFirst {
			cheap += usd
		}
	}
	for _, q := range s.Questions {
		for i, a := range q.Answers {
			right[i] += float64(one(a == q.Right)) / n
		}
		f["all"] += float64(one(c.most(q.Answers) == q.Right)) / n
		usd, answer := cheap, c.most(q.Answers[:cheapFirst])
		if !c.agree(q.Answers[:cheapFirst]) {
			usd, answer = all, c.most(q.Answers)
		}
		f["tiers"] += float64(one(answer == q.Right)) / n
		f["tiers_usd"] += 1000 * usd / n
	}
	dearest, best := len(members)-1, 0
	for i, r := range right {
		if r > right[best] {
			best = i
		}
	}
	f["all_usd"] = 1000 * all
	f["dearest"], f["dearest_usd"] = right[dearest], 1000*s.USD[dearest]
	f["best"], f["best_usd"] = right[best], 1000*s.USD[best]
	return f
}

// most returns the most frequent answer that more than F gave; "" if there is none.
func (c *worthPrice) most(answers []string) string {
	given := make([]synod.Answer, len(answers))
	for i, a := range answers {
		given[i] = synod.Answer(a)
	}
	top := adversary.Plurality(given)
	voices := 0
	for _, a := range given {
		voices += one(a == top)
	}
	if voices <= c.F {
		return ""
	}
	return string(top)
}

// agree reports whether all that answered agree, and more than F did.
func (c *worthPrice) agree(answers []string) bool {
	given := slices.DeleteFunc(slices.Clone(answers), func(a string) bool { return a == "" })
	slices.Sort(given)
	return len(given) > c.F && len(slices.Compact(given)) == 1
}
