package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// heapFloor is up to how many bytes the heap may grow before garbage is collected. A gateway with few connections keeps
// five megabytes in use, and Go would collect whenever these have doubled: every few hundred requests.
const heapFloor = 24 << 20

// leastPercent is Go's own: the heap may always grow by as much as is in use.
const leastPercent = 100

// collectRarely has the collector wait for heapFloor, unless the environment sets GOGC. The limit of the memory holds.
func collectRarely() {
	if os.Getenv("GOGC") == "" {
		afterEachCycle(&pace{percent: leastPercent})
	}
}

// pace is how often garbage is collected.
type pace struct{ percent int }

// mark is what the collector finds out of use in each cycle.
type mark struct{ _ *mark }

// afterEachCycle sets the pace again whenever the collector has found out how much is in use.
func afterEachCycle(p *pace) {
	runtime.AddCleanup(&mark{}, func(p *pace) {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		p.set(live[0].Value.Uint64())
		afterEachCycle(p)
	}, p)
}

// set sets the pace for so many bytes in use. Small changes would stop all requests for little.
func (p *pace) set(live uint64) {
	want := percentFor(live)
	if change := want - p.percent; change*8 > p.percent || -change*8 > p.percent {
		debug.SetGCPercent(want)
		p.percent = want
	}
}

// percentFor is by how many percent of what is in use the heap may grow.
func percentFor(live uint64) int {
	return max(leastPercent, int(heapFloor*100/max(live, 1<<20))-100)
}
