package ask

import (
	"cmp"

	"github.com/spf13/cobra"

	"synod.dev/synod/bench"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/cmd/cli/display"
	"synod.dev/synod/council"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
)

// dryRun prints what asking the question would cost.
func dryRun(cmd *cobra.Command, ask council.Ask, spec plan.Spec, env llm.Env, asJSON bool) error {
	ask.Question.ID = cmp.Or(ask.Question.ID, "question")
	run, err := bench.Draft(bench.RunPlan{Task: "ask", Items: []task.Item{task.Ungraded(ask.Question)}, Repeat: 1,
		Seed: ask.Seed, Spec: spec, Env: env})
	if err != nil {
		return app.ConfigError(err)
	}
	plan, err := plan.Read(spec)
	if err != nil {
		return app.ConfigError(err)
	}
	return display.PrintEstimate(cmd, cmd.ErrOrStderr(), run, asJSON, plan)
}
