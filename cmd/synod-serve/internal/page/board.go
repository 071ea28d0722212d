package page

import (
	"cmp"
	"fmt"
	"html/template"
	"image/color"
	"maps"
	"slices"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/core/clean"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/graph/draw"
	"synod.dev/synod/llm"
)

// colours are those of answers, which page.css has as .c0 to .c7. Black text is readable on all of them. The last
// one is that of all further answers.
var colours = []color.RGBA{{0x9a, 0xd0, 0xf5, 255}, {0xff, 0xcf, 0x8a, 255}, {0xa6, 0xdf, 0xbf, 255},
	{0xf2, 0xb8, 0xd3, 255}, {0xf3, 0xec, 0x98, 255}, {0xcb, 0xbb, 0xf2, 255}, {0xdc, 0xc6, 0xac, 255},
	{0xc8, 0xce, 0xd6, 255}}

// The largest graph that is drawn on a page.
const mostSeats, mostEdges = 40, 900

// runState is what is known of a run, while it goes on or afterwards.
type runState struct {
	plan   *plan.Plan
	form   synod.Form
	notes  []journal.Noted
	trials []trial // by seat
	said   []*said // by seat; nil: its model has not replied
}

// newState is the state of a run of which nothing is known.
func newState(p *plan.Plan, form synod.Form) runState {
	n := len(p.Seats())
	return runState{plan: p, form: form, trials: make([]trial, n), said: make([]*said, n)}
}

// trial counts the calls of a seat's model.
type trial struct {
	Calls   int
	Failed  int
	Late    int
	Trouble string // why its last failed call failed
}

// count adds a reply.
func (t *trial) count(r *synod.Reply) {
	t.Calls += r.Calls
	switch {
	case r.Late:
		t.Late++
		t.Trouble = r.Detail
	case r.Status == synod.Dropped:
	case r.Status != synod.OK:
		t.Failed++
		t.Trouble = fmt.Sprintf("%s: %s", r.Status, r.Detail)
	}
}

// board is a run as the page shows it: seats on their graph, answers by colour, rounds as a timeline.
type board struct {
	Graph   template.HTML // "" if it is too large to draw
	Answers []*answerView
	Seats   []seatView
	Rounds  []int
	Scores  []scoreTable
	More    int  // answers that share the last colour
	Long    bool // answers are texts and no values
}

