package cli

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// csv prints the findings with a column for every number, under JSON's names.
func (t *findings) csv() error {
	w := csv.NewWriter(t.w)
	head := []string{"name", "nodes", "edges", "directed", "connected", "r", "lower", "upper", "exact", "f_sac", "f_strong", "calls", "seconds", "witness_1", "witness_2"}
	if t.asked.rs {
		head = append(head, "s", "s_exact")
	}
	if t.asked.f >= 0 {
		head = append(head, "enough")
	}
	if t.asked.measures {
		head = append(head, "min_degree", "max_degree", "vertex_connectivity", "algebraic_connectivity")
	}
	rows := [][]string{head}
	for _, o := range t.all {
		row := []string{oneLine(o.Name)}
		for _, v := range []any{o.Nodes, o.Edges, o.Directed, o.Connected, o.R, o.Lower, o.Upper, o.Exact, o.FSAC, o.FStrong, o.Calls, o.Seconds} {
			row = append(row, fmt.Sprint(v))
		}
		rows = append(rows, append(row, t.csvRest(o)...))
	}
	return w.WriteAll(rows)
}

func (t *findings) csvRest(o *finding) []string {
	rest := []string{"", ""}
	if o.Witness != nil {
		for k, set := range o.Witness {
			rest[k] = strings.Trim(fmt.Sprint(set), "[]")
		}
	}
	if o.pairwise != nil {
		rest = append(rest, strconv.Itoa(o.S), strconv.FormatBool(o.SExact))
	}
	if o.gate != nil {
		rest = append(rest, yesNo(o.Enough))
	}
	if m := o.measures; m != nil {
		algebraic := ""
		if m.Algebraic != nil {
			algebraic = fmt.Sprint(*m.Algebraic)
		}
		rest = append(rest, strconv.Itoa(m.MinDegree), strconv.Itoa(m.MaxDegree), strconv.Itoa(m.Connectivity), algebraic)
	}
	return rest
}

// writeMarkdown prints a table, the first row being its heads.
func writeMarkdown(w io.Writer, rows [][]string) error {
	var b strings.Builder
	for k, row := range rows {
		for _, cell := range row {
			b.WriteString("| " + strings.ReplaceAll(cell, "|", `\|`) + " ")
		}
		b.WriteString("|\n")
		if k == 0 {
			b.WriteString(strings.Repeat("|---", len(row)) + "|\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
