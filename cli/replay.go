package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"synod.dev/synod/council"
	"synod.dev/synod/journal"
)

func replayCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "replay JOURNAL",
		Short: "Play a journal again without any model",
		Long: `Plays a journal again without any model: fresh members get the events and
replies on file, and must want the same things done. Prints the digest of the
run, or what differs (exit 7). Where evaluators keep signed records of a decision,
these are checked too.`,
		Example: "  synod replay ~/.local/state/synod/journals/20260509-101500-1a2b3c.jsonl",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			run, err := journal.Load(args[0])
			if err != nil {
				return fail(exitError1, err)
			}
			digest, err := council.Replay(run)
			var bad *council.ConfigError
			switch {
			case errors.As(err, &bad):
				return fail(exitError1, err)
			case err != nil:
				return fail(exitVerify, err)
			}
			fmt.Fprintln(cmd.OutOrStdout(), digest)
			records, err := council.Verify(run, run.Opinions())
			if err != nil {
				return fail(exitVerify, err)
			}
			if records > 0 && !a.quiet {
				fmt.Fprintf(cmd.ErrOrStderr(), "%d records of evaluators: every signature holds, and totals and replies follow from what was signed\n", records)
			}
			if run.End == nil && !a.quiet {
				fmt.Fprintln(cmd.ErrOrStderr(), "the run was cut off; go on with: synod ask --resume", args[0])
			}
			return nil
		},
	}
}
