package bench

import (
	"runtime/debug"
	"testing"
)

// A bench collects less garbage, unless the user has set GOGC, and only while it works.
func TestCollectLess(t *testing.T) {
	percent := func() int {
		now := debug.SetGCPercent(100)
		debug.SetGCPercent(now)
		return now
	}
	before := percent()
	for gogc, want := range map[string]int{"": 300, "100": before} {
		t.Setenv("GOGC", gogc)
		undo := collectLess()
		if got := percent(); got != want {
			t.Errorf("GOGC %q: %d percent, want %d", gogc, got, want)
		}
		undo()
		if got := percent(); got != before {
			t.Errorf("GOGC %q: %d percent afterwards, it was %d", gogc, got, before)
		}
	}
}
