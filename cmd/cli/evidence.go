package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	counciloutcome "synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/record/evidence"
)

// conduct lists who is proved to have equivocated, and who was silent, late or refused.
func conduct(o *counciloutcome.Outcome) (lines []string) {
	for _, a := range o.Evidence {
		lines = append(lines, fmt.Sprintf("%s signed two values for one slot: evidence held by %s", a.ID,
			strings.Join(a.By, ", ")))
	}
	for i := range o.Members {
		m := &o.Members[i]
		var parts []string
		for _, c := range []struct {
			n    int
			what string
		}{{m.Conduct.Silent, "silent to others %d times"}, {m.Conduct.Late, "late in %d rounds"},
			{m.Conduct.Refused, "refused %d calls"}} {
			if c.n > 0 {
				parts = append(parts, fmt.Sprintf(c.what, c.n))
			}
		}
		if m.Uncommitted {
			lines = append(lines, m.ID+" did not commit to its first answer in time, so that does not count as "+
				"independent (no proof of a fault of its own)")
		}
		if len(parts) > 0 {
			lines = append(lines, fmt.Sprintf("%s was %s (no proof of a fault of its own)", m.ID,
				strings.Join(parts, ", ")))
		}
	}
	return lines
}

func evidenceCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "evidence",
		Short: "Save or verify evidence that a member equivocated",
		Long: `A member that signs two values for one slot leaves evidence, which anybody can verify
offline. There is none against an honest member.`,
	}
	cmd.AddCommand(evidenceSave(a), evidenceVerify())
	return cmd
}

func evidenceSave(a *app) *cobra.Command {
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
				return unreadable(err)
			}
			p, err := plan.Of(run)
			if err != nil {
				return fail(exitError1, err)
			}
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return fail(exitError1, err)
			}
			in := counciloutcome.InstanceOf(run)
			for i := range o.Evidence {
				e, err := counciloutcome.EvidenceFile(p, in, &o.Evidence[i])
				if err != nil {
					return fail(exitError1, err)
				}
				path := filepath.Join(dir, fmt.Sprintf("evidence-%d.pem", i+1))
				if err := durable.WriteFile(path, e.File()); err != nil {
					return fail(exitError1, err)
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s  against %s\n", path, oneLine(o.Evidence[i].ID))
			}
			if len(o.Evidence) == 0 && !a.quiet {
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
				c, err := readRoster(path)
				if err != nil {
					return err
				}
				hash = c.Hash
			}
			v := Verification{Version: 1, Kind: "evidence", Claims: []string{}, NotProved: []string{}}
			text, err := durable.ReadFile(args[0], evidence.MaxSize)
			if errors.Is(err, os.ErrNotExist) {
				return fail(exitVerify, err, "check the path; make the file with: synod operate evidence save JOURNAL")
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
			return v.print(cmd, err, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&path, "roster", "", "check that the evidence is about this roster `file`")
	return cmd
}
