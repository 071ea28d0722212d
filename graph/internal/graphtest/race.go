//go:build race

package graphtest

// Race reports whether the race detector is on.
const Race = true
