package outcome

import (
	"cmp"
	"maps"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/protocol"
)

// joinTexts joins the answers that the members call the same. Two answers are linked if more than F seats call them
// the same that have given neither of them, first or last. Answers that are linked to one another, directly or
// through others, are joined only if each two of them are linked: being the same is not carried over from pair to
// pair, and no order of pairs decides who is joined with whom.
func (j *judgment) joinTexts(by protocol.Joining) {
	votes := map[synod.Answer]int{}
	for i := range j.seats {
		for _, a := range []synod.Answer{j.first[i], AnswerOf(j.last[i])} {
			if a != synod.None {
				votes[a] += 0
			}
		}
		if a := AnswerOf(j.last[i]); a != synod.None && !j.plan.Seats()[i].NonVoting {
			votes[a]++
		}
	}
	links := j.links(by, votes)
	j.joined = map[synod.Answer]synod.Answer{}
	for _, a := range slices.Sorted(maps.Keys(votes)) {
		group := append(slices.Clone(links[a]), a)
		whole := len(group) > 1 // each member of the group has links to all others and to none else
		slices.Sort(group)
		for _, b := range group {
			with := append(slices.Clone(links[b]), b)
			slices.Sort(with)
			whole = whole && slices.Equal(with, group)
		}
		if whole {
			j.joined[a] = slices.MinFunc(group, func(x, y synod.Answer) int {
				return cmp.Or(cmp.Compare(votes[y], votes[x]), cmp.Compare(x, y))
			})
		}
	}
}

// links returns by answer those that it is linked to. Only verdicts on known answers count. Each seat
// counts once for a pair of answers.
func (j *judgment) links(by protocol.Joining, known map[synod.Answer]int) map[synod.Answer][]synod.Answer {
	says := map[[2]synod.Answer]int{}
	for i, o := range j.last {
		if o == nil {
			continue
		}
		pairs, _ := by.SamePairs(o)
		counted := map[[2]synod.Answer]bool{}
		for _, p := range pairs {
			p = [2]synod.Answer{min(p[0], p[1]), max(p[0], p[1])}
			_, one := known[p[0]]
			_, two := known[p[1]]
			author := slices.Contains(p[:], j.first[i]) || slices.Contains(p[:], o.Answer)
			if one && two && p[0] != p[1] && !author && !counted[p] {
				counted[p] = true
				says[p]++
			}
		}
	}
	links := map[synod.Answer][]synod.Answer{}
	for p, n := range says {
		if n > j.plan.Full().F {
			links[p[0]], links[p[1]] = append(links[p[0]], p[1]), append(links[p[1]], p[0])
		}
	}
	return links
}

// joinedTexts returns the joined texts for the outcome.
func joinedTexts(j *judgment) (all []Joined) {
	if !plan.JoinsTexts(j.plan) {
		return nil
	}
	for _, a := range slices.Sorted(maps.Keys(j.joined)) {
		head := j.joined[a]
		i := slices.IndexFunc(all, func(x Joined) bool { return x.Answer == head })
		if i < 0 {
			i, all = len(all), append(all, Joined{Answer: head})
		}
		if a != head {
			all[i].Same = append(all[i].Same, a)
		}
	}
	return all
}

// someCompared reports whether some member noted which answers mean the same to it.
func someCompared(j *judgment) bool {
	by, ok := j.plan.Protocol().(protocol.Joining)
	return ok && plan.JoinsTexts(j.plan) && slices.ContainsFunc(j.last, func(o *synod.Opinion) bool {
		if o == nil {
			return false
		}
		_, asked := by.SamePairs(o)
		return asked
	})
}
