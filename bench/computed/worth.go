package computed

import (
	"context"
	_ "embed"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/bench/report"
	"synod.dev/synod/core/odds"
	"synod.dev/synod/council/seating"
)

// worth measures, on recorded votes of real models, what is recommended against the best single model: for casts of
// six models of different makers, or for the pool of all models that have a price, within a budget. The labelled
// questions choose, fit and know the best single model; the figures are from the others.
type worth struct {
	Folder  string  `yaml:"folder" doc:"folder of the recorded votes, SET.jsonl.gz"`
	Set     string  `yaml:"set" doc:"the set of questions" enum:"gsm8k|math-l5|crux|mmlu-pro"`
	Labels  int     `yaml:"labels" doc:"questions whose right answer is known" range:"20:2000"`
	F       int     `yaml:"f" doc:"liars that the recommended council withstands" range:"0:2"`
	Members int     `yaml:"members" doc:"models of a cast; 0: all that have a price" range:"0:12"`
	Budget  float64 `yaml:"budget" doc:"USD for 1,000 questions at most; 0: no bound" range:"0:1000"`
	Splits  int     `yaml:"splits" doc:"casts that are drawn, or splits of the questions for the pool" range:"1:1000"`
	Most    int     `yaml:"most" doc:"questions of which a split measures the figures, at most" range:"20:100000"`
}

func newWorth() *worth { return &worth{Labels: 200, Members: 6, Splits: 40, Most: 1000} }

//go:embed prices-2024.csv
var pricesOf2024 []byte

// A call has these tokens.
const (
	promptTokens     = 400
	completionTokens = 500
)

// usdOf2024 returns what a call of each model cost in late 2024, in USD.
var usdOf2024 = sync.OnceValue(func() map[string]float64 {
	rows, err := csv.NewReader(strings.NewReader(string(pricesOf2024))).ReadAll()
	if err != nil {
		panic(err) // the file is part of the program
	}
	usd := map[string]float64{}
	for _, r := range rows[1:] {
		prompt, _ := strconv.ParseFloat(r[1], 64)
		completion, _ := strconv.ParseFloat(r[2], 64)
		usd[r[0]] = (promptTokens*prompt + completionTokens*completion) / 1e6
	}
	return usd
})

// Figures returns, as means over the splits: right decisions of the recommended council and of the best single model
// and their difference, the council's price as a share of the model's, how often the recommendation is one model
// alone, and for casts how much more often right its nested figures say that it is; the list prediction_errors has
// that of each cast, in points.
func (c *worth) Figures(w *Work, t Trials) (how string, of Compute, err error) {
	v, err := w.realVotes(c.Folder, c.Set)
	if err != nil {
		return "", nil, err
	}
	v = v.priced()
	if c.Members > 0 {
		if _, err := v.drawCast(rand.New(rand.NewPCG(0, 0)), c.Members); err != nil {
			return "", nil, err
		}
	}
	how = fmt.Sprintf("recorded votes of %s, prices of late 2024, %d splits drawn with seed %d", c.Set, c.Splits,
		t.Seed)
	return how, func(ctx context.Context) (*report.Figures, error) { return c.play(ctx, v, t.Seed) }, nil
}

// play plays all splits, as many at once as there are processors.
func (c *worth) play(ctx context.Context, v *votes, seed uint64) (*report.Figures, error) {
	played := make([]map[string]float64, c.Splits)
	err := splits(ctx, seed, c.Splits, func(i int, chance *rand.Rand) { played[i] = c.split(v, chance) })
	if err != nil {
		return nil, err
	}
	f := means(played)
	for _, p := range played {
		if more, ok := p["predicted_more"]; ok {
			f.Lists = map[string][]float64{"prediction_errors": append(f.Lists["prediction_errors"], 100*more)}
		}
	}
	return f, nil
}

// splits calls a function for each split with a source of chance of its own, as many at once as there are processors.
// It ends early with ctx's error.
func splits(ctx context.Context, seed uint64, n int, split func(i int, chance *rand.Rand)) error {
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range n {
		g.Go(func() error {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			split(i, rand.New(rand.NewPCG(seed, uint64(i))))
			return nil
		})
	}
	return g.Wait()
}

