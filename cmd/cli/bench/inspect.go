package bench

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"synod.dev/synod/bench"
	"synod.dev/synod/bench/report/inspectai"
	"synod.dev/synod/cmd/cli/app"
)

// exportRun writes one log and prints its path on stdout.
func exportRun(a *app.App, cmd *cobra.Command, run *bench.Run, out string) error {
	path, format, err := logPath(run, out)
	if err != nil {
		return err
	}
	defer collectLess()()
	if err := app.WriteFile(path, func(w io.Writer) error { return run.Inspect(w, format) }); err != nil {
		return app.Fail(app.ExitFailure, err)
	}
	if format == inspectai.JSON && !listed.MatchString(filepath.Base(path)) {
		a.Say(cmd, "inspect does not list this log, because its name does not begin with a time; -o FOLDER gives such "+
			"a name")
	}
	if !a.Quiet {
		fmt.Fprintln(cmd.OutOrStdout(), app.Printable(path))
	}
	return nil
}

// exportGrid writes one log for each cell, in a folder of its own.
func exportGrid(a *app.App, cmd *cobra.Command, grid *bench.Grid, out string) error {
	if len(grid.Runs) == 0 {
		return app.Fail(app.ExitUsage, fmt.Errorf("every cell of %s is computed, so there is no run to export",
			grid.Preset))
	}
	if ext := filepath.Ext(out); ext == inspectai.JSON || ext == inspectai.Archive {
		return app.Fail(app.ExitUsage, fmt.Errorf("%s contains %d runs; give a folder for their logs with -o",
			grid.Dir(),
			len(grid.Runs)))
	}
	for i, run := range grid.Runs {
		folder := filepath.Join(out, grid.Cells[i].Name)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return app.Fail(app.ExitFailure, err)
		}
		if err := exportRun(a, cmd, run, folder); err != nil {
			return err
		}
	}
	return nil
}

// listed matches the names of the .json logs that Inspect lists.
var listed = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}T\d{2}[:-]\d{2}[:-]\d{2}`)

// logPath returns the path and the format of the log.
func logPath(run *bench.Run, out string) (path, format string, err error) {
	switch ext := filepath.Ext(out); {
	case ext == inspectai.JSON || ext == inspectai.Archive:
		return out, ext, nil
	case ext != "" && !strings.HasSuffix(out, string(filepath.Separator)):
		if info, err := os.Stat(out); err != nil || !info.IsDir() {
			return "", "", app.Fail(app.ExitUsage, fmt.Errorf("-o is %q; it must end in %s or %s, or be a folder", out,
				inspectai.JSON, inspectai.Archive))
		}
	case out != "":
		if err := os.MkdirAll(out, 0o755); err != nil {
			return "", "", app.Fail(app.ExitUsage, err)
		}
	}
	name, err := run.InspectName(inspectai.JSON)
	if err != nil {
		return "", "", app.Fail(app.ExitFailure, err)
	}
	return filepath.Join(out, name), inspectai.JSON, nil
}
