package display

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/core/table"
)

// ShownVersion is the version of the JSON of "synod calibrate show".
const ShownVersion = 1

// Shown is how well the probabilities of a council hold that a calibration recommends.
type Shown struct {
	Version int             `json:"version"`
	Council string          `json:"council"`
	Task    string          `json:"task"`
	Created string          `json:"created"` // when the calibration began
	Aim     string          `json:"aim"`     // of the recommended council
	Tiers   [][]string      `json:"tiers"`
	P       float64         `json:"p"`
	F       int             `json:"f"`
	Labels  []LabelSource   `json:"labels"`
	Decided *metrics.Stated `json:"decided"` // of the calibration's questions; null: it decides none of them
	Tests   []DriftTest     `json:"drift"`
}

// LabelSource is where labels come from.
type LabelSource struct {
	Source string `json:"source"` // "calibration", "graded since" or "feedback"
	From   string `json:"from"`   // the task or the file
	N      int    `json:"n"`      // labelled questions
}

// DriftTest is a test of probabilities with the labels of a source that are newer than the calibration.
type DriftTest struct {
	Source string `json:"source"` // of LabelSource
	metrics.Drift
	Warning string `json:"warning,omitempty"`
}

// Add adds a source of newer labels, and tests what was stated of their answers.
func (s *Shown) Add(from LabelSource, later []metrics.Later) {
	s.Labels = append(s.Labels, from)
	for _, d := range metrics.Drifts(later) {
		s.Tests = append(s.Tests, DriftTest{from.Source, d, d.Warning()})
	}
}

// Print prints the diagram and the tests as text.
func (s *Shown) Print(w io.Writer) error {
	fmt.Fprintf(w, "%s, calibrated on %s: %s: %s, F=%d\n", app.OneLine(s.Council), app.OneLine(s.Created), s.Aim,
		TiersText(s.Tiers), s.F)
	for _, l := range s.Labels {
		fmt.Fprintf(w, "  %-12s  %s of %s\n", l.Source, app.Count(l.N, "labelled question"), app.OneLine(l.From))
	}
	if err := s.printDiagram(w); err != nil {
		return err
	}
	return s.printTests(w)
}

// printDiagram prints the bins. With F > 0 probabilities are trimmed, so answers should be right more often.
func (s *Shown) printDiagram(w io.Writer) error {
	d := s.Decided
	if d == nil {
		return app.Sayf(w, "\nthis council decides none of the questions\n")
	}
	fmt.Fprintln(w, "\nprobabilities of its decisions, fitted to other questions each:")
	t := table.Table{Head: []string{"stated, %", "right, %", "95 %", "N", "0 to 100 %: | stated, o right, - 95 %"},
		Align: "rrrrl"}
	for _, b := range slices.Backward(d.Bins) {
		if b.N > 0 {
			t.Add(inPercent(*b.Confidence), inPercent(b.Right.Value), ends(b.Right, inPercent), b.N, drawn(&b))
		}
	}
	if err := t.Write(w, "text"); err != nil {
		return err
	}
	fmt.Fprintf(w, "expected calibration error %.3f (95 %% %s, %d decisions);\n  probabilities without fault would "+
		"show %.3f on so few\n", d.ECE.Value, ends(d.ECE, func(v float64) string { return fmt.Sprintf("%.3f", v) }),
		d.N, d.IfTrue)
	if s.F > 0 {
		fmt.Fprintf(w, "They allow for %s that lies, so honest members are right more often than is stated.\n",
			app.Count(s.F, "member"))
	}
	return nil
}

// diagramWidth is how many characters stand for 0 to 100 %.
const diagramWidth = 31

// drawn draws a bin as a line of text.
func drawn(b *metrics.Bin) string {
	at := func(share float64) int { return int(share*(diagramWidth-1) + 0.5) }
	line := []byte(strings.Repeat(".", diagramWidth))
	for i := at(b.Right.Low); i <= at(b.Right.High); i++ {
		line[i] = '-'
	}
	line[at(*b.Confidence)] = '|'
	line[at(b.Right.Value)] = 'o'
	return string(line)
}

func (s *Shown) printTests(w io.Writer) error {
	if len(s.Tests) == 0 {
		return app.Sayf(w, "\nno newer labels: whether the probabilities still hold is not known\n")
	}
	fmt.Fprintf(w, "\nnewer labels against what was stated (each test warns by chance with probability %g at most):\n",
		metrics.DriftLevel)
	t := table.Table{Head: []string{"labels", "N", "stated, %", "right, %", "95 %", "p"}, Align: "lrrrrr"}
	for _, d := range s.Tests {
		name := d.Source
		if d.Month != "" {
			name += " in " + d.Month
		}
		t.Add(name, d.N, inPercent(d.Stated), inPercent(d.Right.Value), ends(d.Right, inPercent),
			fmt.Sprintf("%.2g", d.P))
	}
	if err := t.Write(w, "text"); err != nil {
		return err
	}
	for _, d := range s.Tests {
		if d.Warning != "" {
			app.PrintLine(w, "WARNING: "+d.Source+": "+d.Warning)
		}
	}
	return nil
}
