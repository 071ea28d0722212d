package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"synod.dev/synod/core/stats"
	"synod.dev/synod/core/table"
	"synod.dev/synod/internal/chart"
)

// shownGame is a trajectory with its cell.
type shownGame struct {
	cell    string
	members []Member
	kinds   string
	Trajectory
}

func (g *shownGame) name() string { return fmt.Sprintf("%s #%d", g.cell, g.Repeat+1) }

func (g *shownGame) title() string {
	s := fmt.Sprintf("%s #%d\n%s", shorten(g.cell, 34), g.Repeat+1, g.Ending)
	if g.Stop > 0 {
		s += fmt.Sprintf(", ended after round %d", g.Stop)
	}
	return s
}

func (g *shownGame) adversary(seat int) bool {
	return seat < len(g.members) && g.members[seat].Adversary != ""
}

// Of a grid with few cells, more than one game per cell is drawn.
const gamesPerCell, fewCells = 3, 6

// trajectoriesPlot shows the number that every player held after every round, with a
// panel for each of the first games of every cell.
func trajectoriesPlot(g *Grid) []Plot {
	limit := 1
	if len(g.Cells) <= fewCells {
		limit = gamesPerCell
	}
	var games []shownGame
	cells := g.selectCells(func(c Cell) bool { return len(c.Trajectories) > 0 })
	for _, c := range cells {
		for _, t := range c.Trajectories[:min(limit, len(c.Trajectories))] {
			games = append(games, shownGame{c.Cell, c.Seats, c.kindsCell(), t})
		}
	}
	if len(games) == 0 || len(cells) > maxPlotCells {
		return nil
	}
	columns := min(3, len(games))
	f := trajectories(games)
	f.Title = g.titled(gamesTitle)
	f.draw(func() *picture { return drawGames(f.Title, games, columns) })
	return []Plot{f}
}

const gamesTitle = "What every player held after every round"

// trajectories returns the data of games.
func trajectories(games []shownGame) Plot {
	f := Plot{
		Name: "trajectories", wide: true,
		Caption: "The first games of every cell. A line is a player: blue if honest, dashed red if Byzantine. A " +
			"Byzantine player’s line shows what it noted, which need not be what it sent. " +
			"Dotted lines mark the range of the numbers that honest players were given; the vertical line marks the " +
			"round after which the game ended. Equal lines are drawn slightly apart.",
		Data: &table.Table{Head: []string{"members_kind", "cell", "question", "repeat", "ending", "stop", "seat",
			"adversary", "round", "value"}},
		Table: &table.Table{Head: []string{"cell", "seat", "held, round by round"}},
	}
	for _, game := range games {
		game.addTo(&f)
	}
	return f
}

// addTo adds a game to the data of the plot.
func (g *shownGame) addTo(f *Plot) {
	for i, values := range g.Values {
		member := Member{ID: fmt.Sprintf("n%d", i)}
		if i < len(g.members) {
			member = g.members[i]
		}
		var held []string
		for t, v := range values {
			cell, shown := "", "–"
			if v != nil {
				cell = number(*v)
				shown = cell
			}
			held = append(held, shown)
			f.Data.Add(g.kinds, g.cell, g.Question, g.Repeat, g.Ending, g.Stop, member.ID, member.Adversary, t, cell)
		}
		f.Table.Add(g.name(), member.ID, strings.Join(held, " "))
	}
}

func drawGames(title string, games []shownGame, columns int) *picture {
	p := newPanels(title, columns, 160)
	adversaries := false
	low, high := rangeOf(games)
	for i := range games {
		c := p.add(games[i].title())
		c.Y.Min, c.Y.Max = low, high
		games[i].draw(c)
		if p.inLastRow(i, len(games)) {
			c.X.Label.Text = "round"
		}
		adversaries = adversaries || slices.ContainsFunc(games[i].members,
			func(m Member) bool { return m.Adversary != "" })
	}
	p.addLegend("honest", rule(chart.Blue, nil))
	if adversaries {
		p.addLegend("Byzantine", rule(chart.Red, dashes))
	}
	p.addLegend("given to honest", rule(chart.Ink, dots))
	p.addLegend("ended", rule(chart.Green, nil))
	return p
}

