package bench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"synod.dev/synod/bench"
	"synod.dev/synod/bench/manifest"
	"synod.dev/synod/bench/report"
	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/cmd/cli/display"
)

// allPresets is the name that means every preset with claims of a paper.
const allPresets = "all"

// withClaims returns the presets that have claims of a paper.
func withClaims() (some []manifest.Preset) {
	for _, p := range manifest.Presets().All() {
		if len(p.Manifest.Claims) > 0 {
			some = append(some, p)
		}
	}
	return some
}

// runPresets runs presets in their complete form, each in a folder of its own, and prints one table of claims. Where
// questions of a preset failed the others are run all the same. The same command goes on with what is left.
func runPresets(a *app.App, cmd *cobra.Command, presets []manifest.Preset, f benchFlags, o manifest.Options) error {
	if err := f.checkAll(cmd, presets); err != nil {
		return app.Fail(app.ExitUsage, err)
	}
	f.again = again(cmd, &f.source, "synod", "bench", "run", allPresets)
	o.Full = true
	var all report.Claims
	var failed []string
	for k, p := range presets {
		grid, err := p.Manifest.Draft(o)
		if err != nil {
			return app.ConfigError(err)
		}
		if f.dryRun {
			fmt.Fprintf(cmd.OutOrStdout(), "\n%s\n", p.Name)
			if err := display.PrintEstimate(cmd, cmd.OutOrStdout(), grid, f.asJSON, nil); err != nil {
				return err
			}
			continue
		}
		a.Say(cmd, fmt.Sprintf("preset %d of %d: %s", k+1, len(presets), p.Name))
		var some *failedError
		if err := runPreset(a, cmd, p, grid, f); errors.As(err, &some) {
			failed = append(failed, p.Name)
			fmt.Fprintln(cmd.ErrOrStderr(), app.OneLine(p.Name+": "+err.Error()))
		} else if err != nil {
			return err
		}
		r, err := grid.Report()
		if err != nil {
			return unreportable(err)
		}
		all.Add(r)
	}
	if f.dryRun {
		return nil
	}
	if err := all.Write(cmd.OutOrStdout(), "text"); err != nil {
		return app.Fail(app.ExitFailure, err)
	}
	if len(failed) > 0 {
		return app.Fail(app.ExitFailure, fmt.Errorf("questions of %s failed", strings.Join(failed, ", ")),
			"see the reasons with: synod bench report "+app.ShellWord(filepath.Join(f.out, failed[0]))+
				"\ntry them again with:\n  "+f.again)
	}
	return nil
}

// runPreset runs one of them.
func runPreset(a *app.App, cmd *cobra.Command, p manifest.Preset, grid *bench.Grid, f benchFlags) error {
	f.out = filepath.Join(f.out, p.Name)
	if err := bringFiles(a, cmd, p.Manifest, grid, f); err != nil {
		return err
	}
	if err := computeGrid(a, cmd, grid); err != nil || len(grid.Cells) == 0 {
		return err
	}
	return benchWork(a, cmd, grid, f)
}

// checkAll refuses flags that are not for presets, or not for each of them.
func (f *benchFlags) checkAll(cmd *cobra.Command, presets []manifest.Preset) error {
	for _, name := range []string{"task", "budget-usd"} {
		if cmd.Flags().Changed(name) {
			return fmt.Errorf("--%s is for worth-it, and not for all presets", name)
		}
	}
	for _, p := range presets {
		if err := f.checkManifest(cmd, p.Manifest); err != nil {
			return err
		}
	}
	return nil
}

// failedError says that questions failed.
type failedError struct{ failed, total int }

func (e *failedError) Error() string {
	return fmt.Sprintf("%d of %d questions failed", e.failed, e.total)
}

// presetsIn returns the names of folders of presets in the folder of "bench run all"; nil: it is none.
func presetsIn(dir string) (names []string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		p, err := manifest.FindPreset(e.Name())
		if err != nil || !e.IsDir() || len(p.Manifest.Claims) == 0 {
			continue
		}
		if _, err := bench.OpenGrid(filepath.Join(dir, e.Name())); err == nil {
			names = append(names, e.Name())
		}
	}
	return names
}
