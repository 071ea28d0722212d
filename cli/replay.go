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
		Short: "Replay a journal without any model",
		Long: `Replays a journal without any model: new members get the recorded events and replies
and must produce the same effects. Prints the digest of the run, or what differs
(exit code 7). Signed records are verified too. FILE#ID is one of the journals in a
file that contains many, such as journals.jsonl of a bench run.`,
		Example: "  synod replay ~/.local/state/synod/journals/20260509-101500-1a2b3c.jsonl\n  synod replay 'runs/first/journals.jsonl#q0-0'   # repeat 0 of question q0 of a bench run",
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
			v, err := council.Verify(run, run.Opinions())
			if err != nil {
				return fail(exitVerify, err)
			}
			if v.Records > 0 && !a.quiet {
				fmt.Fprintf(cmd.ErrOrStderr(), "%d signed records are valid; synod verify shows what they prove\n", v.Records)
			}
			if run.End == nil && !a.quiet {
				fmt.Fprintln(cmd.ErrOrStderr(), "the run is not complete; resume it with: synod ask --resume", args[0])
			}
			return nil
		},
	}
}
