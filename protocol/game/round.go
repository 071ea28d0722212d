package game

import (
	"encoding"
	"math/big"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/clean"
	"synod.dev/synod/core/script"
	"synod.dev/synod/protocol/bargain"
)

// tell sends the proposal to all players and returns the proposals of all, ascending. A
// player whose message is missing or dropped abstained.
func (p *player) tell(t int, own bargain.Move) []Proposal {
	end := p.ends(p.me.Seat().Pace, p.me.Seat().F, t)
	mine := proposalMessage{own.Value, own.Reason}
	others := script.Exchange(p.me, "propose", t, mine, script.Until{At: end.proposed})
	messages := map[synod.NodeID]proposalMessage{p.me.Seat().Self: mine}
	for _, h := range others {
		if v := h.Value.value; v == nil || *v >= p.Low && *v <= p.High { // a number out of range is unsaid
			messages[h.From] = h.Value
		}
	}
	dropUnequal(p, "echo", t, messages, end.echoed)
	all := make([]Proposal, 0, p.n())
	for _, id := range p.players() {
		w := messages[id] // absent: abstained
		all = append(all, Proposal{By: id, Value: w.value, Reason: clean.Line(w.reason, p.Reason)})
	}
	return all
}

// players returns all players, ascending.
func (p *player) players() []synod.NodeID {
	seat := p.me.Seat()
	all := append(slices.Clone(seat.Peers), seat.Self)
	slices.Sort(all)
	return all
}

// dropUnequal removes the messages that too few players received alike, in the restricted
// threat model.
func dropUnequal[W encoding.BinaryAppender](p *player, slot string, t int, messages map[synod.NodeID]W,
	end synod.Tick) {
	if p.Threat != Restricted {
		return
	}
	var mine echo
	for _, id := range p.players() {
		if w, ok := messages[id]; ok {
			mine = append(mine, heard{id, digest(w)})
		}
	}
	for _, id := range p.check(slot, t, mine, end) {
		delete(messages, id)
	}
}

// check is the receivers' part of the restricted threat model (GM-7, I-GM-5): all players
// exchange a digest of the message of each. It returns the senders whose message fewer
// than two thirds of all players received alike. With at most a third of the players
// Byzantine, the message of an honest player is never dropped, and of two messages of one
// player honest players cannot accept both.
func (p *player) check(slot string, t int, mine echo, end synod.Tick) (refused []synod.NodeID) {
	echoes := script.Exchange(p.me, slot, t, mine, script.Until{At: end})
	for _, h := range mine {
		if h.from == p.me.Seat().Self {
			continue
		}
		alike, differ := 1, 0
		for _, e := range echoes {
			if d, ok := e.Value.of(h.from); ok && d == h.digest {
				alike++
			} else if ok {
				differ++
			}
		}
		if differ > p.me.Seat().F && !slices.Contains(p.suspects, h.from) { // fewer may all be Byzantine
			p.suspects = append(p.suspects, h.from)
		}
		if 3*alike < 2*p.n() {
			refused = append(refused, h.from)
		}
	}
	slices.Sort(p.suspects)
	return refused
}

// hold sets what the player holds after the round: its own proposal, or what a rule
// computes from all (GM-9).
func (p *player) hold(all []Proposal) {
	p.was, p.last = p.value, all
	p.past = append(p.past, Past{Round: len(p.past) + 1, Proposals: all})
	if n := len(p.past); n > 1 {
		p.past[n-1].Round = p.past[n-2].Round + 1
	}
	p.past = p.past[max(0, len(p.past)-p.History-1):]
	values := bargain.Proposed(all)
	switch {
	case len(values) == 0:
	case p.Rule == Mode:
		p.value = mode(values)
	case p.Rule == Median:
		p.value = values[(len(values)-1)/2]
	case p.Rule == WMSR:
		p.value = trimmed(values, p.value, p.me.Seat().F)
	default:
		at := slices.IndexFunc(all, func(s Proposal) bool { return s.By == p.me.Seat().Self })
		if own := all[at].Value; own != nil {
			p.value = *own
		}
	}
}

// finalise ends a game that no vote ended, with the mode of the last round (GR-3). With the
// agreed end it is the mode of the numbers that were broadcast with the votes, so all honest
// players hold the same. With the paper's end they may not: a number of a Byzantine player
// can be dropped by some and not by others.
func (p *player) finalise() {
	values := p.tally.numbers
	if !p.agrees(p.me.Seat().F) {
		values = bargain.Proposed(p.last)
	}
	if len(values) > 0 {
		p.was, p.value = p.value, mode(values)
	}
}

// mode returns the most frequent number of an ascending list, the smallest of several.
func mode(values []int) int {
	best, most := values[0], 0
	for i := 0; i < len(values); {
		j := i
		for j < len(values) && values[j] == values[i] {
			j++
		}
		if j-i > most {
			best, most = values[i], j-i
		}
		i = j
	}
	return best
}

// trimmed is W-MSR's step (LeBlanc et al. 2013): it drops the f greatest of the numbers
// above the player's own and the f least of those below, all if there are fewer, and
// returns the mean of the rest and its own, rounded to the nearest whole number, halves
// up.
func trimmed(values []int, own, f int) int {
	below, _ := slices.BinarySearch(values, own)
	above, _ := slices.BinarySearch(values, own+1)
	low, high := min(f, below), max(len(values)-f, above)
	sum, n := big.NewInt(0), int64(0)
	for _, v := range values[low:high] {
		sum.Add(sum, big.NewInt(int64(v)))
		n++
	}
	if n == 0 {
		return own
	}
	twice := new(big.Int).Add(new(big.Int).Mul(sum, big.NewInt(2)), big.NewInt(n))
	return int(new(big.Int).Div(twice, big.NewInt(2*n)).Int64()) // Euclidean: floor for a positive divisor
}
