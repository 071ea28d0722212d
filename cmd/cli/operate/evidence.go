package operate

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/cmd/cli/verification"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/record/evidence"
)

// EvidenceCommand is "synod operate evidence".
func EvidenceCommand(a *app.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "evidence",
		Short: "Save or verify evidence that a member equivocated",
		Long: `A member that signs two values for one slot leaves evidence, which anybody can verify
offline. There is none against an honest member.`,
	}
	cmd.AddCommand(evidenceSave(a), evidenceVerify())
	return cmd
}

func evidenceSave(a *app.App) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "save JOURNAL",
		Short: "Save the evidence in a journal as files",
		Long: `Writes a file for each member and slot in which the members of a run found evidence. Where
all members are simulated there are no real signatures, and "synod verify JOURNAL" checks the
journal instead.`,
		Example: "  synod operate evidence save j.jsonl -o evidence",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			run, o, err := recalled(args[0])
			if err != nil {
				return app.Unreadable(err)
			}
			p, err := plan.Of(run)
			if err != nil {
				return app.Fail(app.ExitFailure, err)
			}
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return app.Fail(app.ExitFailure, err)
			}
			in := outcome.InstanceOf(run)
			for i := range o.Evidence {
				e, err := outcome.EvidenceFile(p, in, &o.Evidence[i])
				if errors.Is(err, outcome.ErrSymbolic) {
					return app.Fail(app.ExitFailure, err, "verify it with: synod verify "+app.ShellWord(args[0]))
				}
				if err != nil {
					return app.Fail(app.ExitFailure, err)
				}
				path := filepath.Join(dir, fmt.Sprintf("evidence-%d.pem", i+1))
				if err := durable.WriteFile(path, e.File()); err != nil {
					return app.Fail(app.ExitFailure, err)
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s  against %s\n", path, app.OneLine(o.Evidence[i].ID))
			}
			if len(o.Evidence) == 0 && !a.Quiet {
				fmt.Fprintln(cmd.ErrOrStderr(), "there is no evidence in this journal")
			}
			return nil
		},
	}
	cmd.Flags().StringVarP(&dir, "out", "o", ".", "write the files to this `folder`")
	return cmd
}

func evidenceVerify() *cobra.Command {
	var asJSON bool
	var path string
	cmd := &cobra.Command{
		Use:   "verify FILE",
		Short: "Verify evidence that a member equivocated",
		Long: `Verifies that a member signed two values for one slot. Prints VALID, what is proved and what
is not, or the first thing that is wrong (exit code 7).`,
		Example: "  synod operate evidence verify evidence-1.pem\n" +
			"  synod operate evidence verify evidence-1.pem --roster " +
			"council.roster",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var hash []byte
			if path != "" {
				c, err := verification.ReadRoster(path)
				if err != nil {
					return err
				}
				hash = c.Hash
			}
			v := verification.Result{Version: 1, Kind: "evidence", Claims: []string{}, NotProved: []string{}}
			text, err := durable.ReadFile(args[0], evidence.MaxSize)
			if errors.Is(err, os.ErrNotExist) {
				return app.Fail(app.ExitVerify, err, "check the path; make the file with: synod operate evidence save "+
					"JOURNAL")
			}
			var e *evidence.Evidence
			if err == nil {
				e, err = evidence.Parse(text)
			}
			if err == nil {
				var r evidence.Report
				r, err = e.Verify(hash)
				v.Claims, v.NotProved = append(v.Claims, r.Claims...), append(v.NotProved, r.NotProved...)
			}
			return v.Print(cmd, err, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&path, "roster", "", "check that the evidence is about this roster `file`")
	return cmd
}
