package campaign

import (
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/robust"
	"synod.dev/synod/internal/reference"
)

// resists compares what a win withstands with what is left when all sets of seats are tried.
func (t *ClaimTried) resists(voices []robust.Voice) {
	rule := robust.VoteRule{Name: []string{robust.Plurality, robust.Majority, robust.Supermajority}[t.Rand.IntN(3)]}
	if rule.Name == robust.Plurality && t.Rand.IntN(2) == 0 {
		rule.Claim = int64(3 + t.Rand.IntN(2))
	}
	got, wins := robust.Withstands(rule, voices, "a")
	t.Check(wins == winsBy(rule, voices), "%v of %v: the answer a wins is %v", rule, voices, wins)
	if wins {
		ignored, changed := reference.Resists(len(voices), func(some []bool) bool {
			return winsBy(rule, without(voices, some))
		}, func(some []bool) bool {
			return !slices.ContainsFunc([]synod.Answer{"b", "c", "d", synod.None}, func(x synod.Answer) bool {
				return !winsBy(rule, saying(voices, some, x, rule.Claim))
			})
		})
		t.Check(got.Ignored == ignored && got.Changed == changed, "%v of %v withstands %+v, and in every set %d "+
			"ignored and %d changed", rule, voices, got, ignored, changed)
	}
	got, wins = robust.WithstandsMean(voices, "a")
	t.Check(wins == leadsByMean(voices), "%v: the answer a has the highest mean is %v", voices, wins)
	if wins {
		ignored, _ := reference.Resists(len(voices), func(some []bool) bool {
			return leadsByMean(without(voices, some))
		}, func([]bool) bool { return false })
		t.Check(got == robust.Withstood{Ignored: ignored}, "the highest mean of %v withstands %+v, and in every set "+
			"%d ignored", voices, got, ignored)
	}
}

// spares compares how many seats can be lost with what is left when all sets of seats are tried.
func (t *ClaimTried) spares() {
	seats, voices := make([]int, t.Rand.IntN(5)), []int{} // by seat, whose it is
	for i := range seats {
		seats[i] = 1 + t.Rand.IntN(3)
		for range seats[i] {
			voices = append(voices, i)
		}
	}
	need, want := t.Rand.IntN(len(seats)+3)-1, 0
	if need > 0 && need <= len(seats) {
		want, _ = reference.Resists(len(voices), func(some []bool) bool {
			left := without(voices, some)
			return len(slices.Compact(left)) >= need
		}, func([]bool) bool { return false })
	}
	got := robust.Spare(seats, need)
	t.Check(got == want, "of voices with %v seats %d are needed: %d seats are spared, and in every set %d", seats, need,
		got, want)
}

// without returns the items of a list for which some is false.
func without[T any](all []T, some []bool) (left []T) {
	for i, x := range all {
		if !some[i] {
			left = append(left, x)
		}
	}
	return left
}

// saying returns the voices if some say one answer, with the largest weight that they can claim.
func saying(all []robust.Voice, some []bool, x synod.Answer, claim int64) []robust.Voice {
	all = slices.Clone(all)
	for i := range all {
		if some[i] {
			if all[i].Answer = x; claim > 0 && x != synod.None {
				all[i].Weight = claim
			}
		}
	}
	return all
}

// winsBy reports whether the answer a wins a vote.
func winsBy(rule robust.VoteRule, voices []robust.Voice) bool {
	if rule.Name == robust.Plurality {
		return leads(voices)
	}
	won, total := int64(0), int64(0)
	for _, v := range voices {
		if total += v.Weight; v.Answer == "a" {
			won += v.Weight
		}
	}
	if rule.Name == robust.Majority {
		return 2*won > total
	}
	return won > 0 && 3*won >= 2*total
}

// leadsByMean reports whether the voices for the answer a have a higher mean weight than those for every other.
func leadsByMean(voices []robust.Voice) bool {
	sum, n := map[synod.Answer]int64{}, map[synod.Answer]int64{}
	for _, v := range voices {
		sum[v.Answer], n[v.Answer] = sum[v.Answer]+v.Weight, n[v.Answer]+1
	}
	for x := range n {
		if x != "a" && x != synod.None && sum[x]*n["a"] >= sum["a"]*n[x] {
			return false
		}
	}
	return n["a"] > 0
}
