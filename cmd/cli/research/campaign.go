package research

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"synod.dev/synod"
	"synod.dev/synod/bench/campaign"
	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/internal/filelock"
)

// CampaignCommand is "synod research campaign".
func CampaignCommand(a *app.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "campaign",
		Short: "Try the claims of the protocols in executions with faults",
		Long: `Plays random executions of the protocols: with adversaries and with faults of networks,
processes, clocks, membership, model servers and disks. In each execution all claims of
its protocol are checked. Nothing is asked of a real model. See docs/guarantees.md.`,
		Example: `  synod research campaign run --tier T1 -o runs/campaign
  synod research campaign report runs/campaign
  synod research campaign verify runs/campaign
  synod research campaign replay runs/campaign/failures/sac-I-SAC-1.json`,
	}
	cmd.AddCommand(campaignRun(a), campaignReport(a), campaignVerify(a), campaignReplay())
	return cmd
}

type campaignFlags struct {
	options campaign.Options
	setup   campaign.Setup
	minutes float64
	asJSON  bool
}

func campaignRun(a *app.App) *cobra.Command {
	var f campaignFlags
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Play executions and check claims",
		Long: `Plays executions on all processors. Which ones depends on --tier, --executions, --protocol
and --seed only. ^C saves, and the same command goes on, as it does after a kill. A
violation is shrunk and saved as a file that synod research campaign replay plays again.
The folder is one record: of this program, this plan and a digest of every batch. Another
program, other options and a second process are refused.

Exit codes: 0 green · 1 the folder cannot be read or written, or another process has it ·
2 usage, or another program began the folder · 7 the folder was changed or damaged · 100 a
claim was violated, or something that the tier demands was not tried · 130 interrupted.`,
		Example: `  synod research campaign run --tier T1 -o runs/campaign
  synod research campaign run --minutes 5 --protocol sac,decentllms`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runCampaign(a, cmd, f) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.options.Tier, "tier", "", "how much: T0 (half a minute), T1 (minutes) or T2 (two hours)")
	fl.Uint64Var(&f.options.Executions, "executions", 0, "how many `executions` (default: those of the tier)")
	fl.Float64Var(&f.minutes, "minutes", 0, "stop after so many `minutes` (default: no limit)")
	fl.StringSliceVar(&f.options.Protocols, "protocol", nil, "`names`: "+strings.Join(campaign.Subjects(), ", ")+
		" (default: all)")
	fl.Uint64Var(&f.options.Seed, "seed", 1, "seed of the first execution of each protocol")
	fl.IntVar(&f.setup.Workers, "workers", runtime.GOMAXPROCS(0), "executions at once")
	fl.StringVarP(&f.setup.Dir, "out", "o", "", "`folder` of the state; without it nothing is saved")
	fl.BoolVar(&f.asJSON, "json", false, "print the report as JSON")
	return cmd
}

func runCampaign(a *app.App, cmd *cobra.Command, f campaignFlags) error {
	switch {
	case f.minutes < 0 || f.minutes > 1e6:
		return app.Fail(app.ExitUsage, fmt.Errorf("--minutes is %v; it must be between 0 and 1000000", f.minutes))
	case f.setup.Workers < 1:
		return app.Fail(app.ExitUsage, fmt.Errorf("--workers is %d; it must be 1 or more", f.setup.Workers))
	case f.options.Tier == "" && f.options.Executions == 0 && f.minutes == 0:
		return app.Fail(app.ExitUsage, errors.New("say how much to try: --tier T1, --executions 100000 or --minutes 5"))
	}
	f.options.Time = time.Duration(f.minutes * float64(time.Minute))
	f.setup.Version = app.Version()
	show := a.NewBar(cmd, false, "starting")
	f.setup.Progress = func(s *campaign.SavedCampaign) {
		if show.To != nil {
			text := campaignProgress(s)
			show.Say(func() string { return text })
			show.Set(int64(s.Tally.Executions), int64(s.Planned))
		}
	}
	s, err := campaign.Run(cmd.Context(), f.options, f.setup)
	show.Done()
	if err != nil {
		return campaignError(err, app.ExitUsage)
	}
	if cmd.Context().Err() != nil && errors.Is(context.Cause(cmd.Context()), context.Canceled) {
		return interruptedCampaign(s, f)
	}
	format := "text"
	if f.asJSON {
		format = "json"
	}
	return printCampaign(cmd.OutOrStdout(), s, format)
}

// campaignError gives an error of a campaign's folder its exit code, and any other one the code that is given.
func campaignError(err error, other int) error {
	_, path := errors.AsType[*fs.PathError](err)
	switch {
	case errors.Is(err, campaign.ErrChanged):
		return app.Fail(app.ExitVerify, err)
	case errors.Is(err, filelock.ErrHeld):
		return app.Fail(app.ExitFailure, err, "wait until it ends, or name another folder")
	case errors.Is(err, fs.ErrNotExist):
		return app.Fail(app.ExitFailure, err, "name the folder of synod research campaign run -o FOLDER")
	case path:
		return app.Fail(app.ExitFailure, err)
	}
	return app.Fail(other, err)
}

// campaignProgress is one line about a campaign that runs.
func campaignProgress(s *campaign.SavedCampaign) string {
	done := s.Tally.Executions
	text := fmt.Sprintf("%d executions, %.0f a second", done, float64(done)/s.Spent.Seconds())
	if s.Planned > 0 {
		text += ", " + app.Eta(int(done), int(s.Planned-min(done, s.Planned)), s.Spent)
	}
	if n := s.Tally.Violations(); n > 0 {
		text += fmt.Sprintf(", %d VIOLATIONS", n)
	}
	return text
}

