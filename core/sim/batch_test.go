package sim_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/sim"
)

// batcher is a machine that counts how its events come.
type batcher struct {
	synod.Machine
	single, together int
}

func (b *batcher) Step(now synod.Tick, e synod.Event) []synod.Effect {
	b.single++
	return b.Machine.Step(now, e)
}

func (b *batcher) StepAll(now synod.Tick, events []synod.Input) (all []synod.Effect) {
	b.together += len(events)
	for i := range events {
		e := events[i].Event
		if e == nil {
			e = events[i].Answered
		}
		all = append(all, b.Machine.Step(now, e)...)
	}
	return all
}

// A machine that can take all events of a tick at once gets them so, and the run is the same, unless a log has the
// effects of each event or a crash can fall between two of them.
func TestBatches(t *testing.T) {
	var want map[synod.NodeID]synod.Answer
	for what, c := range map[string]sim.Config{
		"plain": {}, "a log": {Log: new(trace)},
		"a later crash": {Faults: sim.Faults{Crashes: []sim.Crash{{Node: 1, At: 500}}}},
	} {
		var list []*batcher
		for _, m := range machines(3, 2) {
			list = append(list, &batcher{Machine: m})
			c.Machines = append(c.Machines, list[len(list)-1])
		}
		c.Ask = sim.Immediate(echo)
		r := sim.Run(c)
		if want == nil {
			want = r.Decided
		}
		if r.Stopped != sim.Finished || fmt.Sprint(r.Decided) != fmt.Sprint(want) {
			t.Errorf("%s: %s, %v, want %v", what, r.Stopped, r.Decided, want)
		}
		for i, b := range list {
			if at := what == "plain"; (b.together > 0) != at || (b.single > 1) == at { // Halt comes by itself
				t.Errorf("%s: node %d got %d events together and %d by themselves", what, i, b.together, b.single)
			}
		}
	}
}

// sender sends one message to some nodes.
type sender struct{ to []synod.NodeID }

func (s sender) Step(_ synod.Tick, e synod.Event) []synod.Effect {
	if _, ok := e.(synod.Begin); ok {
		return []synod.Effect{synod.Send{To: s.to, Message: &synod.Message{Slot: synod.Slot{Name: "x"}}}}
	}
	return nil
}

// Messages to seats that do not exist, and to the sender itself, arrive nowhere.
func TestReceivers(t *testing.T) {
	for _, faults := range []sim.Faults{{}, {Delay: sim.Delay{Max: 1}}} {
		var log trace
		r := sim.Run(sim.Config{Machines: []synod.Machine{sender{[]synod.NodeID{-1, 0, 1, 2, 3}}, sender{}, sender{}},
			Ask: sim.Immediate(echo), Log: &log, Faults: faults})
		var heard []string
		for _, l := range log.lines {
			var tick, to int
			if n, _ := fmt.Sscanf(l, "%d n%d < heard n0 x/0", &tick, &to); n == 2 && strings.Contains(l, "< heard") {
				heard = append(heard, fmt.Sprint(to))
			}
		}
		if slices.Sort(heard); fmt.Sprint(heard) != "[1 2]" || r.Stopped != sim.Stalled {
			t.Errorf("%+v: heard by %v, %s\n%v", faults, heard, r.Stopped, log.lines)
		}
	}
}

// What a carrier delivers arrives after the ticks that it says, at least one, and only where there is another seat.
func TestCarry(t *testing.T) {
	var log trace
	var asked []synod.NodeID
	sim.Run(sim.Config{Machines: []synod.Machine{sender{[]synod.NodeID{-1, 0, 1, 2, 3}}, sender{}, sender{}}, Log: &log,
		Ask: sim.Immediate(echo), Carry: func(now synod.Tick, to synod.NodeID, m *synod.Message,
			deliver func(synod.Tick, *synod.Message)) {
			if asked = append(asked, to); to == 2 {
				deliver(0, m)
				deliver(3, &synod.Message{From: 1, Slot: m.Slot})
			}
		}})
	var heard []string
	for _, l := range log.lines {
		if strings.Contains(l, "< heard") {
			heard = append(heard, strings.TrimSuffix(l, " 0 bytes"))
		}
	}
	if fmt.Sprint(asked) != "[1 2]" ||
		fmt.Sprint(heard) != "[1 n2 < heard n0 x/0 3 n2 < heard n1 x/0]" {
		t.Errorf("asked about %v; heard %v", asked, heard)
	}
}
