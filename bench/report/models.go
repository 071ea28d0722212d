package report

import (
	"fmt"
	"slices"
	"strconv"

	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/core/table"
	"synod.dev/synod/llm"
)

// seconds prints a time for a column whose unit is known.
func seconds(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }

// name is the model's name in the council and, where replies named another model than the
// one that was asked for, those names.
func (m *Model) name() string { return llm.ReportedName(m.Model, m.Served, m.Reported) }

// Warnings says of each model whose replies often cannot be read what can be done about it, in a line each.
func (r *Report) Warnings() (lines []string) {
	for i := range r.Models {
		m := &r.Models[i]
		if metrics.OftenUnread(m.Unreadable, m.Replies, r.Finished) {
			lines = append(lines, fmt.Sprintf("warning: %d of %d replies of %s could not be read. The form may "+
				"be wrong, max_tokens too small, or the server may enforce no schema. See such replies with: synod "+
				"journals show FOLDER#QUESTION", m.Unreadable, m.Replies, plain(m.name())))
		}
	}
	return lines
}

// modelTable has a row for each model.
func (r *Report) modelTable() *table.Table {
	staged := slices.ContainsFunc(r.Models, func(m Model) bool { return m.Asked != nil })
	t := &table.Table{Head: []string{"model", "seats", "right at first, %", "at the end, %", "ends on the decision, %",
		"calls", "tokens", "cost, USD", "median s", "p95 s", "unreadable", "failed"}, Align: "lr"}
	if staged { // the rates after it are of the questions that the model was asked
		t.Head = slices.Insert(t.Head, 2, "asked, %")
	}
	for _, m := range r.Models {
		median, p95 := "–", "–"
		if l := m.Latency; l != nil {
			median, p95 = seconds(l.Median), seconds(l.P95)
		}
		cells := []any{plain(m.name()), m.Seats, valueWithInterval(m.Right.First), valueWithInterval(m.Right.Final),
			valueWithInterval(m.Agreement), m.Calls, m.Tokens.Prompt + m.Tokens.Completion, m.price(), median, p95,
			m.Unreadable, m.Failed}
		if staged {
			cells = slices.Insert(cells, 2, any(valueWithInterval(m.Asked)))
		}
		t.Add(cells...)
	}
	return t
}

// modelTable has a row for each model of each cell in which a live model is a member. How the groups of simulated
// members do is in the table of cells.
func (g *Grid) modelTable() *table.Table {
	t := &table.Table{Head: []string{"cell", "model", "seats", "right at first, %", "at the end, %", "AUC φ, %",
		"calls", "tokens", "cost, USD"}, Align: "llrrrrrrr"}
	for _, c := range g.Cells {
		if !c.live() {
			continue
		}
		for i := range c.Models {
			m := &c.Models[i]
			t.Add(c.Cell, plain(m.name()), m.Seats, valueWithInterval(m.Right.First), valueWithInterval(m.Right.Final),
				valueWithInterval(c.judges(m.Model)), m.Calls, m.Tokens.Prompt+m.Tokens.Completion, m.price())
		}
	}
	return t
}

// live reports whether models of a kind answer by themselves.
func live(kind string) bool { return kind == string(llm.Endpoint) || kind == string(llm.Embedded) }

// live reports whether a live model is a member.
func (c *Cell) live() bool {
	return c.Report != nil && slices.ContainsFunc(c.Models, func(m Model) bool { return live(m.Kind) })
}

// modelRates are the figures of a cell that a model of it has by itself, over its honest seats.
func (c *Cell) modelRates(m *Model) map[string]*metrics.Rate {
	return map[string]*metrics.Rate{"iaa": m.Right.First, "faa": m.Right.Final, "judge_auc": c.judges(m.Model)}
}

// judges returns how well the members of a model judge; nil if that is not known.
func (r *Report) judges(model string) *metrics.Rate {
	if r.Judging != nil {
		for _, m := range r.Judging.Models {
			if m.Model == model {
				return m.AUC
			}
		}
	}
	return nil
}

// price is what the calls of a model cost.
func (m *Model) price() string {
	switch {
	case m.Kind != string(llm.Endpoint):
		return "free"
	case m.Cost != nil:
		return fmt.Sprintf("%.4f", m.Cost.USD)
	}
	return "unknown"
}

// modelFigures are the lines of the models in CSV: figures with names such as
// model_right_first[gpt].
func (r *Report) modelFigures(add func(figure string, cells ...string)) {
	for _, m := range r.Models {
		name := func(figure string) string { return fmt.Sprintf("model_%s[%s]", figure, plain(m.Model)) }
		add(name("right_first"), rateCells(m.Right.First)...)
		add(name("right_final"), rateCells(m.Right.Final)...)
		add(name("agreement"), rateCells(m.Agreement)...)
		if m.Asked != nil {
			add(name("asked"), rateCells(m.Asked)...)
		}
		for _, c := range []struct {
			name string
			n    int
		}{
			{"calls", m.Calls}, {"tokens_prompt", m.Tokens.Prompt}, {"tokens_completion", m.Tokens.Completion},
			{"unreadable", m.Unreadable}, {"failed", m.Failed},
		} {
			add(name(c.name), strconv.Itoa(c.n))
		}
		if m.Cost != nil {
			add(name("cost_usd"), number(m.Cost.USD))
		}
		if l := m.Latency; l != nil {
			add(name("latency_median"), number(l.Median), strconv.Itoa(l.N))
			add(name("latency_p95"), number(l.P95), strconv.Itoa(l.N))
		}
	}
}