// rangeOf returns the range of all numbers in the games, with a margin.
func rangeOf(games []shownGame) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, g := range games {
		for _, values := range g.Values {
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
	margin := max((high-low)/12, .5)
	return low - margin, high + margin
}

// given returns the range of the honest players' first numbers. It is empty (from >
// to) if there are none.
func (g *shownGame) given() (from, to float64) {
	from, to = math.Inf(1), math.Inf(-1)
	for i, values := range g.Values {
		if len(values) > 0 && values[0] != nil && !g.adversary(i) {
			from, to = min(from, *values[0]), max(to, *values[0])
		}
	}
	return from, to
}

func (g *shownGame) draw(c *rateChart) {
	last := 1
	for _, values := range g.Values {
		last = max(last, len(values)-1)
	}
	c.X.Min, c.X.Max = -.2, float64(last)+.2
	c.X.Tick.Marker, c.Y.Tick.Marker = wholeTicks(0, float64(last)), wholeTicks(c.Y.Min, c.Y.Max)
	if from, to := g.given(); from <= to {
		for _, y := range []float64{from, to} {
			c.Line(plotter.XYs{{X: c.X.Min, Y: y}, {X: c.X.Max, Y: y}},
				chart.Stroke(chart.Ink, 1, dots...))
		}
	}
	if x := float64(g.Stop); g.Stop > 0 {
		c.Line(plotter.XYs{{X: x, Y: c.Y.Min}, {X: x, Y: c.Y.Max}},
			chart.Stroke(chart.Green, 1.5))
	}
	for _, adversary := range []bool{true, false} { // honest players are drawn last, above the others
		style := chart.Stroke(chart.Blue, .9)
		if adversary {
			style = chart.Stroke(chart.Red, .8, dashes...)
		}
		for i, values := range g.Values {
			if g.adversary(i) != adversary {
				continue
			}
			aside := (c.Y.Max - c.Y.Min) * .004 * (float64(i) - float64(len(g.Values)-1)/2)
			c.segments(values, aside, style)
		}
	}
}

// segments draws a line with gaps at missing values. A value between two gaps is a dot.
func (c *rateChart) segments(values []*float64, aside float64, style draw.LineStyle) {
	var segment plotter.XYs
	for t := 0; t <= len(values); t++ {
		if t < len(values) && values[t] != nil {
			segment = append(segment, plotter.XY{X: float64(t), Y: *values[t] + aside})
			continue
		}
		if len(segment) == 1 {
			c.dot(segment[0].X, segment[0].Y, chart.Mark(style.Color, 1.5, chart.Circle))
		}
		c.Line(segment, style)
		segment = nil
	}
}

// stopsPlot shows after how many rounds games ended: a dot per game, a row per cell.
func stopsPlot(g *Grid) []Plot {
	cells := g.selectCells(func(c Cell) bool { return len(c.Stops) > 0 })
	if len(cells) == 0 || len(cells) > maxPlotCells {
		return nil
	}
	f := Plot{
		Name: "stops", Title: g.titled("Rounds until a game ended"), wide: true,
		Caption: "A dot is a game; dots of games that ended after the same round are above one another, and the " +
			"vertical line is the median. Beside the cell’s name is the number of its games that ended; other games, " +
			"and cells in which none ended, are not drawn.",
		Data:  &table.Table{Head: []string{"members_kind", "cell", "finished", "stop_round", "games"}},
		Table: &table.Table{Head: []string{"cell", "ended", "median", "rounds"}},
	}
	for _, c := range cells {
		var rounds []string
		for _, s := range countStops(c.Stops) {
			f.Data.Add(c.kindsCell(), c.Cell, c.Finished, s.round, s.games)
			rounds = append(rounds, fmt.Sprintf("%d×%d", s.round, s.games))
		}
		f.Table.Add(c.Cell, fmt.Sprintf("%d of %d", len(c.Stops), c.Finished), medianOf(c.Stops),
			strings.Join(rounds, " "))
	}
	f.draw(func() *picture { return drawStops(f.Title, cells) })
	return []Plot{f}
}

// stopCount is the number of games that ended after a round.
type stopCount struct{ round, games int }

// countStops counts ascending rounds.
func countStops(ascending []int) (counts []stopCount) {
	for _, round := range ascending {
		if n := len(counts); n > 0 && counts[n-1].round == round {
			counts[n-1].games++
			continue
		}
		counts = append(counts, stopCount{round, 1})
	}
	return counts
}

func medianOf(ascending []int) float64 {
	values := make([]float64, len(ascending))
	for i, v := range ascending {
		values[i] = float64(v)
	}
	return stats.Median(values)
}

func drawStops(title string, cells []Cell) *picture {
	p := newPanels(title, 1, 56+20*vg.Length(len(cells)))
	c := p.add("")
	ticks := c.rowPerCell(cells, true)
	game := chart.Mark(chart.Blue, 1.8, chart.Circle)
	last := 1
	for i := range cells {
		stops, y := cells[i].Stops, ticks[i].Value
		ticks[i].Label += fmt.Sprintf("  (%d of %d)", len(stops), cells[i].Finished)
		last = max(last, stops[len(stops)-1])
		m := medianOf(stops)
		c.Line(plotter.XYs{{X: m, Y: y - .4}, {X: m, Y: y + .4}},
			chart.Stroke(chart.Orange, 2))
		for _, s := range countStops(stops) {
			distance := min(.2, .7/float64(s.games))
			for j := range s.games {
				c.dot(float64(s.round), y+distance*(float64(j)-float64(s.games-1)/2), game)
			}
		}
	}
	c.X.Min, c.X.Max = 0, float64(last)+.5
	c.X.Tick.Marker, c.X.Label.Text = wholeTicks(0, c.X.Max), "round"
	p.addLegend("a game", chart.Sign(game))
	p.addLegend("median", rule(chart.Orange, nil))
	return p
}
