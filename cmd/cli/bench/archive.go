package bench

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"synod.dev/synod/bench"
	"synod.dev/synod/bench/report"
	"synod.dev/synod/cmd/cli/app"
)

func archiveCommand(a *app.App) *cobra.Command {
	var out string
	var authors []string
	cmd := &cobra.Command{
		Use:   "archive DIR --author NAME -o FILE.zip",
		Short: "Write one file with all that belongs to an experiment",
		Long: `Writes a zip file for readers of a paper: the folder of the run or grid with all journals, its
manifest, seeds, versions and prices (setting.json), the report (report.md), all figures
(figures.csv) and claims (report.json), the tables in the layout of the paper where the
manifest describes them (tables.tex), and CITATION.cff. SHA256SUMS has the digest of every
file. The command prints the digest of that list, which stands for the whole content: the
same folder and authors always give the same file. No model is asked.

The archive has the questions with their keys, and every reply. Keys of models are never in
a folder. To check one, unpack it: sha256sum -c SHA256SUMS; synod bench report run.`,
		Example: "  synod bench archive runs/t1 --author 'Ada Example' -o t1.zip",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" || len(authors) == 0 {
				return app.Fail(app.ExitUsage, errors.New("an archive needs -o FILE.zip and --author NAME, who is "+
					"to be cited"))
			}
			return archive(a, cmd, args[0], authors, out)
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "the zip `file`")
	cmd.Flags().StringArrayVar(&authors, "author", nil, "`name` of an author of the data; may be repeated")
	return cmd
}

// archive writes the archive of a folder. An existing file is replaced when the new one is complete.
func archive(a *app.App, cmd *cobra.Command, dir string, authors []string, out string) error {
	run, grid, err := openBench(dir)
	if err != nil {
		return err
	}
	if run != nil {
		grid = run.Grid()
	}
	for _, run := range grid.Runs {
		run.Prices = a.Prices
	}
	g, err := grid.Report()
	if err != nil {
		return unreportable(err)
	}
	if g.Unfinished > 0 {
		a.Say(cmd, fmt.Sprintf("%s of %d not finished; the archive says so in its report",
			app.Count(g.Unfinished, "question"), g.Questions))
	}
	texts, err := archivedTexts(g)
	if err != nil {
		return app.Fail(app.ExitFailure, err)
	}
	var digest string
	err = app.WriteFile(out, func(w io.Writer) (err error) {
		digest, err = grid.Archive(w, authors, texts)
		return err
	})
	if err != nil {
		return app.Fail(app.ExitFailure, err)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s  %s of %s\n", digest, bench.ArchiveSums, app.Printable(out))
	return nil
}

// archivedTexts are the tables of a report by file.
func archivedTexts(g *report.Grid) (map[string][]byte, error) {
	texts := map[string][]byte{}
	add := func(name string, write func(io.Writer) error) error {
		var b bytes.Buffer
		err := write(&b)
		texts[name] = b.Bytes()
		return err
	}
	err := errors.Join(
		add("report.md", func(w io.Writer) error { return g.Write(w, "md", false) }),
		add("report.json", func(w io.Writer) error { return g.Write(w, "json", false) }),
		add("figures.csv", func(w io.Writer) error { return g.Write(w, "csv", false) }))
	if len(g.Tables) > 0 {
		err = errors.Join(err, add("tables.tex", g.Layout))
	}
	return texts, err
}
