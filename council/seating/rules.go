package seating

import (
	"cmp"
	"slices"

	"synod.dev/synod/core/odds"
)

// MostFrequent is how the most frequent answer of all models does on the sample. Where two answers are most frequent,
// and where nobody answers, it is no decision.
func (s *Sample) MostFrequent() (p Played) {
	all := make([]int, len(s.Models))
	for i := range all {
		all[i] = i
	}
	for k := range s.Questions {
		q := &s.Questions[k]
		p.add(s, q, Decided{Answer: mostFrequent(q, all, 1), Asked: all})
	}
	return p
}

// firstTier is how many models are asked first where nothing but prices is known.
const firstTier = 3

// ByPrice is how tiers do that are made from prices alone: the three cheapest models first, and the others where these
// do not agree. An answer needs two models. It is false with fewer than four models.
func (s *Sample) ByPrice() (p Played, ok bool) {
	order := make([]int, len(s.Models))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.USD[a], s.USD[b]) })
	if len(order) <= firstTier {
		return p, false
	}
	for k := range s.Questions {
		q := &s.Questions[k]
		d := Decided{Asked: order[:firstTier]}
		if d.Answer = mostFrequent(q, d.Asked, 2); d.Answer == "" || !agree(q, d.Asked) {
			d.Asked = order
			d.Answer = mostFrequent(q, order, 2)
		}
		p.add(s, q, d)
	}
	return p, true
}

// agree reports whether all models that answered gave one answer.
func agree(q *odds.Labelled, models []int) bool {
	given := ""
	for _, i := range models {
		a := q.Answers[i]
		if a != "" && given != "" && a != given {
			return false
		}
		given = cmp.Or(given, a)
	}
	return true
}

// mostFrequent returns the answer that most of some models gave, at least so many of them; "": there is none, or two.
func mostFrequent(q *odds.Labelled, models []int, least int) (answer string) {
	count, most, tie := map[string]int{}, least-1, false
	for _, i := range models {
		if a := q.Answers[i]; a != "" {
			count[a]++
		}
	}
	for a, n := range count {
		switch {
		case n > most:
			answer, most, tie = a, n, false
		case n == most && answer != "":
			tie = true
		}
	}
	if tie {
		return ""
	}
	return answer
}
