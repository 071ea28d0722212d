package page

import (
	"context"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strings"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/bench/report"
	"synod.dev/synod/core/stats"
	"synod.dev/synod/council"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/graph/draw"
	"synod.dev/synod/graph/format"
	"synod.dev/synod/llm"

	"synod.dev/synod/cmd/synod-serve/internal/councils"
)

// councilPage is the page of a council.
type councilPage struct {
	ID, Problem string
	MayEdit     bool
	MayCheck    bool
	Open        *openCouncil // nil: it is not served
	Checks      []checkLine  // of "check now"; nil: it was not asked for
}

// openCouncil is what is known of a council that is served.
type openCouncil struct {
	Facts    [][2]string
	Claim    string
	None     bool // nothing is guaranteed
	Note     string
	OverTime []string
	Graph    template.HTML
	InWords  string
	Doctor   string // the address of its graph there; "": none
	Seats    []seatLine
	Cost     *costView
	Models   []modelLine
	Nodes    bool // of other owners
	Spend    spendLine
	Days     int
	Drifts   []metrics.Drift // of its probabilities, by labels; nil: there are none
	Diagram  template.HTML   // the same by probability
}

// seatLine is a seat.
type seatLine struct {
	ID, Model, Kind, Served, What, Hears string
}

// modelLine is the health of a model.
type modelLine struct {
	Model, Name, Server, Seats string
	State, Class               string // Class: good, bad or quiet
	Worked, Latency            string
	Faults                     []faultLine
}

type faultLine struct{ At, Status, Reason string }

// checkLine is what a check of a model has found.
type checkLine struct {
	Model, Seats, Server, Found, Advice string
	Bad                                 bool
}

func showCouncil(v *visit) error { return v.council(nil) }

// checking holds one check at a time: each asks all servers of a council.
var checking = make(chan struct{}, 1)

// checkCouncil asks the servers of a council whether calls can succeed, which costs nothing.
func checkCouncil(v *visit) error {
	if !v.Key.Administers() {
		return problemf(403, "The key %s may not check servers; a key made with --admin may.", v.Key.Name)
	}
	s, _, err := v.acquire(v.R.PathValue("id"))
	if err != nil || s == nil {
		return err
	}
	defer s.Release()
	select {
	case checking <- struct{}{}:
		defer func() { <-checking }()
	case <-v.R.Context().Done():
		return problemf(503, "Another check was running.")
	}
	ctx, cancel := context.WithTimeout(v.R.Context(), 10*time.Second)
	defer cancel()
	lines := []checkLine{}
	for _, k := range s.Council.Preflight(ctx) {
		l := checkLine{Model: k.Model, Seats: strings.Join(k.Seats, ", "), Server: k.Server, Found: k.Found,
			Advice: k.Advice}
		switch {
		case k.Err != nil:
			l.Bad, l.Found = true, string(k.Err.Status)+": "+k.Err.Reason()
		case k.Found == "":
			l.Found = "has no server to check"
		}
		lines = append(lines, l)
	}
	return v.council(lines)
}

func (v *visit) council(checks []checkLine) error {
	id := v.R.PathValue("id")
	s, state, err := v.acquire(id)
	if err != nil {
		return err
	}
	page := &councilPage{ID: id, Problem: state.Problem, MayEdit: v.mayEdit() == nil && editable(id),
		MayCheck: v.Key.Administers(), Checks: checks}
	if s != nil {
		defer s.Release()
		spend, err := v.spend()
		if err != nil {
			return err
		}
		page.Open = v.p.describe(v.R.Context(), s)
		marks, err := v.p.o.Store.Marks(v.R.Context(), id)
		if err != nil {
			return err
		}
		later := metrics.Marked(marks)
		page.Open.Drifts, page.Open.Diagram = metrics.Drifts(later), reliabilityDiagram(later)
		page.Open.Spend, page.Open.Days = newSpendLine(spend[id]), int(spendTime/(24*time.Hour))
	}
	return v.show("council.html", "Council "+id, page)
}

