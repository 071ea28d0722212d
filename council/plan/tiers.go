package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/core/odds"
	"synod.dev/synod/core/reliability"
)

// numberTiers replaces the names of seats in the tiers of the protocol by their numbers, so that records have these.
// The name that a council file gives to several seats stands for all of them.
func numberTiers(p *Plan) error {
	tiers, ok := p.spec.Protocol["tiers"].([]any)
	if !ok {
		return nil
	}
	numbered := make([][]int, len(tiers))
	for k, tier := range tiers {
		names, ok := tier.([]any)
		if !ok {
			return fmt.Errorf("tiers[%d] is %v; it must be a list of seats (example: tiers: [[a, b], [c]])", k, tier)
		}
		for _, name := range names {
			some, err := seatsNamed(p, name)
			if err != nil {
				return fmt.Errorf("tiers[%d]: %w", k, err)
			}
			numbered[k] = append(numbered[k], some...)
		}
	}
	p.spec.Protocol = maps.Clone(p.spec.Protocol)
	p.spec.Protocol["tiers"] = numbered
	return nil
}

// seatsNamed returns the seats of a name, or of a number.
func seatsNamed(p *Plan, name any) (some []int, err error) {
	text, ok := name.(string)
	if !ok {
		if n, ok := wholeNumber(name); ok {
			return []int{n}, nil
		}
		return nil, fmt.Errorf("%v is no name of a seat", name)
	}
	var ids []string
	for i := range p.seats {
		id := p.seats[i].ID
		ids = append(ids, id)
		if digits, of := strings.CutPrefix(id, text); id == text ||
			of && strings.Trim(digits, "0123456789") == "" && !slices.ContainsFunc(p.seats, func(s Seat) bool {
				return s.ID == text
			}) {
			some = append(some, i)
		}
	}
	if len(some) == 0 {
		return nil, fmt.Errorf("no seat is called %q%s", text, synod.Hint(text, ids))
	}
	return some, nil
}

// wholeNumber returns a whole number as a decoder of YAML or JSON gives it.
func wholeNumber(x any) (int, bool) {
	switch n := x.(type) {
	case int:
		return n, true
	case int64:
		return int(n), true
	case uint64:
		return int(n), true
	case float64:
		return int(n), float64(int(n)) == n
	}
	return 0, false
}

// LeastLabels is how many labelled questions a probability needs.
const LeastLabels = 30

// setOdds has the protocol know how likely answers are right, by the tiers that were asked. It counts the graded
// questions of the trust file and the feedback of users to which all seats of these tiers replied. A tier that has too
// few of them has no odds, and so have the tiers after it, which are asked less often.
func setOdds(p *Plan, graded, feedback []reliability.Observation) {
	tiers, ok := p.spec.Protocol["tiers"].([][]int)
	if !ok || p.spec.Protocol["odds"] != nil {
		return
	}
	names := TrustNames(p)
	var models []*odds.Predictor
	var asked []string
	for _, tier := range tiers {
		for _, i := range tier {
			if i < 0 || i >= len(names) {
				return // the protocol says what is wrong
			}
			asked = append(asked, names[i])
		}
		some := Labelled(asked, graded)
		known := len(some)
		if some = append(some, Labelled(asked, feedback)...); len(some) < LeastLabels {
			break
		}
		if p.spec.Protocol["probe"] != string(synod.LikelihoodConfidence) { // its members will report none
			for k := range some {
				some[k].Sure = nil
			}
		}
		m := odds.Fit(slices.Clone(asked), some)
		m.Feedback = len(some) - known
		models = append(models, m)
	}
	if len(models) > 0 {
		p.spec.Protocol["odds"] = models
	}
}

// Labelled returns the graded questions to which all of these members replied, in the order in which they come.
func Labelled(members []string, all []reliability.Observation) (labelled []odds.Labelled) {
	type replies struct {
		odds.Labelled
		replied, graded int
	}
	var order []string
	by := map[string]*replies{}
	for _, o := range all {
		i := slices.Index(members, o.Member)
		if i < 0 {
			continue
		}
		q := by[o.Question]
		if q == nil {
			q = &replies{Labelled: odds.Labelled{Kind: o.Kind, Answers: make([]string, len(members)),
				Sure: make([]float64, len(members))}}
			by[o.Question], order = q, append(order, o.Question)
		}
		q.Answers[i], q.Sure[i] = o.Answer, o.Sure
		q.replied++
		if o.Label != reliability.Unknown {
			q.graded++
		}
		if o.Label == reliability.Right {
			q.Right = o.Answer
		}
	}
	for _, id := range order {
		if q := by[id]; q.replied == len(members) && q.graded > 0 {
			labelled = append(labelled, q.Labelled)
		}
	}
	return labelled
}
