package game

import (
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
	t.Claim("I-GM-D", outcome == want && stop == round, "the outcome is %s after round %d, and that of the reference %s "+
		"after round %d: %v", outcome, stop, want, round, honest)
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
