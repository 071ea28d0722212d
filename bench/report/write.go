package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/core/table"
)

// Write prints the report in the named format, one of Formats. Use HTML for a page
// that includes questions.
func (r *Report) Write(w io.Writer, format string) error {
	switch format {
	case "json":
		return writeJSON(w, r)
	case "csv":
		return r.csv(w)
	case "text", "md":
		return r.document(format).write(w)
	case "html":
		return r.HTML(w, Detail{})
	}
	return unknownFormat(format)
}

// The parts of a printed report.

func (r *Report) title() string {
	exact := ""
	if r.Exact != "" {
		exact = ", exact: " + plain(r.Exact)
	}
	return fmt.Sprintf("%s · council %s (%s%s, %s) · seed %d", plain(r.Task), plain(r.Council), plain(r.Protocol),
		exact, plain(r.Rule), r.Seed)
}

func (r *Report) kindsLine() string {
	line := "members: " + strings.Join(r.MembersKind, ", ")
	line += fooledBy(fooling(r.Seats))
	if r.Setting != nil {
		line += " · " + r.Setting.line()
	}
	return line
}

func (r *Report) progress() string {
	s := fmt.Sprintf("%d of %d questions finished", r.Finished, r.Questions)
	if r.Repeat > 1 {
		s += fmt.Sprintf(" (%d repeats counted)", r.Repeat)
	}
	return s + fmt.Sprintf(" · %d failed · %d unfinished", r.Failed, r.Unfinished)
}

// latency is the name of the virtual time until the decision, which tables leave out below leastLatency, in seconds.
const (
	latency      = "latency"
	leastLatency = 0.05
)

// Summary is the table of the rates.
func (r *Report) Summary() *table.Table {
	t := &table.Table{Head: []string{"rate", "value", "95 % interval", "n"}, Align: "lr"}
	rates := r.Rates()
	n := map[string]string{} // by name
	for _, rate := range rates {
		n[rate.Name] = count(rate.Rate)
		if rate.Name == latency && (rate.Rate == nil || rate.Rate.Value < leastLatency) {
			continue // nobody waited: the clock stood still
		}
		if of, present := strings.CutSuffix(rate.Name, "_present"); present && n[of] == n[rate.Name] {
			continue // every answer could be graded: the same figure
		}
		t.Add(rate.Label, percent(rate.Rate), interval(rate.Rate), count(rate.Rate))
	}
	return t
}

// tables are the tables of a report as text.
func (r *Report) tables() []*table.Table {
	tables := []*table.Table{r.Summary()}
	if len(r.Models) > 0 {
		tables = append(tables, r.modelTable())
	}
	if len(r.Withstands) > 0 {
		tables = append(tables, withstandsTable(r.Withstands))
	}
	if len(r.ErrorPairs) > 0 {
		tables = append(tables, errorTable(r.ErrorPairs, textPairs))
	}
	if r.ChangingGraph != nil {
		tables = append(tables, r.ChangingGraph.roundTable())
	}
	return append(tables, r.partTables()...)
}

// withstandsRates lists the shares of questions whose decision withstands k answers, with names such as
// withstands_ignored_right[k=2].
func withstandsRates(list []metrics.Withstood) (rates []NamedRate) {
	for _, w := range list {
		for _, by := range []struct {
			name  string
			rates metrics.Robustness
		}{{"withstands_ignored", w.Ignored}, {"withstands_changed", w.Changed}} {
			rates = append(rates, NamedRate{Name: fmt.Sprintf("%s[k=%d]", by.name, w.K), Rate: by.rates.Decided},
				NamedRate{Name: fmt.Sprintf("%s_right[k=%d]", by.name, w.K), Rate: by.rates.Right})
		}
	}
	return rates
}

// withstandsTable shows what decisions withstand, a row for each k.
func withstandsTable(list []metrics.Withstood) *table.Table {
	t := &table.Table{Head: []string{"k", "decided, any k answers ignored", "right", "decided, any k answers changed",
		"right"}, Align: "r"}
	for _, w := range list {
		t.Add(w.K, full(w.Ignored.Decided), full(w.Ignored.Right), full(w.Changed.Decided), full(w.Changed.Right))
	}
	return t
}

