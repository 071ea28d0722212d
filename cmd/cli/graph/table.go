package graph

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/core/table"
)

// graphTable prints results as they come (json, jsonl) or as one table at the end (text, csv, md).
type graphTable struct {
	w        io.Writer
	format   string
	flags    checker
	all      []*CheckReport // for a table
	explain  bool           // whether the table has a witness
	inexact  bool           // whether only bounds are known for some graph
	messages []string
}

func newGraphTable(w io.Writer, format string, flags checker) (*graphTable, error) {
	known := []string{"text", "json", "jsonl", "csv", "md"}
	if !slices.Contains(known, format) {
		return nil, app.Fail(app.ExitUsage, fmt.Errorf("--format is %q; it must be one of %s", format,
			strings.Join(known, ", ")))
	}
	return &graphTable{w: w, format: format, flags: flags}, nil
}

func (t *graphTable) add(o *CheckReport) error {
	if o.Note != "" {
		t.messages = append(t.messages, o.Name+": "+o.Note)
	}
	if t.format != "json" && t.format != "jsonl" {
		t.all = append(t.all, o)
		return nil
	}
	if err := json.NewEncoder(t.w).Encode(o); err != nil {
		return app.Fail(app.ExitFailure, err)
	}
	return nil
}

// end prints the table.
func (t *graphTable) end() error {
	if len(t.all) == 0 {
		return nil
	}
	head, row := t.head(), t.row
	if t.format == "csv" {
		head, row = t.csvHead(), t.csvRow
	}
	out := table.Table{Head: head}
	for _, o := range t.all {
		out.Rows = append(out.Rows, row(o))
	}
	return out.Write(t.w, t.format)
}

func (t *graphTable) head() []string {
	head := []string{"graph", "nodes", "edges", "r"}
	if t.flags.rs {
		head = append(head, "s")
	}
	head = append(head, "F(SAC: r≥F+1)", "F(reliable-only: r≥2F+1)")
	if t.flags.f >= 0 {
		head = append(head, fmt.Sprintf("F=%d", t.flags.f))
		if t.flags.rs {
			head = append(head, fmt.Sprintf("(%d,%[1]d)-robust", t.flags.f+1))
		}
	}
	if t.flags.measures {
		head = append(head, "degrees", "κ", "λ₂")
	}
	return append(head, fmt.Sprintf("calls/question (T=%d)", t.flags.rounds), "why r is not more")
}

func (t *graphTable) row(o *CheckReport) []string {
	atLeast := ""
	if !o.Exact {
		atLeast, t.inexact = "≥", true
	}
	row := []string{app.OneLine(o.Name), strconv.Itoa(o.Nodes), strconv.Itoa(o.Edges), between(o.Lower, o.Upper)}
	if o.pairwise != nil {
		row = append(row, between(o.SLower, o.SUpper))
	}
	if o.Upper == 0 {
		row = append(row, "none", "none")
	} else {
		row = append(row, atLeast+strconv.Itoa(o.FSAC), atLeast+strconv.Itoa(o.FStrong))
	}
	if o.gate != nil {
		row = append(row, yesNo(o.Enough))
		if t.flags.rs {
			row = append(row, yesNo(o.Total))
		}
	}
	if m := o.measures; m != nil {
		algebraic := "–"
		if m.Algebraic != nil {
			algebraic = fmt.Sprintf("%.3g", *m.Algebraic)
		}
		row = append(row, between(m.MinDegree, m.MaxDegree), strconv.Itoa(m.Connectivity), algebraic)
	}
	witness := o.witnessText()
	t.explain = t.explain || witness != ""
	return append(row, strconv.Itoa(o.Calls), witness)
}

