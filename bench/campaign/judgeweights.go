package campaign

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"synod.dev/synod"
	"synod.dev/synod/core/odds"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/reference"
	"synod.dev/synod/protocol"
)

// weighing is the protocol whose members take over the answer with the most confidence.
var weighing = sync.OnceValue(func() string {
	return nameWhere("", func(p synod.Protocol) bool {
		w, ok := p.(protocol.WeightedVote)
		return ok && w.VotesByWeight()
	})
})

// oneRound makes a protocol decide at once.
const oneRound = "rounds: 0"

// averaging is the protocol that decides by the highest mean confidence.
var averaging = sync.OnceValue(func() string {
	return nameWhere(oneRound, func(p synod.Protocol) bool {
		m, ok := p.(protocol.MeanVote)
		return ok && m.VotesByMean()
	})
})

// inTiers is the protocol that asks in tiers.
var inTiers = sync.OnceValue(func() string {
	return nameWhere("tiers: [[0], [1]]", func(p synod.Protocol) bool {
		u, ok := p.(protocol.Unequal)
		_, staged := p.(protocol.Staged)
		return ok && staged && u.AsksUnequals()
	})
})

// sure draws the confidences of all first answers.
func (d *drawn) sure(p *piece) {
	for range d.First {
		d.Sure = append(d.Sure, among(p, 0, .2, .3, .5, .9, 1, float64(p.rand.IntN(1000))/1000))
	}
}

// few draws settings of which there are few, because a plan is made for each.
func (d *drawn) few(p *piece) {
	d.F, d.rule.Support = p.rand.IntN(2), among(p, 0, 0, 2)
	voices := among(p, len(d.First), 3)
	for i := range d.Voice {
		d.Voice[i] = i % voices
	}
}

// weigh draws that most seats take over the first answer whose confidences have the largest sum.
func (d *drawn) weigh(p *piece) {
	p.State("weighted", true)
	d.protocol = weighing()
	d.few(p)
	d.sure(p)
	var all []reference.Confident
	for i, a := range d.First {
		all = append(all, reference.Confident{Answer: a, Sure: d.Sure[i]})
	}
	best := reference.WeightedMajority(all)
	for i := range d.Last {
		if !p.one(5) {
			d.Last[i] = best
		}
	}
	d.decides = func(b *reference.Poll) synod.Answer { return b.ByWeight(d.rule) }
}

// hear draws whom a seat did not hear. What a decision withstands is not known if that seat had an answer.
func (d *drawn) hear(p *piece) {
	if !p.one(4) {
		return
	}
	missed := p.rand.IntN(len(d.First))
	d.silent = []synod.NodeID{synod.NodeID(missed)}
	if d.First[missed] != synod.None {
		p.State("a first answer is missed", true)
		d.decides = func(*reference.Poll) synod.Answer { return synod.None }
	}
}

// mean draws a council that decides by the highest mean of the confidences.
func (d *drawn) mean(p *piece) {
	p.State("by mean", true)
	d.protocol, d.rule.Name, d.rounds = averaging()+", "+oneRound, plan.ByProtocol, false
	d.few(p)
	d.sure(p)
	d.Last = slices.Clone(d.First)
}

// step computes what the protocol's own step chooses.
func (d *drawn) step(p *piece) {
	var all []reference.Confident
	for i, a := range d.Last {
		all = append(all, reference.Confident{Answer: a, Sure: d.Sure[i]})
	}
	d.Step = &reference.Step{Decides: true}
	d.Step.Answer, _ = reference.HighestMean(all, false)
	d.decides = func(b *reference.Poll) synod.Answer {
		if d.rule.Support > 0 {
			return synod.None // support counts voices, and a mean does not
		}
		return b.ByMean()
	}
}

