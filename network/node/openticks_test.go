package node_test

import (
	"sync/atomic"
	"testing"
	"time"
)

// A Byzantine seat that says that it has begun, and then sends only pings, costs a run the
// three messages of debt, not the real ends of its rounds.
func TestOpenTicksCostOneRound(t *testing.T) {
	for _, name := range []string{"sac", "decentllms"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			net := convene(t, withFault[name], 43)
			var on atomic.Bool
			on.Store(true)
			net.keepOpen(1, &on)
			net.startAll()
			var took, rounds time.Duration
			for range 3 { // on a busy machine the seat's beginning comes so late that it counts as an answer
				res, o := net.ask(sum)
				took, rounds = time.Since(res.Start), time.Duration(o.Ticks)*time.Millisecond
				t.Logf("%s, %d ticks, %v", o.Status, o.Ticks, took)
				if o.Ticks >= 8000 && took < rounds/2 {
					return
				}
			}
			t.Errorf("it took %v, and the rounds last %v", took, rounds)
		})
	}
}
