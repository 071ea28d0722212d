package metrics_test

import (
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/bench/task"
)

var studies = flag.Int("studies", 250, "synthetic studies of each design; 10000: make coverage")

// world is a distribution over questions: their difficulty, and what the members of a council answer to one of a
// difficulty. It is discrete, so that the true value of every figure is a sum over all cases.
type world struct {
	seats []metrics.SeatFacts
	cases [][]outcome // by difficulty, all of which are equally likely
}

// outcome is a case with its probability at a difficulty.
type outcome struct {
	metrics.GradedQuestion
	chance float64
	wrong  []bool // the first answers, by honest seat
}

const (
	difficulties = 7
	honestSeats  = 5 // three strong ones and two weak ones; the sixth is an adversary
)

// newWorld returns the world of members that are right with the given chances at the middle difficulty; their log odds
// vary by spread from the easiest question to the middle one.
func newWorld(strong, weak, spread float64) *world {
	w := &world{cases: make([][]outcome, difficulties)}
	for i := range honestSeats + 1 {
		m := metrics.SeatFacts{Group: metrics.Strong, Adversary: i == honestSeats}
		if i >= 3 {
			m.Group = metrics.Weak
		}
		w.seats = append(w.seats, m)
	}
	for d := range w.cases {
		shift := spread * (float64(d) - (difficulties-1)/2.0) / ((difficulties - 1) / 2.0)
		for pattern := range 1 << honestSeats {
			o, chance := w.outcome(pattern), 1.0
			for i := range honestSeats {
				ability := strong
				if i >= 3 {
					ability = weak
				}
				p := 1 / (1 + math.Exp(-math.Log(ability/(1-ability))-shift))
				if o.wrong[i] {
					p = 1 - p
				}
				chance *= p
			}
			o.chance = chance
			w.cases[d] = append(w.cases[d], o)
		}
	}
	return w
}

var grades = map[synod.Answer]task.Verdict{"R": task.Right, "W": task.Wrong, "V": task.Wrong}

// outcome plays a question: wrong weak members say what the adversary says; after the first round the first
// strong member and the weak ones adopt the plurality of all; the council decides for an answer of four seats.
func (w *world) outcome(pattern int) outcome {
	o := outcome{wrong: make([]bool, honestSeats)}
	first, sure := make([]synod.Answer, honestSeats+1), make([]*float64, honestSeats+1)
	for i := range first {
		confidence := 0.9 - 0.1*float64(i)
		switch {
		case i == honestSeats:
			first[i] = "V"
		case pattern>>i&1 == 0:
			first[i], sure[i] = "R", &confidence
		default:
			first[i], o.wrong[i] = map[bool]synod.Answer{true: "V", false: "W"}[i >= 3], true
			confidence -= 0.25
			sure[i] = &confidence
		}
	}
	rounds := [][]synod.Answer{first}
	if lead, tie := metrics.Plurality(first); !tie {
		rounds = append(rounds, append([]synod.Answer{lead}, first[1], first[2], lead, lead, "V"))
	}
	last, votes := rounds[len(rounds)-1], map[synod.Answer]int{}
	o.GradedQuestion = metrics.GradedQuestion{Rounds: rounds, Confidences: sure, Verdicts: grades, Live: true}
	for _, a := range last {
		if votes[a]++; votes[a] == 4 {
			o.Agreed, o.Decision = true, a
		}
	}
	return o
}

// draw returns the answers to a question of the given difficulty.
func (w *world) draw(chance *rand.Rand, difficulty int) *outcome {
	u := chance.Float64()
	all := w.cases[difficulty]
	for i := range all {
		if u -= all[i].chance; u < 0 {
			return &all[i]
		}
	}
	return &all[len(all)-1]
}

// figures are those of a tally and of its calibration by name.
func figures(n metrics.Numbers, c *metrics.Calibration) map[string]*metrics.Rate {
	f := map[string]*metrics.Rate{
		"iaa": n.Metrics.IAA, "faa": n.Metrics.FAA, "bfti": n.Metrics.BFTI, "ra": n.Metrics.RA,
		"h_majority": n.Metrics.HMajority, "decision_accuracy": n.Metrics.Decision, "agreed": n.Metrics.Agreed,
		"capture": n.Metrics.Capture, "weak_before": n.Groups.Weak.Before, "strong_after": n.Groups.Strong.After,
		"majority": n.Baselines.Majority, "round_1": n.Rounds[len(n.Rounds)-1].Accuracy,
		"effective_votes": n.Metrics.EffectiveVotes,
	}
	for _, e := range n.Errors {
		if e.A == 0 && e.B == 3 {
			f["phi"], f["co_error"] = e.Phi, e.CoError
		}
	}
	if c != nil {
		f["brier"], f["sided"] = c.Brier, c.Sided
	}
	return f
}

// tallied returns the figures of cases.
func (w *world) tallied(cases []metrics.GradedQuestion) map[string]*metrics.Rate {
	tally, sure := metrics.NewTally(w.seats), metrics.Calibrator{}
	for i := range cases {
		tally.Add(cases[i])
		sure.Add(&cases[i], cases[i].Forecasts(w.seats, func(int) bool { return true }))
	}
	return figures(tally.Numbers(), sure.Calibration())
}

