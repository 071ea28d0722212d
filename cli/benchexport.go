package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"synod.dev/synod/lab"
	"synod.dev/synod/report/inspect"
)

func benchExport(a *app) *cobra.Command {
	var toInspect bool
	var out string
	cmd := &cobra.Command{
		Use:   "export DIR --inspect",
		Short: "Write a run as a log that other tools read",
		Long: `Writes a run as an evaluation log of Inspect (inspect_ai): a sample for each
question and repeat with the members' words by round, the grade of the decision and
every figure of the report. Nothing is asked of any model. The log's model is named
with the kinds of the members, so that a simulated council passes for no other.

Without -o the log goes into the working folder under a name that Inspect lists. A
name that ends in .json or .eval says the format; any other is a folder, made if
need be, that takes the log under Inspect's own kind of name, as .json. A log that is there already is replaced. Of
a preset, every cell becomes a log in a folder of its own.`,
		Example: `  synod bench export runs/first --inspect
  synod bench export runs/first --inspect -o logs
  synod bench export runs/first --inspect -o first.eval
  inspect view --log-dir logs`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !toInspect {
				return fail(exitUsage, errors.New("which kind of log? there is one: --inspect"))
			}
			if grid, err := lab.OpenGrid(args[0]); err == nil {
				return a.exportGrid(cmd, grid, out)
			} else if !errors.Is(err, lab.ErrNoRun) {
				return fail(exitError1, err)
			}
			run, err := lab.Open(args[0])
			if err != nil {
				return fail(exitError1, err)
			}
			return a.exportRun(cmd, run, out)
		},
	}
	cmd.Flags().BoolVar(&toInspect, "inspect", false, "a log of inspect_ai")
	cmd.Flags().StringVarP(&out, "out", "o", "", "the log's `file` (.json or .eval), or a folder for it")
	return cmd
}

// exportRun writes one log and names it on stdout.
func (a *app) exportRun(cmd *cobra.Command, run *lab.Run, out string) error {
	path, format, err := logPath(run, out)
	if err != nil {
		return err
	}
	if err := replaceFile(path, func(w io.Writer) error { return run.Inspect(w, format) }); err != nil {
		return fail(exitError1, err)
	}
	if format == inspect.JSON && !listed.MatchString(filepath.Base(path)) {
		a.say(cmd, "inspect opens this log by its name, and lists .json logs only whose names begin with a time; -o FOLDER gives one")
	}
	if !a.quiet {
		fmt.Fprintln(cmd.OutOrStdout(), printable(path))
	}
	return nil
}

// exportGrid writes a log a cell, in a folder a cell.
func (a *app) exportGrid(cmd *cobra.Command, grid *lab.Grid, out string) error {
	if len(grid.Runs) == 0 {
		return fail(exitUsage, fmt.Errorf("every cell of %s is computed: there is no run of which a log could be made", grid.Preset))
	}
	if ext := filepath.Ext(out); ext == inspect.JSON || ext == inspect.Archive {
		return fail(exitUsage, fmt.Errorf("%s holds %d runs; give a folder for their logs with -o", grid.Dir(), len(grid.Runs)))
	}
	for i, run := range grid.Runs {
		folder := filepath.Join(out, grid.Cells[i].Name)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return fail(exitError1, err)
		}
		if err := a.exportRun(cmd, run, folder); err != nil {
			return err
		}
	}
	return nil
}

// listed is how the names of .json logs begin that Inspect lists.
var listed = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}T\d{2}[:-]\d{2}[:-]\d{2}`)

// logPath is where a log goes, and its format.
func logPath(run *lab.Run, out string) (path, format string, err error) {
	switch ext := filepath.Ext(out); {
	case ext == inspect.JSON || ext == inspect.Archive:
		return out, ext, nil
	case ext != "" && !strings.HasSuffix(out, string(filepath.Separator)):
		if info, err := os.Stat(out); err != nil || !info.IsDir() {
			return "", "", fail(exitUsage, fmt.Errorf("-o is %q; it must end in %s or %s, or be a folder", out, inspect.JSON, inspect.Archive))
		}
	case out != "":
		if err := os.MkdirAll(out, 0o755); err != nil {
			return "", "", fail(exitUsage, err)
		}
	}
	name, err := run.InspectName(inspect.JSON)
	if err != nil {
		return "", "", fail(exitError1, err)
	}
	return filepath.Join(out, name), inspect.JSON, nil
}

// replaceFile writes a file that is there whole or not at all.
func replaceFile(path string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".synod-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone already if the rename worked
	if err := errors.Join(write(f), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
