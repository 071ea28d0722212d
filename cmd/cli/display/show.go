package display

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/core/table"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/llm"
)

// What --show takes.
const (
	showRounds    = "rounds"
	showModels    = "models"
	showReasoning = "reasoning"
)

// CheckShow fails if --show has a word without a meaning.
func CheckShow(show []string) error {
	for _, s := range show {
		if !slices.Contains([]string{showRounds, showModels, showReasoning}, s) {
			return fmt.Errorf("--show is %q; it must be rounds, models or reasoning, such as --show reasoning", s)
		}
	}
	return nil
}

// ShowMore prints the parts of an outcome that were asked for. With verbose these are the
// rounds and the models.
func ShowMore(w io.Writer, o *outcome.Outcome, verbose bool, show []string) error {
	rounds := o.Rounds.All()
	if (verbose || slices.Contains(show, showRounds)) && len(rounds) > 0 {
		if err := roundTable(o, rounds).Write(w, "text"); err != nil {
			return err
		}
	}
	if (verbose || slices.Contains(show, showModels)) && len(o.Models) > 0 {
		if err := modelTable(o).Write(w, "text"); err != nil {
			return err
		}
	}
	if slices.Contains(show, showReasoning) {
		printReasoning(w, o, rounds)
	}
	return nil
}

// named returns the id of a member and its model, unless the id says it.
func named(m *outcome.Member) string {
	name := m.ID
	if !strings.HasPrefix(m.ID, m.Model) {
		name += " (" + m.Model + ")"
	}
	if m.Adversary != nil {
		name += ", adversary"
	}
	return app.OneLine(name)
}

// roundTable has a row for each member and a column for each round. An answer that the member
// took over from others has an arrow, and a member without an answer a dash.
func roundTable(o *outcome.Outcome, rounds []outcome.Round) *table.Table {
	t := &table.Table{Head: []string{"member"}}
	for _, r := range rounds {
		t.Head = append(t.Head, fmt.Sprintf("round %d", r.T))
	}
	for i := range o.Members {
		row := []any{named(&o.Members[i])}
		for _, r := range rounds {
			cell := ""
			for k := range r.Members {
				if r.Members[k].ID == o.Members[i].ID {
					cell = heldCell(&r.Members[k])
				}
			}
			row = append(row, cell)
		}
		t.Add(row...)
	}
	return t
}

func heldCell(s *outcome.RoundSeat) string {
	cell := "–"
	if s.Answer != nil {
		cell = app.Brief(string(*s.Answer), 24)
	}
	if len(s.From) > 0 {
		cell += " ← " + app.OneLine(strings.Join(s.From, ", "))
	}
	if len(s.Dropped) > 0 {
		cell += " · drops " + app.OneLine(strings.Join(s.Dropped, ", "))
	}
	if s.Failed > 0 {
		cell += " · " + app.Many(s.Failed, "failed call", "failed calls")
	}
	return cell
}

// modelTable has a row for each model.
func modelTable(o *outcome.Outcome) *table.Table {
	t := &table.Table{Head: []string{"model", "seats", "end on the decision", "calls", "tokens", "cost", "median s",
		"p95 s", "unreadable", "failed"}, Align: "lr"}
	for _, m := range o.Models {
		cost, median, p95 := "unknown", "–", "–"
		if m.Kind != llm.Endpoint {
			cost = "free"
		} else if m.Cost != nil {
			cost = fmt.Sprintf("%.4f USD", m.Cost.USD)
		}
		if l := m.Latency; l != nil {
			median, p95 = fmt.Sprintf("%.2f", l.Median), fmt.Sprintf("%.2f", l.P95)
		}
		t.Add(app.OneLine(m.Name()), len(m.Seats), fmt.Sprintf("%d of %d", m.Agree, m.Of), m.Calls,
			m.Tokens.Prompt+m.Tokens.Completion, cost, median, p95, m.Unreadable, m.Failed)
	}
	return t
}

// printReasoning prints the reasoning of every member, round by round.
func printReasoning(w io.Writer, o *outcome.Outcome, rounds []outcome.Round) {
	for i := range o.Members {
		m := &o.Members[i]
		any := false
		for _, r := range rounds {
			for _, s := range r.Members {
				if s.ID != m.ID || s.Reasoning == "" {
					continue
				}
				answer := "–"
				if s.Answer != nil {
					answer = app.Brief(string(*s.Answer), 80)
				}
				fmt.Fprintf(w, "%s, round %d, %s: %s\n", named(m), r.T, answer, app.OneLine(s.Reasoning))
				any = true
			}
		}
		if !any {
			fmt.Fprintf(w, "%s: no reasoning\n", named(m))
		}
	}
}
