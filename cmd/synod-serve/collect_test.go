package main

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// TestCollectRarely: a small heap may grow to the floor, and a large one by as much as is in use, as Go has it.
func TestCollectRarely(t *testing.T) {
	for live, want := range map[uint64]int{0: 2300, 6 << 20: 300, 12 << 20: 100, 100 << 20: 100} {
		if got := percentFor(live); got != want {
			t.Errorf("%d bytes in use: %d %%, want %d", live, got, want)
		}
	}
	t.Setenv("GOGC", "")
	defer debug.SetGCPercent(debug.SetGCPercent(leastPercent))
	collectRarely()
	now := func() int { p := debug.SetGCPercent(leastPercent); debug.SetGCPercent(p); return p }
	for end := time.Now().Add(10 * time.Second); now() == leastPercent; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the pace was not set after a cycle")
		}
		runtime.GC()
	}
}
