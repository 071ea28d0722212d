package sim_test

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/sim"
)

// react is a machine without state of its own.
type react func(now synod.Tick, e synod.Event) []synod.Effect

func (r react) Step(now synod.Tick, e synod.Event) []synod.Effect { return r(now, e) }

// tell sends to some nodes a message whose round is the tick of sending.
func tell(now synod.Tick, to ...synod.NodeID) []synod.Effect {
	return []synod.Effect{synod.Send{To: to, Message: &synod.Message{Slot: synod.Slot{Name: "w", Round: int(now)}}}}
}

// mail is how long each message took that arrived, by the tick when it was sent.
type mail map[synod.Tick]synod.Tick

// play lets node 0 send to all others at each tick up to last, and returns what came to each node.
func play(n int, last synod.Tick, f sim.Faults) []mail {
	got := make([]mail, n)
	machines := make([]synod.Machine, n)
	others := make([]synod.NodeID, n)
	for i := range n {
		got[i], others[i] = mail{}, synod.NodeID(i)
		machines[i] = react(func(now synod.Tick, e synod.Event) []synod.Effect {
			switch e := e.(type) {
			case synod.Heard:
				sent := synod.Tick(e.Slot.Round)
				got[i][sent] = now - sent
			case synod.Begin, synod.Expired:
				if i == 0 && now <= last {
					return append(tell(now, others...), synod.Alarm{At: now + 1})
				}
			}
			return nil
		})
	}
	sim.Run(sim.Config{Machines: machines, Faults: f, Seed: 1})
	return got
}

// ticks returns the ticks at which the messages were sent that arrived.
func (m mail) ticks() []int {
	out := []int{}
	for at := range m {
		out = append(out, int(at))
	}
	slices.Sort(out)
	return out
}

// A partition cuts messages that are sent in [From, To), also those to or from a node in no
// group, and leaves the links within a group.
func TestPartitionCutsHalfOpenInterval(t *testing.T) {
	cut, whole := []int{0, 1, 4, 5}, []int{0, 1, 2, 3, 4, 5}
	for _, c := range []struct {
		name   string
		groups [][]synod.NodeID
		want   [][]int // by receiver, from node 1
	}{
		{"no group", nil, [][]int{cut, cut, cut}},
		{"the sender alone", [][]synod.NodeID{{0}}, [][]int{cut, cut, cut}},
		{"the sender in no group", [][]synod.NodeID{{1, 2, 3}}, [][]int{cut, cut, cut}},
		{"a receiver in no group", [][]synod.NodeID{{0, 1, 2}}, [][]int{whole, whole, cut}},
		{"two groups", [][]synod.NodeID{{2, 3}, {0, 1}}, [][]int{whole, cut, cut}},
		{"one group of all", [][]synod.NodeID{{3, 2, 1, 0}}, [][]int{whole, whole, whole}},
		{"a node in two groups", [][]synod.NodeID{{0, 1}, {0, 3}}, [][]int{whole, cut, whole}},
	} {
		got := play(4, 5, sim.Faults{Partitions: []sim.Partition{{From: 2, To: 4, Groups: c.groups}}})
		for i, want := range c.want {
			if ticks := got[i+1].ticks(); !slices.Equal(ticks, want) {
				t.Errorf("%s: node %d received what was sent at %v, want %v", c.name, i+1, ticks, want)
			}
		}
	}
}

// Two partitions cut what either of them cuts.
func TestPartitionsAdd(t *testing.T) {
	got := play(2, 6, sim.Faults{Partitions: []sim.Partition{{From: 1, To: 3}, {From: 2, To: 5}}})
	if want := []int{0, 5, 6}; !slices.Equal(got[1].ticks(), want) {
		t.Errorf("received what was sent at %v, want %v", got[1].ticks(), want)
	}
}

// A node that is down loses what would come to it in [At, To), for good if To is 0. A message
// takes one tick, so the messages that are lost were sent a tick before.
func TestCrashLosesHalfOpenInterval(t *testing.T) {
	for _, c := range []struct {
		crash sim.Crash
		want  []int
	}{
		{sim.Crash{Node: 1, At: 3, To: 5}, []int{0, 1, 4, 5, 6}},
		{sim.Crash{Node: 1, At: 3, To: 4}, []int{0, 1, 3, 4, 5, 6}},
		{sim.Crash{Node: 1, At: 3}, []int{0, 1}},
		{sim.Crash{Node: 1}, []int{}},
		{sim.Crash{Node: 2, At: 3}, []int{0, 1, 2, 3, 4, 5, 6}}, // another node
	} {
		got := play(3, 6, sim.Faults{Crashes: []sim.Crash{c.crash}})
		if ticks := got[1].ticks(); !slices.Equal(ticks, c.want) {
			t.Errorf("%+v: received what was sent at %v, want %v", c.crash, ticks, c.want)
		}
	}
}

