package campaign

import (
	"encoding/json"
	"fmt"
	"html"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/adversary"
	"synod.dev/synod/core/clean"
	"synod.dev/synod/core/table"
)

// Formats are the formats of a report.
func Formats() []string { return []string{"text", "md", "json", "html"} }

// Report is what a campaign came to.
type Report struct {
	Version    int              `json:"version"`
	Tier       string           `json:"tier,omitempty"`
	Seed       uint64           `json:"seed"`
	Executions uint64           `json:"executions"`
	Planned    uint64           `json:"planned,omitempty"`
	Finished   bool             `json:"finished"`
	Seconds    float64          `json:"seconds"`           // computing, by the clock
	Program    *Program         `json:"program,omitempty"` // that played the campaign of a folder
	Record     string           `json:"record,omitempty"`  // see SavedCampaign.Record
	Claims     []ClaimSum       `json:"claims"`
	Faults     []KindSum        `json:"faults"`
	Pairs      int              `json:"pairs"`     // of kinds that took effect together
	AllPairs   int              `json:"all_pairs"` // that there are
	Tally      *Tally           `json:"tally"`
	Failures   []FoundViolation `json:"failures"`
	Zeros      []string         `json:"never_tried"`
	Few        []string         `json:"too_few"`   // below the minima of the tier
	Elsewhere  []synod.Entry    `json:"elsewhere"` // faults of real processes, and what tries them
}

// Report returns the report of a campaign.
func (s *SavedCampaign) Report() *Report {
	r := &Report{Version: 1, Tier: s.Options.Tier, Seed: s.Options.Seed, Executions: s.Tally.Executions,
		Planned: s.Planned, Finished: s.Finished, Seconds: s.Spent.Seconds(), Claims: s.Tally.Claims(),
		Faults: s.Tally.Faults(), Tally: s.Tally, Failures: s.Failures, Zeros: s.Tally.Zeros(), Elsewhere: Elsewhere}
	r.Pairs, r.AllPairs = s.Tally.PairsTried()
	if s.Chain != "" {
		r.Program, r.Record = &s.Program, s.Record()
	}
	if tier, err := s.Options.tier(); err == nil && s.Finished {
		r.Few = s.Tally.few(tier)
	}
	return r
}

// few names what a finished campaign of a tier has tried less often than it should.
func (t *Tally) few(tier Tier) (few []string) {
	for _, k := range t.Faults() {
		if k.Executions > 0 && k.Executions < tier.Kind {
			few = append(few, fmt.Sprintf("fault %s: %d of %d", k.Name, k.Executions, tier.Kind))
		}
	}
	for _, s := range subjects() {
		sum := t.Subjects[s.Name]
		if sum == nil {
			continue
		}
		for _, a := range s.adversaries() {
			if n := sum.Adversaries[a]; n > 0 && n < tier.Adversary {
				few = append(few, fmt.Sprintf("%s: adversary %s: %d of %d", s.Name, a, n, tier.Adversary))
			}
		}
	}
	return few
}

// Red says why the report is red; "": it is green.
func (r *Report) Red() string {
	switch n := r.Tally.Violations(); {
	case n > 0:
		return fmt.Sprintf("%d violations", n)
	case len(r.Zeros) > 0:
		return fmt.Sprintf("%d things were never tried, first: %s", len(r.Zeros), r.Zeros[0])
	case len(r.Few) > 0:
		return fmt.Sprintf("%d things were tried too seldom, first: %s", len(r.Few), r.Few[0])
	}
	return ""
}

// section is a titled table of a report.
type section struct {
	title, text string
	table       table.Table
}

// Write writes the report in one of Formats.
func (r *Report) Write(w io.Writer, format string) error {
	switch format {
	case "json":
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(r)
	case "html":
		fmt.Fprint(w,
			"<!doctype html>\n<meta charset=utf-8>\n<title>Campaign</title>\n<style>body{font-family:sans-serif}"+
				"table{border-collapse:collapse}td,th{border:1px solid #ccc;padding:2px 6px}</style>\n")
	}
	for _, s := range r.sections() {
		if err := s.write(w, format); err != nil {
			return err
		}
	}
	return nil
}

