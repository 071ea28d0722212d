package cli

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

// exportFormats are those of lab export.
var exportFormats = []string{"csv", "parquet", "latex", "md", "inspect"}

type exportFlags struct {
	reportFlags
	rows bool // a row for every question
}

func labExport(a *app.App) *cobra.Command {
	var f exportFlags
	cmd := &cobra.Command{
		Use:   "export DIR --format csv|parquet|latex|md|inspect",
		Short: "Export the figures or questions of a grid or a run",
		Long: `Writes the figures of all cells as CSV (a line for every figure), as a LaTeX tabular (package
booktabs) or as Markdown. With --vs paper the LaTeX and Markdown tables compare them
with those of the paper. With --questions the CSV has a row for every finished question;
parquet writes these rows with typed columns, by the program synod-parquet beside synod.
inspect writes a log of inspect_ai for every cell, as synod bench export does.

DIR may also be the folder of a single run: a grid of one cell, without preset and paper.`,
		Example: `  synod lab export runs/mine --format csv -o mine.csv
  synod lab export runs/mine --format parquet -o mine.parquet
  synod lab export runs/t1 --format latex --vs paper -o t1.tex
  synod lab export runs/first --format latex -o first.tex
  synod lab export runs/mine --format inspect -o logs`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			run, grid, err := openBench(args[0])
			switch {
			case err != nil:
				return err
			case grid != nil:
				return exportRows(a, cmd, grid, &f)
			case f.versus != "":
				return app.Fail(app.ExitUsage, fmt.Errorf("--vs is %q, and %s is a single run, which has no figures "+
					"of a paper",
					f.versus, args[0]),
					"leave out --vs, or give the folder of a grid, as of: synod lab run sac-table1 -o runs/t1")
			case f.format == "inspect":
				return exportRun(a, cmd, run, strings.TrimPrefix(f.out, "-"))
			}
			return exportRows(a, cmd, run.Grid(), &f)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.format, "format", "", strings.Join(exportFormats, ", "))
	fl.StringVarP(&f.out, "out", "o", "-", "output `file`; - is stdout; inspect: a folder")
	fl.StringVar(&f.versus, "vs", "", "\"paper\" compares the figures with those of the paper")
	fl.BoolVar(&f.rows, "questions", false, "csv: a row for every finished question; parquet always has these")
	return cmd
}

func (f *exportFlags) check() error {
	switch f.format {
	case "csv", "latex", "md", "inspect":
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
	if f.rows && f.format != "csv" && f.format != "parquet" {
		return app.Fail(app.ExitUsage, fmt.Errorf("--questions is for --format csv and parquet, not %s", f.format))
	}
	return nil
}

func exportRows(a *app.App, cmd *cobra.Command, grid *bench.Grid, f *exportFlags) error {
	switch {
	case f.format == "inspect":
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