// A message takes one tick more than its delay. The delay takes every value from Min to Max
// about equally often, and no other.
func TestDelayIsUniformInItsRange(t *testing.T) {
	for _, d := range []sim.Delay{{}, {Min: 3, Max: 3}, {Max: 1}, {Min: 2, Max: 4}, {Min: 5, Max: 9}} {
		// Loss makes a faulty network of one without delay. It loses next to nothing.
		const sent = 2000
		got := play(2, sent-1, sim.Faults{Delay: d, Loss: 1e-9})
		counts := map[synod.Tick]int{}
		for _, took := range got[1] {
			counts[took]++
		}
		values := int(d.Max - d.Min + 1)
		for took := 1 + d.Min; took <= 1+d.Max; took++ {
			if share := float64(counts[took]*values) / sent; share < .8 || share > 1.2 {
				t.Errorf("delay %+v: %d of %d messages took %d ticks", d, counts[took], sent, took)
			}
		}
		if len(counts) != values {
			t.Errorf("delay %+v: messages took %v", d, counts)
		}
	}
}

// Loss is the share of messages that are lost, drawn for every receiver on its own.
func TestLossIsAProbabilityOfEachReceiver(t *testing.T) {
	const sent = 2000
	for _, loss := range []float64{0, .1, .5, .9, 1} {
		got := play(3, sent-1, sim.Faults{Loss: loss, Delay: sim.Delay{Max: 1}})
		both := 0
		for at := range got[1] {
			if _, ok := got[2][at]; ok {
				both++
			}
		}
		one, pair := float64(len(got[1]))/sent, float64(both)/sent
		if keep := 1 - loss; math.Abs(one-keep) > .04 || math.Abs(pair-keep*keep) > .04 {
			t.Errorf("with loss %v, %v of the messages came to one receiver and %v to both", loss, one, pair)
		}
		if loss == 0 && both != sent {
			t.Errorf("without loss %d of %d messages came", both, sent)
		}
	}
}

// Another seed gives other faults.
func TestSeedDrawsFaults(t *testing.T) {
	lines := func(seed uint64) []string {
		var log trace
		sim.Run(sim.Config{Machines: machines(3, 2), Ask: sim.Immediate(echo), Faults: sim.Faults{Loss: .5}, Seed: seed,
			Log: &log})
		return log.lines
	}
	if reflect.DeepEqual(lines(1), lines(2)) {
		t.Error("two seeds lose the same messages")
	}
}

// Faults with any one fault are not None.
func TestNoneMeansNoFault(t *testing.T) {
	if !(sim.Faults{}).None() || !(sim.Faults{Partitions: []sim.Partition{}, Crashes: []sim.Crash{}}).None() {
		t.Error("nothing goes wrong, and None is false")
	}
	for _, f := range []sim.Faults{
		{Delay: sim.Delay{Min: 1, Max: 1}}, {Delay: sim.Delay{Max: 1}}, {Loss: .1},
		{Partitions: []sim.Partition{{To: 1}}}, {Crashes: []sim.Crash{{}}},
	} {
		if f.None() {
			t.Errorf("%+v: None is true", f)
		}
	}
}

// The limits of each fault, with three nodes. An error names the value.
func TestValidateLimits(t *testing.T) {
	crash := func(c ...sim.Crash) sim.Faults { return sim.Faults{Crashes: c} }
	cut := func(p sim.Partition) sim.Faults { return sim.Faults{Partitions: []sim.Partition{p}} }
	groups := func(g ...synod.NodeID) sim.Faults {
		return cut(sim.Partition{To: 1, Groups: [][]synod.NodeID{{0}, g}})
	}
	for _, c := range []struct {
		faults sim.Faults
		err    string // a part of the error; empty: no error
	}{
		{sim.Faults{}, ""},
		{sim.Faults{Delay: sim.Delay{Min: 0, Max: 0}}, ""},
		{sim.Faults{Delay: sim.Delay{Min: 2, Max: 2}}, ""},
		{sim.Faults{Delay: sim.Delay{Min: 2, Max: 1}}, "from 2 to 1"},
		{sim.Faults{Delay: sim.Delay{Min: -1, Max: 1}}, "from -1 to 1"},
		{sim.Faults{Loss: 1}, ""},
		{sim.Faults{Loss: math.Nextafter(1, 2)}, "loss"},
		{sim.Faults{Loss: math.Copysign(0, -1)}, ""},
		{sim.Faults{Loss: -1e-300}, "loss"},
		{sim.Faults{Loss: math.NaN()}, "loss is NaN"},
		{crash(sim.Crash{Node: 0}, sim.Crash{Node: 1}, sim.Crash{Node: 2}), ""},
		{crash(sim.Crash{Node: 3}), "node 3 of 3"},
		{crash(sim.Crash{Node: 0}, sim.Crash{Node: -1}), "node -1 of 3"},
		{crash(sim.Crash{Node: 2}, sim.Crash{Node: 1}, sim.Crash{Node: 2}), "node 2 crashes twice"},
		{cut(sim.Partition{From: 4, To: 5}), ""},
		{cut(sim.Partition{From: 5, To: 5}), "from tick 5 to tick 5"},
		{cut(sim.Partition{From: 5, To: 4}), "from tick 5 to tick 4"},
		{groups(0, 1, 2), ""},
		{groups(1, 3), "node 3 of 3"},
		{groups(1, -1), "node -1 of 3"},
	} {
		err := c.faults.Validate(3)
		if got := fmt.Sprint(err); (err == nil) != (c.err == "") || err != nil && !strings.Contains(got, c.err) {
			t.Errorf("%+v: %v, want an error with %q", c.faults, err, c.err)
		}
	}
}
