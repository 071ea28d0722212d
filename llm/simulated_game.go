package llm

import (
	"slices"
	"strconv"

	"synod.dev/synod"
)

// propose is a simulated player's number for a game.
func (d *simulated) propose(p *synod.Prompt, roll *dice) synod.Answer {
	t := p.Table
	any := func() int { return t.Low + int(roll.next()%uint64(t.High-t.Low+1)) }
	number := func(v int) synod.Answer { return synod.Answer(strconv.Itoa(v)) }
	if p.Hostile {
		return number(any())
	}
	own := any()
	if t.Value != nil {
		own = *t.Value
	}
	if roll.uniform() < d.cfg.Stubbornness || len(t.Past) == 0 {
		return number(own)
	}
	values, counts := tallied(t.Past[len(t.Past)-1].Proposals)
	sum := 0.0
	for _, n := range counts {
		sum += d.weight(float64(n))
	}
	at := roll.uniform() * sum
	for i, v := range values {
		if at -= d.weight(float64(counts[i])); at < 0 {
			return number(v)
		}
	}
	return number(own)
}

// vote is a simulated player's vote on ending a game.
func (d *simulated) vote(p *synod.Prompt, roll *dice) synod.Answer {
	if p.Hostile {
		return synod.Answer(synod.Continue)
	}
	_, counts := tallied(p.Table.Now)
	stop := len(counts) > 0 && slices.Max(counts)+p.F >= len(p.Table.Now)
	if roll.uniform() < d.cfg.Noise {
		stop = !stop
	}
	if stop {
		return synod.Answer(synod.Stop)
	}
	return synod.Answer(synod.Continue)
}

// tallied lists the numbers that were named, ascending, and how often.
func tallied(all []synod.Proposal) (values, counts []int) {
	var named []int
	for _, s := range all {
		if s.Value != nil {
			named = append(named, *s.Value)
		}
	}
	slices.Sort(named)
	for _, v := range named {
		if n := len(values); n > 0 && values[n-1] == v {
			counts[n-1]++
			continue
		}
		values, counts = append(values, v), append(counts, 1)
	}
	return values, counts
}
