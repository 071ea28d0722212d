package panel

import (
	"fmt"

	"synod.dev/synod"
	"synod.dev/synod/core/robust"
	"synod.dev/synod/internal/reference"
	"synod.dev/synod/protocol/check"
)

// campaign is how campaigns try the protocol.
var campaign = func() check.Subject {
	s := check.Staged(2, synod.Prose).At(10)
	s.Setup = func(c check.Chance, x *check.Case) {
		x.N = 4 + c.IntN(4)
		a := robust.Catalogue.All()[c.IntN(len(robust.Catalogue.All()))]
		x.F = c.IntN(a.Bound(x.N-1) + 1)
		x.Params = fmt.Sprintf("{aggregate: %s%s}", a.Name, []string{"", "", ", claims: true",
			", claims: true, drop-disputed: true", ", lenient: true"}[c.IntN(5)])
	}
	return s.Deciding("I-PA-D", "the text with the highest total of its grades, word for word", "docs/use/forms.md",
		regrade)
}()

// regrade decides once more from the grades in the records.
func regrade(t *check.Trace) reference.Step {
	p := t.Protocol.(*Panel)
	seats := make([]reference.PanelSeat, t.Case.N)
	for i := range seats {
		o := t.Last(i)
		if o == nil {
			continue
		}
		r := recordOf(o)
		seats[i].Text, seats[i].Given = o.Answer, string(r.Given)
		for _, m := range r.Marks {
			mark := reference.Mark{Of: m.Of, Text: string(m.Text)}
			if m.Grades != nil {
				mark.Grades = m.Grades[:]
			}
			seats[i].Marks = append(seats[i].Marks, mark)
		}
	}
	d := reference.Panel{F: t.Case.F, Aggregate: p.Aggregate, Lenient: p.Lenient}
	a, lacking, near := d.Decide(seats)
	return reference.Step{Decides: true, Alone: true, Answer: a, Lacking: lacking, Near: near}
}
