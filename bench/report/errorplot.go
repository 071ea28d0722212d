package report

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/core/table"
	"synod.dev/synod/internal/canvas"
	"synod.dev/synod/internal/plot"
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
	for _, p := range r.ErrorPairs {
		both := ""
		if p.CoError != nil {
			both = number(p.CoError.Value)
		}
		addRow(f.Data, r.kindsCell(), p.Phi, plain(p.A), r.kindOf(p.A), plain(p.B), r.kindOf(p.B), both)
	}
	m.title = f.Title
	f.draw(func() picture { return m })
	return f
}

// kindOf returns the kind of a member by its id.
func (r *Report) kindOf(id string) string {
	for _, m := range r.Seats {
		if m.ID == id {
			return m.Kind
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
	longestName             = 16 // characters of a member's name
)

func (m *matrix) cell() float64 {
	if len(m.members) > 10 {
		return denseCellSize
	}
	return cellSize
}

// names returns the labels of the members and the width of the longest.
func (m *matrix) names() (all []string, width float64) {
	for _, s := range m.members {
		name := plain(s.ID)
		if runes := []rune(name); len(runes) > longestName {
			name = string(runes[:longestName-1]) + "…"
		}
		all, width = append(all, name), max(width, canvas.Text{Size: cellText}.Width(name))
	}
	return all, width * 1.12 // the viewer's font may be wider
}

// scale explains the colours.
func (m *matrix) scale() plot.Legend {
	l := plot.Legend{Size: cellText, Ink: allColour}
	for _, v := range []float64{1, .5, 0, -.5, -1} {
		l.Add(fmt.Sprintf("%.1f", v), plot.Swatch(correlationColour(v)))
	}
	return l
}

func (m *matrix) size() (width, height float64) {
	_, names := m.names()
	scale := m.scale()
	legend, _ := scale.Extent()
	side := m.cell() * float64(len(m.members))
	return max(names+side+3*legendGap+spare(legend), chartWidth), titleHeight + names + side + 3*legendGap
}

func (m *matrix) failed() error { return nil } // phi is a number from -1 to 1

// drawOn draws the title, a row and a column for every member, and the scale to their right.
func (m *matrix) drawOn(on canvas.Canvas) {
	on.Text(canvas.Text{Size: 12, Ink: allColour, Y: canvas.Top}, canvas.Point{X: on.Min.X, Y: on.Max.Y}, m.title)
	names, width := m.names()
	cell, corner := m.cell(), canvas.Point{X: on.Min.X + width + 6, Y: on.Max.Y - titleHeight - width - 6}
	for i, name := range names {
		middle := (float64(i) + .5) * cell
		on.Text(canvas.Text{Size: cellText, Ink: allColour, X: canvas.Right, Y: canvas.Middle},
			corner.Add(canvas.Point{X: -4, Y: -middle}), name)
		on.Text(canvas.Text{Size: cellText, Ink: allColour, Y: canvas.Middle, Turned: true},
			corner.Add(canvas.Point{X: middle, Y: 4}), name)
		for j := range names {
			m.drawCell(on, i, j, corner.Add(canvas.Point{X: float64(j) * cell, Y: -float64(i) * cell}))
		}
	}
	scale := m.scale()
	scale.Draw(on.Crop(corner.X-on.Min.X+cell*float64(len(names))+legendGap, 0, 0, on.Max.Y-corner.Y))
}

// drawCell draws the cell of two members with its upper left corner.
func (m *matrix) drawCell(on canvas.Canvas, i, j int, at canvas.Point) {
	opposite := at.Add(canvas.Point{X: m.cell(), Y: -m.cell()})
	fill, ink := gridColour, allColour // of the diagonal and of unknown correlations
	if r := m.phi[[2]int{i, j}]; i != j && r != nil {
		if fill = correlationColour(r.Value); math.Abs(r.Value) > .6 {
			ink = color.RGBA{255, 255, 255, 255}
		}
	}
	on.Rectangle(fill, at, opposite)
	edge := canvas.Stroke{Ink: color.RGBA{255, 255, 255, 255}, Width: 1}
	on.Line(edge, at, canvas.Point{X: opposite.X, Y: at.Y}, opposite, canvas.Point{X: at.X, Y: opposite.Y}, at)
	if text := m.text(i, j, false); text != "" {
		on.Text(canvas.Text{Size: cellText, Ink: ink, X: canvas.Centre, Y: canvas.Middle},
			canvas.Point{X: (at.X + opposite.X) / 2, Y: (at.Y + opposite.Y) / 2}, text)
	}
}

// correlationColour goes from blue at -1 over nearly white at 0 to dark red at 1.
func correlationColour(phi float64) color.RGBA {
	middle, end := color.RGBA{0xf4, 0xf4, 0xf4, 255}, adversaryColour
	if phi < 0 {
		end = strongColour
	}
	part := min(math.Abs(phi), 1)
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + part*(float64(b)-float64(a)))) }
	return color.RGBA{mix(middle.R, end.R), mix(middle.G, end.G), mix(middle.B, end.B), 255}
}
