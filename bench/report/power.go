package report

import (
	"cmp"
	"fmt"
	"io"
	"math"

	"synod.dev/synod/core/table"
)

// Power says how many questions a study needs to show a difference of the shares of right decisions of two councils.
// All shares are in [0,1].
type Power struct {
	Version     int     `json:"version"`
	Detect      float64 `json:"detect"`      // the difference to show
	Base        float64 `json:"base"`        // share of right decisions of the one council; the other has Detect more
	Differ      float64 `json:"differ"`      // share of questions that only one decides rightly; 0: unknown
	Power       float64 `json:"power"`       // the chance of a study to show it
	Comparisons int     `json:"comparisons"` // of the report, for all of which 5 % is the chance to be wrong once
	Repeat      int     `json:"repeat"`      // how often each question is asked
	Alike       float64 `json:"alike"`       // correlation of the differences of a question's repeats
	N           int     `json:"n,omitempty"` // questions of the study, if they are given
	From        string  `json:"from"`        // where Base, Differ and Alike come from

	Rows []PowerRow `json:"rows"`
}

// PowerRow is a design of a study.
type PowerRow struct {
	Design string `json:"design"`
	// Differ is paired: the share of questions that only one council decides rightly
	Differ    float64 `json:"differ,omitempty"`
	Why       string  `json:"why,omitempty"`   // where Differ comes from
	Questions *int    `json:"questions"`       // needed; null: more than a million
	Power     float64 `json:"power,omitempty"` // exact; 0: not computed, because questions are repeated
	// Detectable is the smallest difference that N questions show; null without N, or if there is none.
	Detectable *float64 `json:"detectable,omitempty"`
}

// Complete fills in defaults and checks the values.
func (p *Power) Complete() error {
	p.Detect, p.Base, p.Power = cmp.Or(p.Detect, 0.05), cmp.Or(p.Base, 0.7), cmp.Or(p.Power, 0.8)
	p.Comparisons, p.Repeat = cmp.Or(p.Comparisons, 1), cmp.Or(p.Repeat, 1)
	if p.Repeat > 1 {
		p.Alike = cmp.Or(p.Alike, 0.5)
	}
	switch {
	case p.Detect < 0.001 || p.Detect >= 1:
		return fmt.Errorf("the difference to detect is %g points; it must be from 0.1 to below 100, such as 5",
			100*p.Detect)
	case p.Base < 0 || p.Base+p.Detect > 1:
		return fmt.Errorf("the base is %.4g %%; with the difference of %g points it must be from 0 to 100 %%",
			100*p.Base, 100*p.Detect)
	case p.Differ != 0 && (p.Differ < p.Detect || p.Differ > p.most()):
		return fmt.Errorf("%.4g %% of the questions differ; shares of %.4g and %.4g %% differ on %.4g to %.4g %%",
			100*p.Differ, 100*p.Base, 100*(p.Base+p.Detect), 100*p.Detect, 100*p.most())
	case p.Power <= 0.05 || p.Power > 0.999:
		return fmt.Errorf("the power is %g %%; it must be above 5 and at most 99.9, such as 80", 100*p.Power)
	case p.Comparisons < 1 || p.Repeat < 1 || p.Alike < 0 || p.Alike > 1 || p.N < 0:
		return fmt.Errorf("comparisons (%d) and repeats (%d) must be 1 or more, and alike (%g) from 0 to 1",
			p.Comparisons, p.Repeat, p.Alike)
	}
	return nil
}

// most is the largest share of questions that can differ: the councils are never right together unless they must.
func (p *Power) most() float64 {
	after := p.Base + p.Detect
	return min(p.Base+after, 2-p.Base-after)
}

// Alpha is the level of each test: 5 %, divided by the number of comparisons, as Holm's method has it for the first.
func (p *Power) Alpha() float64 { return 0.05 / float64(p.Comparisons) }

