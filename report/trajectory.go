package report

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"synod.dev/synod"
)

// Trajectory is what every seat held after every round of one run.
type Trajectory struct {
	Question string       `json:"question"`
	Repeat   int          `json:"repeat"`
	Ending   string       `json:"ending"`
	Stop     int          `json:"stop"`   // after which round it ended; 0: nobody ended it
	Values   [][]*float64 `json:"values"` // by seat and round, 0 the first; null: no number
}

// Follow makes a trajectory out of answers by round and seat.
func Follow(question string, repeat int, ending string, stop int, rounds [][]synod.Answer) Trajectory {
	t := Trajectory{Question: question, Repeat: repeat, Ending: ending, Stop: stop}
	for k, answers := range rounds {
		for i, a := range answers {
			if len(t.Values) <= i {
				t.Values = append(t.Values, make([]*float64, len(rounds)))
			}
			if v, err := strconv.ParseFloat(string(a), 64); err == nil && !math.IsNaN(v) && !math.IsInf(v, 0) {
				t.Values[i][k] = &v
			}
		}
	}
	return t
}

// course is a trajectory in a panel.
type course struct {
	cell  string
	seats []Seat
	kinds string
	Trajectory
}

func (c *course) title() string {
	s := fmt.Sprintf("%s #%d\n%s", shorten(c.cell, 34), c.Repeat+1, c.Ending)
	if c.Stop > 0 {
		s += fmt.Sprintf(", ended after round %d", c.Stop)
	}
	return s
}

// perCell is how many runs of a cell are drawn where there are few cells.
const perCell, fewCells = 3, 6

// trajectoriesPlot is what every player held after every round: a panel for the
// first runs of every cell.
func trajectoriesPlot(g *Grid) []Plot {
	most := 1
	if len(g.Cells) <= fewCells {
		most = perCell
	}
	var all []course
	cells := g.cells(func(c Cell) bool { return len(c.Trajectories) > 0 })
	for _, c := range cells {
		for _, t := range c.Trajectories[:min(most, len(c.Trajectories))] {
			all = append(all, course{c.Cell, c.Seats, c.kindsCell(), t})
		}
	}
	if len(all) == 0 || len(cells) > mostCells {
		return nil
	}
	f := Plot{
		Name: "trajectories", Title: g.titled("What every player held after every round"), wide: true,
		Caption: "The first runs of every cell. A line is a player: blue an honest one, dashed red a Byzantine one, of which its own note is drawn, which need not be what it told. " +
			"Dotted lines mark the range of what honest players were given, the upright line the round after which the game ended. Lines that lie on one another are drawn a little apart.",
		Rows:  [][]string{{"members_kind", "cell", "question", "repeat", "ending", "stop", "seat", "adversary", "round", "value"}},
		Table: [][]string{{"cell", "seat", "held, round by round"}},
	}
	for _, c := range all {
		c.data(&f)
	}
	f.SVG, f.PNG = drawn(func() (*panels, error) { return drawCourses(f.Title, all) })
	return []Plot{f}
}

// data adds a run to the data of the plot.
func (c *course) data(f *Plot) {
	for i, values := range c.Values {
		seat := Seat{ID: fmt.Sprintf("n%d", i)}
		if i < len(c.seats) {
			seat = c.seats[i]
		}
		var held []string
		for t, v := range values {
			number, shown := "", "–"
			if v != nil {
				number = strconv.FormatFloat(*v, 'g', -1, 64)
				shown = number
			}
			held = append(held, shown)
			f.Rows = append(f.Rows, []string{c.kinds, plain(c.cell), plain(c.Question), fmt.Sprint(c.Repeat), plain(c.Ending), fmt.Sprint(c.Stop), plain(seat.ID), plain(seat.Adversary), fmt.Sprint(t), number})
		}
		f.Table = append(f.Table, []string{plain(fmt.Sprintf("%s #%d", c.cell, c.Repeat+1)), plain(seat.ID), strings.Join(held, " ")})
	}
}

