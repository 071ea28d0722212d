package sim_test

import (
	"fmt"
	"reflect"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"synod.dev/synod"
	"synod.dev/synod/core/script"
	"synod.dev/synod/core/sim"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// trace is a Log that keeps one line for every event and effect.
type trace struct{ lines []string }

func (l *trace) Event(now synod.Tick, node synod.NodeID, e synod.Event) {
	l.lines = append(l.lines, fmt.Sprintf("%d n%d < %v", now, node, e))
}

func (l *trace) Effect(now synod.Tick, node synod.NodeID, e synod.Effect) {
	l.lines = append(l.lines, fmt.Sprintf("%d n%d > %v", now, node, e))
}

// rounds is a toy protocol that asks, tells and collects n times.
func rounds(n int) script.Play {
	return func(me *script.Agent) synod.Answer {
		heard := 0
		for t := range n {
			r := me.Ask(synod.Prompt{Purpose: synod.Answering})[0]
			script.Tell(me, synod.Respond, t, synod.Response{Answer: synod.Answer(r.Text)})
			heard += len(script.Collect[synod.Response](me, synod.Respond, t,
				script.Until{At: synod.Tick(6 * (t + 1)), Early: true}))
			me.Note(synod.Opinion{Round: t, Answer: synod.Answer(r.Text)})
		}
		return synod.Answer(fmt.Sprint(heard))
	}
}

func machines(n, t int) []synod.Machine {
	out := make([]synod.Machine, n)
	for i := range out {
		var peers []synod.NodeID
		for j := range n {
			if j != i {
				peers = append(peers, synod.NodeID(j))
			}
		}
		out[i] = script.New(synod.Seat{Self: synod.NodeID(i), Peers: peers, Seed: uint64(i)}, script.Options{},
			rounds(t))
	}
	return out
}

func echo(calls []sim.Call) []synod.Reply {
	out := make([]synod.Reply, len(calls))
	for i, c := range calls {
		out[i] = synod.Reply{Status: synod.OK, Text: fmt.Sprintf("%d.%d", c.Node, c.ID)}
	}
	return out
}

func TestEveryoneHearsEveryone(t *testing.T) {
	r := sim.Run(sim.Config{Machines: machines(4, 3), Ask: sim.Immediate(echo)})
	if r.Stopped != sim.Finished {
		t.Fatalf("stopped: %s", r.Stopped)
	}
	for id, a := range r.Decided {
		if a != "9" { // 3 peers in 3 rounds
			t.Errorf("node %d heard %s", id, a)
		}
	}
}

// Calls of one tick are started together, in (node, id) order.
func TestCallsStartTogetherInOrder(t *testing.T) {
	var batches [][]sim.Call
	sim.Run(sim.Config{Machines: machines(5, 2), Ask: sim.Immediate(func(calls []sim.Call) []synod.Reply {
		batches = append(batches, append([]sim.Call(nil), calls...))
		return echo(calls)
	})})
	if len(batches) != 2 {
		t.Fatalf("%d batches, want one a round", len(batches))
	}
	for _, b := range batches {
		for i, c := range b {
			if int(c.Node) != i {
				t.Errorf("batch is out of order: %v", b)
			}
		}
	}
}

// pacer asks its model at tick 0 or 3, and decides on when the reply came.
type pacer struct{ at synod.Tick }

func (p pacer) Step(now synod.Tick, e synod.Event) []synod.Effect {
	switch e := e.(type) {
	case synod.Begin:
		if p.at > 0 {
			return []synod.Effect{synod.Alarm{At: p.at}}
		}
		return []synod.Effect{synod.Consult{Prompt: &synod.Prompt{}}}
	case synod.Expired:
		return []synod.Effect{synod.Consult{Prompt: &synod.Prompt{}}}
	case synod.Answered:
		return []synod.Effect{synod.Decide{Answer: synod.Answer(fmt.Sprintf("%s at %d", e.Text, now))}}
	}
	return nil
}

// background answers every call on a goroutine of its own and records the order in
// which batches were started and waited for.
func background(log *[]string) func([]sim.Call) func() []synod.Reply {
	return func(calls []sim.Call) func() []synod.Reply {
		*log = append(*log, fmt.Sprint("start ", calls[0].Node))
		done := make(chan []synod.Reply)
		go func() { done <- echo(calls) }()
		return func() []synod.Reply {
			*log = append(*log, fmt.Sprint("wait ", calls[0].Node))
			return <-done
		}
	}
}

// With CallTicks a call of one member is started while one of another is running,
// and its reply still comes at a fixed tick.
func TestCallsRunInTheBackground(t *testing.T) {
	for _, c := range []struct {
		ticks synod.Tick
		log   string
		want  map[synod.NodeID]synod.Answer
	}{
		{0, "[start 0 wait 0 start 1 wait 1]", map[synod.NodeID]synod.Answer{0: "0.0 at 1", 1: "1.0 at 4"}},
		{2, "[start 0 wait 0 start 1 wait 1]", map[synod.NodeID]synod.Answer{0: "0.0 at 2", 1: "1.0 at 5"}},
		{4, "[start 0 start 1 wait 0 wait 1]", map[synod.NodeID]synod.Answer{0: "0.0 at 4", 1: "1.0 at 7"}},
	} {
		var log []string
		r := sim.Run(sim.Config{Machines: []synod.Machine{pacer{}, pacer{at: 3}}, Ask: background(&log),
			CallTicks: c.ticks})
		if fmt.Sprint(log) != c.log || !reflect.DeepEqual(r.Decided, c.want) {
			t.Errorf("with %d ticks a call: %v, decided %v; want %v, %v", c.ticks, log, r.Decided, c.log, c.want)
		}
	}
}

// The replies that come next have come when Watch is called, and a run that is
// stopped waits for all that are still running.
func TestStoppedRunWaitsForItsCalls(t *testing.T) {
	for _, c := range []struct {
		ticks synod.Tick
		stop  synod.Tick
		log   string
	}{
		{1, 0, "[start 0 wait 0 watch 0]"},
		{4, 0, "[start 0 watch 0 wait 0]"},
		{4, 3, "[start 0 watch 0 start 1 wait 0 watch 3 wait 1]"},
	} {
		var log []string
		r := sim.Run(sim.Config{
			Machines: []synod.Machine{pacer{}, pacer{at: 3}}, Ask: background(&log), CallTicks: c.ticks,
			Watch: func(now synod.Tick, _ []sim.Noted) string {
				log = append(log, fmt.Sprint("watch ", now))
				if now == c.stop {
					return "enough"
				}
				return ""
			},
		})
		if fmt.Sprint(log) != c.log || r.Stopped != "enough" {
			t.Errorf("with %d ticks a call, stopped at %d: %v (%s); want %v", c.ticks, c.stop, log, r.Stopped, c.log)
		}
	}
}

// The same seed and faults give the same run, event by event. It is checked with
// random faults, and with calls that take more than one tick.
func TestDeterminism(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 5).Draw(t, "n")
		faults := sim.Faults{
			Loss:  rapid.Float64Range(0, 1).Draw(t, "loss"),
			Delay: sim.Delay{Max: synod.Tick(rapid.IntRange(0, 9).Draw(t, "delay"))},
		}
		if rapid.Bool().Draw(t, "crash") {
			faults.Crashes = []sim.Crash{{Node: 0, At: synod.Tick(rapid.IntRange(0, 9).Draw(t, "at"))}}
		}
		seed, ticks := rapid.Uint64().Draw(t, "seed"), synod.Tick(rapid.IntRange(1, 5).Draw(t, "ticks"))
		play := func() ([]string, sim.Result) {
			var log trace
			ask := sim.Immediate(echo)
			if ticks > 1 {
				ask = background(new([]string))
			}
			r := sim.Run(sim.Config{Machines: machines(n, 3), Ask: ask, CallTicks: ticks, Faults: faults, Seed: seed,
				Log: &log})
			return log.lines, r
		}
		lines, result := play()
		again, resultAgain := play()
		if !reflect.DeepEqual(lines, again) || !reflect.DeepEqual(result, resultAgain) {
			t.Fatalf("two runs of seed %d differ", seed)
		}
		if result.Stopped != sim.Finished {
			t.Fatalf("fixed ticks end every round, whatever is lost: %s", result.Stopped)
		}
	})
}

