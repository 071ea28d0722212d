package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"
)

// plain makes names from files and models safe for a terminal and a table: what
// controls one is dropped.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.C, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) {
			return -1
		}
		return r
	}, s)
}

func (r *Report) title() string {
	exact := ""
	if r.Exact != "" {
		exact = ", exact: " + plain(r.Exact)
	}
	return fmt.Sprintf("%s · council %s (%s%s, %s) · seed %d", plain(r.Task), plain(r.Council), plain(r.Protocol), exact, plain(r.Rule), r.Seed)
}

func (r *Report) standing() string {
	s := fmt.Sprintf("%d of %d questions finished", r.Finished, r.Questions)
	if r.Repeat > 1 {
		s += fmt.Sprintf(" (%d repeats counted)", r.Repeat)
	}
	return s + fmt.Sprintf(" · %d failed · %d unfinished", r.Failed, r.Unfinished)
}

func (r *Report) kinds() string { return "members: " + strings.Join(r.MembersKind, ", ") }

// remarks say what is in no rate.
func (r *Report) remarks() []string {
	return []string{
		fmt.Sprintf("ties: %d of all seats, %d of the honest · %d final answers unscored (absent or unreadable)", r.Ties.RA, r.Ties.Honest, r.Unscored),
		fmt.Sprintf("%d calls of %d planned, %d reused · tokens: %d prompt, %d completion · %.1f s · cost: %s%s", r.Calls.Made, r.Calls.Planned, r.Calls.Reused, r.Tokens.Prompt, r.Tokens.Completion, r.Seconds, plain(r.Money.String()), unspoken(r.Failed+r.Unfinished)),
	}
}

// unspoken says that calls, tokens and money do not tell of these questions.
func unspoken(questions int) string {
	if questions == 0 {
		return ""
	}
	return " · of finished questions only"
}

// notes are the lines below a table.
func (r *Report) notes() []string {
	notes := r.remarks()
	if c := r.Compared; c != nil {
		notes = append(notes, fmt.Sprintf("against %s on %d questions: right only here %d, only there %d, McNemar exact %s", plain(c.Against), c.Questions, c.Pairs[0][1], c.Pairs[1][0], c.P()))
	}
	notes = append(notes, r.Calibration.notes()...)
	for i, f := range r.Failures {
		if i == 10 {
			notes = append(notes, fmt.Sprintf("… and %d more", len(r.Failures)-i))
			break
		}
		notes = append(notes, fmt.Sprintf("failed: %s, repeat %d: %s", plain(f.Question), f.Repeat, plain(f.Reason)))
	}
	return notes
}

func (r *Report) text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n%s\n\n", r.title(), r.kinds(), r.standing())
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "rate\t\t95 % interval\tn")
	for _, row := range r.rows() {
		value, interval := percent(row.rate)
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", row.says, value, interval, row.n())
	}
	t.Flush()
	for _, table := range r.breakdown() {
		fmt.Fprintln(&b)
		for _, line := range table {
			fmt.Fprintln(t, strings.Join(line, "\t"))
		}
		t.Flush()
	}
	fmt.Fprintf(&b, "\n%s\n", strings.Join(r.notes(), "\n"))
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *Report) markdown(w io.Writer) error {
	cell := strings.NewReplacer("|", `\|`, "<", "&lt;")
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**\n\n%s · %s\n\n| rate | value | 95 %% interval | n |\n|---|---:|---:|---:|\n", cell.Replace(r.title()), cell.Replace(r.kinds()), r.standing())
	for _, row := range r.rows() {
		value, interval := percent(row.rate)
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", row.says, value, interval, row.n())
	}
	for _, table := range r.breakdown() {
		for i, line := range table {
			if i == 0 {
				fmt.Fprintln(&b)
			}
			for k := range line {
				line[k] = cell.Replace(line[k])
			}
			fmt.Fprintf(&b, "| %s |\n", strings.Join(line, " | "))
			if i == 0 {
				fmt.Fprintf(&b, "|---|%s\n", strings.Repeat("---:|", len(line)-1))
			}
		}
	}
	for _, note := range r.notes() {
		fmt.Fprintf(&b, "\n%s\n", cell.Replace(note))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (row row) n() string {
	if row.rate == nil {
		return "0"
	}
	return strconv.Itoa(row.rate.N)
}

// csv prints one figure a line; every line carries the members' kinds.
func (r *Report) csv(w io.Writer) error {
	kinds := strings.Join(r.MembersKind, "+")
	lines := [][]string{{"task", "council", "members_kind", "figure", "value", "n", "low", "high"}}
	add := func(figure string, rest ...string) {
		lines = append(lines, append([]string{plain(r.Task), plain(r.Council), kinds, figure}, rest...))
	}
	for _, row := range append(r.rows(), r.partRows()...) {
		if row.rate == nil {
			add(row.name, "", "0", "", "")
			continue
		}
		add(row.name, number(row.rate.Value), row.n(), number(row.rate.Low), number(row.rate.High))
	}
	for _, c := range []struct {
		name string
		n    int
	}{
		{"questions", r.Questions}, {"finished", r.Finished}, {"failed", r.Failed}, {"unfinished", r.Unfinished}, {"unscored", r.Unscored},
		{"ties_ra", r.Ties.RA}, {"ties_h_majority", r.Ties.Honest}, {"calls_made", r.Calls.Made}, {"calls_reused", r.Calls.Reused},
		{"calls_planned", r.Calls.Planned}, {"tokens_prompt", r.Tokens.Prompt}, {"tokens_completion", r.Tokens.Completion},
	} {
		add(c.name, strconv.Itoa(c.n), "", "", "")
	}
	add("seconds", number(r.Seconds), "", "", "")
	add("cost_usd_at_least", number(r.Money.AtLeast), "", "", "")
	cost := ""
	if r.Cost != nil {
		cost = number(r.Cost.USD)
	}
	add("cost_usd", cost, "", "", "")
	r.Calibration.csv(add)
	if r.Compared != nil {
		add("compared_mcnemar_p", number(r.Compared.McNemar), strconv.Itoa(r.Compared.Questions), "", "")
	}
	return csv.NewWriter(w).WriteAll(lines)
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
