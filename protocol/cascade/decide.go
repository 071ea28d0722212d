package cascade

import (
	"fmt"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/protocol"
)

// Decide counts the first answers in the records stage by stage, as the members did, and after a contest the last ones.
func (p *Cascade) Decide(q *synod.Question, noted [][]*synod.Opinion, f int) (d protocol.StagedDecision) {
	t, given := p.tally(q, len(noted), f), make([]said, len(noted))
	for i := range noted {
		given[i] = firstOf(noted[i])
	}
	for stage := 0; ; stage++ {
		t.count(t.stage(stage), given)
		all := t.table()
		end := t.next(all, t.stage(stage+1) == nil)
		if end == goOn {
			continue
		}
		d.Order, d.Asked, d.Probability = t.order, len(t.asked), t.probability(all)
		switch end {
		case decided:
			t.decide(&d, all)
		case hopeless:
			t.giveUp(&d, all)
		case merged:
			t.handOver(&d, all)
		case contested:
			t.contest(&d, all, noted)
		}
		return d
	}
}

// Recorded returns the decision of members whose first answers are known and who do not change them (Foretell).
func (p *Cascade) Recorded(q *synod.Question, first []synod.Answer, f int) protocol.StagedDecision {
	return p.Decide(q, p.Foretell(q, first, f), f)
}

// Foretell returns what members note whose first answers are known and who do not change them, as recorded members: in
// a contest all that hold no candidate take the heaviest one, because they score all candidates alike.
func (p *Cascade) Foretell(q *synod.Question, first []synod.Answer, f int) (noted [][]*synod.Opinion) {
	noted = make([][]*synod.Opinion, len(first))
	given := make([]said, len(first))
	for i, a := range first {
		noted[i], given[i].answer = []*synod.Opinion{{Answer: a}}, a
	}
	t := p.tally(q, len(first), f)
	for stage, end := 0, goOn; end == goOn; stage++ {
		t.count(t.stage(stage), given)
		all := t.table()
		if end = t.next(all, t.stage(stage+1) == nil); end != contested {
			continue
		}
		some := answers(t.candidates(all))
		for i, a := range t.answers { // a member that was not asked has no answer yet
			if !slices.Contains(some, a) {
				a = some[0]
			}
			noted[i] = append(noted[i], &synod.Opinion{Round: t.MaxRounds(), Answer: a})
		}
	}
	return noted
}

// firstOf returns what a seat noted before it heard others.
func firstOf(noted []*synod.Opinion) said {
	for _, o := range noted {
		if o.Round == 0 {
			return saying(o.Answer, o.Confidence)
		}
	}
	return said{}
}

func (t *tally) decide(d *protocol.StagedDecision, all []candidate) {
	lead := t.leader(all)
	d.Answer = lead.answer
	d.Withstands, d.Fragile = t.withstands(lead.answer)
	why := "no other answer has more than F supporters"
	switch {
	case len(t.Tiers) > 0:
		why = t.whyTier(lead, len(all))
	case t.certain(all):
		why = "no missing vote and no F votes ignored could change that"
	case t.probable(all):
		why = fmt.Sprintf("the next answer has %d", next(all))
	case t.foreseen(all) && len(t.asked) < len(t.order):
		why = fmt.Sprintf("%d of the %d not asked would have to agree on another answer to change that",
			t.foresee(all).needed(lead), len(t.order)-len(t.asked))
	}
	d.Why = fmt.Sprintf("%d of the %d asked gave it, and at most F=%d of them can have copied it; %s", len(lead.seats),
		len(t.asked), t.f, why)
}

// next returns how many gave the second answer.
func next(all []candidate) int {
	if len(all) < 2 {
		return 0
	}
	return len(all[1].seats)
}

func (t *tally) giveUp(d *protocol.StagedDecision, all []candidate) {
	most, given := 0, 0
	for _, c := range all {
		most, given = max(most, c.voices), given+len(c.seats)
	}
	silent := len(t.asked) - given
	d.Lacking = silent > 0 && most+silent > t.f
	d.Why = fmt.Sprintf("of the %d asked at most %d gave the same answer independently, and more than F=%d are needed",
		len(t.asked), most, t.f)
	if some := t.candidates(all); len(some) > 0 && len(t.Tiers) > 0 {
		d.Why = t.whyNoTier(some[0])
	} else if len(some) > 0 {
		d.Why = fmt.Sprintf("of the %d asked %d gave the answer with most weight of those that more than F=%d gave, "+
			"and the other answers weigh too much against it", len(t.asked), len(some[0].seats), t.f)
	}
	if silent > 0 {
		d.Why += fmt.Sprintf("; %d gave no answer", silent)
	}
}

// handOver leaves the decision to who merges the fields of those asked; it lacks if F members alone may have answered.
func (t *tally) handOver(d *protocol.StagedDecision, all []candidate) {
	given := 0
	for _, c := range all {
		given += len(c.seats)
	}
	d.Lacking = given <= t.f
	d.Why = fmt.Sprintf("%d of the %d asked gave an answer, and more than F=%d are needed", given, len(t.asked), t.f)
}

// contest counts the last answers by weight. Answers that were not contested cannot win.
func (t *tally) contest(d *protocol.StagedDecision, all []candidate, noted [][]*synod.Opinion) {
	some := answers(t.candidates(all))
	d.Fragile = "members had heard others before their last answers"
	d.Why = fmt.Sprintf("contested: %d answers have more than F=%d independent supporters", len(some), t.f)
	end := &tally{council: t.council, answers: make([]synod.Answer, len(noted))}
	for i, list := range noted {
		if len(list) > 0 && (t.MaxRounds() == 0 || list[len(list)-1].Round >= t.MaxRounds()) { // it has finished
			end.answers[i] = list[len(list)-1].Answer
		}
	}
	last := end.table()
	rivals := slices.DeleteFunc(slices.Clone(last), func(c candidate) bool { return !slices.Contains(some, c.answer) })
	switch {
	case len(rivals) == 0 || len(rivals) > 1 && rivals[1].weight == rivals[0].weight:
		d.Why += ", and after SAC none has more weight than the others"
	case t.Stop == Probable && t.f > 0 && (rivals[0].answer != last[0].answer || !t.credible(last)):
		d.Why += ", and after SAC other answers outweigh them"
	default:
		d.Answer = rivals[0].answer
		d.Why += "; after SAC this one has the most weight"
	}
}