func TestFaults(t *testing.T) {
	for _, c := range []struct {
		name   string
		faults sim.Faults
		want   map[synod.NodeID]synod.Answer
	}{
		{"none", sim.Faults{}, map[synod.NodeID]synod.Answer{0: "2", 1: "2", 2: "2"}},
		{"all is lost", sim.Faults{Loss: 1}, map[synod.NodeID]synod.Answer{0: "0", 1: "0", 2: "0"}},
		{"later than the slot", sim.Faults{Delay: sim.Delay{Min: 6, Max: 6}},
			map[synod.NodeID]synod.Answer{0: "0", 1: "0", 2: "0"}},
		{"node 2 is cut off", sim.Faults{Partitions: []sim.Partition{{To: 100, Groups: [][]synod.NodeID{{0, 1}}}}},
			map[synod.NodeID]synod.Answer{0: "1", 1: "1", 2: "0"}},
		{"node 1 crashes at once", sim.Faults{Crashes: []sim.Crash{{Node: 1}}},
			map[synod.NodeID]synod.Answer{0: "1", 2: "1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := c.faults.Validate(3); err != nil {
				t.Fatal(err)
			}
			r := sim.Run(sim.Config{Machines: machines(3, 1), Ask: sim.Immediate(echo), Faults: c.faults})
			if !reflect.DeepEqual(r.Decided, c.want) || r.Stopped != sim.Finished {
				t.Errorf("decided %v (%s), want %v", r.Decided, r.Stopped, c.want)
			}
		})
	}
}

