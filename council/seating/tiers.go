package seating

import (
	"slices"

	"synod.dev/synod/core/odds"
)

// Sample is what models answered to questions whose right answer is known, each model alone.
type Sample struct {
	Models    []string
	USD       []float64       // by model: of a question, in the mean
	Questions []odds.Labelled // their answers in the order of Models
}

// Tiers is a council that asks models in tiers, all of a tier at once. The most probable answer stands after a tier if
// more than F models gave it and its probability is at least Stop, and after the last tier if more than F gave it. One
// tier of one model, with F = 0, is that model alone.
type Tiers struct {
	Tiers [][]int // models, as indexes into those of the sample
	Stop  float64 // in [0, 1]
	F     int
}

// Alone reports whether the council is one model.
func (t *Tiers) Alone() bool { return len(t.Tiers) == 1 && len(t.Tiers[0]) == 1 }

// Fitted is a council with the probabilities that some questions give its answers.
type Fitted struct {
	Tiers
	stages [][]int           // the models that were asked after each tier
	odds   []*odds.Predictor // one for each stage
}

// Fit fits a council to questions of the sample: to those that use is true of.
func (s *Sample) Fit(t Tiers, use func(question int) bool) *Fitted {
	f := &Fitted{Tiers: t}
	var asked []int
	for _, tier := range t.Tiers {
		asked = append(slices.Clone(asked), tier...)
		f.stages = append(f.stages, asked)
		f.odds = append(f.odds, odds.Fit(s.names(asked), s.of(asked, use)))
	}
	return f
}

// likelihood reports whether the probabilities count how likely models say their answers are.
func (f *Fitted) likelihood() bool {
	return slices.ContainsFunc(f.odds, func(m *odds.Predictor) bool { return m.Marks != nil })
}

func (s *Sample) names(models []int) (names []string) {
	for _, i := range models {
		names = append(names, s.Models[i])
	}
	return names
}

// of returns the questions with the answers of some models.
func (s *Sample) of(models []int, use func(int) bool) (some []odds.Labelled) {
	for k, q := range s.Questions {
		if use(k) {
			some = append(some, odds.Labelled{Kind: q.Kind, Answers: pick(q.Answers, models), Right: q.Right,
				Sure: pick(q.Sure, models)})
		}
	}
	return some
}

// pick returns what some models have of a list; nil of nil.
func pick[T any](all []T, models []int) []T {
	if all == nil {
		return nil
	}
	some := make([]T, len(models))
	for i, m := range models {
		some[i] = all[m]
	}
	return some
}

// Decided is what a council makes of a question.
type Decided struct {
	Answer string      // "": undecided
	Chance odds.Chance // of the answer, or of the most probable one that has too few voices
	Asked  []int       // the models that were asked
}

// Decide returns what the council makes of the answers of all models of the sample to a question. It does not look at
// which one is right.
func (f *Fitted) Decide(q *odds.Labelled) (d Decided) {
	for k, asked := range f.stages {
		d = Decided{Asked: asked}
		all := f.odds[k].Chances(q.Kind, pick(q.Answers, asked), pick(q.Sure, asked), f.F)
		if len(all) > 0 {
			d.Chance = all[0]
		}
		for _, c := range all { // the most probable one that has more than F voices
			if len(c.Given) > f.F {
				d.Answer, d.Chance = c.Answer, c
				break
			}
		}
		if d.Answer != "" && d.Chance.Probability >= f.Stop {
			break
		}
	}
	return d
}

// usd returns what it costs to ask models.
func (s *Sample) usd(models []int) (sum float64) {
	for _, i := range models {
		sum += s.USD[i]
	}
	return sum
}

// Played is how a council did on some questions.
type Played struct {
	Right, Wrong, Undecided int
	USD                     float64 // of all of them
}

// add adds a question.
func (p *Played) add(s *Sample, q *odds.Labelled, d Decided) {
	p.USD += s.usd(d.Asked)
	switch d.Answer {
	case "":
		p.Undecided++
	case q.Right:
		p.Right++
	default:
		p.Wrong++
	}
}

// Play plays a fitted council on the questions that on is true of.
func (s *Sample) Play(f *Fitted, on func(question int) bool) (p Played) {
	for k := range s.Questions {
		if q := &s.Questions[k]; on(k) {
			p.add(s, q, f.Decide(q))
		}
	}
	return p
}