// csvHead names the columns like the JSON keys.
func (t *graphTable) csvHead() []string {
	head := []string{"name", "nodes", "edges", "directed", "connected", "r", "lower", "upper", "exact", "f_sac",
		"f_strong", "calls", "seconds", "witness_1", "witness_2"}
	if t.flags.rs {
		head = append(head, "s", "s_exact")
	}
	if t.flags.f >= 0 {
		head = append(head, "enough")
	}
	if t.flags.measures {
		head = append(head, "min_degree", "max_degree", "vertex_connectivity", "algebraic_connectivity")
	}
	return head
}

func (t *graphTable) csvRow(o *CheckReport) []string {
	row := []string{app.OneLine(o.Name)}
	for _, v := range []any{o.Nodes, o.Edges, o.Directed, o.Connected, o.R, o.Lower, o.Upper, o.Exact, o.FSAC,
		o.FStrong, o.Calls, o.Seconds} {
		row = append(row, fmt.Sprint(v))
	}
	sets := [2]string{}
	if o.Witness != nil {
		for k, set := range o.Witness {
			sets[k] = strings.Trim(fmt.Sprint(set), "[]")
		}
	}
	row = append(row, sets[:]...)
	if o.pairwise != nil {
		row = append(row, strconv.Itoa(o.S), strconv.FormatBool(o.SExact))
	}
	if o.gate != nil {
		row = append(row, yesNo(o.Enough))
	}
	if m := o.measures; m != nil {
		algebraic := ""
		if m.Algebraic != nil {
			algebraic = fmt.Sprint(*m.Algebraic)
		}
		row = append(row, strconv.Itoa(m.MinDegree), strconv.Itoa(m.MaxDegree), strconv.Itoa(m.Connectivity), algebraic)
	}
	return row
}

// tabulate prints results as a text table, without the columns of optional flags.
func tabulate(w io.Writer, flags checker, all ...*CheckReport) error {
	flags.f, flags.rs, flags.measures = -1, false, false
	t, err := newGraphTable(w, "text", flags)
	if err != nil {
		return err
	}
	for _, o := range all {
		o.gate, o.pairwise, o.measures = nil, nil, nil
		if err := t.add(o); err != nil {
			return err
		}
	}
	return t.end()
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

// between prints a number that is between two bounds.
func between(lower, upper int) string {
	if lower == upper {
		return strconv.Itoa(lower)
	}
	return fmt.Sprintf("%d…%d", lower, upper)
}

// witnessText prints the witness, and the node that alone holds the graph together if there is one.
func (o *CheckReport) witnessText() string {
	if o.Witness == nil {
		return ""
	}
	var sets [2]string
	for k := range sets {
		if sets[k] = numberList(o.Witness[k]); o.Names != nil {
			sets[k] = nameList(o.Names[k])
		}
	}
	s := fmt.Sprintf("{%s} | {%s}", sets[0], sets[1])
	if o.cutNode != "" {
		s = fmt.Sprintf("one faulty node is enough, at %s: %s", app.OneLine(o.cutNode), s)
	}
	return s
}

// numberList prints ascending numbers, with runs of three and more as 0…3.
func numberList(all []int) string {
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

// nameList prints names, or a list of numbers if all names are numbers.
func nameList(names []string) string {
	var all []int
	for _, name := range names {
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && strconv.Itoa(i) == name {
			all = append(all, i)
		}
	}
	if len(all) == len(names) {
		slices.Sort(all)
		return numberList(all)
	}
	return app.OneLine(strings.Join(names, ", "))
}

// printNotes explains the last column of the table and prints the notes on graphs, at most six.
func (t *graphTable) printNotes(w io.Writer) {
	if t.explain && t.format == "text" {
		most := "r"
		if t.inexact {
			most = "r (the upper bound, if there are two)"
		}
		fmt.Fprintf(w, "{…} | {…}: two sets in which no node has more than %s neighbours outside its own set\n", most)
	}
	for k, note := range t.messages {
		if k == 5 && len(t.messages) > 6 {
			fmt.Fprintf(w, "… and %d more notes\n", len(t.messages)-k)
			break
		}
		fmt.Fprintln(w, app.OneLine(note))
	}
}
