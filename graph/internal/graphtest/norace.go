//go:build !race

package graphtest

// Race reports whether the race detector is on. The long comparisons are then cut short, because
// the detector makes them five times as slow and the search has no goroutines.
const Race = false
