package sim_test

import (
	"fmt"
	"math"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/sim"
)

// An alarm expires at its tick, but never in the tick in which it was set.
func TestAlarmInThePastExpiresInTheNextTick(t *testing.T) {
	for _, c := range []struct{ at, want synod.Tick }{
		{-7, 11}, {0, 11}, {9, 11}, {10, 11}, {11, 11}, {12, 12}, {500, 500},
	} {
		m := react(func(now synod.Tick, e synod.Event) []synod.Effect {
			switch e := e.(type) {
			case synod.Begin:
				return []synod.Effect{synod.Alarm{At: 10}}
			case synod.Expired:
				if e.ID == 0 {
					return []synod.Effect{synod.Alarm{ID: 1, At: c.at}}
				}
				return []synod.Effect{synod.Decide{Answer: synod.Answer(fmt.Sprint(now))}}
			}
			return nil
		})
		r := sim.Run(sim.Config{Machines: []synod.Machine{m}})
		if r.Stopped != sim.Finished || r.Ticks != c.want || r.Decided[0] != synod.Answer(fmt.Sprint(c.want)) {
			t.Errorf("an alarm for tick %d that is set at tick 10: %+v, want tick %d", c.at, r, c.want)
		}
	}
}

// decider decides on each of some answers in turn, one a tick from a tick on.
func decider(from synod.Tick, answers ...synod.Answer) react {
	return func(now synod.Tick, e synod.Event) []synod.Effect {
		switch e.(type) {
		case synod.Begin:
			if from > 0 {
				return []synod.Effect{synod.Alarm{At: from}}
			}
		case synod.Halt:
			return nil
		}
		effects := []synod.Effect{synod.Decide{Answer: answers[now-from]}}
		if int(now-from) < len(answers)-1 {
			effects = append(effects, synod.Alarm{At: now + 1})
		}
		return effects
	}
}

// The first decision of a node counts. Later ones neither change it nor count as another
// node's, for which the run still waits.
func TestFirstDecisionCounts(t *testing.T) {
	r := sim.Run(sim.Config{Machines: []synod.Machine{decider(0, "a", "b", "c"), decider(9, "z"), decider(3, "", "y")}})
	want := sim.Result{Stopped: sim.Finished, Ticks: 9, Decided: map[synod.NodeID]synod.Answer{0: "a", 1: "z", 2: ""}}
	if !reflect.DeepEqual(r, want) {
		t.Errorf("%+v, want %+v", r, want)
	}
}

// A run ends when every node has decided or is down for good. It waits for nodes that come
// back, and a node that goes down after its decision is counted once.
func TestRunEndsWhenAllDecidedOrAreDown(t *testing.T) {
	three := func() []synod.Machine {
		return []synod.Machine{decider(2, "a"), decider(6, "b"), decider(9, "c")}
	}
	for _, c := range []struct {
		name    string
		crashes []sim.Crash
		ticks   synod.Tick
		stopped string
		decided string
	}{
		{"no crash", nil, 9, sim.Finished, `map[0:"a" 1:"b" 2:"c"]`},
		{"down after its decision", []sim.Crash{{Node: 0, At: 3}}, 9, sim.Finished, `map[0:"a" 1:"b" 2:"c"]`},
		{"down before its decision", []sim.Crash{{Node: 2, At: 3}}, 6, sim.Finished, `map[0:"a" 1:"b"]`},
		{"down when all others have decided", []sim.Crash{{Node: 2, At: 9}}, 9, sim.Finished, `map[0:"a" 1:"b"]`},
		{"down from the start", []sim.Crash{{Node: 1}, {Node: 2}}, 2, sim.Finished, `map[0:"a"]`},
		{"down, and its alarm is lost", []sim.Crash{{Node: 2, At: 3, To: 10}}, 9, sim.Stalled, `map[0:"a" 1:"b"]`},
		{"back at its alarm", []sim.Crash{{Node: 2, At: 3, To: 9}}, 9, sim.Finished, `map[0:"a" 1:"b" 2:"c"]`},
	} {
		r := sim.Run(sim.Config{Machines: three(), Faults: sim.Faults{Crashes: c.crashes}})
		if r.Ticks != c.ticks || r.Stopped != c.stopped || fmt.Sprint(r.Decided) != c.decided {
			t.Errorf("%s: %+v, want %s at tick %d with %s", c.name, r, c.stopped, c.ticks, c.decided)
		}
	}
}

