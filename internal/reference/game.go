package reference

import (
	"crypto/sha256"
	"math/big"
	"slices"

	"synod.dev/synod"
)

// Game is the consensus game of "Can AI Agents Agree?" (§3), and its rules in code (GM-9).
type Game struct {
	Players, F, Rounds int
	Percent66          bool // 66 % of the votes end it, not two thirds
}

// GameNote is what a player noted after a round. Round 0 is the number that it was given; a note after the last round
// is of code that ended the game.
type GameNote struct {
	Round  int
	Number synod.Answer
	Stops  int // votes to stop that it counted
}

// stops reports whether votes end the game.
func (g *Game) stops(votes int) bool {
	if g.Percent66 {
		return 100*votes >= 66*g.Players
	}
	return 3*votes >= 2*g.Players
}

// Outcome returns how the game ended for the honest players, and after which round; 0: it did not. At a stop it is
// valid if all honest players hold one number that one of them was given, invalid if they hold another one, and else
// premature; a player that is gone holds nothing.
func (g *Game) Outcome(honest [][]GameNote) (outcome string, round int) {
	stopped, code := true, false
	for _, notes := range honest {
		last, over := 0, false
		for _, n := range notes {
			if n.Round > g.Rounds {
				code = true
				continue
			}
			last, over = n.Round, n.Round > 0 && g.stops(n.Stops)
		}
		if last == g.Rounds && !over {
			stopped = false
		}
		round = max(round, last)
	}
	at := round
	switch {
	case stopped && round > 0:
	case code:
		at, round = g.Rounds+1, g.Rounds
	default:
		return "none", 0
	}
	var held, given []synod.Answer
	for _, notes := range honest {
		number := synod.None
		for _, n := range notes {
			if n.Round == 0 {
				given = append(given, n.Number)
			}
			if n.Round == at {
				number = n.Number
			}
		}
		held = append(held, number)
	}
	for _, a := range held {
		if a == synod.None || a != held[0] {
			return "premature", round
		}
	}
	if len(held) > 0 && slices.Contains(given, held[0]) {
		return "valid", round
	}
	return "invalid", round
}

// Open reports whether the players have not ended the game: of the last notes fewer than all but F counted enough
// votes, and for fewer than all but F code ended it.
func (g *Game) Open(last []*GameNote) bool {
	voted, code := 0, 0
	for _, n := range last {
		switch {
		case n == nil:
		case n.Round > g.Rounds:
			code++
		case n.Round > 0 && g.stops(n.Stops):
			voted++
		}
	}
	return voted < g.Players-g.F && code < g.Players-g.F
}

// Adopt returns the number that a player holds after a round, by a rule: mode, the most frequent one, of several the
// smallest; median, the lower one of two; w-msr; else its own proposal. proposed has the numbers of all that proposed
// one; own is nil if the player proposed none.
func (g *Game) Adopt(rule string, proposed []int, own *int, held int) int {
	all := slices.Sorted(slices.Values(proposed))
	switch {
	case len(all) == 0:
		return held
	case rule == "mode":
		return mostCommon(all)
	case rule == "median":
		return all[(len(all)-1)/2]
	case rule == "w-msr":
		return trimmedMean(all, held, g.F)
	case own != nil:
		return *own
	}
	return held
}

func mostCommon(ascending []int) (best int) {
	most := 0
	for _, x := range ascending {
		n := 0
		for _, y := range ascending {
			if x == y {
				n++
			}
		}
		if n > most {
			best, most = x, n
		}
	}
	return best
}

// trimmedMean drops the f largest of the numbers above one's own and the f smallest of those below (LeBlanc et al.
// 2013), and returns the mean of the rest, rounded to the nearest whole number, halves up.
func trimmedMean(ascending []int, own, f int) int {
	var below, equal, above []int
	for _, x := range ascending {
		switch {
		case x < own:
			below = append(below, x)
		case x > own:
			above = append(above, x)
		default:
			equal = append(equal, x)
		}
	}
	rest := slices.Concat(below[min(f, len(below)):], equal, above[:len(above)-min(f, len(above))])
	if len(rest) == 0 {
		return own
	}
	sum := new(big.Rat)
	for _, x := range rest {
		sum.Add(sum, new(big.Rat).SetInt64(int64(x)))
	}
	sum.Quo(sum, new(big.Rat).SetInt64(int64(len(rest))))
	sum.Add(sum, big.NewRat(1, 2))
	return int(new(big.Int).Div(sum.Num(), sum.Denom()).Int64())
}

// Heard is the digest of what a player received from another one.
type Heard struct {
	From   synod.NodeID
	Digest [sha256.Size]byte
}

// Compared is what a player makes of the digests that the others report (GM-7). mine are its own, itself among them.
// It drops the messages that fewer than two thirds of all players received alike, and suspects a sender if more than F
// players report another message.
func (g *Game) Compared(self synod.NodeID, mine []Heard, reported [][]Heard) (dropped, suspects []synod.NodeID) {
	for _, h := range mine {
		if h.From == self {
			continue
		}
		alike, other := 1, 0
		for _, list := range reported {
			for _, x := range list {
				if x.From == h.From && x.Digest == h.Digest {
					alike++
				} else if x.From == h.From {
					other++
				}
			}
		}
		if 3*alike < 2*g.Players {
			dropped = append(dropped, h.From)
		}
		if other > g.F {
			suspects = append(suspects, h.From)
		}
	}
	return dropped, suspects
}

// ReadHeard reads a list of digests: each player's number in four bytes and the digest, ascending, none twice.
func ReadHeard(body []byte) (all []Heard, ok bool) {
	r := bytesReader{left: body}
	for len(r.left) > 0 {
		h := Heard{From: synod.NodeID(int32(r.number(4)))}
		copy(h.Digest[:], r.take(sha256.Size))
		if n := len(all); r.bad || n > 0 && all[n-1].From >= h.From {
			return nil, false
		}
		all = append(all, h)
	}
	return all, len(body) <= synod.MaxBody
}

// Ballot is a vote and the number that its player proposed; nil: none.
type Ballot struct {
	Vote   string
	Number *int
}

// ReadBallot reads a ballot: the vote, stop, continue or abstain, as 0, 1 or 2, and a zero, or a one and a number in
// eight bytes.
func ReadBallot(body []byte) (b Ballot, ok bool) {
	r := bytesReader{left: body}
	vote, has := r.number(1), r.number(1)
	if r.bad || vote > 2 || has > 1 {
		return Ballot{}, false
	}
	b.Vote = []string{"stop", "continue", "abstain"}[vote]
	if has == 1 {
		high := r.number(4)
		n := int(int64(uint64(high)<<32 | uint64(r.number(4))))
		b.Number = &n
	}
	return b, !r.bad && len(r.left) == 0
}
