package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"synod.dev/synod/probe"
)

func probeCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "probe",
		Short: "Train a probe that reads confidence off hidden states",
		Long: `Collects answers of the model in the box with their hidden states, trains a probe
that tells right answers from wrong ones by them, and measures it on questions
that it has not seen. A member with "probe: FILE" then says how sure it is, for
protocols that ask for a hidden confidence. See docs/probes.md.`,
		Example: `  synod probe train runs/arc --collect arc-easy --data ./data -n 500
  synod probe collect builtin -n 300 -o runs/builtin
  synod probe eval runs/arc/probe.json runs/builtin
  synod probe show runs/arc/probe.json`,
	}
	cmd.AddCommand(probeCollect(a), probeTrain(a), probeEval(a), probeShow())
	return cmd
}

func probeShow() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show FILE",
		Short: "Say what a probe is bound to and how good it was",
		Long: `Prints whose hidden states a saved probe reads, at which layer and position, what it
was trained on and how good it was on held-out questions. Its weights are left out.

Exit codes: 0 · 1 the file is no probe of this version.`,
		Example: "  synod probe show runs/arc/probe.json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := readProbe(args[0])
			if err != nil {
				return err
			}
			if asJSON {
				p.Weights = nil
				return writeJSON(cmd.OutOrStdout(), p)
			}
			w := cmd.OutOrStdout()
			printSubject(w, p.Subject)
			fmt.Fprintf(w, "reads       layer %d of 0 to %d, %s of the answer's states (%d components, %.0f %% of the variance, C = %v)\n",
				p.Layer, p.Subject.Layers-1, p.Position, p.Components, 100*p.Variance, p.C)
			fmt.Fprintf(w, "trained on  %d answers to %s, split with seed %d\n\non its held-out questions:\n", p.Answers, oneLine(p.Task), p.Seed)
			return printFigures(w, []column{{"probe", p.Test, nil, 0}})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON, without the weights")
	return cmd
}

func printSubject(w io.Writer, s probe.Subject) {
	fmt.Fprintf(w, "model       %s (sha256 %s)\nengine      %s, %d layers of width %d\nanswers     %s, form %s\n",
		oneLine(s.Model), oneLine(s.SHA256), oneLine(s.Engine), s.Layers, s.Width, oneLine(s.Answers), oneLine(s.Form))
}

func readProbe(path string) (*probe.Probe, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fail(exitError1, err)
	}
	p, err := probe.Decode(text)
	if err != nil {
		return nil, fail(exitError1, fmt.Errorf("%s: %w", path, err))
	}
	return p, nil
}

// writeWhole writes a file so that it is there whole or as it was.
func writeWhole(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // it may never have been there
	}
	return err
}
