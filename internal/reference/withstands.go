package reference

import (
	"slices"

	"synod.dev/synod"
)

// Resists returns on how few of n seats a decision depends (docs/use/ask.md): ignored is the largest k such that it
// stays the same without any k seats, and changed the largest k such that it stays the same whatever any k seats say
// instead. All sets are tried, so it is for small councils.
func Resists(n int, without, instead func(some []bool) bool) (ignored, changed int) {
	for ignored < n && allSets(make([]bool, n), 0, ignored+1, without) {
		ignored++
	}
	for changed < n && allSets(make([]bool, n), 0, changed+1, instead) {
		changed++
	}
	return ignored, changed
}

// allSets reports whether something holds for each set of k of the seats from a place on, with those that are in it.
func allSets(some []bool, from, k int, holds func(some []bool) bool) bool {
	if k == 0 {
		return holds(some)
	}
	for i := from; i+k <= len(some); i++ {
		some[i] = true
		ok := allSets(some, i+1, k-1, holds)
		if some[i] = false; !ok {
			return false
		}
	}
	return true
}

// Withstands returns on how few votes a win depends. votes are those of the seats that vote.
func Withstands(r Rule, votes []synod.Answer, winner synod.Answer) (ignored, changed int) {
	return Resists(len(votes), func(some []bool) bool {
		return r.Wins(leave(votes, some), winner)
	}, func(some []bool) bool {
		return allOthers(votes, winner, func(x synod.Answer) bool { return r.Wins(say(votes, some, x), winner) })
	})
}

// allOthers reports whether something holds for each answer that seats may say instead of a winner. It is enough that
// all say the same: a rival gains most, and most is lost, if all say this rival, or nothing.
func allOthers(votes []synod.Answer, winner synod.Answer, holds func(x synod.Answer) bool) bool {
	for _, x := range append(distinct(votes), "an answer that nobody gave", synod.None) {
		if x != winner && !holds(x) {
			return false
		}
	}
	return true
}

// leave returns what is left without some seats.
func leave[T any](all []T, some []bool) (left []T) {
	for i, x := range all {
		if !some[i] {
			left = append(left, x)
		}
	}
	return left
}

// say returns what there is if some seats say the same thing.
func say[T any](all []T, some []bool, x T) []T {
	all = slices.Clone(all)
	for i := range all {
		if some[i] {
			all[i] = x
		}
	}
	return all
}

// Without returns the poll without some seats.
func (b *Poll) Without(some []bool) *Poll {
	left := *b
	left.First, left.Last, left.Voice = leave(b.First, some), leave(b.Last, some), leave(b.Voice, some)
	left.Sure = leave(b.Sure, some[:len(b.Sure)])
	left.Failed = leave(b.Failed, some[:len(b.Failed)])
	return &left
}

// Saying returns the poll if some seats say one thing from the first, as sure as they can be.
func (b *Poll) Saying(some []bool, x synod.Answer) *Poll {
	said := *b
	said.First, said.Last = say(b.First, some, x), say(b.Last, some, x)
	if !b.Fixed {
		said.Sure = say(b.Sure, some[:len(b.Sure)], 1)
	}
	said.Failed = say(b.Failed, some[:len(b.Failed)], false)
	return &said
}

// Withstands returns on how few seats a decision depends. decides says what the seats of a poll decide.
func (b *Poll) Withstands(winner synod.Answer, decides func(b *Poll) synod.Answer) (ignored, changed int) {
	given := slices.Concat(b.First, b.Last)
	return Resists(len(b.Last), func(some []bool) bool {
		return decides(b.Without(some)) == winner
	}, func(some []bool) bool {
		return allOthers(given, winner, func(x synod.Answer) bool { return decides(b.Saying(some, x)) == winner })
	})
}

// InVoices returns how few voices are enough for so few seats, whichever: the voices with the most seats are the worst.
// seats is what a decision withstands.
func (b *Poll) InVoices(seats int) (voices int) {
	sizes := map[int]int{}
	for _, voice := range b.Voice {
		sizes[voice]++
	}
	for len(sizes) > 0 {
		most := -1
		for voice, n := range sizes {
			if most < 0 || n > sizes[most] {
				most = voice
			}
		}
		if seats -= sizes[most]; seats < 0 {
			break
		}
		delete(sizes, most)
		voices++
	}
	return voices
}

// VoicesStay reports whether a decision stays without any so many voices, and whatever any so many say instead.
func (b *Poll) VoicesStay(winner synod.Answer, ignored, changed int, decides func(b *Poll) synod.Answer) bool {
	of := map[int][]bool{}
	for i, voice := range b.Voice {
		if of[voice] == nil {
			of[voice] = make([]bool, len(b.Voice))
		}
		of[voice][i] = true
	}
	var all [][]bool
	for _, seats := range of {
		all = append(all, seats)
	}
	seatsOf := func(some []bool) []bool {
		seats := make([]bool, len(b.Voice))
		for k, is := range some {
			for i := range seats {
				seats[i] = seats[i] || is && all[k][i]
			}
		}
		return seats
	}
	given := slices.Concat(b.First, b.Last)
	return allSets(make([]bool, len(all)), 0, ignored, func(some []bool) bool {
		return decides(b.Without(seatsOf(some))) == winner
	}) && allSets(make([]bool, len(all)), 0, changed, func(some []bool) bool {
		return allOthers(given, winner, func(x synod.Answer) bool {
			return decides(b.Saying(seatsOf(some), x)) == winner
		})
	})
}

// Wins reports whether an answer wins among seats: with plurality more of them than any other one, else more than half
// or two thirds of all; and as many as the rule wants as supporters.
func (r Rule) Wins(votes []synod.Answer, a synod.Answer) bool {
	n := len(holders(votes, a))
	switch {
	case n == 0 || n < r.Support:
		return false
	case r.Name == "majority":
		return 2*n > len(votes)
	case r.Name == "supermajority":
		return 3*n >= 2*len(votes)
	}
	for _, x := range distinct(votes) {
		if x != a && len(holders(votes, x)) >= n {
			return false
		}
	}
	return true
}
