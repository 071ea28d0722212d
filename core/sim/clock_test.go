package sim_test

import (
	"fmt"
	"reflect"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/core/sim"
)

// slow answers a call of node k after k seconds.
func slow(c sim.Call) (wait func() synod.Reply) {
	return func() synod.Reply {
		time.Sleep(time.Duration(c.Node) * time.Second)
		return echo([]sim.Call{c})[0]
	}
}

// Alarms and messages come at their time, and replies when they are there.
func TestByClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		r := sim.RunByClock(sim.Config{Machines: []synod.Machine{pacer{}, pacer{at: 3}, pacer{at: 500}}},
			sim.Clock{Ask: slow})
		want := map[synod.NodeID]synod.Answer{0: "0.0 at 1", 1: "1.0 at 1003", 2: "2.0 at 2500"}
		if !reflect.DeepEqual(r.Decided, want) || r.Stopped != sim.Finished || r.Ticks != 2500 {
			t.Errorf("%+v; want %v", r, want)
		}
		if took := time.Since(begun); took != 2500*time.Millisecond {
			t.Errorf("it took %v, want 2.5 s", took)
		}
	})
}

// A run whose end is asked for waits for its calls, which end too, and not for the next alarm.
func TestByClockEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, done := time.Now(), make(chan struct{})
		time.AfterFunc(700*time.Millisecond, func() { close(done) })
		var watched []synod.Tick
		r := sim.RunByClock(sim.Config{
			Machines: []synod.Machine{pacer{}, pacer{at: 60_000}, pacer{}},
			Watch: func(now synod.Tick, _ []sim.Noted) string {
				if watched = append(watched, now); time.Since(begun) > 600*time.Millisecond {
					return "enough"
				}
				return ""
			},
		}, sim.Clock{Done: done, Ask: func(c sim.Call) func() synod.Reply {
			if c.Node == 0 {
				return slow(c)
			}
			return func() synod.Reply { <-done; return synod.Reply{Status: synod.Dropped} }
		}})
		if r.Stopped != "enough" || len(r.Decided) != 2 || fmt.Sprint(watched) != "[0 1 700]" {
			t.Errorf("%+v, watched at %v", r, watched)
		}
		if took := time.Since(begun); took != 700*time.Millisecond {
			t.Errorf("it took %v, want 0.7 s", took)
		}
	})
}

// A run that Watch stops waits for the calls that it has started: no reply comes after it has returned.
func TestByClockStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		var replies atomic.Int32
		r := sim.RunByClock(sim.Config{
			Machines: []synod.Machine{pacer{}, pacer{}, pacer{}},
			Watch:    func(synod.Tick, []sim.Noted) string { return "enough" },
		}, sim.Clock{Ask: func(c sim.Call) func() synod.Reply {
			wait := slow(c)
			return func() synod.Reply { defer replies.Add(1); return wait() }
		}})
		if took := time.Since(begun); r.Stopped != "enough" || replies.Load() != 3 || took != 2*time.Second {
			t.Errorf("%+v after %v and %d replies", r, took, replies.Load())
		}
	})
}
