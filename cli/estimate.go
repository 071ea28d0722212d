package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"synod.dev/synod/council"
	"synod.dev/synod/lab"
	"synod.dev/synod/llm"
	"synod.dev/synod/task"
)

// dryRun says what a question would cost.
func (a *app) dryRun(cmd *cobra.Command, ask council.Ask, spec council.Spec, env llm.Env, asJSON bool) error {
	ask.Question.ID = cmp.Or(ask.Question.ID, "question")
	run, err := lab.Draft(lab.Plan{Task: "ask", Items: []task.Item{task.Ungraded(ask.Question)}, Repeat: 1, Seed: ask.Seed, Spec: spec, Env: env})
	if err != nil {
		return configError(err)
	}
	return printEstimate(cmd, cmd.ErrOrStderr(), run, asJSON)
}

// estimating is what says what it would cost.
type estimating interface {
	Estimate(context.Context) (*lab.Estimate, error)
}

// printEstimate says what a run would cost; JSON goes to stdout, text to out.
func printEstimate(cmd *cobra.Command, out io.Writer, run estimating, asJSON bool) error {
	e, err := run.Estimate(cmd.Context())
	if err != nil {
		return configError(err)
	}
	if asJSON {
		return writeJSON(cmd.OutOrStdout(), struct {
			Version int `json:"version"`
			*lab.Estimate
		}{1, e})
	}
	fmt.Fprintf(out, "%s; nothing is asked in a dry run\n\n", count(e.Questions, "question"))
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\tcalls\tprompt tokens\tcompletion tokens\tcost\t")
	for _, row := range []struct {
		name string
		lab.Amount
	}{{"low", e.Low}, {"expected", e.Expected}, {"worst", e.Worst}} {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%s\t\n", row.name, row.Calls, row.Prompt, row.Completion, oneLine(row.Money.String()))
	}
	if err := t.Flush(); err != nil {
		return fail(exitError1, err)
	}
	fmt.Fprint(out, `
low: all of one mind, or soon to be; expected: members right in 70 of 100 questions,
played on up to 20 of these; worst: every planned call, the longest prompt and
replies of max_tokens, or of 1000 where a model has none. Four letters count as a
token. Retries are not counted. Prices are list prices of the dates named; your own:
--prices FILE.
`)
	return nil
}
