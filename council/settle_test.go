package council

import (
	"slices"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/sim"
)

// A round in which nothing changed and no call failed is a fixed point; seats that patience made late need not be
// waited for if they are few and the decision is the same without them.
func TestFixedPoints(t *testing.T) {
	const spare = "f: 1\npatience: {spare: 1}\n"
	for _, c := range []struct {
		name, council string
		rounds        []string
		faulty, kept  []synod.NodeID // in the last round
		change        func(last []sim.Noted)
		want          bool
		complete      int
	}{
		{"the first answers", "", []string{"1 1 1"}, nil, nil, nil, false, 0},
		{"nothing changes", "", []string{"1 2 1", "1 2 1"}, nil, nil, nil, true, 1},
		{"one changes", "", []string{"1 2 1", "1 1 1"}, nil, nil, nil, false, 1},
		{"it changed before", "", []string{"1 2 1", "1 1 1", "1 1 1"}, nil, nil, nil, true, 2},
		{"one is missing", "", []string{"1 2 1", "1 2 ."}, nil, nil, nil, false, 0},
		{"one never noted", "", []string{"1 1 .", "1 1 ."}, nil, nil, nil, true, 1},
		{"one has no answer", "", []string{"1 1 -", "1 1 -"}, nil, nil, nil, false, 1},
		{"a call failed", "", []string{"1 1 1", "1 1 1"}, nil, nil, func(n []sim.Noted) { n[1].Failed = 1 }, false, 1},
		{"a confidence appears", "", []string{"1 1 1", "1 1 1"}, nil, nil,
			func(n []sim.Noted) { n[1].Confidence = new(float64) }, false, 1},
		{"random faults", "faults: {loss: 0.1}\n", []string{"1 1 1", "1 1 1"}, nil, nil, nil, false, 1},

		{"a late seat that agrees", spare, []string{"1 1 1", "1 1 2"}, []synod.NodeID{2}, nil, nil, true, 1},
		{"two late seats and one to spare", spare, []string{"1 1 1 1 1", "1 1 1 2 2"}, []synod.NodeID{3, 4}, nil, nil,
			false, 1},
		{"a late seat that decides", spare, []string{"1 1 2 2 1", "1 1 2 2 1"}, []synod.NodeID{4}, nil, nil, false, 1},
		{"a late seat, no decision", spare, []string{"1 2 3", "1 2 3"}, []synod.NodeID{2}, nil, nil, false, 1},
		{"a seat kept its answer", spare, []string{"1 1 1", "1 1 1"}, nil, []synod.NodeID{2}, nil, true, 1},
		{"two seats kept the answer of all", spare, []string{"1 1 1", "1 1 1"}, nil, []synod.NodeID{1, 2}, nil, true,
			1},
		{"two seats kept other answers", spare, []string{"1 1 1 2 2", "1 1 1 2 2"}, nil, []synod.NodeID{3, 4}, nil,
			false, 1},
		{"one seat kept another answer", spare, []string{"1 1 1 2", "1 1 1 2"}, nil, []synod.NodeID{3}, nil, true, 1},
		{"one is late and one kept another answer", spare, []string{"1 1 1 2 1", "1 1 1 2 1"}, []synod.NodeID{4},
			[]synod.NodeID{3}, nil, false, 1},
	} {
		f := newFixedPoint(planOf(t, len(strings.Fields(c.rounds[0])), c.council))
		for again := range 2 { // and after a reset
			got := false
			for round, answers := range c.rounds {
				last := round == len(c.rounds)-1
				notes := heard(round, answers)
				if last && c.change != nil {
					c.change(notes)
				}
				settled := f.after(notes, func(n sim.Noted) (faulty, kept bool) {
					return last && slices.Contains(c.faulty, n.Node), last && slices.Contains(c.kept, n.Node)
				})
				if settled && !last {
					t.Errorf("%s: settled after round %d", c.name, round)
				}
				got = settled
			}
			if got != c.want || f.complete != c.complete {
				t.Errorf("%s, run %d: settled %v, want %v; complete up to %d, want %d", c.name, again, got, c.want,
					f.complete,
					c.complete)
			}
			f.reset()
			if f.complete != -1 {
				t.Errorf("%s: after a reset round %d is complete", c.name, f.complete)
			}
		}
	}
}

func TestEqualConfidence(t *testing.T) {
	half, same, other := 0.5, 0.5, 0.6
	for _, c := range []struct {
		a, b *float64
		want bool
	}{{nil, nil, true}, {&half, nil, false}, {nil, &half, false}, {&half, &same, true}, {&half, &other, false}} {
		if got := equalConfidence(c.a, c.b); got != c.want {
			t.Errorf("%v and %v: %v", c.a, c.b, got)
		}
	}
}
