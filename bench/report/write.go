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

// NamedRate is a rate with its name in JSON and CSV, and a label for readers. The
// rate is nil if it does not exist.
type NamedRate struct {
	Name  string
	Label string
	Rate  *metrics.Rate
}

// Rates lists all rates of a report in the order in which they are printed.
func (r *Report) Rates() []NamedRate {
	m := r.Metrics
	rates := []NamedRate{
		{"iaa", "members right at first (IAA)", m.IAA},
		{"faa", "members right at the end (FAA)", m.FAA},
		{"bfti", "gain from the rounds (BFTI)", m.BFTI},
		{"ra", "plurality of all seats right (RA)", m.RA},
		{"h_majority", "plurality of honest seats right (H-Majority)", m.HMajority},
		{"decision_accuracy", "decisions right, of those made", m.Decision},
		{"agreed", "questions decided", m.Agreed},
		{"capture", "questions captured by an adversary", m.Capture},
		{"liveness", "questions ended with enough live members", m.Liveness},
		{"iaa_present", "right at first, of answers that could be graded", m.IAAPresent},
		{"faa_present", "right at the end, of answers that could be graded", m.FAAPresent},
		{"bfti_present", "gain of members with graded answers before and after", m.BFTIPresent},
		{"ra_present", "plurality of all seats right, where it could be graded", m.RAPresent},
		{"h_majority_present", "plurality of honest seats right, where it could be graded", m.HMajorityPresent},
		{"effective_votes", fmt.Sprintf("effective votes of %d honest members", r.Honest), m.EffectiveVotes},
	}
	add := func(name, label string, rate *metrics.Rate) { rates = append(rates, NamedRate{name, label, rate}) }
	if r.Calibration != nil {
		add("probe_accuracy", "confidence on the right side of 0.5", r.Calibration.Sided)
	}
	if e := r.Extraction; e != nil {
		add("strict", "first replies right, read strictly", e.Strict)
		add("flexible", "first replies right, read flexibly", e.Flexible)
	}
	if r.LatencySeconds != nil {
		add("latency_seconds", fmt.Sprintf("seconds by the clock until the decision (%s members)",
			strings.Join(r.MembersKind, ", ")), r.LatencySeconds)
	} else {
		add("latency", "virtual seconds until the decision", r.Latency)
	}
	return append(rates, r.detailRates()...)
}

// detailRates lists the rates by rank, ending, group and round, the baselines, and the
// comparison with another run.
func (r *Report) detailRates() (rates []NamedRate) {
	add := func(name, label string, rate *metrics.Rate) { rates = append(rates, NamedRate{name, label, rate}) }
	for i, rate := range r.Ranked {
		add(fmt.Sprintf("rank_%d", i+1), fmt.Sprintf("answer of rank %d right", i+1), rate)
	}
	for _, e := range r.Endings {
		add(e.Name, "ended "+e.Name, e.Rate)
	}
	if len(r.Stops) > 0 {
		var stops metrics.Mean
		for _, round := range r.Stops {
			stops.Add(float64(round))
		}
		add("stop_round", "rounds until the end, of runs that members ended", stops.Rate())
	}
	if r.Baselines.Strong != nil {
		add("single_strong", "baseline: one strong member", r.Baselines.Strong)
	}
	if r.Baselines.Weak != nil {
		add("single_weak", "baseline: one weak member", r.Baselines.Weak)
	}
	add("majority", "baseline: plurality of first answers", r.Baselines.Majority)
	for _, g := range []struct {
		name   string
		change *metrics.Change
	}{{metrics.Weak, r.Groups.Weak}, {metrics.Strong, r.Groups.Strong}} {
		if g.change != nil {
			add(g.name+"_before", g.name+" members right at first", g.change.Before)
			add(g.name+"_after", g.name+" members right at the end", g.change.After)
		}
	}
	for _, round := range r.Rounds {
		add(fmt.Sprintf("round_%d", round.T), fmt.Sprintf("members right after round %d", round.T), round.Accuracy)
	}
	if c := r.Compared; c != nil {
		add("compared_decision", "decisions right, minus the other run's", c.Decision)
		add("compared_faa", "FAA, minus the other run's", c.FAA)
	}
	return rates
}

// groupRounds lists the rates of groups by round, which only grids print.
func (r *Report) groupRounds() (rates []NamedRate) {
	for _, round := range r.Rounds {
		for _, g := range []struct {
			name string
			rate *metrics.Rate
		}{{metrics.Weak, round.Weak}, {metrics.Strong, round.Strong}} {
			if g.rate != nil {
				rates = append(rates, NamedRate{roundMetric(g.name, round.T),
					fmt.Sprintf("%s members right after round %d", g.name, round.T), g.rate})
			}
		}
	}
	return rates
}