// Unreal names the kinds of members that are no models, so that nobody takes their answers for those of models.
func (b *board) Unreal() string {
	var kinds []string
	for _, s := range b.Seats {
		if s.Kind != string(llm.Simulated) && s.Kind != string(llm.Recorded) {
			continue
		}
		if kind := s.Kind + " members"; !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return strings.Join(kinds, " and ")
}

// answerView is an answer with its colour.
type answerView struct {
	Colour int
	Text   string
	Seats  []string // that hold it now
	First  int      // seats that gave it before they heard others
}

// seatView is a member with what it held in each round.
type seatView struct {
	ID, Model, Kind, Role, Adversary string
	State                            string // waiting, replied, answered, silent, failing
	trial
	Said  *said // nil: its model has not replied
	Cells []cell
}

// cell is what a member held after a round.
type cell struct {
	Known   bool // the member has noted something in this round
	Answer  *answerView
	Source  synod.Source
	From    []string
	Dropped []string
	Silent  []string
	Suspect []string
	Failed  int
	Garbled int
	Sure    *float64
}

// scoreTable has the scores of a round: a row for each member that scored.
type scoreTable struct {
	Round int
	Of    []string
	Rows  []scoreRow
}

type scoreRow struct {
	By    string
	Cells []scoreCell
}

type scoreCell struct {
	Text    string
	Dropped bool
}

// board makes the view of a run.
func (t *runState) board() *board {
	b := &board{Long: t.form.Long()}
	seats := t.plan.Seats()
	name := func(id synod.NodeID) string {
		if id < 0 || int(id) >= len(seats) {
			return fmt.Sprintf("seat %d", id)
		}
		return seats[id].ID
	}
	colour := t.colour(b)
	by, last := t.opinions(len(seats))
	for r := range last + 1 {
		b.Rounds = append(b.Rounds, r)
	}
	fills := make([]color.RGBA, len(seats))
	for i := range seats {
		v := t.seat(i, &seats[i])
		for _, r := range b.Rounds {
			c := cell{}
			if o := by[[2]int{i, r}]; o != nil {
				c = newCell(o, name)
				c.Answer, v.State = colour(o), "answered"
			}
			v.Cells = append(v.Cells, c)
		}
		holds := v.Holds()
		switch {
		case holds != nil:
			holds.Seats = append(holds.Seats, v.ID)
			fills[i] = colours[holds.Colour]
			if first := by[[2]int{i, 0}]; first != nil && first.Answer != synod.None {
				colour(first).First++
			}
		case v.Failed+v.Late > 0 && v.Said == nil:
			v.State = "failing"
		case v.State == "answered":
			v.State = "silent"
		}
		b.Seats = append(b.Seats, v)
	}
	b.Graph = t.graph(seats, fills)
	b.Scores = scores(by, seats, b.Rounds, name)
	return b
}

// seat is a seat before its opinions are known.
func (t *runState) seat(i int, s *plan.Seat) seatView {
	v := seatView{ID: s.ID, Model: s.Model, Kind: string(s.Kind), Role: string(s.Role), Adversary: s.Adversary,
		State: "waiting"}
	if i < len(t.trials) {
		v.trial, v.Said = t.trials[i], t.said[i]
	}
	if v.Said != nil {
		v.State = "replied"
	}
	return v
}

// opinions returns the opinions by seat and round, and the last round; -1: there are none.
func (t *runState) opinions(seats int) (by map[[2]int]*synod.Opinion, last int) {
	by, last = map[[2]int]*synod.Opinion{}, -1
	for i := range t.notes {
		n := &t.notes[i]
		if n.Node >= 0 && int(n.Node) < seats && n.Round >= 0 && n.Round <= 1000 {
			by[[2]int{int(n.Node), n.Round}] = &n.Opinion
			last = max(last, n.Round)
		}
	}
	return by, last
}

// Holds returns the answer that a seat holds now; nil: none.
func (v *seatView) Holds() *answerView {
	for _, c := range slices.Backward(v.Cells) {
		if c.Known {
			return c.Answer
		}
	}
	return nil
}

// colour returns the function that gives answers their colours, in the order in which they were given.
func (t *runState) colour(b *board) func(*synod.Opinion) *answerView {
	known := map[synod.Answer]*answerView{}
	var order []*answerView
	return func(o *synod.Opinion) *answerView {
		if o.Answer == synod.None {
			return nil
		}
		a := known[o.Answer]
		if a == nil {
			a = &answerView{Colour: min(len(order), len(colours)-1), Text: cmp.Or(o.Surface, string(o.Answer))}
			if t.form.Long() {
				a.Text = string(o.Answer)
			}
			known[o.Answer] = a
			order = append(order, a)
			if len(order) <= len(colours)+2 {
				b.Answers = append(b.Answers, a)
			}
			b.More = max(len(order)-len(colours)-2, 0)
		}
		return a
	}
}

func newCell(o *synod.Opinion, name func(synod.NodeID) string) cell {
	names := func(ids []synod.NodeID) (all []string) {
		for _, id := range ids {
			all = append(all, name(id))
		}
		return all
	}
	return cell{Known: true, Source: o.Source, From: names(o.From), Dropped: names(o.Dropped),
		Silent: names(o.Silent), Suspect: names(o.Suspects), Failed: o.Failed, Garbled: o.Unreadable,
		Sure: o.Confidence}
}

// boardText is the smallest size of names: the page shows the drawing at about 0.6 of its size.
const boardText = 18

// graph draws the seats in the colours of what they hold.
func (t *runState) graph(seats []plan.Seat, fills []color.RGBA) template.HTML {
	g := t.plan.Graph().Graph
	if g.N() != len(seats) || g.N() > mostSeats || g.EdgeCount() > mostEdges {
		return ""
	}
	names := make([]string, len(seats))
	for i, s := range seats {
		names[i] = clean.Line(s.ID, 24)
	}
	drawing, err := draw.Drawing{Graph: g, Names: names, Fills: fills, Layout: "circle", Text: boardText}.SVG()
	if err != nil {
		return ""
	}
	return svg(drawing, "The seats and who hears whom; colours are the answers that they hold")
}

// scores lists the scores of each round that has any.
func scores(by map[[2]int]*synod.Opinion, seats []plan.Seat, rounds []int,
	name func(synod.NodeID) string) (all []scoreTable) {
	for _, r := range rounds {
		of := map[synod.NodeID]bool{}
		for i := range seats {
			if o := by[[2]int{i, r}]; o != nil {
				for _, s := range o.Scores {
					of[s.Of] = true
				}
			}
		}
		if len(of) == 0 {
			continue
		}
		ids := slices.Sorted(maps.Keys(of))
		table := scoreTable{Round: r}
		for _, id := range ids {
			table.Of = append(table.Of, name(id))
		}
		for i := range seats {
			if o := by[[2]int{i, r}]; o != nil && len(o.Scores) > 0 {
				table.Rows = append(table.Rows, newScoreRow(seats[i].ID, o, ids))
			}
		}
		all = append(all, table)
	}
	return all
}

func newScoreRow(by string, o *synod.Opinion, ids []synod.NodeID) scoreRow {
	row := scoreRow{By: by, Cells: make([]scoreCell, len(ids))}
	for _, s := range o.Scores {
		if k, ok := slices.BinarySearch(ids, s.Of); ok {
			row.Cells[k] = scoreCell{s.Score.String(), slices.Contains(o.Dropped, s.Of)}
		}
	}
	return row
}

// copyOf returns an opinion that shares nothing with one of a machine, which later runs overwrite. Its record,
// which belongs to the protocol, is left out.
func copyOf(o *synod.Opinion) synod.Opinion {
	c := *o
	c.Answer, c.Surface, c.Record = synod.Answer(strings.Clone(string(o.Answer))), strings.Clone(o.Surface), nil
	c.From, c.Scores, c.Retained = slices.Clone(o.From), slices.Clone(o.Scores), slices.Clone(o.Retained)
	c.Dropped, c.Silent, c.Suspects = slices.Clone(o.Dropped), slices.Clone(o.Silent), slices.Clone(o.Suspects)
	if o.Confidence != nil {
		sure := *o.Confidence
		c.Confidence = &sure
	}
	return c
}
