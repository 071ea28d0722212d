package game

import (
	"slices"
	"strconv"

	"synod.dev/synod"
	"synod.dev/synod/internal/reference"
	"synod.dev/synod/protocol/check"
)

// gameOf returns the reference of a game.
func gameOf(t *check.Trace) *reference.Game {
	g := t.Protocol.(*Game)
	return &reference.Game{Players: t.Case.N, F: t.Case.F, Rounds: g.Rounds, Percent66: g.Stop == Percent66}
}

func noteFor(o *synod.Opinion) reference.GameNote {
	return reference.GameNote{Round: o.Round, Number: o.Answer, Stops: len(StopsOf(o))}
}

// checkOutcome compares how a game ended with the reference.
func checkOutcome(t *check.Trace, outcome string, stop int) {
	var honest [][]reference.GameNote
	for i, notes := range t.Notes {
		if !t.Honest(synod.NodeID(i)) {
			continue
		}
		var all []reference.GameNote
		for _, n := range notes {
			all = append(all, noteFor(n.Opinion))
		}
		honest = append(honest, all)
	}
	want, round := gameOf(t).Outcome(honest)
	t.Claim("I-GM-D", outcome == want && stop == round, "the outcome is %s after round %d, and that of the reference "+
		"%s after round %d: %v", outcome, stop, want, round, honest)
}

// ended says whether a council of players has a decision: only if they have ended the game.
func ended(t *check.Trace) reference.Step {
	last := make([]*reference.GameNote, t.Case.N)
	for i := range last {
		if o := t.Last(i); o != nil {
			n := noteFor(o)
			last[i] = &n
		}
	}
	return reference.Step{Open: gameOf(t).Open(last)}
}

// watch is the Watch of the campaign.
func watch(t *check.Trace, self synod.NodeID, m synod.Machine) synod.Machine {
	return watchNotes(t, self, check.KeepDiary(t, self, m))
}

// checkPlayer compares the numbers that a player holds, and the votes that it counts, with the reference.
func checkPlayer(t *check.Trace, i int) {
	g := t.Protocol.(*Game)
	for k, n := range t.Notes[i] {
		if n.Round > g.Rounds {
			held, err := strconv.Atoi(string(n.Answer))
			t.Claim("I-GM-D", err == nil && held >= g.Low && held <= g.High, "code ends the game on %q, outside of %d "+
				"to %d", n.Answer, g.Low, g.High)
			continue
		}
		if calls := t.AskedFor(i, k, Voting); len(calls) > 0 {
			checkNumber(t, i, k, TableOf(&calls[0].Prompt))
		}
		for j := range t.Notes {
			if id := synod.NodeID(j); n.Round > 0 && t.Plain(id) && len(t.Notes[j]) > k {
				checkVote(t, i, id, n.Opinion, t.Notes[j][k].Opinion)
			}
		}
	}
}

// checkNumber compares the number that a player holds after a round with that of its rule.
func checkNumber(t *check.Trace, i, k int, table *Table) {
	g := t.Protocol.(*Game)
	before, err := strconv.Atoi(string(t.Notes[i][k-1].Answer))
	if err != nil || table == nil {
		return
	}
	var all []int
	var own *int
	for _, p := range table.Now {
		if p.Value == nil {
			continue
		}
		all = append(all, *p.Value)
		if int(p.By) == i {
			own = p.Value
		}
	}
	want := strconv.Itoa(gameOf(t).Adopt(string(g.Rule), all, own, before))
	t.Claim("I-GM-D", string(t.Notes[i][k].Answer) == want, "n%d holds %s after round %d, and the reference %s: %s of "+
		"%v, held %d", i, t.Notes[i][k].Answer, k, want, g.Rule, all, before)
}

// checkVote compares what a player counted as the vote of another one with what that one voted, and whether its number
// arrived. An honest player that voted to stop counts while messages are in time, unless others may have left.
func checkVote(t *check.Trace, i int, by synod.NodeID, o, other *synod.Opinion) {
	counted, stop := slices.Contains(StopsOf(o), by), VoteOf(other) == Stop
	t.Claim("I-GM-D", !counted || stop, "n%d counts a vote to stop by n%d in round %d, which voted %s", i, by, o.Round,
		VoteOf(other))
	if !t.Synchronous() || !endsTogether(t) {
		return
	}
	t.Claim("I-GM-D", counted || !stop, "n%d does not count the vote to stop by n%d in round %d", i, by, o.Round)
	silent := slices.Contains(o.Silent, by) && !slices.Contains(other.Silent, by)
	t.Claim("I-GM-D", !silent, "n%d does not take the number of n%d in round %d", i, by, o.Round)
}
