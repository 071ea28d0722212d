package catalog_test

import (
	"slices"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/script"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/catalog"
	"synod.dev/synod/protocol/decentllms"
	"synod.dev/synod/protocol/fixedleader"
	"synod.dev/synod/protocol/grade"
)

// ticks is how long a council takes whose members bear f Byzantine ones and all hold
// the same answer, but for those that say nothing.
func ticks(t *testing.T, p protocol.Protocol, cast []synod.Role, f int, silent []synod.NodeID) synod.Tick {
	t.Helper()
	n := len(cast)
	if err := p.(protocol.CastChecker).CheckCast(cast, f); err != nil {
		t.Fatal(err)
	}
	keys, machines := sign.DeriveSymbolic(1, n), make([]synod.Machine, n)
	var all []synod.NodeID
	for i := range n {
		all = append(all, synod.NodeID(i))
	}
	for i, id := range all {
		machines[i] = p.Join(synod.Seat{Self: id, Role: cast[i], Cast: cast,
			Peers: slices.Delete(slices.Clone(all), i, i+1), F: f, Pace: synod.Pace{Think: 2, Within: 4},
			Question: &synod.Question{Text: "?", Form: synod.Number}, Seed: script.Derive(1, uint64(i)),
			Signer: keys.Signer(id, "run")})
	}
	held := map[synod.NodeID]synod.Answer{}
	r := sim.Run(sim.Config{Machines: machines, Faults: sim.Faults{Crashes: crashes(silent)},
		Ask: sim.Immediate(func(calls []sim.Call) []synod.Reply {
			reply := synod.Reply{Status: synod.OK, Typed: true, Answer: "1", Text: grade.Grades{}.Text()}
			return slices.Repeat([]synod.Reply{reply}, len(calls))
		}), Watch: func(_ synod.Tick, notes []sim.Noted) string {
			for _, note := range notes {
				held[note.Node] = note.Answer
			}
			return ""
		}})
	for _, id := range all {
		if !slices.Contains(silent, id) && held[id] != "1" {
			t.Fatalf("n%d holds %s", id, held[id])
		}
	}
	return r.Ticks
}

func crashes(ids []synod.NodeID) (all []sim.Crash) {
	for _, id := range ids {
		all = append(all, sim.Crash{Node: id})
	}
	return all
}

// [Fig. 7] In virtual time, with Byzantine leaders one after another, both rivals take
// linearly longer, the one that has three rounds with each leader more steeply;
// DecentLLMs takes what it took without them [I-DL-8]. What is assumed, f, stays the
// same: the figure varies who is Byzantine.
func TestFig7(t *testing.T) {
	const most, workers = 4, 5
	took := map[string][]synod.Tick{}
	for k := 0; k <= most; k++ {
		for _, name := range []string{"rotating-leader", "fixed-leader", "decentllms"} {
			entry, err := catalog.Protocols.Find(name)
			if err != nil {
				t.Fatal(err)
			}
			p, cast, first := entry.New(), make([]synod.Role, 3*most+1), 0
			switch p := p.(type) {
			case *fixedleader.FixedLeader:
				p.Leaders = most + 1
			case *decentllms.DecentLLMs:
				cast, first = slices.Concat(slices.Repeat(p.Roles()[:1], workers),
					slices.Repeat(p.Roles()[1:], 3*most+1)), workers
			}
			var silent []synod.NodeID
			for i := range k {
				silent = append(silent, synod.NodeID(first+i))
			}
			took[name] = append(took[name], ticks(t, p, cast, most, silent))
		}
	}
	step := func(name string, k int) synod.Tick { return took[name][k] - took[name][k-1] }
	for k := 1; k <= most; k++ {
		for _, name := range []string{"rotating-leader", "fixed-leader"} {
			if step(name, k) != step(name, 1) || step(name, k) <= 0 {
				t.Errorf("%s: %v ticks with 0 to %d Byzantine leaders: not linear", name, took[name], most)
			}
		}
		if took["decentllms"][k] != took["decentllms"][0] {
			t.Errorf("decentllms: %v ticks: not flat", took["decentllms"])
		}
	}
	if step("fixed-leader", 1) <= 2*step("rotating-leader", 1) {
		t.Errorf("a leader costs %d ticks of three rounds, and %d of one view", step("fixed-leader", 1),
			step("rotating-leader", 1))
	}
	t.Log(took)
}