func interruptedCampaign(s *campaign.SavedCampaign, f campaignFlags) error {
	hint := fmt.Sprintf("interrupted after %d executions; nothing was saved, because there is no -o FOLDER",
		s.Tally.Executions)
	if f.setup.Dir != "" {
		hint = fmt.Sprintf("interrupted: %d executions are saved; go on with the same command, or see them with: "+
			"synod "+
			"campaign report %s", s.Tally.Executions, app.ShellWord(f.setup.Dir))
	}
	return app.Fail(app.ExitInterrupted, nil, hint)
}

// printCampaign prints a report, and fails if it is red.
func printCampaign(w io.Writer, s *campaign.SavedCampaign, format string) error {
	r := s.Report()
	if err := r.Write(w, format); err != nil {
		return app.Fail(app.ExitFailure, err)
	}
	if why := r.Red(); why != "" && (len(r.Failures) > 0 || s.Options.Tier != "") {
		return app.Fail(app.ExitGate, errors.New("the campaign is red: "+why))
	}
	return nil
}

func campaignReport(*app.App) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "report DIR",
		Short: "Show what a campaign has tried",
		Long: `Shows the executions of a campaign by protocol, fault and adversary, and for each claim
in how many executions it was checked, its violations and its smallest margin.

Exit codes: 0 green · 1 the folder cannot be read · 2 usage · 7 it was changed or damaged ·
100 a claim was violated, or something that the tier demands was not tried.`,
		Example: "  synod research campaign report runs/campaign --format html > campaign.html",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(campaign.Formats(), format) {
				return app.Fail(app.ExitUsage, fmt.Errorf("--format is %q%s; it must be one of %s", format,
					synod.Hint(format, campaign.Formats()), strings.Join(campaign.Formats(), ", ")))
			}
			s, err := campaign.Open(args[0])
			if err != nil {
				return campaignError(err, app.ExitFailure)
			}
			return printCampaign(cmd.OutOrStdout(), s, format)
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", "format: "+strings.Join(campaign.Formats(), ", "))
	return cmd
}

func campaignReplay() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "replay FILE",
		Short: "Play a saved execution again",
		Long: `Plays an execution that a campaign has saved, and prints the claim that it violates with
the events of its schedule.

Exit codes: 0 it violates the same claim again · 1 the file cannot be read · 7 it does not.`,
		Example: "  synod research campaign replay runs/campaign/failures/sac-I-SAC-1.json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if number, err := campaign.LoadTrial(args[0]); err == nil {
				return replayTrial(cmd.OutOrStdout(), number, asJSON)
			}
			saved, err := campaign.Load(args[0])
			if err != nil {
				if errors.Is(err, os.ErrNotExist) {
					return app.Fail(app.ExitFailure, err, "check the path; campaigns save violations in "+
						"FOLDER/failures")
				}
				return app.Fail(app.ExitFailure, err)
			}
			return replayCampaign(cmd.OutOrStdout(), saved, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print what happened as JSON")
	return cmd
}

// campaignReplayed is the JSON output of synod research campaign replay.
type campaignReplayed struct {
	Version    int                  `json:"version"`
	Claim      string               `json:"claim"`      // that the file names
	Reproduced bool                 `json:"reproduced"` // it is violated again
	Violations []campaign.Violation `json:"violations"`
	Execution  campaign.Execution   `json:"execution"`
}

func replayCampaign(w io.Writer, saved *campaign.Saved, asJSON bool) error {
	x := saved.Execution
	out := campaignReplayed{Version: 1, Claim: saved.Claim, Execution: x,
		Violations: campaign.NewPlayer().Play(&x).Violations}
	out.Reproduced = slices.ContainsFunc(out.Violations,
		func(v campaign.Violation) bool { return v.Claim == saved.Claim })
	if asJSON {
		if err := app.WriteJSON(w, out); err != nil {
			return app.Fail(app.ExitFailure, err)
		}
	} else {
		showExecution(w, &x)
		for _, v := range out.Violations {
			fmt.Fprintf(w, "violated: %s\n", app.Printable(v.String()))
		}
	}
	if !out.Reproduced {
		return app.Fail(app.ExitVerify, fmt.Errorf("claim %s is not violated; the file says: %s", saved.Claim,
			saved.Detail),
			"the program has changed since, or the bug is fixed")
	}
	return nil
}

// showExecution prints an execution for people.
func showExecution(w io.Writer, x *campaign.Execution) {
	fmt.Fprintf(w, "%s, %d seats, F = %d, %s, seed %d\n", strings.TrimSpace(x.Protocol+" "+x.Params),
		x.N+x.Outside, x.F, x.Regime, x.Seed)
	if x.Edges != nil {
		fmt.Fprintf(w, "links %v, r = %d\n", x.Edges, x.R)
	}
	fmt.Fprintf(w, "Byzantine: %v\n", x.Byzantine)
	for _, s := range x.Seats {
		fmt.Fprintf(w, "adversary at n%d: %s %v\n", s.Seat, s.Name, s.Params)
	}
	for view, parts := range x.Twins {
		fmt.Fprintf(w, "view %d: parts %05b of the second copy and members 3 to 0\n", view+1, parts)
	}
	for i, e := range x.Events {
		fmt.Fprintf(w, "event %d: %s\n", i+1, e)
	}
}
