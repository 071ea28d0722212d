package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"synod.dev/synod/metrics"
)

// Plot is a plot with the data behind it. It is drawn when it is asked for.
type Plot struct {
	Name    string     // a file's name without its ending
	Title   string     // one line
	Caption string     // what is drawn, and what to beware of
	Rows    [][]string // the data, a header first
	Table   [][]string // the data for readers; first row and column are headers
	SVG     func() ([]byte, error)
	PNG     func() ([]byte, error)

	wide bool // it fills a page's width
}

// Plots are the plots of a report that there is data for. A new plot is a
// function and a line here.
func (r *Report) Plots() []Plot {
	var out []Plot
	for _, plot := range []func(*Report) *Plot{accuracyPlot, groupsPlot, dropsPlot, calibrationPlot} {
		if f := plot(r); f != nil {
			out = append(out, *f)
		}
	}
	return append(out, gamePlots(r)...)
}

// Save writes every plot into a folder, which it makes: NAME.svg, NAME.png and
// NAME.csv.
func Save(dir string, plots []Plot) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	for _, f := range plots {
		for _, file := range []struct {
			ending string
			make   func() ([]byte, error)
		}{{".svg", f.SVG}, {".png", f.PNG}, {".csv", f.CSV}} {
			b, err := file.make()
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, f.Name+file.ending), b, 0o666)
			}
			if err != nil {
				return fmt.Errorf("report: plot %s: %w", f.Name, err)
			}
		}
	}
	return nil
}

// CSV is the data behind a plot.
func (f *Plot) CSV() ([]byte, error) {
	var b bytes.Buffer
	err := csv.NewWriter(&b).WriteAll(f.Rows)
	return b.Bytes(), err
}

// label says beside every plot and table that the members are no live models;
// "" where all are.
func (r *Report) label() string {
	var played []string
	for _, kind := range []string{"recorded", "simulated"} {
		if slices.Contains(r.MembersKind, kind) {
			played = append(played, kind)
		}
	}
	if len(played) == 0 {
		return ""
	}
	label := strings.Join(played, " and ") + " members"
	if len(played) < len(r.MembersKind) {
		label = "some " + label
	}
	return label
}

// titled adds the label to a plot's title: a picture travels without its page.
func (r *Report) titled(title string) string {
	if label := r.label(); label != "" {
		title += " (" + label + ")"
	}
	return title
}

// told is a rate in one cell of a table for readers.
func told(r *metrics.Rate) string {
	if r == nil {
		return "– (n 0)"
	}
	value, interval := percent(r)
	return fmt.Sprintf("%s (%s, n %d)", value, interval, r.N)
}

// rateColumns heads what rateCells fills.
var rateColumns = []string{"value", "n", "low", "high"}

func rateCells(r *metrics.Rate) []string {
	if r == nil {
		return []string{"", "0", "", ""}
	}
	return []string{number(r.Value), row{rate: r}.n(), number(r.Low), number(r.High)}
}
