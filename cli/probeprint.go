package cli

import (
	"fmt"
	"io"
	"text/tabwriter"

	"synod.dev/synod/lab/probing"
	"synod.dev/synod/probe"
)

// column are the figures of one confidence.
type column struct {
	name    string
	figures probe.Figures
	behind  *probe.Figure
	missing int
}

// printTraining prints the sweep and what came of it.
func printTraining(w io.Writer, r probe.Report, left probing.Left) error {
	printSubject(w, r.Subject)
	fmt.Fprintf(w, "answers     %s; left out: %d unreadable, %d without tokens\nsplit       by question, seed %d: ", oneLine(r.Task), left.Unreadable, left.Empty, r.Seed)
	for i, p := range []struct {
		name string
		c    probe.Count
	}{{"training", r.Training}, {"validation", r.Validation}, {"test", r.Test}} {
		if i > 0 {
			fmt.Fprint(w, ", ")
		}
		fmt.Fprintf(w, "%s %d (%d right)", p.name, p.c.Answers, p.c.Right)
	}
	fmt.Fprint(w, "\n\nsweep, on the validation answers:\n")
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "layer\tposition\tcomponents\ttraining AUC\tAUC\taccuracy\tBrier\t\t")
	for _, c := range r.Sweep {
		mark := ""
		if c.Layer == r.Chosen.Layer && c.Position == r.Chosen.Position && c.Components == r.Chosen.Components {
			mark = "chosen"
		}
		fmt.Fprintf(t, "%d\t%s\t%d\t%s\t%s\t%s\t%s\t%s\t\n", c.Layer, c.Position, c.Components, plain(c.Train), plain(c.AUC), plain(c.Accuracy), plain(c.Brier), mark)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	return printHeldOut(w, r)
}

// printMeasured prints what a probe is worth on other answers.
func printMeasured(w io.Writer, r probe.Report, left probing.Left) error {
	printSubject(w, r.Subject)
	fmt.Fprintf(w, "answers     %s: %d (%d right); left out: %d unreadable, %d without tokens\n\n", oneLine(r.Task), r.Test.Answers, r.Test.Right, left.Unreadable, left.Empty)
	return printHeldOut(w, r)
}

func printHeldOut(w io.Writer, r probe.Report) error {
	fmt.Fprintf(w, "layer %d, %s, on %d answers to %d questions that played no part in training or choice:\n", r.Chosen.Layer, r.Chosen.Position, r.Test.Answers, r.Test.Questions)
	list := []column{{"probe", r.Probe, nil, 0}}
	for _, x := range r.Rivals {
		list = append(list, column{x.Name, x.Figures, x.Behind, x.Unreadable})
	}
	if err := printFigures(w, list); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s.\n", r.Verdict)
	return err
}

// printFigures prints figures side by side, with their 95 % intervals.
func printFigures(w io.Writer, list []column) error {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprint(t, "\t")
	for _, n := range list {
		fmt.Fprintf(t, "%s\t", n.name)
	}
	fmt.Fprintln(t)
	row := func(name string, of func(probe.Figures) *probe.Figure) {
		fmt.Fprintf(t, "%s\t", name)
		for _, n := range list {
			fmt.Fprintf(t, "%s\t", interval(of(n.figures)))
		}
		fmt.Fprintln(t)
	}
	row("AUC", func(f probe.Figures) *probe.Figure { return f.AUC })
	row("accuracy at 0.5", func(f probe.Figures) *probe.Figure { return f.Accuracy })
	row("precision", func(f probe.Figures) *probe.Figure { return f.Precision })
	row("recall", func(f probe.Figures) *probe.Figure { return f.Recall })
	row("F1", func(f probe.Figures) *probe.Figure { return f.F1 })
	row("Brier", func(f probe.Figures) *probe.Figure { return f.Brier })
	row("calibration error", func(f probe.Figures) *probe.Figure { return f.ECE })
	if len(list) > 1 {
		fmt.Fprint(t, "AUC behind the probe\t")
		for _, n := range list {
			fmt.Fprintf(t, "%s\t", interval(n.behind))
		}
		fmt.Fprint(t, "\nanswers without it (count as 0)\t")
		for _, n := range list {
			fmt.Fprintf(t, "%d\t", n.missing)
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}

func interval(f *probe.Figure) string {
	if f == nil {
		return "–"
	}
	return fmt.Sprintf("%.3f (%.3f to %.3f)", f.Value, f.Low, f.High)
}

func plain(v *float64) string {
	if v == nil {
		return "–"
	}
	return fmt.Sprintf("%.3f", *v)
}
