package research

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/llm/probe"
)

// ProbeCommand is "synod research probe".
func ProbeCommand(a *app.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "probe",
		Short: "Train a probe that estimates confidence from hidden states",
		Long: `Collects answers of a model with their hidden states, trains a probe that
distinguishes right from wrong answers by these states, and measures it on questions
that were not used for training. A member with "probe: FILE" then reports its
confidence to protocols that use hidden confidence. See docs/research/papers.md.`,
		Example: `  synod research probe train runs/arc --collect arc-easy --data ./data -n 500
  synod research probe collect builtin -n 300 -o runs/builtin
  synod research probe eval runs/arc/probe.json runs/builtin
  synod research probe show runs/arc/probe.json`,
	}
	cmd.AddCommand(probeCollect(a), probeTrain(a), probeEval(a), probeShow())
	return cmd
}

func probeShow() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show FILE",
		Short: "Show the model of a probe and its figures",
		Long: `Prints which model a saved probe is for, the layer and position that it reads, what it
was trained on and its figures on held-out questions. Weights are not printed.

Exit codes: 0 ok · 1 the file is not a probe of this version.`,
		Example: "  synod research probe show runs/arc/probe.json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := readProbe(args[0])
			if err != nil {
				return err
			}
			if asJSON {
				p.Weights = nil
				return app.WriteJSON(cmd.OutOrStdout(), p)
			}
			w := cmd.OutOrStdout()
			printSubject(w, p.Subject)
			fmt.Fprintf(w, "reads       layer %d of 0 to %d, %s of the answer's states (%d components, %.0f %% of the "+
				"variance, C = %v)\n", p.Layer, p.Subject.Layers-1, p.Position, p.Components, 100*p.Variance, p.C)
			fmt.Fprintf(w, "trained on  %d answers to %s, split with seed %d\n\non its held-out questions:\n",
				p.Answers, app.OneLine(p.Task), p.Seed)
			return printFigures(w, []column{{"probe", p.Test, nil, 0}})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, without the weights")
	return cmd
}

func printSubject(w io.Writer, s probe.Subject) {
	fmt.Fprintf(w, "model       %s (sha256 %s)\nengine      %s, %d layers of width %d\nanswers     %s, form %s\n",
		app.OneLine(s.Model), app.OneLine(s.SHA256), app.OneLine(s.Engine), s.Layers, s.Width, app.OneLine(s.Answers),
		app.OneLine(s.Form))
}

func readProbe(path string) (*probe.Probe, error) {
	text, err := durable.ReadFile(path, 64<<20)
	if err != nil {
		return nil, app.Fail(app.ExitFailure, err)
	}
	p, err := probe.Decode(text)
	if err != nil {
		return nil, app.Fail(app.ExitFailure, fmt.Errorf("%s: %w", path, err))
	}
	return p, nil
}
