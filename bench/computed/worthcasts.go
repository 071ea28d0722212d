package computed

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"synod.dev/synod"
	"synod.dev/synod/adversary"
	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/bench/report"
	"synod.dev/synod/core/odds"
	"synod.dev/synod/core/stats"
	"synod.dev/synod/council/seating"
)

// worthCasts measures, on recorded votes of real models, whether a cast that is asked together is right more often than
// its best member, and by which rule. The labelled questions name the best member and fit the odds; the figures are
// from others.
type worthCasts struct {
	Folder string `yaml:"folder" doc:"folder of the recorded votes, SET.jsonl.gz"`
	Set    string `yaml:"set" doc:"the set of questions" enum:"gsm8k|math-l5|crux|mmlu-pro"`
	Labels int    `yaml:"labels" doc:"questions whose right answer is known" range:"20:2000"`
	Models string `yaml:"models" doc:"the models of the cast, with spaces between them; default: they are drawn"`
	Number int    `yaml:"number" doc:"models of a cast that is drawn" range:"3:12"`
	Alike  string `yaml:"alike" doc:"who made the models of a cast that is drawn" enum:"no maker twice|one maker|one family"`
	// Low and High bound the spread of a cast that is drawn.
	Low    float64 `yaml:"low" doc:"how much more accurate its best member is than the mean, at least" range:"0:1"`
	High   float64 `yaml:"high" doc:"the same, at most" range:"0:1"`
	Liar   bool    `yaml:"liar" doc:"whether the member that is right most often lies after the labelled questions"`
	Splits int     `yaml:"splits" doc:"casts that are drawn, or splits of the questions for one that is named" range:"1:1000"`
	Most   int     `yaml:"most" doc:"questions of which a cast measures the figures, at most" range:"20:100000"`
}

func newWorthCasts() *worthCasts {
	return &worthCasts{Labels: 200, Number: 5, Alike: "no maker twice", High: 1, Splits: 40, Most: 1000}
}

// Figures returns, as means over the casts: best, how often the best member is right; plurality and probable, how often
// the most frequent answer and the most probable one are; plurality_gain and probable_gain, how many points they are
// right more often than the best member; spread, by how much the best member is more accurate than the mean; effective,
// how many independent voters the cast is worth. effective_r and spread_r are the correlation of the plurality's gain
// with these two over the casts.
func (c *worthCasts) Figures(w *Work, t Trials) (how string, of Compute, err error) {
	v, err := w.realVotes(c.Folder, c.Set)
	if err != nil {
		return "", nil, err
	}
	draw, err := c.draws(v)
	if err != nil {
		return "", nil, err
	}
	how = fmt.Sprintf("recorded votes of %s, %d casts with seed %d, gains in points; a liar is computed", c.Set,
		c.Splits, t.Seed)
	return how, func(ctx context.Context) (*report.Figures, error) {
		played := make([]map[string]float64, c.Splits)
		err := splits(ctx, t.Seed, c.Splits, func(i int, chance *rand.Rand) {
			played[i] = c.cast(v, draw(chance), chance)
		})
		if err != nil {
			return nil, err
		}
		f := means(played)
		f.Rates["effective_r"], f.Rates["spread_r"] = correlation(played, "effective"), correlation(played, "spread")
		return f, nil
	}, nil
}

// tries is how many casts are drawn until one fits.
const tries = 20_000

// draws returns a function that draws the models of a cast. It fails if no cast fits.
func (c *worthCasts) draws(v *votes) (func(*rand.Rand) []int, error) {
	if c.Models != "" {
		var cast []int
		for _, name := range strings.Fields(c.Models) {
			i, ok := slices.BinarySearch(v.models, name)
			if !ok {
				return nil, fmt.Errorf("recorded votes: %s has no model %s%s", v.set, name, synod.Hint(name, v.models))
			}
			cast = append(cast, i)
		}
		return func(*rand.Rand) []int { return cast }, nil
	}
	accuracy := v.accuracy()
	draw := func(chance *rand.Rand) []int {
		for range tries {
			if cast := c.some(v, chance); cast != nil {
				if s := spread(accuracy, cast); s >= c.Low && s <= c.High {
					return cast
				}
			}
		}
		return nil
	}
	if draw(rand.New(rand.NewPCG(0, 0))) == nil {
		return nil, fmt.Errorf("recorded votes: %s has no cast of %d models of %s with a spread of %g to %g", v.set,
			c.Number, c.Alike, c.Low, c.High)
	}
	return draw, nil
}