// Questions returns how many questions with repeats are worth n that are asked once; nil if n is not ok. The variance
// of the mean of R repeats whose differences have the correlation ρ is (1 + (R−1)ρ)/R of that of one.
func (p *Power) Questions(n int, ok bool) *int {
	if !ok {
		return nil
	}
	k := float64(p.Repeat)
	needed := int(math.Ceil(float64(n) * (1 + (k-1)*p.Alike) / k))
	return &needed
}

// Effective is how many questions asked once N questions with repeats are worth.
func (p *Power) Effective() int {
	k := float64(p.Repeat)
	return int(float64(p.N) * k / (1 + (k-1)*p.Alike))
}

// Assumption is a share of questions that only one of two councils decides rightly.
type Assumption struct {
	Share float64
	Why   string
}

// Assumptions returns the given share of questions that differ, or three: the least that the difference allows, that
// of councils whose errors have nothing to do with each other, and the middle of both.
func (p *Power) Assumptions() []Assumption {
	if p.Differ > 0 {
		return []Assumption{{p.Differ, cmp.Or(p.From, "given")}}
	}
	after := p.Base + p.Detect
	independent := max(p.Base*(1-after)+after*(1-p.Base), p.Detect)
	return []Assumption{
		{p.Detect, "assumed: the least possible, no question is lost"},
		{(p.Detect + independent) / 2, "assumed: between the two"},
		{independent, "assumed: errors are independent of each other"},
	}
}

// Write prints the plan of a study: text, json, csv, md, html or latex.
func (p *Power) Write(w io.Writer, format string) error {
	switch format {
	case "json":
		return writeJSON(w, p)
	case "csv", "html", "latex":
		return p.table().Write(w, format)
	case "text", "md":
		title := fmt.Sprintf("questions to show %.4g against %.4g %% right decisions with a power of %.4g %%",
			100*(p.Base+p.Detect), 100*p.Base, 100*p.Power)
		return document{format: format, title: title, head: append([]string{title}, p.head()...),
			tables: []*table.Table{p.table()}, notes: p.notes()}.write(w)
	}
	return unknownFormat(format)
}

func (p *Power) head() (lines []string) {
	level := "two-sided tests at 5 %"
	if p.Comparisons > 1 {
		level += fmt.Sprintf(", for %d comparisons together (Holm): %.3g %% each", p.Comparisons, 100*p.Alpha())
	}
	lines = append(lines, level)
	if p.Repeat > 1 {
		lines = append(lines, fmt.Sprintf("each question is asked %d times; the differences of its repeats have a "+
			"correlation of %.2f", p.Repeat, p.Alike))
	}
	return append(lines, "base: "+cmp.Or(p.From, "given or default"))
}

func (p *Power) table() *table.Table {
	t := &table.Table{Head: []string{"design", "questions that differ, %", "where from", "questions needed",
		"power, %"}, Align: "lrlr"}
	if p.N > 0 {
		t.Head = append(t.Head, fmt.Sprintf("%d questions show, points", p.N))
	}
	for _, r := range p.Rows {
		differ, needed, power, shown := "–", "more than 1000000", "–", "–"
		if r.Differ > 0 {
			differ = fmt.Sprintf("%.1f", 100*r.Differ)
		}
		if r.Questions != nil {
			needed = fmt.Sprint(*r.Questions)
		}
		if r.Power > 0 {
			power = fmt.Sprintf("%.1f", 100*r.Power)
		}
		if r.Detectable != nil {
			shown = fmt.Sprintf("%.1f", 100**r.Detectable)
		}
		t.Add(r.Design, differ, r.Why, needed, power)
		if p.N > 0 {
			last := len(t.Rows) - 1
			t.Rows[last] = append(t.Rows[last], shown)
		}
	}
	return t
}

func (p *Power) notes() []string {
	return []string{"Paired: exact power of McNemar's test. Unpaired: exact power of the chi-squared test of two " +
		"shares; the number is of each council. Repeats: by the design effect (1 + (R−1)·correlation)/R. " +
		"Formulas: docs/measure/grading.md."}
}
