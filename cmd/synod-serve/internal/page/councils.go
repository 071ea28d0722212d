package page

import (
	"time"

	"synod.dev/synod/cmd/synod-serve/internal/councils"
)

// councilsPart lists the councils, shows each, and changes their files. Paths of what is no council begin with "-",
// as no id does.
var councilsPart = part{name: "Councils", path: "/councils", routes: map[string]handler{
	"GET /councils":             listCouncils,
	"GET /councils/{id}":        showCouncil,
	"POST /councils/{id}/check": checkCouncil,
	"GET /councils/{id}/edit":   editCouncil,
	"POST /councils/{id}/edit":  saveCouncil,
	"GET /councils/-/new":       newCouncil,
	"POST /councils/-/new":      createCouncil,
	"POST /councils/-/check":    checkText,
}}

// councilList is the list of councils.
type councilList struct {
	Rows    []councilRow
	MayEdit bool
	Why     string // the viewer may not edit
	Days    int
}

// councilRow is a council in the list.
type councilRow struct {
	ID, Problem  string
	Served       bool
	Seats        int
	Protocol     string
	Graph        string
	R, Guarantee string
	F            int
	Health       string
	Ill          bool // a model is not called now
	Spend        spendLine
}

func listCouncils(v *visit) error {
	spend, err := v.spend()
	if err != nil {
		return err
	}
	l := &councilList{Days: int(spendTime / (24 * time.Hour))}
	if err := v.mayEdit(); err != nil {
		l.Why = err.Error()
	} else {
		l.MayEdit = true
	}
	for _, s := range v.p.o.Councils.Councils() {
		if !v.Key.May(s.ID) {
			continue
		}
		row := councilRow{ID: s.ID, Problem: s.Problem, Served: s.Served, Spend: newSpendLine(spend[s.ID])}
		if c, ok := v.p.o.Councils.Acquire(s.ID); ok {
			row.fill(c)
			c.Release()
		}
		l.Rows = append(l.Rows, row)
	}
	return v.show("councils.html", "Councils", l)
}

func (row *councilRow) fill(s *councils.Served) {
	if s.Council == nil {
		return
	}
	p := s.Council.Plan()
	b := p.Bound()
	row.Seats, row.Protocol, row.Graph = len(p.Seats()), protocolName(p), graphName(p)
	row.F, row.R, row.Guarantee = b.F, robustnessOf(b), guaranteeOf(b)
	row.Health, row.Ill = healthOf(s.Council.Health())
}
