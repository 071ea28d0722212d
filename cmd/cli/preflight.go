package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"synod.dev/synod/bench/lab"
	"synod.dev/synod/council"
	counciloutcome "synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
)

// addNoPreflight adds --no-preflight.
func addNoPreflight(cmd *cobra.Command, off *bool) {
	cmd.Flags().BoolVar(off, "no-preflight", false,
		"do not check keys, addresses and model names before the first call")
}

// preflight checks the members before the first call that costs something, and warns about
// those that cannot answer. It returns the outcome of the question if they are too many.
func (a *app) preflight(cmd *cobra.Command, c *council.Council, ask council.Ask) *counciloutcome.Outcome {
	checks := c.Preflight(cmd.Context())
	if gone := c.Unreached(ask, checks); gone != nil {
		return gone
	}
	if !a.quiet {
		warn(cmd.ErrOrStderr(), checks)
	}
	return nil
}

// warn prints the members that cannot answer.
func warn(w io.Writer, checks []council.Check) {
	for _, k := range checks {
		if k.Err != nil {
			fmt.Fprintf(w, "%s cannot answer: %s\n", member(k), problem(k))
		}
	}
}

func member(k council.Check) string {
	return fmt.Sprintf("%s (%s)", k.Model, strings.Join(k.Seats, ", "))
}

// problem says why a member cannot answer, and what to do.
func problem(k council.Check) string {
	why := oneLine(k.Err.Reason())
	if k.Server != "" {
		why = k.Server + ": " + why
	}
	if k.Advice == "" {
		return why
	}
	return why + "; " + k.Advice
}

// preflightBench checks the endpoints of new runs. It fails if the members of a run that cannot
// answer are so many that no question could be decided.
func (a *app) preflightBench(cmd *cobra.Command, f benchFlags, runs ...*lab.Run) error {
	warned := map[string]bool{}
	for _, run := range runs {
		spec, err := run.Spec()
		if err != nil {
			return fail(exitError1, err)
		}
		if f.noCheck || !endpoints(spec) {
			continue
		}
		c, err := council.Convene(spec, a.env())
		if err != nil {
			return configError(err)
		}
		checks := c.Preflight(cmd.Context())
		gone := c.Unreached(council.Ask{}, checks)
		if err := c.Close(); err != nil {
			return fail(exitError1, err)
		}
		if gone != nil {
			advice := gone.Advice()
			return fail(advice.Code, advice.Err, advice.Next+"\nor go on all the same with --no-preflight")
		}
		for _, k := range checks {
			if k.Err != nil && !a.quiet && !warned[problem(k)] {
				warned[problem(k)] = true
				warn(cmd.ErrOrStderr(), []council.Check{k})
			}
		}
	}
	return nil
}

// endpoints reports whether a model of a council is behind a network API.
func endpoints(spec plan.Spec) bool {
	for _, m := range spec.Models {
		name, _ := m["provider"].(string)
		if p, err := llm.Providers.Find(name); err == nil && p.Kind == llm.Endpoint {
			return true
		}
	}
	return false
}
