package operate

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/record/ledger"
)

func ledgerHead(*app.App) *cobra.Command {
	var cosign, witness, evidence string
	var keys bool
	cmd := &cobra.Command{
		Use:   "head FOLDER",
		Short: "Print the head as a checkpoint, which public witnesses cosign",
		Long: `Prints the head of a ledger as a signed note in the standard checkpoint format
(c2sp.org/tlog-checkpoint). With --cosign, a public witness is asked for its cosignature
(c2sp.org/tlog-witness), which is verified, kept beside the ledger, and printed with the
checkpoint. A witness that has cosigned a head which this one does not extend refuses: the
exit code is 7, and --evidence keeps what the log has signed.`,
		Example: "  synod operate ledger head decisions --keys\n" +
			"  synod operate ledger head decisions --cosign https://witness.example.org --witness NAME+ID+KEY",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := openLedger(args[0])
			if err != nil {
				return err
			}
			defer l.Close()
			if keys {
				return printKeys(cmd, l.Head())
			}
			checkpoint, err := l.CosignedCheckpoint()
			if err != nil {
				return app.Fail(app.ExitVerify, err)
			}
			if cosign != "" {
				checkpoint, err = askWitness(cmd, l, cosign, witness, evidence)
			} else if !isOf(checkpoint, &l.Head().Head) {
				if checkpoint, err = l.Head().Checkpoint(); err != nil {
					err = app.Fail(app.ExitFailure, err)
				}
			}
			if err != nil {
				return err
			}
			_, err = cmd.OutOrStdout().Write(checkpoint)
			return err
		},
	}
	cmd.Flags().StringVar(&cosign, "cosign", "", "ask the public witness at this `URL` for its cosignature")
	cmd.Flags().StringVar(&witness, "witness", "", "the `key` of that witness: NAME+ID+KEY")
	cmd.Flags().StringVar(&evidence, "evidence", "", "if the witness refuses, write the signed head to this `file`")
	cmd.Flags().BoolVar(&keys, "keys", false, "print the keys of the log instead, for the witness's configuration")
	cmd.MarkFlagsRequiredTogether("cosign", "witness")
	return cmd
}

// isOf reports whether a checkpoint is of a head.
func isOf(checkpoint []byte, h *ledger.Head) bool {
	text := h.Text() + "\n"
	return len(checkpoint) > len(text) && string(checkpoint[:len(text)]) == text
}

// printKeys prints the keys that sign the heads of a log, one a line.
func printKeys(cmd *cobra.Command, h *ledger.SignedHead) error {
	if !h.Replicated() {
		fmt.Fprintln(cmd.OutOrStdout(), ledger.VerifierKey(&h.Head, h.Head.Log))
		return nil
	}
	for _, s := range h.Witnesses {
		fmt.Fprintln(cmd.OutOrStdout(), ledger.VerifierKey(&h.Head, s.Key))
	}
	return nil
}

// askWitness has a public witness cosign the head of a log, and keeps the cosignature.
func askWitness(cmd *cobra.Command, l *ledger.Log, url, key, evidence string) ([]byte, error) {
	w, err := ledger.ParseCosigner(key)
	if err != nil {
		return nil, app.Fail(app.ExitUsage, err)
	}
	checkpoint, err := ledger.Cosign(cmd.Context(), url, w, l)
	var refused *ledger.RefusedError
	if errors.As(err, &refused) {
		hints := []string{}
		if own, failed := refused.Head.Checkpoint(); evidence != "" && failed == nil {
			if failed := durable.WriteFile(evidence, own); failed != nil {
				return nil, app.Fail(app.ExitFailure, failed)
			}
			hints = append(hints, "the signed checkpoint is in "+evidence+
				"; with the one that the witness has cosigned it shows what happened")
		}
		return nil, app.Fail(app.ExitVerify, err, hints...)
	}
	if err != nil {
		return nil, app.Fail(app.ExitFailure, err)
	}
	if err := l.KeepCheckpoint(checkpoint); err != nil {
		return nil, app.Fail(app.ExitFailure, err)
	}
	return l.CosignedCheckpoint()
}
