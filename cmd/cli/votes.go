package cli

import (
	"fmt"
	"io"
	"strings"

	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/cmd/cli/display"
	"synod.dev/synod/council"
)

// printVotes prints how many independent votes the members of a council are worth, if that was measured.
func printVotes(a *app.App, w io.Writer, c *council.Council) {
	seats := c.Seats()
	if votes, r := display.KnownVotes(a, c.Plan().Spec().Council, seats); votes != nil {
		day, _, _ := strings.Cut(r.Created, "T")
		fmt.Fprintf(w, "  effective votes: %s, measured on %s, %s\n", display.VotesText(votes, len(seats)),
			app.OneLine(r.Task), app.OneLine(day))
	}
}
