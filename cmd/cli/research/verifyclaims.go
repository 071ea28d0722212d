package research

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"synod.dev/synod/bench/campaign"
	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/core/table"
)

type verifyClaimsFlags struct {
	options campaign.VerifyOptions
	minutes float64
	asJSON  bool
}

// VerifyClaimsCommand is "synod research verify-claims".
func VerifyClaimsCommand(a *app.App) *cobra.Command {
	var f verifyClaimsFlags
	cmd := &cobra.Command{
		Use:   "verify-claims",
		Short: "Check on this machine what docs/guarantees.md says is guaranteed",
		Long: `Checks every claim of docs/guarantees.md again, on all processors and without asking a
model: claims about files, parsers, rules and small graphs case by case, claims about
protocols in random executions with adversaries and faults. It prints how often each claim
was checked, the smallest margin by which it held, and its violations. A violation is saved
as a file, which synod research campaign replay plays again. ^C prints what was checked so far.

Exit codes: 0 no violation · 1 something could not be checked · 2 usage · 100 a claim was
violated · 130 interrupted.`,
		Example: "  synod research verify-claims --minutes 5\n" +
			"  synod research verify-claims --claim CE-1,LE-3 --minutes 0.5\n" +
			"  synod research verify-claims --json > claims.json",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return verifyClaims(a, cmd, f) },
	}
	fl := cmd.Flags()
	fl.Float64Var(&f.minutes, "minutes", 5, "how many `minutes` to check, in all")
	fl.StringSliceVar(&f.options.Claims, "claim", nil, "`ids` of claims of docs/guarantees.txt (default: all)")
	fl.Uint64Var(&f.options.Seed, "seed", 1, "seed of the first case; another seed checks other cases")
	fl.StringVarP(&f.options.Dir, "out", "o", "claims", "`folder` for violations; it is made when there is one")
	fl.BoolVar(&f.asJSON, "json", false, "print the result as JSON")
	return cmd
}

// claimsChecked is the JSON output of synod research verify-claims.
type claimsChecked struct {
	Version     int                 `json:"version"`
	Program     string              `json:"program"`
	Seed        uint64              `json:"seed"`
	Seconds     float64             `json:"seconds"`
	Interrupted bool                `json:"interrupted"`
	Executions  uint64              `json:"executions"`
	Violations  uint64              `json:"violations"`
	Claims      []campaign.Verified `json:"claims"`
}

func verifyClaims(a *app.App, cmd *cobra.Command, f verifyClaimsFlags) error {
	if !(f.minutes > 0 && f.minutes <= 100_000) {
		return app.Fail(app.ExitUsage, fmt.Errorf("--minutes is %v; it must be above 0 and at most 100000 (example: "+
			"--minutes 5)", f.minutes))
	}
	f.options.Time = time.Duration(f.minutes * float64(time.Minute))
	show := a.NewBar(cmd, true, "starting")
	f.options.Progress = func(what string) { show.Say(func() string { return "checking " + what }) }
	began := time.Now()
	all, err := campaign.Verify(cmd.Context(), f.options)
	show.Done()
	if all == nil && err != nil {
		return app.Fail(app.ExitUsage, err)
	}
	out := claimsChecked{Version: 1, Program: app.Version(), Seed: f.options.Seed, Seconds: time.Since(began).Seconds(),
		Interrupted: errors.Is(context.Cause(cmd.Context()), context.Canceled), Claims: all}
	for _, v := range all {
		out.Executions += v.Executions
		out.Violations += v.Violations
	}
	print := out.print
	if f.asJSON {
		print = func(w io.Writer) error { return app.WriteJSON(w, out) }
	}
	if e := print(cmd.OutOrStdout()); e != nil {
		return app.Fail(app.ExitFailure, e)
	}
	return out.exit(err)
}

// print prints the result for people.
func (c *claimsChecked) print(w io.Writer) error {
	t := table.Table{Head: []string{"claim", "model", "checked", "smallest margin", "violations", "what is claimed"},
		Align: "llrrrl"}
	for _, v := range c.Claims {
		checked := strconv.FormatUint(v.Executions, 10)
		if v.Complete {
			checked = "all " + checked
		}
		margin := "–"
		if v.ClaimTally.Margin != nil {
			margin = strconv.FormatFloat(*v.ClaimTally.Margin, 'g', 4, 64)
		}
		t.Add(v.ID, string(v.Model), checked, margin, v.Violations, v.Property)
	}
	if err := t.Write(w, "text"); err != nil {
		return err
	}
	err := app.Sayf(w, "%s in %.0f s, %s (seed %d). docs/guarantees.md says what the models mean.\n",
		app.Count(int(c.Executions), "check"), c.Seconds, app.Count(int(c.Violations), "violation"), c.Seed)
	for _, v := range c.Claims {
		if err == nil && v.Violations > 0 {
			_, err = fmt.Fprintf(w, "\n%s is violated: %s\n  synod research campaign replay %s\n", v.ID,
				app.Printable(v.Detail),
				app.ShellWord(v.Replay))
		}
	}
	return err
}

// exit returns the error of the command.
func (c *claimsChecked) exit(err error) error {
	var none []string
	for _, v := range c.Claims {
		if v.Executions == 0 {
			none = append(none, v.ID)
		}
	}
	switch {
	case c.Violations > 0:
		return app.Fail(app.ExitGate, fmt.Errorf("claims were violated in %s", app.Count(int(c.Violations), "check")),
			"please report it with the file: SECURITY.md")
	case err != nil:
		return app.Fail(app.ExitFailure, err)
	case c.Interrupted:
		return app.Fail(app.ExitInterrupted, nil, "interrupted: the table has what was checked until then")
	case len(none) > 0:
		return app.Fail(app.ExitFailure, fmt.Errorf("the time was too short to check %s", strings.Join(none, ", ")),
			"give more time, such as --minutes 5")
	}
	return nil
}

// replayTrial tries the saved case of a claim without runs again.
func replayTrial(w io.Writer, saved *campaign.SavedTrial, asJSON bool) error {
	r, err := saved.Replay()
	if err == nil {
		err = r.Err
	}
	if err != nil {
		return app.Fail(app.ExitFailure, err)
	}
	if asJSON {
		err = app.WriteJSON(w, struct {
			Version    int    `json:"version"`
			Claim      string `json:"claim"`
			Number     uint64 `json:"number"`
			Reproduced bool   `json:"reproduced"`
			Detail     string `json:"detail"`
		}{1, saved.Claim, saved.Number, r.Violation != "", r.Violation})
	} else if r.Violation != "" {
		_, err = fmt.Fprintf(w, "violated: %s: %s\n", saved.Claim, app.Printable(r.Violation))
	}
	switch {
	case err != nil:
		return app.Fail(app.ExitFailure, err)
	case r.Violation == "":
		return app.Fail(app.ExitVerify, fmt.Errorf("claim %s is not violated in case %d; the file says: %s",
			saved.Claim,
			saved.Number, saved.Detail), "the program has changed since, or the bug is fixed")
	}
	return nil
}