// roundMetric is the name of the rate of a group after a round.
func roundMetric(group string, round int) string { return fmt.Sprintf("%s_round_%d", group, round) }

// partRates lists the rates by level and topic, with names such as faa[level=3].
func (r *Report) partRates() (rates []NamedRate) {
	for _, by := range []struct {
		name  string
		parts []metrics.Part
	}{{"level", r.Levels}, {"topic", r.Topics}} {
		for _, p := range by.parts {
			for _, rate := range ratesOfPart(p) {
				rate.Name = fmt.Sprintf("%s[%s=%s]", rate.Name, by.name, plain(p.Name))
				rates = append(rates, rate)
			}
		}
	}
	return rates
}

func ratesOfPart(p metrics.Part) []NamedRate {
	return []NamedRate{{Name: "iaa", Rate: p.IAA}, {Name: "faa", Rate: p.FAA}, {Name: "ra", Rate: p.RA},
		{Name: "decision_accuracy", Rate: p.Decision}}
}

// The formats of numbers.

// number prints all digits, for CSV.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// rateColumns are the CSV columns that rateCells fills.
var rateColumns = []string{"value", "n", "low", "high"}

func rateCells(r *metrics.Rate) []string {
	if r == nil {
		return []string{"", "0", "", ""}
	}
	return []string{number(r.Value), strconv.Itoa(r.N), number(r.Low), number(r.High)}
}

// scale is 100 for a rate that is printed in percent, and 1 for a count.
func scale(r *metrics.Rate) float64 {
	if r.Count {
		return 1
	}
	return 100
}

// value prints a rate for a column whose unit is known.
func value(r *metrics.Rate) string {
	if r == nil {
		return "–"
	}
	return fmt.Sprintf("%.1f", scale(r)*r.Value)
}

// interval prints the interval of a rate for a column whose unit is known.
func interval(r *metrics.Rate) string {
	if r == nil {
		return "–"
	}
	return fmt.Sprintf("%.1f to %.1f", scale(r)*r.Low, scale(r)*r.High)
}

// percent prints the value of a rate, with a percent sign unless it is a count.
func percent(r *metrics.Rate) string {
	if r == nil || r.Count {
		return value(r)
	}
	return value(r) + " %"
}

// full prints a rate in one cell: "75.0 % (59.8 to 85.8, n 40)".
func full(r *metrics.Rate) string {
	if r == nil {
		return "–"
	}
	return fmt.Sprintf("%s (%s, n %d)", percent(r), interval(r), r.N)
}

func count(r *metrics.Rate) string {
	if r == nil {
		return "0"
	}
	return strconv.Itoa(r.N)
}

// plain makes text from files and models safe to print on one line.
func plain(s string) string { return table.Plain(s) }

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
	line += fooledBy(r.fooling())
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

