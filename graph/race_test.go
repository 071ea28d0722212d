//go:build race

package graph

// raceEnabled cuts the long cross-checks: the detector slows them fivefold, and the search has no goroutines.
const raceEnabled = true
