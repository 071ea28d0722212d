package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"synod.dev/synod"
	"synod.dev/synod/bench"
	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/core/table"
)

// exportFormats are those of bench export.
var exportFormats = []string{"csv", "parquet", "latex", "md", inspectFormat}

// inspectFormat is a log of inspect_ai.
const inspectFormat = "inspect"

type exportFlags struct {
	reportFlags
	layout  string
	rows    bool // a row for every question
	inspect bool // the same as --format inspect
}

func exportCommand(a *app.App) *cobra.Command {
	var f exportFlags
	cmd := &cobra.Command{
		Use:   "export DIR --format csv|parquet|latex|md|inspect",
		Short: "Export the figures or questions of a run or a grid",
		Long: `Writes the figures of all cells as CSV (a line for every figure), as a LaTeX tabular (package
booktabs) or as Markdown. With --vs paper the LaTeX and Markdown tables compare them
with those of the paper; with --layout paper the LaTeX has the tables of the manifest, in the
layout of its paper, with intervals in small type, and below a row with live members one for each of
their models. With --questions the CSV has a row for every finished question;
parquet writes these rows with typed columns, by the program synod-parquet beside synod.
A single run is a grid of one cell, without preset and paper.

inspect (or --inspect) writes an evaluation log of Inspect (inspect_ai) for every cell, with
one sample for each question and repeat. A sample contains the messages of the members by
round and the grade of the decision; the log contains every figure of the report. No
model is asked. The model name in the log includes the kinds of the members, so that
results of simulated members are recognizable. Without -o the log is written into the
working folder. A name that ends in .json or .eval selects the format. Any other name is a
folder, created if necessary, for a .json log whose name Inspect lists. An existing log is
replaced. A grid gives one log for each cell, in a folder of its own.`,
		Example: `  synod bench export runs/study --format csv -o study.csv
  synod bench export runs/study --format parquet -o study.parquet
  synod bench export runs/t1 --format latex --vs paper -o t1.tex
  synod bench export runs/t1 --format latex --layout paper -o table1.tex
  synod bench export runs/first --inspect -o logs
  synod bench export runs/first --inspect -o first.eval
  inspect view --log-dir logs`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return export(a, cmd, args[0], &f) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.format, "format", "", strings.Join(exportFormats, ", "))
	fl.BoolVar(&f.inspect, "inspect", false, "the same as --format inspect")
	cmd.MarkFlagsMutuallyExclusive("format", "inspect")
	fl.StringVarP(&f.out, "out", "o", "-", "output `file`; - is stdout; inspect: a file (.json or .eval) or a folder")
	fl.StringVar(&f.versus, "vs", "", "\"paper\" compares the figures with those of the paper")
	fl.StringVar(&f.layout, "layout", "", "latex: \"paper\" prints the tables of the manifest as its paper has them")
	fl.BoolVar(&f.rows, "questions", false, "csv: a row for every finished question; parquet always has these")
	return cmd
}

func export(a *app.App, cmd *cobra.Command, dir string, f *exportFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	run, grid, err := openBench(dir)
	switch {
	case err != nil:
		return err
	case grid != nil:
		return exportRows(a, cmd, grid, f)
	case f.versus != "":
		return app.Fail(app.ExitUsage, fmt.Errorf("--vs is %q, and %s is a single run, which has no figures of a "+
			"paper", f.versus, dir),
			"leave out --vs, or give the folder of a grid, as of: synod bench run sac-table1 -o runs/t1")
	case f.format == inspectFormat:
		return exportRun(a, cmd, run, strings.TrimPrefix(f.out, "-"))
	}
	return exportRows(a, cmd, run.Grid(), f)
}

func (f *exportFlags) check() error {
	if f.inspect {
		f.format = inspectFormat
	}
	switch f.format {
	case "csv", "latex", "md", inspectFormat:
	case "":
		return app.Fail(app.ExitUsage, fmt.Errorf("give the format with --format; it must be one of %s",
			strings.Join(exportFormats, ", ")))
	case "parquet":
		if f.out == "-" {
			return app.Fail(app.ExitUsage, errors.New("--format parquet needs -o FILE, for example -o rows.parquet"))
		}
	default:
		return app.Fail(app.ExitUsage, fmt.Errorf("--format is %q%s; it must be one of %s", f.format,
			synod.Hint(f.format, exportFormats), strings.Join(exportFormats, ", ")))
	}
	if f.versus != "" && f.versus != "paper" {
		return app.Fail(app.ExitUsage, fmt.Errorf("--vs is %q; it must be paper", f.versus))
	}
	if f.layout != "" && (f.layout != "paper" || f.format != "latex" || f.versus != "") {
		return app.Fail(app.ExitUsage, fmt.Errorf("--layout is %q with --format %s; it must be paper with --format "+
			"latex, without --vs", f.layout, f.format))
	}
	if f.rows && f.format != "csv" && f.format != "parquet" {
		return app.Fail(app.ExitUsage, fmt.Errorf("--questions is for --format csv and parquet, not %s", f.format))
	}
	return nil
}

