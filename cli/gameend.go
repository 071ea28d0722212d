package cli

import (
	"fmt"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/council"
	"synod.dev/synod/protocol/game"
)

// end says how the game ended, or that it did not.
func (b *board) end(o *council.Outcome) {
	switch gone := unreached(o); {
	case cutOff(o):
		fmt.Fprintln(b.out, "cut off: it was not played to its end, so it has no outcome")
	case gone != nil:
		fmt.Fprintf(b.out, "no outcome: the model of player %s was never reached\n", gone.ID)
	default:
		fmt.Fprintln(b.out, ending(b.game.Judge(b.notes, b.honest())))
	}
	if lost := lost(o); lost != "" && !b.quiet {
		fmt.Fprintf(b.out, "calls that failed: %s; a player whose %d tries all do abstains\n", lost, b.game.Attempts)
	}
	if !b.quiet {
		fmt.Fprintf(b.out, "%d calls · %.1f s · seed %d · journal %s\n", o.Calls.Made, o.Seconds, o.Seed, o.Journal)
	}
}

// ending is how a game ended, in words.
func ending(r game.Result) string {
	words := map[game.Outcome]string{
		game.Valid:     "valid: all honest players hold one number that one of them was given",
		game.Invalid:   "invalid: all honest players hold one number that none of them was given",
		game.Premature: "premature: it ended while honest players hold different numbers",
		game.NoStop:    "none: nobody ended it in time",
	}
	when := ""
	switch {
	case r.Code:
		when = " (code ended it after the last round)"
	case r.Stop > 0:
		when = fmt.Sprintf(" (after %s)", rounds(r.Stop))
	}
	return words[r.Outcome] + when
}

// lost is how many calls of each player failed, "" if none did.
func lost(o *council.Outcome) string {
	var all []string
	for _, m := range o.Members {
		n := 0
		for _, s := range synod.Statuses() {
			if s != synod.OK && s != synod.Dropped {
				n += m.Calls[s]
			}
		}
		if n > 0 {
			all = append(all, fmt.Sprintf("%s %d", m.ID, n))
		}
	}
	return strings.Join(all, ", ")
}