// In a tick nodes step in ascending order, and each gets its events in the order in which
// they were queued, whether few or many nodes have events.
func TestEventsOfATickAreInOrder(t *testing.T) {
	for _, c := range []struct {
		name    string
		n       int
		senders int // each sends twice to the other nodes, last sender first
	}{{"sparse", 40, 0}, {"one sender", 9, 1}, {"dense", 9, 9}} {
		machines := make([]synod.Machine, c.n)
		for i := range machines {
			machines[i] = react(func(now synod.Tick, e synod.Event) []synod.Effect {
				switch e.(type) {
				case synod.Begin: // the later a node, the earlier its next step
					return []synod.Effect{synod.Alarm{At: synod.Tick(c.n - i)}}
				case synod.Expired:
					if i >= c.senders && !(c.senders == 0 && i%13 == 0) {
						return nil
					}
					var effects []synod.Effect
					for round := range 2 {
						m := &synod.Message{Slot: synod.Slot{Name: "w", Round: round}}
						for to := c.n - 1; to >= 0; to -= 4 {
							effects = append(effects, synod.Send{To: []synod.NodeID{synod.NodeID(to)}, Message: m})
						}
					}
					return effects
				}
				return nil
			})
		}
		var log heardLog
		delays := sim.Faults{Delay: sim.Delay{Max: 3}}
		sim.Run(sim.Config{Machines: machines, Log: &log, Faults: delays, Seed: 3})
		if !slices.IsSortedFunc(log.nodes, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) }) {
			t.Errorf("%s: events by tick and node are out of order: %v", c.name, log.nodes)
		}
		if log.heard == 0 {
			t.Errorf("%s: no message came", c.name)
		}
	}
}

// heardLog keeps the tick and the node of every event.
type heardLog struct {
	nodes [][2]int
	heard int
}

func (l *heardLog) Event(now synod.Tick, node synod.NodeID, e synod.Event) {
	if _, halt := e.(synod.Halt); !halt {
		l.nodes = append(l.nodes, [2]int{int(now), int(node)})
	}
	if _, ok := e.(synod.Heard); ok {
		l.heard++
	}
}

func (l *heardLog) Effect(synod.Tick, synod.NodeID, synod.Effect) {}

// A node gets the events of one tick in the order in which they were queued: messages and
// alarms as they were sent and set, and replies where their calls were started.
func TestEventsOfANodeKeepTheirOrder(t *testing.T) {
	for _, extra := range []int{0, 30} { // further nodes make events sparse
		var got []string
		sender := react(func(now synod.Tick, e synod.Event) []synod.Effect {
			if _, ok := e.(synod.Begin); !ok {
				return nil
			}
			return slices.Concat(tell(1, 2, 0), tell(2, 0, 2), tell(3, 2, 0))
		})
		listener := react(func(now synod.Tick, e synod.Event) []synod.Effect {
			switch e := e.(type) {
			case synod.Begin:
				return []synod.Effect{synod.Alarm{ID: 5, At: 1}, synod.Consult{ID: 4, Prompt: &synod.Prompt{}},
					synod.Consult{ID: 3, Prompt: &synod.Prompt{}}, synod.Alarm{ID: 6, At: 1}}
			case synod.Heard:
				got = append(got, fmt.Sprint("heard ", e.Slot.Round))
			case synod.Answered:
				got = append(got, fmt.Sprint("answered ", e.Text))
			case synod.Expired:
				got = append(got, fmt.Sprint("alarm ", e.ID))
			}
			return nil
		})
		machines := []synod.Machine{idle{}, sender, listener}
		for range extra {
			machines = append(machines, idle{})
		}
		sim.Run(sim.Config{Machines: machines, Ask: sim.Immediate(echo)})
		want := []string{"heard 1", "heard 2", "heard 3", "alarm 5", "alarm 6", "answered 2.3", "answered 2.4"}
		if !slices.Equal(got, want) {
			t.Errorf("with %d further nodes: %v, want %v", extra, got, want)
		}
	}
}

// The calls of a tick are started in the order of nodes and ids, and each reply goes to the
// call that it belongs to.
func TestCallsAreOrderedByNodeAndID(t *testing.T) {
	var started []string
	got := map[string]string{}
	machines := make([]synod.Machine, 3)
	for i := range machines {
		machines[i] = react(func(now synod.Tick, e synod.Event) []synod.Effect {
			switch e := e.(type) {
			case synod.Begin: // node 2 calls first
				return []synod.Effect{synod.Alarm{At: 4}, synod.Consult{ID: 9, Prompt: &synod.Prompt{}},
					synod.Consult{ID: 2, Prompt: &synod.Prompt{}}}
			case synod.Answered:
				got[fmt.Sprintf("%d.%d", i, e.ID)] = e.Text
			}
			return nil
		})
	}
	sim.Run(sim.Config{Machines: machines, Ask: sim.Immediate(func(calls []sim.Call) []synod.Reply {
		for _, c := range calls {
			started = append(started, fmt.Sprintf("%d.%d", c.Node, c.ID))
		}
		return echo(calls)
	})})
	if want := []string{"0.2", "0.9", "1.2", "1.9", "2.2", "2.9"}; !slices.Equal(started, want) {
		t.Errorf("calls were started as %v, want %v", started, want)
	}
	for call, text := range got {
		if call != text {
			t.Errorf("call %s was answered with the reply to %s", call, text)
		}
	}
	if len(got) != 6 {
		t.Errorf("%d calls were answered, want 6", len(got))
	}
}

