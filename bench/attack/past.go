package attack

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"synod.dev/synod/bench"
	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/bench/report"
	"synod.dev/synod/core/table"
)

// HistoryEffect is what a history did for an attack on a council that learns.
type HistoryEffect struct {
	// Questions is the length of the history: every member answered all of them, with the adversary in place, before
	// the measured ones.
	Questions int    `json:"questions"`
	New       Versus `json:"without_history"` // the same adversary where all weights are equal
	Plurality Versus `json:"plurality"`       // the same adversary where a plurality decides
}

// Versus is the same adversary in another council, on the same questions. Change is the attack of the row minus this
// one.
type Versus struct {
	Capture  *metrics.Rate `json:"capture"`
	Accuracy *metrics.Rate `json:"accuracy"`
	Liveness *metrics.Rate `json:"liveness"`
	Change   DefenceChange `json:"change"`
}

// phaseOf returns the phase of a cell; "": the council does not learn.
func phaseOf(c *report.Cell) string {
	phase, _ := c.Params["phase"].(string)
	return phase
}

// measuredIn reports whether a cell is an attack, and not its history or what it is compared with.
func measuredIn(c *report.Cell) bool { return phaseOf(c) == "" || phaseOf(c) == phaseAttack }

// recall compares the attack of cell i with the same adversary without a history and in a plurality.
func (a *Attack) recall(g *bench.Grid, r *report.Grid, i int) error {
	if phaseOf(&r.Cells[i]) != phaseAttack {
		return nil
	}
	n, err := wholeNumber(r.Cells[i].Params["history"])
	if err != nil {
		return err
	}
	a.Past = &HistoryEffect{Questions: n}
	for phase, to := range map[string]*Versus{phaseNew: &a.Past.New, phasePlurality: &a.Past.Plurality} {
		name := fmt.Sprintf("%s-%s", r.Cells[i].Cell, phase)
		k := slices.IndexFunc(r.Cells, func(c report.Cell) bool { return c.Cell == name })
		if k < 0 {
			return errNoAttack
		}
		if err := to.compare(g.Runs[i], g.Runs[k], a.CellFigures, r.Cells[k].Report); err != nil {
			return err
		}
	}
	return nil
}

// wholeNumber reads a number of a cell, which a file has as any kind of number.
func wholeNumber(v any) (n int, err error) {
	if _, err := fmt.Sscan(fmt.Sprint(v), &n); err != nil {
		return 0, errNoAttack
	}
	return n, nil
}

// compare fills in the figures of another run, and what the attack has beyond it.
func (v *Versus) compare(attack, other *bench.Run, as CellFigures, is *report.Report) error {
	e := effect(is)
	v.Capture, v.Liveness = is.Metrics.Capture, e.Liveness
	if as.Finished == 0 || e.Finished == 0 {
		return nil
	}
	c, err := bench.Compare(attack, other)
	if errors.Is(err, bench.ErrNothingCommon) {
		return nil
	}
	if err != nil {
		return err
	}
	v.Accuracy = metrics.Share(c.Pairs[1][0]+c.Pairs[1][1], c.Pairs.N())
	v.Change = DefenceChange{Capture: c.Capture, Accuracy: c.Decision, Liveness: c.Agreed,
		CostFactor: factorOf(&as, &e)}
	return nil
}

// learned reports whether the council learned from a history.
func (t *Table) learned() bool {
	return slices.ContainsFunc(t.Attacks, func(a Attack) bool { return a.Past != nil })
}

// pastHead says what the table of histories shows.
func (t *Table) pastHead() string {
	n := 0
	for _, a := range t.Attacks {
		if a.Past != nil {
			n = a.Past.Questions
		}
	}
	return fmt.Sprintf("The council learns. Before each attack above, all members (%s) answered a history of %d "+
		"questions, with the adversary in place, and have the weights that it gave them. Below, the same adversary "+
		"without a history, where all weigh the same, and against a plurality. Change: with the history minus "+
		"without it, or minus the plurality, paired by question, with 95 %% intervals in percentage points.",
		strings.Join(t.MembersKind, " and "), n)
}

// withPasts adds the columns of histories to the one table of a format.
func (t *Table) withPasts(out *table.Table) *table.Table {
	if !t.learned() {
		return out
	}
	out.Head = append(out.Head, "history", "captured without it", "right without it", "captured by plurality",
		"right by plurality")
	out.Align += "rrrrr"
	for i, a := range t.Attacks {
		p := a.Past
		if p == nil {
			p = &HistoryEffect{}
		}
		out.Rows[i] = append(out.Rows[i], fmt.Sprint(p.Questions), share(p.New.Capture), share(p.New.Accuracy),
			share(p.Plurality.Capture), share(p.Plurality.Accuracy))
	}
	return out
}

// pasts is the table of histories.
func (t *Table) pasts() *table.Table {
	out := &table.Table{Head: []string{"adversary", "members", "seats", "compared with", "captured", "change",
		"right", "change"}, Align: "llllrrrr"}
	for _, a := range t.Attacks {
		if a.Past == nil {
			continue
		}
		for _, v := range []struct {
			name string
			of   Versus
		}{{"no history", a.Past.New}, {"plurality", a.Past.Plurality}} {
			out.Add(a.Adversary, a.Members, strings.Join(a.Seats, " "), v.name, share(v.of.Capture),
				change(v.of.Change.Capture), share(v.of.Accuracy), change(v.of.Change.Accuracy))
		}
	}
	return out
}