func (s *section) write(w io.Writer, format string) error {
	switch format {
	case "md":
		fmt.Fprintf(w, "## %s\n\n", s.title)
	case "html":
		fmt.Fprintf(w, "<h2>%s</h2>\n", html.EscapeString(s.title))
	default:
		fmt.Fprintf(w, "%s\n", s.title)
	}
	if s.text != "" {
		if format == "html" {
			fmt.Fprintf(w, "<p>%s</p>\n", html.EscapeString(s.text))
		} else {
			fmt.Fprintf(w, "%s\n\n", s.text)
		}
	}
	if len(s.table.Rows) > 0 {
		if err := s.table.Write(w, format); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(w)
	return err
}

func (r *Report) sections() []section {
	all := []section{r.summary(), r.claims(), r.bySubject(), r.faults(), r.adversaries(), r.states()}
	if len(r.Failures) > 0 {
		all = slices.Insert(all, 1, r.failures())
	}
	if missing := slices.Concat(r.Zeros, r.Few); len(missing) > 0 {
		s := section{title: "Not tried enough"}
		for _, what := range missing {
			s.table.Add(what)
		}
		all = slices.Insert(all, 1, s)
	}
	return append(all, r.elsewhere())
}

func (r *Report) summary() section {
	verdict, why := "Green: no violation, and nothing that should be tried was left out.", r.Red()
	switch {
	case why != "" && (r.Finished || r.Planned == 0 || r.Tally.Violations() > 0):
		verdict = "Red: " + why + "."
	case r.Planned > 0 && !r.Finished:
		verdict = "Not finished: no violation yet."
	}
	of := ""
	if r.Planned > 0 && !r.Finished {
		of = " of " + grouped(r.Planned)
	}
	text := fmt.Sprintf("%s%s executions in %v (%s a second), seed %d; %d of %d pairs of faults took effect together. "+
		"%s", grouped(r.Executions), of, time.Duration(r.Seconds*float64(time.Second)).Round(time.Second),
		grouped(uint64(float64(r.Executions)/max(r.Seconds, 1e-9))), r.Seed, r.Pairs, r.AllPairs, verdict)
	if r.Program != nil {
		text += fmt.Sprintf(" Record %s, played by %s.", r.Record, clean.Line(r.Program.String(), 200))
	}
	return section{title: "Campaign", text: text}
}

func (r *Report) failures() section {
	s := section{title: "Violations", table: table.Table{Head: []string{"protocol", "claim", "execution", "events",
		"how", "replay"}, Align: "llrrll"}}
	for _, f := range r.Failures {
		s.table.Add(f.Protocol, f.Claim, f.Number, len(f.Execution.Events), f.Detail,
			"synod research campaign replay "+f.File)
	}
	return s
}

func (r *Report) claims() section {
	s := section{title: "Claims", table: table.Table{Head: []string{"claim", "property", "fault model", "source",
		"executions", "violations", "smallest margin"}, Align: "llllrrl"}}
	for _, c := range r.Claims {
		margin := ""
		if c.ClaimTally.Margin != nil {
			margin = strconv.FormatFloat(*c.ClaimTally.Margin, 'g', 4, 64) + " (" + c.Claim.Margin + ")"
		}
		s.table.Add(c.ID, c.Property, c.Model, c.Source, grouped(c.Executions), c.Violations, margin)
	}
	return s
}

func (r *Report) bySubject() section {
	s := section{title: "Executions by protocol", table: table.Table{Head: []string{"protocol", "executions",
		"at the bound", "above it", "delays without bound", "real signatures"}, Align: "lr"}}
	for _, name := range r.names() {
		t := r.Tally.Subjects[name]
		s.table.Add(name, grouped(t.Executions), grouped(t.AtBound), grouped(t.Above), grouped(t.Asynchronous),
			grouped(t.RealKeys))
	}
	return s
}

// names returns the subjects of the report in their order.
func (r *Report) names() (names []string) {
	for _, name := range Subjects() {
		if r.Tally.Subjects[name] != nil {
			names = append(names, name)
		}
	}
	return names
}

// matrix returns a table of counts with a row for each of rows and a column for each protocol. applies says where a
// number is due; elsewhere the cell is empty.
func (r *Report) matrix(head []string, rows [][]string, count func(*SubjectTally, string) uint64,
	applies func(*subject, string) bool) table.Table {
	t := table.Table{Head: append(slices.Clone(head), append([]string{"all"}, r.names()...)...)}
	for range head {
		t.Align += "l"
	}
	t.Align += "r"
	for _, row := range rows {
		cells := make([]any, 0, len(t.Head))
		for _, c := range row {
			cells = append(cells, c)
		}
		at, sum := len(cells), uint64(0)
		for _, name := range r.names() {
			s, _ := subjectOf(name)
			n := count(r.Tally.Subjects[name], row[0])
			if sum += n; n == 0 && !applies(s, row[0]) {
				cells = append(cells, "")
				continue
			}
			cells = append(cells, grouped(n))
		}
		t.Add(slices.Insert(cells, at, any(grouped(sum)))...)
	}
	return t
}

func (r *Report) faults() section {
	var rows [][]string
	for _, k := range kinds {
		rows = append(rows, []string{k.Name, string(k.Group), string(k.Charge)})
	}
	free := Execution{Regime: Asynchronous}
	return section{title: "Executions in which a fault took effect", table: r.matrix([]string{"fault", "group",
		"charged"},
		rows, func(s *SubjectTally, name string) uint64 { return s.Kinds[name] },
		func(s *subject, name string) bool { return s.suits(byName[name], &free) })}
}

func (r *Report) adversaries() section {
	var rows [][]string
	for _, e := range adversary.Catalogue.All() {
		for _, name := range r.names() {
			if s, _ := subjectOf(name); slices.Contains(s.adversaries(), e.Name) {
				rows = append(rows, []string{e.Name})
				break
			}
		}
	}
	return section{title: "Executions with an adversary", table: r.matrix([]string{"adversary"}, rows,
		func(s *SubjectTally, name string) uint64 { return s.Adversaries[name] },
		func(s *subject, name string) bool { return slices.Contains(s.adversaries(), name) })}
}

func (r *Report) states() section {
	s := section{title: "Executions in which a situation occurred", table: table.Table{Head: []string{"protocol",
		"situation", "executions"}, Align: "llr"}}
	for _, name := range r.names() {
		of, _ := subjectOf(name)
		counts := r.Tally.Subjects[name].States
		for _, state := range slices.Sorted(maps.Keys(counts)) {
			s.table.Add(name, state, grouped(counts[state]))
		}
		for _, state := range of.States {
			if counts[state] == 0 {
				s.table.Add(name, state, 0)
			}
		}
	}
	return s
}

func (r *Report) elsewhere() section {
	s := section{title: "Faults of real processes", text: "The simulator has no such faults. They are tried by:",
		table: table.Table{Head: []string{"fault", "tried by"}, Align: "ll"}}
	for _, e := range r.Elsewhere {
		s.table.Add(e.Name, e.Summary)
	}
	return s
}

// grouped writes a number with commas between groups of three digits.
func grouped(n uint64) string {
	text := strconv.FormatUint(n, 10)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}