func TestFaultsAreChecked(t *testing.T) {
	for _, f := range []sim.Faults{
		{Loss: 2}, {Loss: -1}, {Delay: sim.Delay{Min: 2, Max: 1}}, {Crashes: []sim.Crash{{Node: 3}}},
		{Partitions: []sim.Partition{{From: 2, To: 2}}},
		{Partitions: []sim.Partition{{To: 2, Groups: [][]synod.NodeID{{7}}}}},
		{Crashes: []sim.Crash{{Node: 1}, {Node: 1, At: 3}}},
	} {
		if f.Validate(3) == nil {
			t.Errorf("%+v is accepted", f)
		}
	}
}

// forger sends in the name of another node, to itself, and to nodes that do not
// exist.
type forger struct{}

func (forger) Step(now synod.Tick, e synod.Event) []synod.Effect {
	if _, ok := e.(synod.Begin); !ok {
		return nil
	}
	body, _ := synod.Response{Answer: "forged"}.AppendBinary(nil)
	return []synod.Effect{
		synod.Send{To: []synod.NodeID{1, 0, 99, -1},
			Message: &synod.Message{From: 1, Slot: synod.Slot{Name: synod.Respond}, Body: body}},
		synod.Decide{},
	}
}

func TestSenderCannotBeForged(t *testing.T) {
	var log trace
	m := machines(2, 1)
	m[0].Step(0, synod.Halt{})
	m[0] = forger{}
	sim.Run(sim.Config{Machines: m, Ask: sim.Immediate(echo), Log: &log})
	found := false
	for _, l := range log.lines {
		found = found || l == `1 n1 < heard n0 respond/0 "forged"`
	}
	if !found {
		t.Errorf("the message must name its real sender:\n%v", log.lines)
	}
}

func TestWatchStops(t *testing.T) {
	notes := 0
	r := sim.Run(sim.Config{Machines: machines(3, 9), Ask: sim.Immediate(echo),
		Watch: func(_ synod.Tick, n []sim.Noted) string {
			if notes += len(n); notes >= 6 {
				return "enough"
			}
			return ""
		}})
	if r.Stopped != "enough" || len(r.Decided) != 0 {
		t.Errorf("stopped %q with %v", r.Stopped, r.Decided)
	}
}

// idle never decides and never asks for anything.
type idle struct{}

func (idle) Step(synod.Tick, synod.Event) []synod.Effect { return nil }

// restless sets alarms for ever.
type restless struct{}

func (restless) Step(now synod.Tick, _ synod.Event) []synod.Effect {
	return []synod.Effect{synod.Alarm{At: now + 1000}}
}

func TestStalled(t *testing.T) {
	for _, m := range []synod.Machine{idle{}, restless{}} {
		if r := sim.Run(sim.Config{Machines: []synod.Machine{m}, Ask: sim.Immediate(echo)}); r.Stopped != sim.Stalled {
			t.Errorf("%T: %s", m, r.Stopped)
		}
	}
}