func drawCourses(title string, all []course) (*panels, error) {
	p := newPanels(title, min(3, len(all)), vg.Points(160))
	liars := false
	low, high := held(all)
	for i := range all {
		c := p.add(all[i].title())
		c.Y.Min, c.Y.Max = low, high
		if err := all[i].draw(c); err != nil {
			return nil, err
		}
		if i/p.columns == (len(all)-1)/p.columns {
			c.X.Label.Text = "round"
		}
		liars = liars || slices.ContainsFunc(all[i].seats, func(s Seat) bool { return s.Adversary != "" })
	}
	p.explain("honest", stroke{strongColour, nil})
	if liars {
		p.explain("Byzantine", stroke{liarColour, dashes})
	}
	p.explain("given to honest", stroke{allColour, dots})
	p.explain("ended", stroke{modelColours[2], nil})
	return p, nil
}

var (
	liarColour = color.RGBA{0xc0, 0x2a, 0x10, 255}
	dots       = []vg.Length{vg.Points(1), vg.Points(2.5)}
)

// held are the ends of what is held in all courses, with some room.
func held(all []course) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, c := range all {
		for _, values := range c.Values {
			for _, v := range values {
				if v != nil {
					low, high = min(low, *v), max(high, *v)
				}
			}
		}
	}
	if low > high {
		return 0, 1
	}
	room := max((high-low)/12, .5)
	return low - room, high + room
}

// given are the ends of what honest players hold at first.
func (c *course) given() (from, upto float64) {
	from, upto = math.Inf(1), math.Inf(-1)
	for i, values := range c.Values {
		if len(values) > 0 && values[0] != nil && !c.liar(i) {
			from, upto = min(from, *values[0]), max(upto, *values[0])
		}
	}
	return from, upto
}

func (c *course) liar(i int) bool { return i < len(c.seats) && c.seats[i].Adversary != "" }

func (c *course) draw(to *chart) error {
	last := 1
	for _, values := range c.Values {
		last = max(last, len(values)-1)
	}
	to.X.Min, to.X.Max = -.2, float64(last)+.2
	to.X.Tick.Marker, to.Y.Tick.Marker = plot.ConstantTicks(whole(0, float64(last))), plot.ConstantTicks(whole(to.Y.Min, to.Y.Max))
	from, upto := c.given()
	if from <= upto {
		for _, y := range []float64{from, upto} {
			if err := to.line(plotter.XYs{{X: to.X.Min, Y: y}, {X: to.X.Max, Y: y}}, draw.LineStyle{Color: allColour, Width: vg.Points(1), Dashes: dots}); err != nil {
				return err
			}
		}
	}
	if c.Stop > 0 {
		if err := to.line(plotter.XYs{{X: float64(c.Stop), Y: to.Y.Min}, {X: float64(c.Stop), Y: to.Y.Max}}, draw.LineStyle{Color: modelColours[2], Width: vg.Points(1.5)}); err != nil {
			return err
		}
	}
	for _, liars := range []bool{true, false} { // honest players over the others
		style := draw.LineStyle{Color: strongColour, Width: vg.Points(.9)}
		if liars {
			style = draw.LineStyle{Color: liarColour, Width: vg.Points(.8), Dashes: dashes}
		}
		for i, values := range c.Values {
			if c.liar(i) != liars {
				continue
			}
			aside := (to.Y.Max - to.Y.Min) * .004 * (float64(i) - float64(len(c.Values)-1)/2)
			if err := to.pieces(values, aside, style); err != nil {
				return err
			}
		}
	}
	return nil
}

// pieces draws a line that is broken where there is no value.
func (c *chart) pieces(values []*float64, aside float64, style draw.LineStyle) error {
	var piece plotter.XYs
	for t := 0; t <= len(values); t++ {
		if t < len(values) && values[t] != nil {
			piece = append(piece, plotter.XY{X: float64(t), Y: *values[t] + aside})
			continue
		}
		if len(piece) == 1 {
			if err := c.dot(piece[0].X, piece[0].Y, draw.GlyphStyle{Color: style.Color, Radius: vg.Points(1.5), Shape: draw.CircleGlyph{}}); err != nil {
				return err
			}
		}
		if err := c.line(piece, style); err != nil {
			return err
		}
		piece = nil
	}
	return nil
}

// line draws a line; without two points nothing.
func (c *chart) line(points plotter.XYs, style draw.LineStyle) error {
	if len(points) < 2 {
		return nil
	}
	line, err := plotter.NewLine(points)
	if err != nil {
		return err
	}
	line.LineStyle = style
	c.Add(line)
	return nil
}
