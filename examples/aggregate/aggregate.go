package main

import (
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/robust"
)

// Midrange is the entry of the catalogue of aggregates: for each criterion, the
// middle between the smallest and the largest mark after the f smallest and the f
// largest were dropped.
var Midrange = robust.Aggregate{
	Entry: synod.Entry{Name: "midrange", Summary: "middle of the range after the f extremes on each side were dropped"},
	Bound: func(n int) int { return (n - 1) / 2 },
	Compute: func(_ *robust.Workspace, vectors [][]float64, f int) (robust.Result, error) {
		rows, err := robust.Canonical(vectors) // checked, and in an order that does not depend on who sent what
		if err != nil {
			return robust.Result{}, err
		}
		r := robust.Result{Vector: make([]float64, len(rows[0])), Converged: true}
		column := make([]float64, len(rows))
		for k := range r.Vector {
			for i, row := range rows {
				column[i] = row[k]
			}
			slices.Sort(column)
			r.Vector[k] = (column[f] + column[len(column)-1-f]) / 2
			r.Total += r.Vector[k]
		}
		return r, nil
	},
}
