package cascade

import (
	"cmp"
	"fmt"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/odds"
	"synod.dev/synod/core/script"
	"synod.dev/synod/protocol"
)

// AsksUnequals reports whether there are tiers.
func (p *Cascade) AsksUnequals() bool { return len(p.Tiers) > 0 }

// Races reports whether the next tier may be called early.
func (p *Cascade) Races() bool { return p.Race }

// Ahead returns the next tier if a seat of this one is late or two of its answers differ. Where no probability is known
// a tier ends the run only if all that were asked agree, so the answers of earlier tiers count as well.
func (p *Cascade) Ahead(of []synod.NodeID, first []synod.Answer, late bool) []synod.NodeID {
	k := slices.IndexFunc(p.Tiers, func(tier []synod.NodeID) bool { return slices.Contains(tier, of[0]) })
	if k < 0 || k+1 >= len(p.Tiers) {
		return nil
	}
	counted := p.Tiers[k]
	if k >= len(p.Odds) {
		counted = slices.Concat(p.Tiers[:k+1]...)
	}
	given := synod.None
	for _, id := range counted {
		late = late || first[id] != synod.None && given != synod.None && first[id] != given
		given = cmp.Or(first[id], given)
	}
	if !late {
		return nil
	}
	return p.Tiers[k+1]
}

// Asking joins a seat with a machine that asks its model for an independent answer and ends.
func (p *Cascade) Asking(seat synod.Seat) synod.Machine {
	return p.script(seat, func(me *script.Agent) synod.Answer { return p.member(me).Answer().Answer })
}

// checkTiers refuses tiers in which a seat is missing or stands twice, and odds that do not fit them.
func (p *Cascade) checkTiers(n int) error {
	seats := 0
	for k, tier := range p.Tiers {
		if len(tier) == 0 {
			return fmt.Errorf("cascade: tiers[%d] has no seat", k)
		}
		if i := slices.IndexFunc(tier, func(s synod.NodeID) bool { return s < 0 || int(s) >= n }); i >= 0 {
			return fmt.Errorf("cascade: tiers[%d] has seat %d; they count from 0 to %d", k, tier[i], n-1)
		}
		seats += len(tier)
		if k < len(p.Odds) && len(p.Odds[k].Members) != seats {
			return fmt.Errorf("cascade: odds[%d] is about %d members, and %d seats are asked up to that tier", k,
				len(p.Odds[k].Members), seats)
		}
	}
	different := len(slices.Compact(slices.Sorted(slices.Values(slices.Concat(p.Tiers...)))))
	if len(p.Tiers) > 0 && (seats != n || different != n) {
		return fmt.Errorf("cascade: tiers have %d seats, %d different ones; they must have each of the %d seats once",
			seats, different, n)
	}
	return nil
}

// judge sets how likely each answer is right, by the odds of the tiers that were asked.
func (t *tally) judge(all []candidate) {
	m := t.odds()
	if m == nil || t.merges { // a merged value is none of the answers
		return
	}
	answers, sure := make([]string, len(t.asked)), make([]float64, len(t.asked))
	for i, id := range t.asked {
		if answers[i] = string(t.answers[id]); t.sure != nil {
			sure[i] = t.sure[id]
		}
	}
	for _, c := range m.Chances(string(t.form), answers, sure, t.f) {
		k := slices.IndexFunc(all, func(x candidate) bool { return x.answer == synod.Answer(c.Answer) })
		all[k].likely = c.Probability
		c = c.Stated(m.Labels)
		all[k].chance = protocol.Probability{Value: c.Probability, Low: c.Low, High: c.High, Labels: m.Labels,
			Feedback: m.Feedback, Likelihood: c.Sure}
	}
}

// odds returns the odds of the seats that were asked so far; nil: there are none.
func (t *tally) odds() *odds.Predictor {
	seats := 0
	for k, tier := range t.Tiers {
		if seats += len(tier); seats == len(t.asked) && k < len(t.Odds) {
			return t.Odds[k]
		}
	}
	return nil
}

// nextTier says what follows from the answers of the tiers so far. The most probable answer that has more than F
// voices stands if it is probable enough, or, where that is not known, if all that answered agree. After the last tier
// it stands in any case, unless it is less probable than wanted.
func (t *tally) nextTier(all []candidate, last bool) ending {
	lead := t.leader(all)
	enough := lead.voices > t.f && lead.chance.Value >= t.AtLeast
	switch {
	case last && enough:
		return decided
	case last:
		return hopeless
	case enough && lead.chance.Labels > 0 && lead.likely >= t.P,
		enough && lead.chance.Labels == 0 && len(all) == 1:
		return decided
	}
	return goOn
}

// probability returns that of the leading answer; nil: it is not known.
func (t *tally) probability(all []candidate) *protocol.Probability {
	if lead := t.leader(all); lead.chance.Labels > 0 {
		return &lead.chance
	}
	return nil
}

// whyNoTier says why the leading answer is no decision although enough members gave it.
func (t *tally) whyNoTier(lead candidate) string {
	if lead.chance.Labels == 0 {
		return fmt.Sprintf("at_least is %v, and how likely the answer is right is not known: the trust file has too "+
			"few graded questions that all members answered", t.AtLeast)
	}
	return fmt.Sprintf("the leading answer of the %d asked is right with probability %.2f, and at_least is %v",
		len(t.asked), lead.chance.Value, t.AtLeast)
}

// whyTier says why the leading answer stood when it did.
func (t *tally) whyTier(lead candidate, answers int) string {
	tiers := fmt.Sprintf("%d of %d tiers", len(t.Tiers), len(t.Tiers))
	if len(t.asked) < len(t.order) {
		seats := 0
		for k, tier := range t.Tiers {
			if seats += len(tier); seats == len(t.asked) {
				tiers = fmt.Sprintf("%d of %d tiers", k+1, len(t.Tiers))
			}
		}
	}
	switch {
	case lead.chance.Labels > 0:
		by := fmt.Sprintf("%d graded questions", lead.chance.Labels)
		if lead.chance.Likelihood {
			by += " and the likelihoods that models report"
		}
		return fmt.Sprintf("after %s it is right with probability %.2f, by %s", tiers, lead.chance.Value, by)
	case answers == 1:
		return fmt.Sprintf("after %s all that answered agree", tiers)
	}
	return fmt.Sprintf("after %s it has the most weight", tiers)
}
