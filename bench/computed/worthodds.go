package computed

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/bench/report"
	"synod.dev/synod/core/odds"
	"synod.dev/synod/core/stats"
	"synod.dev/synod/council/seating"
)

// worthOdds measures, on recorded votes of real models, how well the probability of the most probable answer of a cast
// is calibrated on questions that did not fit it, and how well it separates right answers from wrong ones, compared
// with a plurality and the share of members that agree with it. With a liar, the member that is most accurate in the
// history lies from then on: it gives the wrong answer that most others gave.
type worthOdds struct {
	Folder  string `yaml:"folder" doc:"folder of the recorded votes, SET.jsonl.gz"`
	Set     string `yaml:"set" doc:"the set of questions" enum:"gsm8k|math-l5|crux|mmlu-pro"`
	Labels  int    `yaml:"labels" doc:"questions whose right answer is known" range:"0:2000"`
	Members int    `yaml:"members" doc:"models of a cast" range:"2:12"`
	Liar    bool   `yaml:"liar" doc:"whether one member lies from then on"`
	F       int    `yaml:"f" doc:"liars that the probability allows for" range:"0:2"`
	Splits  int    `yaml:"splits" doc:"casts that are drawn" range:"1:1000"`
	Most    int    `yaml:"most" doc:"questions of which a cast measures the figures, at most" range:"20:100000"`
	// Coverage is the share of the questions that the figures surest and most_agreed are of.
	Coverage float64 `yaml:"coverage" doc:"the share of the questions that are answered, the surest ones" range:"0.01:1"`
}

func newWorthOdds() *worthOdds {
	return &worthOdds{Labels: 200, Members: 6, Splits: 40, Most: 500, Coverage: 1}
}

// high is the probability from which on an answer counts as nearly certain.
const high = 0.95

// Figures returns over all casts together: ece, the expected calibration error; auc and agreement_auc, the areas under
// the curve of right answers against wrong ones for the probability and for agreement, as means over the casts; high
// and high_right, how many answers have a probability of at least 0.95, and the share of these that is right; odds_ece,
// the error of the product of the members' odds, which takes their errors for independent; surest and most_agreed, how
// many answers are right of the share of the questions with the highest probability, and of those with the largest
// agreement, as means over the casts. The lists have the reliability diagram, by tenths.
func (c *worthOdds) Figures(w *Work, t Trials) (how string, of Compute, err error) {
	v, err := w.realVotes(c.Folder, c.Set)
	if err != nil {
		return "", nil, err
	}
	v = v.priced()
	if _, err := v.drawCast(rand.New(rand.NewPCG(0, 0)), c.Members); err != nil {
		return "", nil, err
	}
	how = fmt.Sprintf("recorded votes of %s, %d casts drawn with seed %d, probabilities as stated; a liar is computed",
		c.Set, c.Splits, t.Seed)
	return how, func(ctx context.Context) (*report.Figures, error) { return c.play(ctx, v, t.Seed) }, nil
}

// forecasts are those of one cast.
type forecasts struct{ odds, agreement, product []stats.Forecast }

func (c *worthOdds) play(ctx context.Context, v *votes, seed uint64) (*report.Figures, error) {
	casts := make([]forecasts, c.Splits)
	err := splits(ctx, seed, c.Splits, func(i int, chance *rand.Rand) { casts[i] = c.cast(v, chance) })
	if err != nil {
		return nil, err
	}
	f := &report.Figures{Rates: map[string]*metrics.Rate{}}
	var all forecasts
	areas := map[string]*metrics.Mean{"auc": {}, "agreement_auc": {}, "surest": {}, "most_agreed": {}}
	for _, one := range casts {
		areas["surest"].Add(surest(one.odds, c.Coverage))
		areas["most_agreed"].Add(surest(one.agreement, c.Coverage))
		all.odds, all.product = append(all.odds, one.odds...), append(all.product, one.product...)
		for name, list := range map[string][]stats.Forecast{"auc": one.odds, "agreement_auc": one.agreement} {
			if area, ok := stats.AUC(list); ok {
				areas[name].Add(area)
			}
		}
	}
	for name, mean := range areas {
		f.Rates[name] = mean.Rate()
	}
	f.Rates["surest"].Count, f.Rates["most_agreed"].Count = false, false
	certain := slices.DeleteFunc(slices.Clone(all.odds), func(x stats.Forecast) bool { return x.Confidence < high })
	right := 0
	for _, x := range certain {
		right += one(x.Right)
	}
	f.Rates["high"] = metrics.Share(len(certain), len(all.odds))
	f.Rates["high_right"] = metrics.Share(right, len(certain))
	f.Rates["ece"], f.Rates["odds_ece"] = errorOf(all.odds), errorOf(all.product)
	return f, nil
}

