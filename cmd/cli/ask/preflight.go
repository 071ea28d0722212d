package ask

import (
	"github.com/spf13/cobra"

	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/council"
	"synod.dev/synod/council/outcome"
)

// preflight checks the members before the first call that costs something, and warns about
// those that cannot answer. It returns the outcome of the question if they are too many.
func preflight(a *app.App, cmd *cobra.Command, c *council.Council, ask council.Ask) *outcome.Outcome {
	checks := c.Preflight(cmd.Context())
	if gone := c.Unreached(ask, checks); gone != nil {
		return gone
	}
	if !a.Quiet {
		app.WarnOf(cmd.ErrOrStderr(), checks)
	}
	return nil
}