func (r *Report) rateTable() *table.Table {
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

// Summary is the table of the rates, for other pages than the report's own.
func (r *Report) Summary() *table.Table { return r.rateTable() }

// tables are the tables of a report as text.
func (r *Report) tables() []*table.Table {
	tables := []*table.Table{r.rateTable()}
	if len(r.Models) > 0 {
		tables = append(tables, r.modelTable())
	}
	if len(r.Withstands) > 0 {
		tables = append(tables, r.withstandsTable())
	}
	if len(r.ErrorPairs) > 0 {
		tables = append(tables, r.errorTable(textPairs))
	}
	if r.ChangingGraph != nil {
		tables = append(tables, r.ChangingGraph.roundTable())
	}
	return append(tables, r.partTables()...)
}

// withstandsRates lists the shares of questions whose decision withstands k answers, with names such as
// withstands_ignored_right[k=2].
func (r *Report) withstandsRates() (rates []NamedRate) {
	for _, w := range r.Withstands {
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
func (r *Report) withstandsTable() *table.Table {
	t := &table.Table{Head: []string{"k", "decided, any k answers ignored", "right", "decided, any k answers changed",
		"right"}, Align: "r"}
	for _, w := range r.Withstands {
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
		fmt.Sprintf("%s · tokens: %d prompt, %d completion · %.1f s · cost: %s%s", r.callsLine(), r.Tokens.Prompt,
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

func (r *Report) callsLine() string {
	made := fmt.Sprintf("%d calls of %d planned", r.Calls.Made, r.Calls.Planned)
	if more := r.Calls.Made - r.Calls.Planned; more > 0 {
		made = fmt.Sprintf("%d calls (%d planned, %d more after failures)", r.Calls.Made, r.Calls.Planned, more)
	}
	return fmt.Sprintf("%s, %d reused", made, r.Calls.Reused)
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

func (r *Report) text(w io.Writer) error {
	return document{format: "text", head: []string{r.title(), r.kindsLine(), r.progress()},
		tables: r.tables(), notes: r.notes()}.write(w)
}

func (r *Report) markdown(w io.Writer) error {
	return document{format: "md", title: r.title(), head: []string{r.kindsLine() + " · " + r.progress()},
		tables: r.tables(), notes: r.notes()}.write(w)
}

// document is text or Markdown with lines above and below tables.
type document struct {
	format string // text or md
	title  string // Markdown only: a paragraph in bold
	head   []string
	tables []*table.Table
	notes  []string
}

func (d document) write(w io.Writer) error {
	b := sized{columns: table.Columns(w)}
	if d.format == "md" {
		if d.title != "" {
			fmt.Fprintf(&b, "**%s**\n\n", table.MarkdownText(d.title))
		}
		for _, line := range d.head {
			fmt.Fprintf(&b, "%s\n\n", table.MarkdownText(line))
		}
	} else {
		for _, line := range d.head {
			b.WriteString(table.Wrap(line, b.columns) + "\n")
		}
		b.WriteString("\n")
	}
	for i, t := range d.tables {
		if i > 0 {
			b.WriteString("\n")
		}
		if err := t.Write(&b, d.format); err != nil {
			return err
		}
	}
	b.WriteString("\n")
	for i, line := range d.notes {
		if d.format == "md" {
			if i > 0 {
				b.WriteString("\n")
			}
			line = table.MarkdownText(line)
		} else {
			line = table.Wrap(line, b.columns)
		}
		b.WriteString(line + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// sized is a text as wide as the terminal that it is for.
type sized struct {
	strings.Builder
	columns int
}

func (s *sized) Columns() int { return s.columns }

// csv prints one figure per line; every line names the members' kinds.
func (r *Report) csv(w io.Writer) error {
	t := &table.Table{Head: append([]string{"task", "council", "members_kind", "figure"}, rateColumns...)}
	add := func(figure string, cells ...string) {
		row := append([]string{plain(r.Task), plain(r.Council), r.kindsCell(), figure}, cells...)
		t.Rows = append(t.Rows, append(row, make([]string, len(t.Head)-len(row))...))
	}
	for _, rate := range slices.Concat(r.Rates(), r.partRates(), r.withstandsRates(), r.errorRates()) {
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

// kindsCell is KindsCell of the report.
func (r *Report) kindsCell() string { return KindsCell(r.MembersKind, r.Seats) }

// KindsCell names the kinds of members in a cell of a table, and what is assumed to fool simulated ones, so that their
// figures are not taken for measured ones: "simulated (assumed, not measured: it …)".
func KindsCell(kinds []string, seats []Member) string {
	return strings.Join(kinds, "+") + fooledBy(fooling(seats))
}

// fooling lists what is assumed to fool simulated members, each assumption once.
func (r *Report) fooling() []string { return fooling(r.Seats) }

func fooling(seats []Member) (all []string) {
	for _, m := range seats {
		if m.Fooling != "" && !slices.Contains(all, m.Fooling) {
			all = append(all, m.Fooling)
		}
	}
	return all
}

// mostJudges is how many kinds of judges a report names.
const mostJudges = 4

// judging names the assumption that a ranking of protocols hangs on: how simulated members judge. "": no member is
// simulated.
func judging(seats []Member) string {
	var all []string
	for _, m := range seats {
		if m.Judging != "" && !slices.Contains(all, m.Judging) {
			all = append(all, m.Judging)
		}
	}
	if len(all) == 0 {
		return ""
	}
	if more := len(all) - mostJudges; more > 0 {
		return said(all[:mostJudges]) + fmt.Sprintf(" %d more kinds of judges are in the JSON report.", more)
	}
	return said(all)
}

func said(all []string) string {
	return "Figures of protocols in which simulated members judge hang on how well they do: such a judge " +
		plain(strings.Join(all, "; another one ")) + "."
}

// Judging is judging of the members of all cells, for other pages than the report's own.
func (g *Grid) Judging() string { return judging(g.seats()) }

// fooledBy prints assumptions in brackets, nothing without any.
func fooledBy(fooling []string) string {
	if len(fooling) == 0 {
		return ""
	}
	return " (" + plain(strings.Join(fooling, "; ")) + ")"
}