func errorOf(list []stats.Forecast) *metrics.Rate {
	ece, ok := stats.ECE(list)
	if !ok {
		return nil
	}
	return &metrics.Rate{Value: ece, N: len(list), Low: ece, High: ece}
}

// surest returns how many answers are right of a share of the forecasts, those with the highest confidence. Of equal
// ones it takes a part of each.
func surest(list []stats.Forecast, share float64) float64 {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b stats.Forecast) int { return cmp.Compare(b.Confidence, a.Confidence) })
	want := share * float64(len(list))
	sum, taken := 0.0, 0.0
	for i := 0; i < len(list) && taken < want; {
		n, right := 0, 0
		for ; i+n < len(list) && list[i+n].Confidence == list[i].Confidence; n++ {
			right += one(list[i+n].Right)
		}
		part := min(float64(n), want-taken)
		sum, taken, i = sum+part*float64(right)/float64(n), taken+part, i+n
	}
	return sum / max(taken, math.SmallestNonzeroFloat64)
}

// cast draws a cast and questions, and returns its forecasts.
func (c *worthOdds) cast(v *votes, chance *rand.Rand) (all forecasts) {
	members, _ := v.drawCast(chance, c.Members) // that there are enough makers was checked
	known, rest := v.samples(members, c.Labels, c.Most, chance)
	m := odds.Fit(known.Models, known.Questions)
	liar := mostRight(known)
	for _, q := range rest.Questions {
		if c.Liar {
			q.Answers = slices.Clone(q.Answers)
			q.Answers[liar] = lieTo(q, liar, v.choice)
		}
		answers := m.Chances(q.Kind, q.Answers, q.Sure, c.F)
		if len(answers) == 0 {
			continue
		}
		top := answers[0].Stated(m.Labels)
		is := top.Answer == q.Right
		all.odds = append(all.odds, stats.Forecast{Confidence: top.Probability, Right: is})
		most := slices.MaxFunc(answers, func(a, b odds.Chance) int { return len(a.Given) - len(b.Given) })
		all.agreement = append(all.agreement, stats.Forecast{Confidence: float64(len(most.Given)) / float64(c.Members),
			Right: most.Answer == q.Right})
		all.product = append(all.product, stats.Forecast{Confidence: product(m, q.Kind, answers), Right: is})
	}
	return all
}

// mostRight returns the model that is right most often.
func mostRight(s *seating.Sample) (best int) {
	right := make([]int, len(s.Models))
	for _, q := range s.Questions {
		for i, a := range q.Answers {
			right[i] += one(a == q.Right)
		}
	}
	for i, n := range right {
		if n > right[best] {
			best = i
		}
	}
	return best
}

// lieTo returns the wrong answer that most of the others gave.
func lieTo(q odds.Labelled, liar int, choice bool) string {
	var honest []synod.Answer
	for i, a := range q.Answers {
		if i != liar {
			honest = append(honest, synod.Answer(a))
		}
	}
	return string(favourite(honest, synod.Answer(q.Right), choice))
}

// product returns the probability of the first answer if members err independently: the product of the odds of those
// who gave it, against those of the other answers and of none.
func product(m *odds.Predictor, kind string, answers []odds.Chance) float64 {
	of, known := m.Kinds[kind]
	if !known {
		of = m.Kinds[""]
	}
	sum, top := 1.0, 0.0
	for i, a := range answers {
		weight := 0.0
		for _, member := range a.Given {
			weight += of.LogOdds[member]
		}
		if i == 0 {
			top = weight
		}
		sum += math.Exp(weight)
	}
	return math.Exp(top) / sum
}