// partTables returns a table of figures by level and one by topic, if there are any.
func (r *Report) partTables() (tables []*table.Table) {
	for _, by := range []struct {
		name  string
		parts []metrics.Part
	}{{"level", r.Levels}, {"topic", r.Topics}} {
		if len(by.parts) == 0 {
			continue
		}
		t := &table.Table{Head: []string{by.name, "questions", "members right at first", "at the end",
			"plurality right", "decisions right"}, Align: "lr"}
		for _, p := range by.parts {
			row := []any{p.Name, p.Questions}
			for _, rate := range ratesOfPart(p) {
				row = append(row, full(rate.Rate))
			}
			t.Add(row...)
		}
		tables = append(tables, t)
	}
	return tables
}

// totals are the lines about ties, calls and cost.
func (r *Report) totals() []string {
	lines := []string{
		fmt.Sprintf("ties: %d of all seats, %d of the honest · %d final answers absent or unreadable, counted as "+
			"not right",
			r.Ties.RA, r.Ties.Honest, r.Unscored),
		fmt.Sprintf("%s · tokens: %d prompt, %d completion · %.1f s · cost: %s%s", r.Calls.line(), r.Tokens.Prompt,
			r.Tokens.Completion, r.Seconds,
			plain(r.Money.String()), r.excluded()),
	}
	for _, m := range r.Seats {
		if m.Misreports > 0 {
			lines = append(lines, fmt.Sprintf("usage of %s (%s) that cannot be true: %d replies, charged what was "+
				"reserved for them; the first: %s", plain(m.ID), plain(m.Model), m.Misreports, plain(m.Misreport)))
		}
	}
	return lines
}

func (c *Calls) line() string {
	made := fmt.Sprintf("%d calls of %d planned", c.Made, c.Planned)
	if more := c.Made - c.Planned; more > 0 {
		made = fmt.Sprintf("%d calls (%d planned, %d more after failures)", c.Made, c.Planned, more)
	}
	return fmt.Sprintf("%s, %d reused", made, c.Reused)
}

// excluded states that calls, tokens and cost leave out unfinished questions.
func (r *Report) excluded() string {
	if r.Failed+r.Unfinished == 0 {
		return ""
	}
	return " · of finished questions only"
}

// maxFailures is the number of failed questions that text and Markdown list.
const maxFailures = 10

// harmNote is what the seats of adversaries do to the graph, none without adversaries.
func (r *Report) harmNote() []string {
	if r.Harm == "" {
		return nil
	}
	return []string{plain(r.Harm)}
}

// notes are the lines below the tables.
func (r *Report) notes() []string {
	notes := append(r.totals(), r.Warnings()...)
	if c := r.Compared; c != nil {
		notes = append(notes, fmt.Sprintf("against %s on %d questions: only this run right: %d; "+
			"only the other right: %d; %s · members right at the end: p %s",
			plain(c.Against), c.Questions, c.Pairs[0][1], c.Pairs[1][0], c.test(), pValue(c.FAAP)))
	}
	for _, line := range []string{r.Harm, r.GraphLine()} {
		if line != "" {
			notes = append(notes, plain(line))
		}
	}
	notes = append(notes, r.judgingNotes()...)
	notes = append(notes, r.Calibration.notes()...)
	for i, f := range r.Failures {
		if i == maxFailures {
			notes = append(notes, fmt.Sprintf("… and %d more", len(r.Failures)-i))
			break
		}
		notes = append(notes, fmt.Sprintf("failed: %s, repeat %d: %s", plain(f.Question), f.Repeat, plain(f.Reason)))
	}
	return notes
}

// judgingNotes prints a line for each model that judged.
func (r *Report) judgingNotes() (notes []string) {
	if r.Judging == nil {
		return nil
	}
	for _, m := range r.Judging.Models {
		notes = append(notes, fmt.Sprintf("scores of %s for first answers: AUC against truth %.3f (%.3f to "+
			"%.3f) · n %d, %d without a score", plain(m.Model), m.AUC.Value, m.AUC.Low, m.AUC.High, m.N, m.Missing))
	}
	return notes
}

