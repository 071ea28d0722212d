package research

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"github.com/spf13/cobra"

	"synod.dev/synod/bench/campaign"
	"synod.dev/synod/cmd/cli/app"
)

// auditFlags are the flags of "synod research campaign verify".
type auditFlags struct {
	campaign.AuditOptions
	all, asJSON bool
}

func campaignVerify(a *app.App) *cobra.Command {
	var f auditFlags
	cmd := &cobra.Command{
		Use:   "verify DIR",
		Short: "Check the record of a campaign, and play batches of it again",
		Long: `Checks the checksums of a campaign's folder, the chain of its batches, its plan and its
saved violations. Then it plays a share of the batches again, at least one of each
protocol and all with a violation, and compares their digests. With --all it plays all,
and compares the numbers of the report too.

Exit codes: 0 all is as it was recorded · 1 the folder cannot be read, or this program has
another plan · 2 usage · 7 something is not as it was recorded · 130 interrupted.`,
		Example: `  synod research campaign verify runs/campaign --share 0.05
  synod research campaign verify runs/campaign --all`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("seed") {
				f.Seed = rand.Uint64() >> 32
			}
			return verifyCampaign(a, cmd, args[0], f)
		},
	}
	fl := cmd.Flags()
	fl.Float64Var(&f.Share, "share", 0.05, "`share` of the batches that are played again, above 0 and at most 1")
	fl.BoolVar(&f.all, "all", false, "play all batches again")
	fl.Uint64Var(&f.Seed, "seed", 0, "seed with which batches are drawn (default: another one each time)")
	fl.BoolVar(&f.asJSON, "json", false, "print what was checked as JSON")
	cmd.MarkFlagsMutuallyExclusive("share", "all")
	return cmd
}

func verifyCampaign(a *app.App, cmd *cobra.Command, dir string, f auditFlags) error {
	if f.all {
		f.Share = 1
	}
	if !(f.Share > 0 && f.Share <= 1) {
		return app.Fail(app.ExitUsage, fmt.Errorf("--share is %v; it must be above 0 and at most 1", f.Share))
	}
	show := a.NewBar(cmd, false, "playing batches again")
	f.Progress = func(done, all int) { show.Set(int64(done), int64(all)) }
	audit, err := campaign.VerifyFolder(cmd.Context(), dir, f.AuditOptions)
	show.Done()
	switch {
	case cmd.Context().Err() != nil:
		return app.Fail(app.ExitInterrupted, nil, "interrupted: nothing is verified")
	case err != nil:
		return campaignError(err, app.ExitFailure)
	}
	if f.asJSON {
		err = app.WriteJSON(cmd.OutOrStdout(), audited(audit, f.Seed))
	} else {
		err = showAudit(cmd.OutOrStdout(), audit, f.Seed)
	}
	if err != nil {
		return app.Fail(app.ExitFailure, err)
	}
	if len(audit.Wrong) == 0 {
		return nil
	}
	hint := ""
	if !audit.Same {
		hint = "this is not the program that played the campaign; verify it with that one: " + audit.Program.String()
	}
	return app.Fail(app.ExitVerify, errors.New("the record does not hold: "+audit.Wrong[0]), hint)
}

// auditJSON is the JSON output of synod research campaign verify.
type auditJSON struct {
	Version    int              `json:"version"`
	Record     string           `json:"record"`
	Program    campaign.Program `json:"program"`
	Same       bool             `json:"same_program"`
	Finished   bool             `json:"finished"`
	Batches    int              `json:"batches"`
	Executions uint64           `json:"executions"`
	Violations uint64           `json:"violations"`
	Replayed   int              `json:"replayed"` // batches
	Counted    bool             `json:"counted"`  // the numbers of the report too
	Seed       uint64           `json:"seed"`
	Wrong      []string         `json:"wrong"`
}

func audited(a *campaign.Audit, seed uint64) auditJSON {
	return auditJSON{Version: 1, Record: a.Record(), Program: a.Program, Same: a.Same, Finished: a.Finished,
		Batches: a.Batches, Executions: a.Tally.Executions, Violations: a.Tally.Violations(), Replayed: a.Replayed,
		Counted: a.Counted, Seed: seed, Wrong: append([]string{}, a.Wrong...)}
}

// showAudit prints what was verified for people.
func showAudit(w io.Writer, a *campaign.Audit, seed uint64) error {
	whole := "finished"
	if !a.Finished {
		whole = "not finished"
	}
	fmt.Fprintf(w, "record         %s\n", a.Record())
	fmt.Fprintf(w, "chain          intact: %d batches, %d executions, %d violations; %s\n", a.Batches,
		a.Tally.Executions, a.Tally.Violations(), whole)
	fmt.Fprintf(w, "played by      %s\n", app.Printable(a.Program.String()))
	if a.Same {
		fmt.Fprintln(w, "verified by    the same program")
	} else {
		fmt.Fprintln(w, "verified by    another program")
	}
	_, err := fmt.Fprintf(w, "played again   %s\n", replayed(a, seed))
	for _, wrong := range a.Wrong {
		_, err = fmt.Fprintf(w, "WRONG          %s\n", app.Printable(wrong))
	}
	return err
}

// replayed says what was played again, and what that shows.
func replayed(a *campaign.Audit, seed uint64) string {
	text := fmt.Sprintf("%d of %d batches, %d executions", a.Replayed, a.Batches, a.Executed)
	switch {
	case a.Counted && len(a.Wrong) == 0:
		text += ": all are as they were recorded, and so are the numbers of the report"
	case !a.Counted:
		text += fmt.Sprintf(" (seed %d)", seed)
		if len(a.Wrong) == 0 && a.Replayed > 0 {
			text += ": all are as they were recorded"
		}
		if len(a.Wrong) == 0 && a.Drawn > 0 {
			text += fmt.Sprintf("; with 95 %% confidence at most %.1f %% of all batches are not",
				100*(1-math.Pow(0.05, 1/float64(a.Drawn))))
		}
	}
	return text
}