// Notes can stop a run before the model calls of the tick start; Watch can stop it after.
func TestNotesStopBeforeTheCalls(t *testing.T) {
	for _, c := range []struct {
		name         string
		notes, watch bool
		calls        int
	}{{"notes", true, false, 0}, {"watch", false, true, 1}} {
		calls := 0
		stop := func(active bool) sim.Watch {
			return func(now synod.Tick, notes []sim.Noted) string {
				if active && len(notes) == 1 && notes[0].Node == 0 && notes[0].Answer == "x" {
					return "enough"
				}
				return ""
			}
		}
		m := react(func(now synod.Tick, e synod.Event) []synod.Effect {
			if _, ok := e.(synod.Begin); !ok {
				return nil
			}
			return []synod.Effect{synod.Consult{Prompt: &synod.Prompt{}},
				synod.Note{Opinion: &synod.Opinion{Answer: "x"}}}
		})
		r := sim.Run(sim.Config{Machines: []synod.Machine{m}, Notes: stop(c.notes), Watch: stop(c.watch),
			Ask: sim.Immediate(func(q []sim.Call) []synod.Reply { calls += len(q); return echo(q) })})
		if r.Stopped != "enough" || calls != c.calls {
			t.Errorf("%s: stopped with %q after %d calls, want %d", c.name, r.Stopped, calls, c.calls)
		}
	}
}

// A message to the sender itself, or to a node that does not exist, goes nowhere.
func TestSendToNobody(t *testing.T) {
	heard := make([]int, 3)
	machines := make([]synod.Machine, 3)
	for i := range machines {
		machines[i] = react(func(now synod.Tick, e synod.Event) []synod.Effect {
			switch e.(type) {
			case synod.Begin:
				return tell(0, -5, -1, 0, 1, 2, 3, 99)
			case synod.Heard:
				heard[i]++
			}
			return nil
		})
	}
	sim.Run(sim.Config{Machines: machines})
	if !slices.Equal(heard, []int{2, 2, 2}) {
		t.Errorf("nodes heard %v messages, want one of each other node", heard)
	}
}

// Every machine is halted once, after everything else, also if the run was stopped.
func TestEveryMachineIsHaltedLast(t *testing.T) {
	for _, stop := range []string{"", "enough"} {
		last := make([][]string, 3)
		machines := make([]synod.Machine, 3)
		for i := range machines {
			own := decider(synod.Tick(i), "a")
			machines[i] = react(func(now synod.Tick, e synod.Event) []synod.Effect {
				last[i] = append(last[i], fmt.Sprint(e))
				return own(now, e)
			})
		}
		sim.Run(sim.Config{Machines: machines, Watch: func(synod.Tick, []sim.Noted) string { return stop }})
		for i, events := range last {
			if at := slices.Index(events, "halt"); at != len(events)-1 {
				t.Errorf("stopped with %q: node %d had the events %v", stop, i, events)
			}
		}
	}
}

// A long run uses its lists of events again: it allocates no more of them than a short one.
func TestLongRunUsesItsListsAgain(t *testing.T) {
	allocations := func(ticks synod.Tick) float64 {
		effects := make([]synod.Effect, 0, 2)
		m := react(func(now synod.Tick, e synod.Event) []synod.Effect {
			switch e.(type) {
			case synod.Begin, synod.Expired:
				if now < ticks {
					return append(effects, synod.Alarm{At: now + 1})
				}
			}
			return nil
		})
		machines := []synod.Machine{m, m, m, m}
		return testing.AllocsPerRun(20, func() { sim.Run(sim.Config{Machines: machines}) })
	}
	// The machines allocate their alarms, one for each node and tick.
	if lists := allocations(1010) - allocations(10) - 4*1000; lists > 100 {
		t.Errorf("1000 further ticks took %v further lists", lists)
	}
}

// The next run uses the lists of the last one: a list of 1000 nodes takes 96 kB. The least of all runs counts, because
// the garbage collector empties pools at any time, and under the race detector a pool forgets a list by chance.
func TestNextRunUsesTheLastRunsLists(t *testing.T) {
	machines := slices.Repeat([]synod.Machine{idle{}}, 1000)
	sim.Run(sim.Config{Machines: machines})
	least := uint64(math.MaxUint64)
	for range 100 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		sim.Run(sim.Config{Machines: machines})
		runtime.ReadMemStats(&after)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	if least > 64<<10 {
		t.Errorf("each further run of 1000 nodes took %d bytes or more", least)
	}
}