func exportRows(a *app.App, cmd *cobra.Command, grid *bench.Grid, f *exportFlags) error {
	switch {
	case f.format == inspectFormat:
		return exportGrid(a, cmd, grid, strings.TrimPrefix(f.out, "-"))
	case f.format == "parquet":
		return exportParquet(cmd, grid, f.out)
	case f.rows:
		return f.write(cmd, func(w io.Writer) error { return questionsCSV(w, grid) })
	}
	for _, run := range grid.Runs {
		run.Prices = a.Prices
	}
	g, err := grid.Report()
	if err != nil {
		return unreportable(err)
	}
	if f.layout != "" {
		if len(g.Tables) == 0 {
			return app.Fail(app.ExitUsage, fmt.Errorf("the manifest of %s has no tables in the layout of a paper",
				grid.Dir()), "without --layout all cells are printed; the key tables: docs/measure/manifest.txt")
		}
		return f.write(cmd, g.Layout)
	}
	return f.write(cmd, func(w io.Writer) error { return g.Write(w, f.format, f.versus != "") })
}

// questionsCSV writes a row for every finished question. What is not known is empty.
func questionsCSV(w io.Writer, grid *bench.Grid) error {
	const atOnce = 1000 // rows that are kept in memory
	t := &table.Table{Head: []string{"preset", "cell", "task", "members_kind", "params", "question", "repeat",
		"answered", "right", "calls", "prompt_tokens", "completion_tokens", "usd", "ms"}}
	for row, err := range grid.Rows() {
		if err != nil {
			return err
		}
		right, usd := "", ""
		if row.Right != nil {
			right = strconv.FormatBool(*row.Right)
		}
		if row.USD != nil {
			usd = strconv.FormatFloat(*row.USD, 'g', -1, 64)
		}
		t.Add(row.Preset, row.Cell, row.Task, row.MembersKind, row.Params, row.Question, row.Repeat, row.Answered,
			right, row.Calls, row.PromptTokens, row.CompletionTokens, usd, row.Ms)
		if len(t.Rows) == atOnce {
			if err := t.Write(w, "csv"); err != nil {
				return err
			}
			*t = table.Table{}
		}
	}
	return t.Write(w, "csv")
}

// parquetProgram writes Parquet. Its library is larger than the rest of Synod, so it is a program of its own.
const parquetProgram = "synod-parquet"

// exportParquet writes a row for every finished question. The file is replaced when the new one is complete.
func exportParquet(cmd *cobra.Command, grid *bench.Grid, out string) error {
	path, err := app.Beside(parquetProgram, "parquet")
	if err != nil {
		return err
	}
	if err := app.WriteFile(out, func(w io.Writer) error { return rowsThrough(cmd, path, grid, w) }); err != nil {
		return app.Fail(app.ExitFailure, fmt.Errorf("write %s: %w", out, err))
	}
	return nil
}

// rowsThrough gives the rows to a program, as JSON lines, and copies what it writes.
func rowsThrough(cmd *cobra.Command, path string, grid *bench.Grid, out io.Writer) error {
	c := exec.CommandContext(cmd.Context(), path, "-write")
	c.Stdout, c.Stderr = out, cmd.ErrOrStderr()
	in, err := c.StdinPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	enc := json.NewEncoder(in)
	var failed error
	for row, err := range grid.Rows() {
		if err == nil {
			err = enc.Encode(row)
		}
		if failed = err; failed != nil {
			break
		}
	}
	closed, ended := in.Close(), c.Wait()
	if ended != nil { // it has said why, and a broken pipe follows from it
		return fmt.Errorf("%s: %w", parquetProgram, ended)
	}
	return errors.Join(failed, closed)
}
