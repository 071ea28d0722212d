package ask

import (
	"time"

	"github.com/spf13/cobra"

	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/council"
	"synod.dev/synod/council/outcome"
)

// preflight checks the members before the first call that costs something, and warns about
// those that cannot answer. It returns the outcome of the question if they are too many. What it
// takes is taken from the time for the question.
func preflight(a *app.App, cmd *cobra.Command, c *council.Council, ask *council.Ask) *outcome.Outcome {
	began := time.Now()
	checks := c.Preflight(cmd.Context())
	if deadline := c.Plan().Full().Limits.Lowered(ask.Limits).Deadline; deadline > 0 {
		ask.Limits.Deadline = max(deadline-time.Since(began), time.Millisecond)
	}
	if gone := c.Unreached(*ask, checks); gone != nil {
		return gone
	}
	if !a.Quiet {
		app.WarnOf(cmd.ErrOrStderr(), checks)
	}
	return nil
}