// reliabilityDiagram draws how often answers were right by the probability that was stated of them; "": none has one.
func reliabilityDiagram(list []metrics.Later) template.HTML {
	var stated []stats.Forecast
	for _, l := range metrics.Once(list) {
		stated = append(stated, l.Forecast)
	}
	s := metrics.NewStated(stated, 1)
	if s == nil {
		return ""
	}
	drawing, err := report.ReliabilityDiagram("Right answers by stated probability", s)
	if err != nil {
		return ""
	}
	return svg(drawing, fmt.Sprintf("Share of right answers by stated probability, of %d labelled answers; the table "+
		"below has the means", s.N))
}

// describe describes a council that is open.
func (p *Page) describe(ctx context.Context, s *councils.Served) *openCouncil {
	made := s.Council.Plan()
	spec, b := made.Spec(), made.Bound()
	o := &openCouncil{Claim: guaranteeOf(b), None: b.Guarantee == plan.None, Note: b.Note,
		Nodes: spec.Runner.Capabilities().Owned, OverTime: overTime(b), Models: modelLines(s.Council.Health())}
	o.Facts = [][2]string{
		{"Protocol", protocolOf(made)},
		{"Seats", fmt.Sprint(len(made.Seats()))},
		{"Graph", fmt.Sprintf("%s, %s", graphName(made), plural(b.Edges, "edge"))},
		{"r", robustnessOf(b)},
		{"F", fmt.Sprint(b.F)},
		{"Rule", made.Rule().Name},
		{"Calls", fmt.Sprintf("at most %d for a question", made.Calls())},
		{"Served since", moment(s.Since)},
		{"Fingerprint", s.Fingerprint},
	}
	if spec.Form != "" {
		o.Facts = append(o.Facts, [2]string{"Form", string(spec.Form)})
	}
	seats := s.Council.Seats()
	if len(seats) == 0 {
		seats = made.Seats()
	}
	o.draw(made, seats)
	if !o.Nodes {
		o.Cost = p.costs.of(ctx, s, p.o.Councils.Env())
	}
	return o
}

// protocolOf writes the protocol of a plan and the parameters that a council file sets. What the plan has added from
// its history, such as weights by seat, is left out.
func protocolOf(made *plan.Plan) string {
	all := made.Spec().Protocol
	text, _ := all["name"].(string)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if key == "name" {
			continue
		}
		switch v := all[key].(type) {
		case [][]int: // lists of seats
			var lists []string
			for _, list := range v {
				var ids []string
				for _, i := range list {
					ids = append(ids, made.Seats()[i].ID)
				}
				lists = append(lists, "["+strings.Join(ids, ", ")+"]")
			}
			text += fmt.Sprintf(", %s: %s", key, strings.Join(lists, ", "))
		case string, bool, int, uint64, int64, float64:
			text += fmt.Sprintf(", %s: %v", key, v)
		}
	}
	return text
}

// draw draws the graph with the seats' names, and lists who hears whom.
func (o *openCouncil) draw(plan *plan.Plan, seats []plan.Seat) {
	g := plan.Graph()
	names, roles, marked := make([]string, len(seats)), make([]string, len(seats)), false
	for i, s := range seats {
		names[i] = s.ID
		switch {
		case s.Adversary != "":
			roles[i] = "adversary"
		case s.Role != "":
			roles[i] = string(s.Role)
		default:
			roles[i] = s.Group
		}
		marked = marked || roles[i] != ""
		l := seatLine{ID: s.ID, Model: s.Model, Kind: string(s.Kind), Served: s.Served, What: roles[i]}
		if s.Adversary != "" {
			l.What = "adversary: " + s.Adversary
		}
		if s.NonVoting {
			l.What = strings.TrimPrefix(l.What+", no vote", ", ")
		}
		if i < g.N() {
			l.Hears = hears(seats, plan.Peers(synod.NodeID(i)))
		}
		o.Seats = append(o.Seats, l)
	}
	d := draw.Drawing{Graph: g.Graph, Names: names, Layout: g.Layout, Layers: g.Layers}
	if marked {
		d.Roles = roles
	}
	file := format.File{Graph: g.Graph, Names: names}
	o.InWords = inWords(file)
	if image, err := d.SVG(); err == nil {
		o.Graph = svg(image, fmt.Sprintf("The graph of the council: %s, %s. Below is a table of who hears whom.",
			plural(len(seats), "seat"), plural(g.EdgeCount(), "edge")))
	}
	if g.N() <= doctorNodes && !g.Changes() {
		f := doctorForm{Family: "merg", N: g.N(), Text: graphText(file), Rounds: 6, F: -1}
		o.Doctor = f.address()
	}
}