// notes prints two lines per model: its scores, and its reliability bins.
func (c *Calibration) notes() (notes []string) {
	if c == nil {
		return nil
	}
	for _, m := range c.Models {
		b := m.Brier
		notes = append(notes, fmt.Sprintf("confidence of %s in its first answers: Brier %.3f (%.3f to %.3f) · ECE "+
			"%.3f · n %d, %d without one",
			plain(m.Model), b.Value, b.Low, b.High, *m.ECE, m.N, m.Missing))
		var bins []string
		for _, bin := range m.Bins {
			if bin.N > 0 {
				bins = append(bins, fmt.Sprintf("%.2f: %.0f %% (%.0f to %.0f) of %d", *bin.Confidence,
					100*bin.Right.Value, 100*bin.Right.Low, 100*bin.Right.High, bin.N))
			}
		}
		notes = append(notes, "  right, by mean confidence: "+strings.Join(bins, " · "))
	}
	return notes
}

// document is the report as text or Markdown.
func (r *Report) document(format string) document {
	d := document{format: format, head: []string{r.title(), r.kindsLine(), r.progress()}, tables: r.tables(),
		notes: r.notes()}
	if format == "md" {
		d.title, d.head = r.title(), []string{r.kindsLine() + " · " + r.progress()}
	}
	return d
}

// csv prints one figure per line; every line names the members' kinds.
func (r *Report) csv(w io.Writer) error {
	t := &table.Table{Head: append([]string{"task", "council", "members_kind", "figure"}, rateColumns...)}
	add := func(figure string, cells ...string) {
		row := append([]string{plain(r.Task), plain(r.Council), r.kindsCell(), figure}, cells...)
		t.Rows = append(t.Rows, append(row, make([]string, len(t.Head)-len(row))...))
	}
	for _, rate := range slices.Concat(r.Rates(), r.partRates(), withstandsRates(r.Withstands),
		errorRates(r.ErrorPairs)) {
		add(rate.Name, rateCells(rate.Rate)...)
	}
	for _, c := range []struct {
		name string
		n    int
	}{
		{"questions", r.Questions}, {"finished", r.Finished}, {"failed", r.Failed}, {"unfinished", r.Unfinished},
		{"unscored", r.Unscored},
		{"ties_ra", r.Ties.RA}, {"ties_h_majority", r.Ties.Honest}, {"calls_made", r.Calls.Made},
		{"calls_reused", r.Calls.Reused},
		{"calls_planned", r.Calls.Planned}, {"tokens_prompt", r.Tokens.Prompt},
		{"tokens_completion", r.Tokens.Completion},
	} {
		add(c.name, strconv.Itoa(c.n))
	}
	add("seconds", number(r.Seconds))
	add("cost_usd_at_least", number(r.Money.AtLeast))
	cost := ""
	if r.Cost != nil {
		cost = number(r.Cost.USD)
	}
	add("cost_usd", cost)
	if c := r.Calibration; c != nil {
		add("brier", rateCells(c.Brier)...)
		add("ece", number(*c.ECE), strconv.Itoa(c.N))
		add("confidence_missing", strconv.Itoa(c.Missing))
		for _, bin := range c.Bins {
			if bin.N > 0 {
				add(fmt.Sprintf("right_at_confidence_%.1f", bin.From), rateCells(bin.Right)...)
			}
		}
	}
	r.claimFigures(add)
	r.modelFigures(add)
	if r.Compared != nil {
		add("compared_mcnemar_p", number(r.Compared.McNemar), strconv.Itoa(r.Compared.Questions))
		add("compared_p", number(r.Compared.P), strconv.Itoa(r.Compared.Clusters))
		add("compared_faa_p", number(r.Compared.FAAP), strconv.Itoa(r.Compared.Clusters))
	}
	return t.Write(w, "csv")
}
