package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"synod.dev/synod/core/table"
	"synod.dev/synod/internal/chart"
)

// circles draws a list of the report, such as the scores of workers, as numbered circles over a number; nil without a
// list.
func (d *specPlot) circles(g *Grid) *Plot {
	f := &Plot{Title: g.titled(d.title()), Caption: fmt.Sprintf("%s by %s. The number in a circle is that of the "+
		"member. Equal heights are drawn side by side.", d.label(d.Y), prose(d.label(d.X))),
		Data:  &table.Table{Head: append([]string{"members_kind", "cell"}, append(d.Params(), "member", d.Y)...)},
		Table: &table.Table{Head: append(append([]string{"cell"}, d.Params()...), d.label(d.Y))}}
	for i := range d.cells {
		c := &d.cells[i]
		if len(c.Lists[d.Y]) == 0 {
			continue
		}
		d.points = append(d.points, &point{c, d.Y, d.Y, -1})
		cells, text := []any{c.kindsCell(), c.Cell}, ""
		for _, name := range d.Params() {
			cells = append(cells, c.param(name))
		}
		for member, v := range c.Lists[d.Y] {
			f.Data.Add(slices.Concat(cells, []any{member, v})...)
			text += fmt.Sprintf("%d: %g  ", member, v)
		}
		f.Table.Add(append(cells[1:], text)...)
	}
	if len(d.points) == 0 {
		return nil
	}
	f.draw(func() *picture { return d.drawCircles(f.Title) })
	return f
}

const circleRadius = 5.5

func (d *specPlot) drawCircles(title string) *picture {
	titles := d.values(d.Panels)
	p := newPanels(title, min(cmp.Or(d.Columns, 2), len(titles)), 260)
	low, high, ticks := d.numbers()
	top, bottom := 0.0, 0.0
	for _, p := range d.points {
		top, bottom = max(top, slices.Max(p.cell.Lists[d.Y])), min(bottom, slices.Min(p.cell.Lists[d.Y]))
	}
	// The width and height of a circle in the units of the axes; frames are about as large as the numbers say.
	width, height := float64((panelsWidth-130)/vg.Length(p.Columns)-45), float64(p.row-60)
	room := plotter.XY{X: 2.2 * circleRadius / width * (high - low + 1.2),
		Y: 2 * circleRadius / height * 1.1 * (top - bottom)}
	for k, panel := range titles {
		c := p.add(d.label(panel))
		c.X.Min, c.X.Max, c.X.Tick.Marker = low-.6, high+.6, ticks
		margin := (top - bottom) / 20
		c.Y.Min, c.Y.Max, c.Y.Label.Text = bottom-margin, top+margin, prose(d.label(d.Y))
		c.Y.Tick.Marker = wholeTicks(bottom, top)
		for _, at := range d.at(panel, "") {
			d.column(c, at.number(d.X), at.cell.Lists[d.Y], room)
		}
		if p.inLastRow(k, len(titles)) {
			c.X.Label.Text = prose(d.label(d.X))
		}
	}
	if len(d.Byzantine) == 0 {
		return p
	}
	p.addLegend("honest", chart.Sign(chart.Mark(chart.Blue, circleRadius, chart.Circle)))
	p.addLegend("Byzantine", chart.Sign(chart.Mark(chart.Red, circleRadius, chart.Circle)))
	return p
}

// column draws the circles over one number, those of similar height side by side.
func (d *specPlot) column(c *rateChart, x float64, values []float64, room plotter.XY) {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(values[j], values[i]) })
	var drawn plotter.XYs
	for _, i := range order {
		at := plotter.XY{X: x, Y: values[i]}
		for k := 1; slices.ContainsFunc(drawn, func(o plotter.XY) bool {
			return math.Abs(o.Y-at.Y) < room.Y && math.Abs(o.X-at.X) < room.X*.99
		}); k++ { // right, left, further right, …
			at.X = x + room.X*float64((k+1)/2)*float64(2*(k%2)-1)
		}
		drawn = append(drawn, at)
		ink := chart.Blue
		if slices.Contains(d.Byzantine, i) {
			ink = chart.Red
		}
		c.dot(at.X, at.Y, chart.Mark(ink, circleRadius, chart.Circle))
		c.Label(at, fmt.Sprint(i), 7, chart.White)
	}
}

// games draws the first games of every row; nil without games.
func (d *specPlot) games(g *Grid) *Plot {
	for i := range d.cells {
		if len(d.cells[i].Trajectories) > 0 {
			d.points = append(d.points, &point{cell: &d.cells[i]})
		}
	}
	columns := cmp.Or(d.Columns, 3)
	rows := d.values(d.Panels)
	for _, row := range rows { // every row has a panel in every column
		columns = min(columns, len(firstGames(d.at(row, ""), columns)))
	}
	var games []shownGame
	for _, row := range rows {
		games = append(games, firstGames(d.at(row, ""), columns)...)
	}
	if len(games) == 0 {
		return nil
	}
	f := trajectories(games)
	f.Title = g.titled(cmp.Or(d.Title, gamesTitle))
	f.draw(func() *picture { return drawGames(f.Title, games, columns) })
	return &f
}

// firstGames returns so many games: of every cell the same number, and one more of the first cells.
func firstGames(cells []*point, n int) (games []shownGame) {
	for i, p := range cells {
		share := n / len(cells)
		if i < n%len(cells) {
			share++
		}
		for _, t := range p.cell.Trajectories[:min(share, len(p.cell.Trajectories))] {
			games = append(games, shownGame{p.cell.Cell, p.cell.Seats, p.cell.kindsCell(), t})
		}
	}
	return games
}
