package game

import (
	"fmt"
	"slices"

	"synod.dev/synod"
)

// Outcome is how a game ended (GM-4). Each game has exactly one.
type Outcome string

// The outcomes.
const (
	Valid     Outcome = "valid"     // all honest players hold one number that one of them was given
	Invalid   Outcome = "invalid"   // they hold one number that none of them was given
	Premature Outcome = "premature" // they hold different numbers
	NoStop    Outcome = "none"      // nobody ended it in time
)

// Outcomes returns the outcomes in the order of reports.
func Outcomes() []Outcome { return []Outcome{Valid, Invalid, Premature, NoStop} }

// Result is a judged game.
type Result struct {
	Outcome Outcome
	Stop    int  // the round after which it ended; 0: it did not
	Code    bool // code ended it, not a vote (rule final-vote)
	Split   bool // a vote ended it for some honest players only, or for some earlier; only with the paper's end
}

// Judge returns how a game ended, from what its players noted and from who is honest,
// which only the experimenter knows. notes are by player and ascending by round; round 0
// is the number that the player was given.
func (g *Game) Judge(notes [][]*synod.Opinion, honest []bool) Result {
	stop, split := g.stopped(notes, honest)
	code := false
	if stop == 0 {
		for i, of := range notes {
			code = code || honest[i] && at(of, g.Rounds+1) != nil
		}
		if !code {
			return Result{Outcome: NoStop, Split: split}
		}
		stop = g.Rounds + 1
	}
	return Result{Outcome: outcome(notes, honest, stop), Stop: min(stop, g.Rounds), Code: code, Split: split}
}

// stopped returns the last of the rounds after which a vote ended the game for an honest
// player; 0 if it ended for none, or not for all. split reports whether it ended for some
// only, or for some earlier. Notes of Byzantine players are ignored.
func (g *Game) stopped(notes [][]*synod.Opinion, honest []bool) (last int, split bool) {
	ended, first := true, g.Rounds+1
	for i, of := range notes {
		if !honest[i] {
			continue
		}
		round, over := 0, false
		for _, o := range of {
			if o.Round <= g.Rounds {
				round, over = o.Round, recordOf(o).Over
			}
		}
		if ended = ended && (over || round < g.Rounds); over || round < g.Rounds {
			first = min(first, round)
		}
		last = max(last, round)
	}
	switch {
	case !ended:
		return 0, first <= g.Rounds
	case last == 0:
		return 0, false
	}
	return last, first < last
}

// Open says that no vote ended the game: fewer players than all but f counted votes that do.
// Who is honest is not known here, and any f players may say what they like: of each the votes
// count that it names, not what it makes of them. With FinalVote code may have ended it.
func (g *Game) Open(last []*synod.Opinion, f int) string {
	voted, code := 0, 0
	for _, o := range last {
		switch {
		case o == nil:
		case o.Round > g.Rounds:
			code++
		case g.Stops(len(StopsOf(o)), len(last)):
			voted++
		}
	}
	if most := len(last) - f; voted >= most || code >= most {
		return ""
	}
	return fmt.Sprintf("no vote ended the game: %d of %d players counted enough votes to stop", voted, len(last))
}

// outcome compares what the honest players hold after a round.
func outcome(notes [][]*synod.Opinion, honest []bool, t int) Outcome {
	var held, given []synod.Answer
	for i, of := range notes {
		if !honest[i] {
			continue
		}
		if o := at(of, 0); o != nil {
			given = append(given, o.Answer)
		}
		if o := at(of, t); o != nil {
			held = append(held, o.Answer)
		} else {
			held = append(held, synod.None) // an honest player that is gone agrees with nobody
		}
	}
	switch {
	case len(held) == 0 || slices.ContainsFunc(held, func(a synod.Answer) bool {
		return a != held[0] ||
			a == synod.None
	}):
		return Premature
	case !slices.Contains(given, held[0]):
		return Invalid
	}
	return Valid
}

// at returns a player's note of round t; nil if there is none.
func at(notes []*synod.Opinion, t int) *synod.Opinion {
	for _, o := range notes {
		if o.Round == t {
			return o
		}
	}
	return nil
}

// Endings returns the outcomes by name.
func (g *Game) Endings() (names []string) {
	for _, o := range Outcomes() {
		names = append(names, string(o))
	}
	return names
}

// Ended is Judge by name.
func (g *Game) Ended(notes [][]*synod.Opinion, honest []bool) (string, int) {
	r := g.Judge(notes, honest)
	return string(r.Outcome), r.Stop
}

// Veto reports whether b Byzantine players of n can prevent the others from ever ending
// the game by two thirds: if they are more than a third (I-GM-4).
func Veto(n, b int) bool { return 3*(n-b) < 2*n }
