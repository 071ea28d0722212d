package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// findings prints findings as they come, or as one table at the end.
type findings struct {
	w      io.Writer
	format string
	asked  examiner
	all    []*finding // for a table
	shown  bool       // a witness was printed in words
	loose  bool       // of some graph only bounds are known
	notes  []string
}

func newFindings(w io.Writer, format string, asked examiner) (*findings, error) {
	known := []string{"text", "json", "jsonl", "csv", "md"}
	if !slices.Contains(known, format) {
		return nil, fail(exitUsage, fmt.Errorf("--format is %q; it must be one of %s", format, strings.Join(known, ", ")))
	}
	return &findings{w: w, format: format, asked: asked}, nil
}

func (t *findings) add(o *finding) error {
	if o.Note != "" {
		t.notes = append(t.notes, o.Name+": "+o.Note)
	}
	if t.format != "json" && t.format != "jsonl" {
		t.all = append(t.all, o)
		return nil
	}
	if err := json.NewEncoder(t.w).Encode(o); err != nil {
		return fail(exitError1, err)
	}
	return nil
}

// end prints the table.
func (t *findings) end() error {
	if len(t.all) == 0 {
		return nil
	}
	if t.format == "csv" {
		return t.csv()
	}
	rows := [][]string{t.heads()}
	for _, o := range t.all {
		rows = append(rows, t.row(o))
	}
	if t.format == "md" {
		return writeMarkdown(t.w, rows)
	}
	w := tabwriter.NewWriter(t.w, 0, 4, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	return w.Flush()
}

func (t *findings) heads() []string {
	heads := []string{"graph", "nodes", "edges", "r"}
	if t.asked.rs {
		heads = append(heads, "s")
	}
	heads = append(heads, "F(SAC: r≥F+1)", "F(reliable-only: r≥2F+1)")
	if t.asked.f >= 0 {
		heads = append(heads, fmt.Sprintf("F=%d", t.asked.f))
		if t.asked.rs {
			heads = append(heads, fmt.Sprintf("(%d,%[1]d)-robust", t.asked.f+1))
		}
	}
	if t.asked.measures {
		heads = append(heads, "degrees", "κ", "λ₂")
	}
	return append(heads, fmt.Sprintf("calls/question (T=%d)", t.asked.rounds), "why r is not more")
}

func (t *findings) row(o *finding) []string {
	least := ""
	if !o.Exact {
		least, t.loose = "≥", true
	}
	row := []string{oneLine(o.Name), strconv.Itoa(o.Nodes), strconv.Itoa(o.Edges), bounds(o.Lower, o.Upper)}
	if o.pairwise != nil {
		row = append(row, bounds(o.SLower, o.SUpper))
	}
	if o.Upper == 0 {
		row = append(row, "none", "none")
	} else {
		row = append(row, least+strconv.Itoa(o.FSAC), least+strconv.Itoa(o.FStrong))
	}
	if o.gate != nil {
		row = append(row, yesNo(o.Enough))
		if t.asked.rs {
			row = append(row, yesNo(o.Total))
		}
	}
	if m := o.measures; m != nil {
		algebraic := "–"
		if m.Algebraic != nil {
			algebraic = fmt.Sprintf("%.3g", *m.Algebraic)
		}
		row = append(row, bounds(m.MinDegree, m.MaxDegree), strconv.Itoa(m.Connectivity), algebraic)
	}
	why := o.words()
	t.shown = t.shown || why != ""
	return append(row, strconv.Itoa(o.Calls), why)
}

func yesNo(b *bool) string {
	switch {
	case b == nil:
		return "not known"
	case *b:
		return "yes"
	}
	return "no"
}

// bounds is a number, or the two that it lies between.
func bounds(lower, upper int) string {
	if lower == upper {
		return strconv.Itoa(lower)
	}
	return fmt.Sprintf("%d…%d", lower, upper)
}

// words is the witness, and what it means where that is simple.
func (o *finding) words() string {
	if o.Witness == nil {
		return ""
	}
	var sets [2]string
	for k := range sets {
		if sets[k] = numbers(o.Witness[k]); o.Names != nil {
			sets[k] = nameList(o.Names[k])
		}
	}
	s := fmt.Sprintf("{%s} | {%s}", sets[0], sets[1])
	if o.decider != "" {
		s = fmt.Sprintf("one liar decides, at %s: %s", oneLine(o.decider), s)
	}
	return s
}

// numbers lists ascending numbers, runs of three and more as 0…3.
func numbers(all []int) string {
	var parts []string
	for i := 0; i < len(all); {
		j := i
		for j+1 < len(all) && all[j+1] == all[j]+1 {
			j++
		}
		if j < i+2 {
			j = i
			parts = append(parts, strconv.Itoa(all[i]))
		} else {
			parts = append(parts, fmt.Sprintf("%d…%d", all[i], all[j]))
		}
		i = j + 1
	}
	return strings.Join(parts, ",")
}

// nameList lists names; those that are all numbers as numbers.
func nameList(names []string) string {
	var all []int
	for _, name := range names {
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && strconv.Itoa(i) == name {
			all = append(all, i)
		}
	}
	if len(all) == len(names) {
		slices.Sort(all)
		return numbers(all)
	}
	return oneLine(strings.Join(names, ", "))
}

// explain says how to read the table, and what was remarked.
func (t *findings) explain(w io.Writer) {
	if t.shown && t.format == "text" {
		most := "r"
		if t.loose {
			most = "r (the upper bound, where there are two)"
		}
		fmt.Fprintf(w, "{…} | {…}: two sets in which nobody hears more than %s nodes outside its own set\n", most)
	}
	for k, note := range t.notes {
		if k == 5 && len(t.notes) > 6 {
			fmt.Fprintf(w, "… and %d more remarks\n", len(t.notes)-k)
			break
		}
		fmt.Fprintln(w, oneLine(note))
	}
}