// means returns the mean of each figure over all splits that have it.
func means(played []map[string]float64) *report.Figures {
	f, mean := &report.Figures{Rates: map[string]*metrics.Rate{}}, map[string]*metrics.Mean{}
	for _, p := range played {
		for name, x := range p {
			if mean[name] == nil {
				mean[name] = &metrics.Mean{}
			}
			mean[name].Add(x)
		}
	}
	for name, m := range mean {
		f.Rates[name] = m.Rate()
		f.Rates[name].Count = slices.Contains(counts, name)
	}
	return f
}

// counts are the figures that are no shares of the questions.
var counts = []string{"usd", "single_usd", "effective", "plurality_gain", "probable_gain", "tiers_usd", "all_usd",
	"dearest_usd", "best_usd"}

// split draws models and questions, and returns the figures.
func (c *worth) split(v *votes, chance *rand.Rand) map[string]float64 {
	members := v.all()
	if c.Members > 0 {
		members, _ = v.drawCast(chance, c.Members) // that there are enough makers was checked
	}
	known, rest := v.samples(members, c.Labels, c.Most, chance)
	aim := seating.Aim{Cheapest: c.F == 0 && c.Budget == 0, F: c.F, Budget: c.Budget / 1000}
	figures, seed := map[string]float64{}, chance.Uint64()
	chosen := known.Choose(aim, seed)
	if len(chosen.Tiers) == 0 {
		return figures
	}
	own := play(known, rest, chosen)
	single := play(known, rest, seating.Tiers{Tiers: [][]int{{known.Single(aim.Budget)}}})
	n := float64(len(rest.Questions))
	figures["right"], figures["single_right"] = float64(own.Right)/n, float64(single.Right)/n
	figures["gain"] = float64(own.Right-single.Right) / n
	figures["wrong"], figures["undecided"] = float64(own.Wrong)/n, float64(own.Undecided)/n
	figures["usd"], figures["single_usd"] = 1000*own.USD/n, 1000*single.USD/n
	figures["price"] = own.USD / single.USD
	figures["alone"] = float64(one(chosen.Alone()))
	if c.Members > 0 {
		figures["predicted_more"] = known.Recommend(aim, seed).Right.Value - figures["right"]
	}
	return figures
}

// play fits a council to one sample and plays it on another one.
func play(known, rest *seating.Sample, t seating.Tiers) seating.Played {
	every := func(int) bool { return true }
	return rest.Play(known.Fit(t, every), every)
}

// usd is what a call of a model costs; 0: it has no price.
func (v *votes) usd(model int) float64 { return usdOf2024()[v.models[model]] }

// priced keeps the models that have a price.
func (v *votes) priced() *votes {
	keep := v.all()
	keep = slices.DeleteFunc(keep, func(m int) bool { return v.usd(m) == 0 })
	out := &votes{set: v.set, choice: v.choice}
	for _, m := range keep {
		out.models = append(out.models, v.models[m])
	}
	for _, q := range v.questions {
		some := voted{id: q.id, gold: q.gold}
		for _, m := range keep {
			some.answers, some.asked = append(some.answers, q.answers[m]), append(some.asked, q.asked[m])
		}
		out.questions = append(out.questions, some)
	}
	return out
}

// all returns all models.
func (v *votes) all() (models []int) {
	for m := range v.models {
		models = append(models, m)
	}
	return models
}

// samples draws labelled questions, and at most so many others, with the votes of some models.
func (v *votes) samples(models []int, labels, most int, chance *rand.Rand) (known, rest *seating.Sample) {
	known = &seating.Sample{}
	for _, m := range models {
		known.Models, known.USD = append(known.Models, v.models[m]), append(known.USD, v.usd(m))
	}
	asked := v.of(models)
	chance.Shuffle(len(asked), func(i, j int) { asked[i], asked[j] = asked[j], asked[i] })
	labels = min(labels, len(asked)*3/4) // some are left to measure
	rest = &seating.Sample{Models: known.Models, USD: known.USD}
	for i, k := range asked[:min(len(asked), labels+most)] {
		q := odds.Labelled{Kind: v.set, Right: string(v.questions[k].gold)}
		for _, m := range models {
			q.Answers = append(q.Answers, string(v.questions[k].answers[m]))
		}
		to := known
		if i >= labels {
			to = rest
		}
		to.Questions = append(to.Questions, q)
	}
	return known, rest
}
