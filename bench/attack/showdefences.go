package attack

import (
	"cmp"
	"fmt"
	"strings"

	"synod.dev/synod/adversary/defence"
	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/core/table"
)

// defencesHead stands before the table of defences.
const defencesHead = "Each defence by itself, on and off. Change: with the defence minus without it, paired by " +
	"question, with 95 % intervals in percentage points."

// defences is the table of what each measured defence changes.
func (t *Table) defences() *table.Table {
	out := &table.Table{Head: []string{"defence", "here", "adversary", "members", "seats", "captured on", "off",
		"change", "right on", "off", "change", "decided", "cost"}, Align: "llllllrrrrrrrr"}
	for i := range t.Defences {
		m := &t.Defences[i]
		here, on, off := defence.On, t.kept(m), figures{m.Capture, m.Accuracy}
		if m.Defence == defence.On {
			here, on, off = defence.Off, off, on
		}
		out.Add(m.Name, here, cmp.Or(m.Adversary, "none"), m.Members, strings.Join(m.Seats, " "), share(on.capture),
			share(off.capture), change(m.Change.Capture), share(on.accuracy), share(off.accuracy),
			change(m.Change.Accuracy), change(m.Change.Liveness), factor(m.Change.CostFactor))
	}
	return out
}

// figures are those of a row that the table of defences shows twice.
type figures struct{ capture, accuracy *metrics.Rate }

// kept returns the figures of the same attack with the council as its file has it.
func (t *Table) kept(m *DefenceMeasurement) figures {
	for i := range t.Attacks {
		a := &t.Attacks[i]
		if a.Adversary == m.Adversary && a.Rule == m.Rule && strings.Join(a.Seats, " ") == strings.Join(m.Seats, " ") {
			return figures{a.Capture, a.Accuracy}
		}
	}
	return figures{nil, t.Baseline.Accuracy}
}

// change shows a difference of shares and its interval in percentage points.
func change(r *metrics.Rate) string {
	if r == nil {
		return "–"
	}
	return fmt.Sprintf("%+.1f [%+.1f, %+.1f]", 100*r.Value, 100*r.Low, 100*r.High)
}

// rows is the one table of formats that hold a single table: the attacks, and below them the cells in which a defence
// is toggled.
func (t *Table) rows() *table.Table {
	out := t.withPasts(t.table())
	if len(t.Defences) == 0 {
		return out
	}
	out.Head = append(out.Head, "defence", "state", "captured change", "right change", "decided change", "cost change")
	out.Align += "llrrrr"
	for i := range out.Rows {
		out.Rows[i] = append(out.Rows[i], "", "", "", "", "", "")
	}
	for i := range t.Defences {
		m := &t.Defences[i]
		cells := []any{cmp.Or(m.Adversary, "none"), m.Members, strings.Join(m.Seats, " "), share(m.Capture),
			interval(m.Capture), share(m.Accuracy), "", share(m.Liveness), "", "", ""}
		if t.learned() {
			cells = append(cells, "", "", "", "", "")
		}
		out.Add(append(cells, m.Name, m.Defence, change(m.Change.Capture), change(m.Change.Accuracy),
			change(m.Change.Liveness), factor(m.Change.CostFactor))...)
	}
	return out
}

// result is the test case of a cell in which a defence is toggled. It never fails: the limit is about the council as
// its file has it.
func (m *DefenceMeasurement) result(t *Table) result {
	name := "no adversary"
	if m.Adversary != "" {
		name = fmt.Sprintf("%s at %s", m.Adversary, strings.Join(m.Seats, " "))
	}
	return result{Class: table.Plain(t.Protocol), Name: fmt.Sprintf("%s, defence %s %s", name, m.Name, m.Defence),
		Output: fmt.Sprintf("captured %s, right %s; with the defence minus without it: captured %s, right %s, "+
			"decided %s, cost %s", share(m.Capture), share(m.Accuracy), change(m.Change.Capture),
			change(m.Change.Accuracy), change(m.Change.Liveness), factor(m.Change.CostFactor))}
}
