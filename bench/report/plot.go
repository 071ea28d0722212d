package report

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/core/table"
)

// Plot is a plot with its data. It is drawn when SVG, PDF or PNG is called.
type Plot struct {
	Name    string // file name without extension
	Title   string // one line
	Caption string // what the plot shows, and how not to misread it
	Data    *table.Table
	Table   *table.Table // the data for readers

	file  func(format string) ([]byte, error)
	print func(format, note string) ([]byte, error) // in the layout of papers; nil: there is none
	wide  bool                                      // takes the full width of a page
}

// SVG draws the plot as an SVG document. It returns an error if a figure is not a finite number.
func (f *Plot) SVG() ([]byte, error) { return f.file("svg") }

// PDF is SVG for a PDF document of one page.
func (f *Plot) PDF() ([]byte, error) { return f.file("pdf") }

// PNG is SVG for an image of 144 pixels an inch.
func (f *Plot) PNG() ([]byte, error) { return f.file("png") }

// Save writes every plot into a directory, which is created if necessary: NAME.svg,
// NAME.pdf, NAME.png and NAME.csv.
func Save(dir string, plots []Plot) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	for _, f := range plots {
		for _, file := range []struct {
			extension string
			make      func() ([]byte, error)
		}{{".svg", f.SVG}, {".pdf", f.PDF}, {".png", f.PNG}, {".csv", f.CSV}} {
			b, err := file.make()
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, f.Name+file.extension), b, 0o666)
			}
			if err != nil {
				return fmt.Errorf("report: plot %s: %w", f.Name, err)
			}
		}
	}
	return nil
}

// Print returns the figures of a grid as papers have them: as wide as one or two columns of a page, in small type,
// without titles. What the members are is above the charts.
func (g *Grid) Print(plots []Plot) []Plot {
	plots = slices.Clone(plots)
	for i := range plots {
		if print := plots[i].print; print != nil {
			plots[i].file = func(format string) ([]byte, error) { return print(format, g.label()) }
		}
	}
	return plots
}

// CSV returns the data of a plot.
func (f *Plot) CSV() ([]byte, error) {
	var b bytes.Buffer
	err := f.Data.Write(&b, "csv")
	return b.Bytes(), err
}

// dataTable returns an empty table of a plot's data: the members' kinds, the given
// columns, and the columns of a rate.
func dataTable(columns ...string) *table.Table {
	return &table.Table{Head: slices.Concat([]string{"members_kind"}, columns, rateColumns)}
}

// addRow adds a row to a table that dataTable made.
func addRow(t *table.Table, kinds string, r *metrics.Rate, cells ...string) {
	t.Rows = append(t.Rows, slices.Concat([]string{kinds}, cells, rateCells(r)))
}

// label names the members that are not live models, for plots and tables; "" if all
// are live.
func (r *Report) label() string {
	var kinds []string
	for _, kind := range []string{"recorded", "simulated"} {
		if slices.Contains(r.MembersKind, kind) {
			kinds = append(kinds, kind)
		}
	}
	if len(kinds) == 0 {
		return ""
	}
	label := strings.Join(kinds, " and ") + " members"
	if len(kinds) < len(r.MembersKind) {
		label = "some " + label
	}
	return label
}

// titled adds the label to a plot's title, because pictures are used without their page.
func (r *Report) titled(title string) string { return withLabel(title, r.label()) }

func withLabel(title, label string) string {
	if label == "" {
		return title
	}
	return title + " (" + label + ")"
}

const membersNote = "In “all”, adversaries count as wrong; the groups are of honest members only."

const roundsNote = "after every round (0: before hearing anyone), with the 95 % interval by question; a question " +
	"that ended earlier counts with its final answers."

// maxPlotCells is the largest number of cells for plots with a row or panel per cell.
const maxPlotCells = 40

// draw lets a plot draw the picture that build makes, whenever a file of it is asked for.
func (f *Plot) draw(build func() *picture) {
	f.file = func(format string) ([]byte, error) { return build().file(format) }
	f.print = func(format, note string) ([]byte, error) {
		p := build()
		p.forPrint(note)
		return p.file(format)
	}
}
