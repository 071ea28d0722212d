package display

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"synod.dev/synod/bench"
	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/core/table"
	"synod.dev/synod/council/plan"
)

// estimator estimates the cost of a run or of a grid of runs.
type estimator interface {
	Estimate(context.Context) (*bench.CostEstimate, error)
}

// PrintEstimate prints what a run would cost: JSON to stdout, text to out. The JSON has the claim and
// the harm of adversaries of a plan; plan is nil for several councils.
func PrintEstimate(cmd *cobra.Command, out io.Writer, run estimator, asJSON bool, p *plan.Plan) error {
	e, err := run.Estimate(cmd.Context())
	if err != nil {
		return app.ConfigError(err)
	}
	if asJSON {
		var bound *plan.Bound
		var harm *plan.Harm
		var defences []string
		if p != nil {
			of := p.Bound()
			bound, harm, defences = &of, p.Harm(), p.DefencesOn()
		}
		return app.WriteJSON(cmd.OutOrStdout(), struct {
			Version int `json:"version"`
			*bench.CostEstimate
			Bound *plan.Bound `json:"bound,omitempty"`
			Harm  *plan.Harm  `json:"harm,omitempty"`

			Defences []string `json:"defences,omitempty"`
		}{1, e, bound, harm, defences})
	}
	fmt.Fprintf(out, "%s; a dry run asks no model\n\n", app.Count(e.Questions, "question"))
	t := table.Table{Head: []string{"", "calls", "prompt tokens", "completion tokens", "cost"}, Align: "r"}
	for _, row := range []struct {
		name string
		bench.Amount
	}{{"low", e.Low}, {"expected", e.Expected}, {"worst", e.Worst}} {
		t.Add(row.name, row.Calls, row.Prompt, row.Completion, row.Money)
	}
	if err := t.Write(out, "text"); err != nil {
		return app.Fail(app.ExitFailure, err)
	}
	return app.Sayf(out, `
low: members agree at once, or as early as possible. expected: assumes 70 %% accuracy.
For both, up to 20 questions are simulated. worst: every planned call is made, with the
longest prompt and a reply of max_tokens (1000 tokens where a model has no such setting);
where members get a second chance (reread), every call is made twice.
A token is counted as four characters. Retries are not included. Prices are list prices
of the given dates; use your own with --prices FILE.
`)
}
