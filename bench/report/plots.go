package report

import (
	"slices"
)

// Plots returns the plots for which the report has data. To add a plot, add a
// function here.
func (r *Report) Plots() []Plot {
	var out []Plot
	for _, plot := range []func(*Report) *Plot{accuracyPlot, modelsPlot, groupsPlot, errorsPlot, dropsPlot,
		calibrationPlot, graphPlot} {
		if f := plot(r); f != nil {
			out = append(out, *f)
		}
	}
	g := &Grid{Report: *r, Cells: []Cell{NewCell(plain(r.Council), nil, r, nil, nil)}}
	for _, plots := range gamePlots {
		out = append(out, plots(g)...)
	}
	return out
}

// gamePlots are plots of protocols with named endings. Single runs have them too.
var gamePlots = []func(*Grid) []Plot{outcomeBars.plot, trajectoriesPlot, stopsPlot}

// Plots returns the plots for which the grid's cells have data. What the cells vary
// and measure decides, not the preset. To add a plot, add a function here.
func (g *Grid) Plots() (out []Plot) {
	out = g.specified()
	for _, plots := range slices.Concat([]func(*Grid) []Plot{beforeAfterBars.plot, decisionBars.plot, roundsPlot},
		gamePlots, []func(*Grid) []Plot{sweepPlots}) {
		out = append(out, plots(g)...)
	}
	return out
}

// specified draws the figures that the manifest of the grid asks for.
func (g *Grid) specified() (out []Plot) {
	for _, spec := range g.Specs {
		d := specPlot{PlotSpec: spec, cells: g.selectCells(func(c Cell) bool { return spec.Place(c.param) != "" })}
		var f *Plot
		switch spec.Kind {
		case "trajectories":
			f = d.games(g)
		case "circles":
			f = d.circles(g)
		default:
			f = d.rates(g)
		}
		if f != nil {
			f.Name, f.wide = spec.Name, true
			out = append(out, *f)
		}
	}
	return out
}

// Specified returns the figures that the manifest of the grid asks for, without those that every report has.
func (g *Grid) Specified() []Plot { return g.specified() }
