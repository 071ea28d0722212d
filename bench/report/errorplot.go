package report

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/core/table"
	"synod.dev/synod/internal/chart"
)

// errorsPlot is a matrix of the correlation of errors (phi) of every two honest members; nil if no two have one.
func errorsPlot(r *Report) *Plot {
	if !slices.ContainsFunc(r.ErrorPairs, func(p ErrorPair) bool { return p.Phi != nil }) {
		return nil
	}
	m := r.errorMatrix()
	f := &Plot{
		Name: "error-correlation", Title: r.titled("Members that err together"),
		Caption: "Correlation of the errors of two members in their first answers (phi): 1 if they always err on the " +
			"same questions, 0 if independently, below 0 if one tends to be right where the other errs. A dash: one " +
			"of them always or never errs, or there are fewer than ten questions.",
		Data:  dataTable("a", "a_kind", "b", "b_kind", "both_wrong"),
		Table: &table.Table{Head: []string{"phi, 95 % interval"}, Align: "lr"},
		wide:  len(m.members) > 10,
	}
	for i, a := range m.members {
		f.Table.Head = append(f.Table.Head, a.ID)
		row := []any{a.ID + ", " + a.Kind}
		for j := range m.members {
			row = append(row, m.text(i, j, true))
		}
		f.Table.Add(row...)
	}
	seats := members(r.Seats)
	for _, p := range r.ErrorPairs {
		both := ""
		if p.CoError != nil {
			both = number(p.CoError.Value)
		}
		addRow(f.Data, r.kindsCell(), p.Phi, plain(p.A), seats.kindOf(p.A), plain(p.B), seats.kindOf(p.B), both)
	}
	m.title = f.Title
	f.file = m.file
	return f
}

// kindOf returns the kind of a member by its id.
func (m members) kindOf(id string) string {
	for _, seat := range m {
		if seat.ID == id {
			return seat.Kind
		}
	}
	return ""
}

// matrix is a picture of a correlation of every two members.
type matrix struct {
	title   string
	members []Member
	phi     map[[2]int]*metrics.Rate // by the places of two members, in both orders
}

// errorMatrix has the members of all pairs in the order of their seats.
func (r *Report) errorMatrix() *matrix {
	m := &matrix{phi: map[[2]int]*metrics.Rate{}}
	for _, seat := range r.Seats {
		if slices.ContainsFunc(r.ErrorPairs, func(p ErrorPair) bool { return p.A == seat.ID || p.B == seat.ID }) {
			m.members = append(m.members, seat)
		}
	}
	place := func(id string) int {
		return slices.IndexFunc(m.members, func(s Member) bool { return s.ID == id })
	}
	for _, p := range r.ErrorPairs {
		a, b := place(p.A), place(p.B)
		m.phi[[2]int{a, b}], m.phi[[2]int{b, a}] = p.Phi, p.Phi
	}
	return m
}

// text prints a correlation, on demand with its interval.
func (m *matrix) text(i, j int, interval bool) string {
	r := m.phi[[2]int{i, j}]
	switch {
	case i == j:
		return ""
	case r == nil:
		return "–"
	case interval:
		return fmt.Sprintf("%.2f (%.2f to %.2f)", r.Value, r.Low, r.High)
	}
	return fmt.Sprintf("%.2f", r.Value)
}

// Lengths of the matrix in points.
const (
	cellSize, denseCellSize = 40.0, 29.0 // of up to ten members, and of more
	cellText                = 9.0
	matrixGap               = 14.0 // between the cells and the scale
	longestName             = 16   // characters of a member's name
)

func (m *matrix) cell() vg.Length {
	if len(m.members) > 10 {
		return denseCellSize
	}
	return cellSize
}

// names returns the labels of the members and the width of the longest.
func (m *matrix) names() (all []string, width vg.Length) {
	style := chart.Text(cellText, chart.Ink)
	for _, s := range m.members {
		name := plain(s.ID)
		if runes := []rune(name); len(runes) > longestName {
			name = string(runes[:longestName-1]) + "…"
		}
		all, width = append(all, name), max(width, style.Width(name))
	}
	return all, width
}

// scale explains the colours.
func (m *matrix) scale() (l chart.Legend) {
	for _, v := range []float64{1, .5, 0, -.5, -1} {
		l.Add(fmt.Sprintf("%.1f", v), chart.Swatch(correlationColour(v)))
	}
	return l
}

// file draws the matrix as a file.
func (m *matrix) file(format string) ([]byte, error) {
	_, names := m.names()
	scale := m.scale()
	legend, _ := scale.Extent()
	side := m.cell() * vg.Length(len(m.members))
	width, height := names+side+legend+4*matrixGap, chart.Above()+names+side+2*matrixGap
	return chart.File(format, max(width, chartWidth), height, m.draw)
}

// draw draws the title, a row and a column for every member, and the scale to their right.
func (m *matrix) draw(on draw.Canvas) {
	on = chart.DrawTitle(on, m.title)
	names, width := m.names()
	cell, corner := m.cell(), vg.Point{X: on.Min.X + width + 6, Y: on.Max.Y - width - 6}
	row, column := chart.Centred(cellText, chart.Ink), chart.Centred(cellText, chart.Ink)
	row.XAlign, column.XAlign, column.Rotation = text.XRight, text.XLeft, math.Pi/2
	for i, name := range names {
		middle := (vg.Length(i) + .5) * cell
		on.FillText(row, corner.Add(vg.Point{X: -4, Y: -middle}), name)
		on.FillText(column, corner.Add(vg.Point{X: middle, Y: 4}), name)
		for j := range names {
			m.drawCell(on, i, j, corner.Add(vg.Point{X: vg.Length(j) * cell, Y: -vg.Length(i) * cell}))
		}
	}
	scale := m.scale()
	scale.Draw(draw.Crop(on, corner.X-on.Min.X+cell*vg.Length(len(names))+matrixGap, 0, 0, corner.Y-on.Max.Y))
}

// drawCell draws the cell of two members with its upper left corner.
func (m *matrix) drawCell(on draw.Canvas, i, j int, at vg.Point) {
	opposite := at.Add(vg.Point{X: m.cell(), Y: -m.cell()})
	fill, style := chart.Grid, chart.Centred(cellText, chart.Ink) // of the diagonal and of unknown correlations
	if r := m.phi[[2]int{i, j}]; i != j && r != nil {
		if fill = correlationColour(r.Value); math.Abs(r.Value) > .6 {
			style.Color = chart.White
		}
	}
	corners := []vg.Point{at, {X: opposite.X, Y: at.Y}, opposite, {X: at.X, Y: opposite.Y}}
	on.FillPolygon(fill, corners)
	on.StrokeLines(chart.Stroke(chart.White, 1), append(corners, at))
	on.FillText(style, at.Add(opposite).Scale(.5), m.text(i, j, false))
}

// correlationColour goes from blue at -1 over nearly white at 0 to dark red at 1.
func correlationColour(phi float64) color.RGBA {
	middle, end := color.RGBA{0xf4, 0xf4, 0xf4, 255}, chart.Red
	if phi < 0 {
		end = chart.Blue
	}
	return chart.Mix(middle, end, math.Abs(phi))
}