// some draws models that are alike as the cast wants them; nil if there are too few of those.
func (c *worthCasts) some(v *votes, chance *rand.Rand) []int {
	of := makerOf
	switch c.Alike {
	case "no maker twice":
		cast, _ := v.drawCast(chance, c.Number)
		return cast
	case "one family":
		of = familyOf
	}
	like := of(v.models[chance.IntN(len(v.models))])
	same := slices.DeleteFunc(v.all(), func(m int) bool { return of(v.models[m]) != like })
	if len(same) < c.Number {
		return nil
	}
	chance.Shuffle(len(same), func(i, j int) { same[i], same[j] = same[j], same[i] })
	return same[:c.Number]
}

// familyOf returns the family of a model, such as claude-3 or gpt-4o: the first two parts of its name.
func familyOf(model string) string {
	parts := strings.SplitN(strings.ToLower(model), "-", 3)
	return strings.Join(parts[:min(2, len(parts))], "-")
}

// accuracy returns how often each model is right.
func (v *votes) accuracy() []float64 {
	all := make([]float64, len(v.models))
	for m := range all {
		asked := 0
		for i := range v.questions {
			q := &v.questions[i]
			asked += one(q.asked[m])
			all[m] += float64(one(q.asked[m] && q.answers[m] == q.gold))
		}
		all[m] /= float64(max(asked, 1))
	}
	return all
}

// spread is by how much the best of some models is more accurate than their mean.
func spread(accuracy []float64, cast []int) float64 {
	best, sum := 0.0, 0.0
	for _, m := range cast {
		best, sum = max(best, accuracy[m]), sum+accuracy[m]
	}
	return best - sum/float64(len(cast))
}

// cast draws the questions, and returns the figures of a cast.
func (c *worthCasts) cast(v *votes, cast []int, chance *rand.Rand) map[string]float64 {
	known, rest := v.samples(cast, c.Labels, c.Most, chance)
	model, best := odds.Fit(known.Models, known.Questions), mostRight(known)
	n := float64(len(rest.Questions))
	f := map[string]float64{"best": 0, "plurality": 0, "probable": 0}
	for _, q := range rest.Questions {
		if c.Liar {
			q.Answers = slices.Clone(q.Answers)
			q.Answers[best] = lieTo(q, best, v.choice)
		}
		given := make([]synod.Answer, len(q.Answers))
		for i, a := range q.Answers {
			given[i] = synod.Answer(a)
		}
		f["best"] += float64(one(q.Answers[best] == q.Right)) / n
		f["plurality"] += float64(one(string(adversary.Plurality(given)) == q.Right)) / n
		if all := model.Chances(q.Kind, q.Answers, q.Sure, 0); len(all) > 0 {
			f["probable"] += float64(one(all[0].Answer == q.Right)) / n
		}
	}
	f["plurality_gain"], f["probable_gain"] = 100*(f["plurality"]-f["best"]), 100*(f["probable"]-f["best"])
	f["spread"] = spread(v.accuracy(), cast)
	if e := effective(rest); e > 0 {
		f["effective"] = e
	}
	return f
}

// effective is how many independent voters the models are worth on the questions of a sample; 0: not known.
func effective(s *seating.Sample) float64 {
	m := &seating.Measured{}
	for _, name := range s.Models {
		m.Columns = append(m.Columns, seating.Column{Model: name, Identity: name})
	}
	for i, q := range s.Questions {
		marks := make([]byte, len(q.Answers))
		for k, a := range q.Answers {
			if marks[k] = seating.Wrong; a == q.Right {
				marks[k] = seating.Right
			}
		}
		m.Asked = append(m.Asked, seating.Asked{ID: fmt.Sprint(i), Marks: string(marks)})
	}
	if votes := m.Votes(s.Models); votes != nil {
		return votes.Value
	}
	return 0
}

// correlation returns Pearson's correlation of a figure with the plurality's gain over the casts that have it, with its
// 95 % interval by Fisher's transformation; nil with fewer than five casts, or if one of the two does not vary.
func correlation(played []map[string]float64, figure string) *metrics.Rate {
	var x, y []float64
	for _, p := range played {
		if v, ok := p[figure]; ok {
			x, y = append(x, v), append(y, p["plurality_gain"])
		}
	}
	if len(x) < 5 || stat.Variance(x, nil) == 0 || stat.Variance(y, nil) == 0 {
		return nil
	}
	r := stat.Correlation(x, y, nil)
	half := stats.Z / math.Sqrt(float64(len(x)-3))
	return &metrics.Rate{Value: r, N: len(x), Low: math.Tanh(math.Atanh(r) - half),
		High: math.Tanh(math.Atanh(r) + half), Count: true}
}