// tier has the council ask in tiers.
func (d *drawn) tier(p *piece) {
	p.State("tiers", true)
	d.few(p)
	n, setting := len(d.First), p.rand.Uint64N(9)
	r := rand.New(rand.NewPCG(setting, uint64(n)))
	d.F = int(setting % 3)
	one := 1 + r.IntN(2)
	seats := r.Perm(n)
	tiers := [][]int{seats[:one], seats[one : one+1], seats[one+1:]}
	c := &reference.Cascade{F: d.F, P: []float64{.6, .9}[r.IntN(2)], AtLeast: among(p, 0, .5+r.Float64()/2),
		Question: &d.question, Weights: slices.Repeat([]float64{1}, n)}
	params := fmt.Sprintf("tiers: %s, p: %v, at_least: %v", inJSON(tiers), c.P, c.AtLeast)
	if r.IntN(2) == 0 {
		for i := range c.Weights {
			c.Weights[i] = float64(1+r.IntN(30)) / 10
		}
		params += fmt.Sprintf(", weights: {%s: %s}", synod.Number, inJSON(c.Weights))
	}
	asked, models := []int{}, []*odds.Predictor{}
	known := r.IntN(len(tiers) + 1)
	for k, tier := range tiers {
		var ids []synod.NodeID
		for _, i := range tier {
			ids = append(ids, synod.NodeID(i))
		}
		c.Tiers = append(c.Tiers, ids)
		if asked = append(asked, tier...); k < known {
			m, twin := drawOdds(r, len(asked))
			models, c.Odds = append(models, m), append(c.Odds, twin)
		}
	}
	if known > 0 {
		params += ", odds: " + inJSON(models)
	}
	for i, voice := range d.Voice {
		c.Together = append(c.Together, [2]synod.NodeID{synod.NodeID(slices.Index(d.Voice, voice)), synod.NodeID(i)})
	}
	d.protocol, d.rule.Name, d.rounds = inTiers()+", "+params, plan.ByProtocol, false
	d.Last, d.said[1] = d.First, d.said[0]
	d.Failed = make([]bool, n)
	for i, a := range d.said[0] {
		d.Failed[i] = a != synod.None && a != d.First[i] && len(d.question.Checks) > 0
		d.surfaces[i] = ""
	}
	d.asked(p, c)
}

// asked computes what the tiers come to.
func (d *drawn) asked(p *piece, c *reference.Cascade) {
	came := c.Decide(d.First, make([]reference.Last, len(d.First)))
	d.cascade = &came
	d.Step = &reference.Step{Decides: true, Alone: true, Answer: came.Answer, Lacking: came.Lacking}
	d.Sure, d.Fixed = make([]float64, len(d.First)), true
	capped := reference.CapWeights(c.Weights, c.F)
	for _, id := range came.Order[:came.Asked] {
		d.Sure[id] = float64(capped[id]) / 1e6 // who was not asked has a vote without weight
	}
	d.decides = func(b *reference.Poll) synod.Answer { return b.Staged(d.rule, c.F) }
	p.State("a tier ends early", came.Answer != synod.None && came.Asked < len(d.First))
	p.State("improbable", came.Answer == synod.None && came.Labels > 0)
	p.State("probability", came.Answer != synod.None && came.Labels > 0)
}

// drawOdds draws how likely answers are right, for the code and for its twin.
func drawOdds(r *rand.Rand, n int) (*odds.Predictor, *reference.Odds) {
	m := &odds.Predictor{Labels: 30 + r.IntN(60), Same: make([][]float64, n)}
	var all, number odds.KindOdds
	for i := range n {
		m.Members = append(m.Members, fmt.Sprint("m", i))
		m.Same[i] = make([]float64, n)
		for j := range i {
			m.Same[i][j] = float64(r.IntN(10)) / 10
			m.Same[j][i] = m.Same[i][j]
		}
		all.LogOdds = append(all.LogOdds, float64(r.IntN(40)-10)/10)
		number.LogOdds = append(number.LogOdds, float64(r.IntN(40)-10)/10)
	}
	m.Kinds = map[string]odds.KindOdds{"": all, string(synod.Number): number}
	t := &reference.Odds{Labels: m.Labels, LogOdds: number.LogOdds, Same: m.Same, Ability: .3 + r.Float64(),
		Votes: r.Float64(), Together: r.Float64(), None: r.Float64() - .5, Different: r.Float64(), Replied: r.Float64()}
	m.Coefficients = []float64{t.Ability, t.Votes, t.Together, t.None, t.Different, t.Replied}
	for range n {
		t.Own = append(t.Own, r.Float64()/2-.25)
	}
	m.Coefficients = append(m.Coefficients, t.Own...)
	for i := range m.Coefficients {
		m.Covariance = append(m.Covariance, make([]float64, len(m.Coefficients)))
		m.Covariance[i][i] = .1
	}
	return m, t
}

func inJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return strings.ReplaceAll(string(b), ":", ": ") // so that it is YAML as well
}

// probable compares how likely the answer of tiers is right, as it is stated.
func (d *drawn) probable(p *piece, o *outcome.Outcome) {
	p.Applies(claimProbable)
	if d.cascade == nil {
		return
	}
	want, got := d.cascade, o.Probability
	if got == nil || want.Labels == 0 {
		p.Claim(claimProbable, got == nil && want.Labels == 0, "the probability is %+v, and by the reference %v of %d "+
			"questions", got, want.Probability, want.Labels)
		return
	}
	most := float64(got.Labels+1) / float64(got.Labels+2)
	p.Claim(claimProbable, got.Labels == want.Labels && math.Abs(got.Value-want.Probability) < 1e-9 &&
		0 <= got.Low && got.Low <= got.Value && got.Value <= got.High && got.High <= most,
		"the probability is %+v, and by the reference %v of %d questions, and at most %v: %+v", *got, want.Probability,
		want.Labels, most, d.Poll)
}