// hears lists the seats that a seat hears: "all" if these are all others.
func hears(seats []plan.Seat, peers []synod.NodeID) string {
	if len(peers) == len(seats)-1 && len(peers) > 2 {
		return "all others"
	}
	names := make([]string, len(peers))
	for k, i := range peers {
		names[k] = seats[i].ID
	}
	return strings.Join(names, ", ")
}

// mostRounds is how many rounds of a graph that changes are listed.
const mostRounds = 12

// overTime describes a graph that changes.
func overTime(b plan.Bound) (lines []string) {
	if b.OverTime == nil {
		return nil
	}
	for t, g := range b.OverTime.Rounds {
		if t == mostRounds {
			lines = append(lines, fmt.Sprintf("%d more rounds", len(b.OverTime.Rounds)-t))
			break
		}
		lines = append(lines, fmt.Sprintf("round %d: %s, r %s", t+1, plural(g.Edges, "edge"), rOf(g.R, g.Exact)))
	}
	for _, w := range b.OverTime.Windows {
		if w.Rounds > 1 {
			lines = append(lines, fmt.Sprintf("unions of %d rounds in a row: r at least %d", w.Rounds, w.R))
		}
	}
	return lines
}

func rOf(r int, exact bool) string {
	if exact {
		return fmt.Sprint(r)
	}
	return fmt.Sprintf("at least %d", r)
}

// modelLines says how each model is.
func modelLines(all []council.ModelHealth) (lines []modelLine) {
	for _, m := range all {
		l := modelLine{Model: m.Model, Name: m.Info.Name, Server: m.Info.Server, Seats: strings.Join(m.Seats, ", "),
			State: "calls nobody", Class: "quiet"}
		if m.Info.Kind == llm.Simulated || m.Info.Kind == llm.Recorded {
			l.Server = string(m.Info.Kind)
		}
		if h := m.Health; h != nil {
			l.health(h)
		}
		lines = append(lines, l)
	}
	return lines
}

func (l *modelLine) health(h *llm.Health) {
	switch {
	case h.State == llm.Open:
		l.Class, l.State = "bad", fmt.Sprintf("not called until %s, after %s in a row", moment(h.Until),
			plural(h.Failed, "failure"))
	case h.State == llm.HalfOpen:
		l.Class, l.State = "bad", fmt.Sprintf("the next call tests it; out of order since %s", moment(h.Since))
	case h.Worked.IsZero() && len(h.Faults) == 0:
		l.State = "not called yet"
	case h.Failed > 0:
		l.State = fmt.Sprintf("called; %s in a row", plural(h.Failed, "failure"))
	default:
		l.Class, l.State = "good", "called"
	}
	if !h.Worked.IsZero() {
		l.Worked = moment(h.Worked)
	}
	if h.Median > 0 {
		l.Latency = fmt.Sprintf("median %v, 95 %% within %v", h.Median.Round(time.Millisecond),
			h.Slow.Round(time.Millisecond))
	}
	for _, f := range h.Faults {
		l.Faults = append(l.Faults, faultLine{moment(f.At), string(f.Status), f.Reason})
	}
}