// truth returns the true values: of shares, the expected numerator by the expected denominator.
func (w *world) truth() map[string]float64 {
	tops, bottoms, values := map[string]float64{}, map[string]float64{}, map[string]float64{}
	var both [honestSeats][honestSeats]float64
	for _, all := range w.cases {
		for i := range all {
			for name, r := range w.tallied([]metrics.GradedQuestion{all[i].GradedQuestion}) {
				if r != nil {
					tops[name] += all[i].chance * r.Value * float64(r.N)
					bottoms[name] += all[i].chance * float64(r.N)
				}
			}
			for a := range honestSeats {
				for b := range honestSeats {
					if all[i].wrong[a] && all[i].wrong[b] {
						both[a][b] += all[i].chance / difficulties
					}
				}
			}
		}
	}
	for name, top := range tops {
		values[name] = top / bottoms[name]
	}
	covariance, variance := 0.0, 0.0
	for a := range honestSeats {
		for b := range a {
			covariance += both[a][b] - both[a][a]*both[b][b]
			variance += (both[a][a]*(1-both[a][a]) + both[b][b]*(1-both[b][b])) / 2
		}
	}
	a, b := both[0][0], both[3][3]
	values["phi"] = (both[0][3] - a*b) / math.Sqrt(a*(1-a)*b*(1-b))
	values["effective_votes"] = honestSeats / (1 + (honestSeats-1)*covariance/variance)
	return values
}

// design is how studies are made: so many questions, each asked so many times.
type design struct{ questions, repeats int }

func (d design) String() string {
	if d.repeats == 1 {
		return fmt.Sprintf("%d questions", d.questions)
	}
	return fmt.Sprintf("%d questions × %d", d.questions, d.repeats)
}

// coverage counts studies in which the interval of a figure has the true value.
type coverage struct{ inside, n map[string]int }

func newCoverage() *coverage { return &coverage{map[string]int{}, map[string]int{}} }

func (c *coverage) add(name string, r *metrics.Rate, truth float64) {
	if r == nil {
		return
	}
	c.n[name]++
	if r.Low <= truth+1e-12 && truth <= r.High+1e-12 {
		c.inside[name]++
	}
}

// worlds are councils that are right in half of the questions to nearly all, with questions that are about as hard as
// each other, and with questions of which some are much harder.
func worlds() (all []*world, truths []map[string]float64) {
	for _, strong := range []float64{0.6, 0.65, 0.7, 0.75, 0.8, 0.85} {
		for _, weak := range []float64{0.4, 0.45, 0.5, 0.55} {
			for _, spread := range []float64{0.5, 1.5} {
				w := newWorld(strong, weak, spread)
				all, truths = append(all, w), append(truths, w.truth())
			}
		}
	}
	return all, truths
}

// study draws a study of one world and of another on the same questions, and adds their figures and differences.
func (d design) study(chance *rand.Rand, w, v *world, truth, other map[string]float64, to *coverage) {
	var cases []metrics.GradedQuestion
	var decided, agreed metrics.Paired
	for q := range d.questions {
		difficulty, id := chance.IntN(difficulties), fmt.Sprint(q)
		for range d.repeats {
			a, b := *w.draw(chance, difficulty), v.draw(chance, difficulty)
			a.Question = id
			cases = append(cases, a.GradedQuestion)
			before, _ := a.Decided(w.seats)
			after, _ := b.Decided(v.seats)
			decided.Add(id, before, after)
			agreed.Add(id, a.Agreed, b.Agreed)
			x, of := a.FinalRight(w.seats)
			y, _ := b.FinalRight(v.seats)
			decided.AddShares(id, x, of, y, of)
		}
	}
	for name, r := range w.tallied(cases) {
		to.add(name, r, truth[name])
	}
	right := func(t map[string]float64) float64 { return t["decision_accuracy"] * t["agreed"] }
	to.add("difference of decisions", decided.Difference(), right(other)-right(truth))
	to.add("difference of agreed", agreed.Difference(), other["agreed"]-truth["agreed"])
	to.add("difference of faa", decided.ShareDifference(chance.Uint64()), other["faa"]-truth["faa"])
}

// The intervals of a report contain the true value in 93.5 to 96.5 of 100 studies. A study asks a council of five
// honest members and an adversary, drawn from 48. It compares this council with another one on the same questions. Each
// bound is widened by five standard errors of so few studies, so that the test fails by chance in less than one of a
// million runs.
func TestCoverage(t *testing.T) {
	all, truths := worlds()
	for _, d := range []design{{30, 1}, {100, 1}, {300, 1}, {60, 5}} {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			chance, seen := rand.New(rand.NewPCG(uint64(d.questions), uint64(d.repeats))), newCoverage()
			for range *studies {
				i, j := chance.IntN(len(all)), chance.IntN(len(all))
				d.study(chance, all[i], all[j], truths[i], truths[j], seen)
			}
			seen.check(t, d.String(), *studies)
		})
	}
}

// check compares the coverage of every figure with the band.
func (c *coverage) check(t *testing.T, design string, studies int) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(c.n)) {
		n := c.n[name]
		share := float64(c.inside[name]) / float64(n)
		slack := 5 * math.Sqrt(0.05*0.95/float64(n))
		if studies >= 10_000 {
			slack = 0
		}
		t.Logf("| %s | %s | %.1f | %d |", design, name, 100*share, n)
		if share < 0.935-slack || share > 0.965+slack {
			t.Errorf("%s: the interval of %s has the true value in %.1f %% of %d studies", design, name, 100*share, n)
		}
	}
}
