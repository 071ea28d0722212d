package bench

import (
	"errors"

	"github.com/spf13/cobra"

	"synod.dev/synod/bench"
	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/council"
)

// preflightBench checks the endpoints of new runs. It fails if the members of a run that cannot
// answer are so many that no question could be decided.
func preflightBench(a *app.App, cmd *cobra.Command, f benchFlags, runs ...*bench.Run) error {
	warned := map[string]bool{}
	for _, run := range runs {
		spec, err := run.Spec()
		if err != nil {
			return app.Fail(app.ExitFailure, err)
		}
		if f.noCheck || !app.HasEndpoint(spec) {
			continue
		}
		c, err := council.Convene(spec, a.Env())
		if err != nil {
			return app.ConfigError(err)
		}
		checks := c.Preflight(cmd.Context())
		gone := c.Unreached(council.Ask{}, checks)
		if err := c.Close(); err != nil {
			return app.Fail(app.ExitFailure, err)
		}
		if gone != nil {
			return app.Fail(app.ExitDegraded, errors.New(gone.Problem()), app.Ask.Advice(gone)+
				"\nor go on all the same with --no-preflight")
		}
		for _, k := range checks {
			if k.Err != nil && !a.Quiet && !warned[app.CheckedProblem(k)] {
				warned[app.CheckedProblem(k)] = true
				app.WarnOf(cmd.ErrOrStderr(), []council.Check{k})
			}
		}
	}
	return nil
}
