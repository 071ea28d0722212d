package campaign

import (
	"encoding/json"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/protocol/check"
)

// The executions of a campaign are named by protocol, seed and number, in reports and in campaigns that go on after an
// update. New kinds of faults and new subjects must not change those that there are. An adversary that applies to one
// more protocol changes the draws of that protocol.
func TestDrawsStay(t *testing.T) {
	const want uint64 = 12056860684607679769
	h := uint64(1)
	names := []string{"sac", "broadcast", "decentllms", "rotating-leader", "fixed-leader", "game", "cp-wbft", "w-msr",
		"cascade", "panel", "twins", "debate", "majority", "single", "self-consistency", "weighted-majority"}
	for _, name := range names {
		for i := range uint64(400) {
			b, err := json.Marshal(DrawAt(name, 1, i))
			if err != nil {
				t.Fatal(err)
			}
			h = hashText(h, string(b))
		}
	}
	if h != want {
		t.Errorf("the draws have the hash %d, not %d", h, want)
	}
}

// TestWithinTheBound: n2 was drawn as Byzantine and has nothing to do, so it is honest, and it hears two Byzantine
// members with F = 1. Claims that need the bound are not checked then. (T2 with seed 3 drew such an execution.)
func TestWithinTheBound(t *testing.T) {
	x := Execution{Regime: Synchronous, Case: check.Case{Protocol: "w-msr", N: 4, F: 1,
		Edges: [][2]int{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}}, Byzantine: []synod.NodeID{0, 1, 2},
		AtBound: true, Seats: []Seated{{Seat: 0, Name: "last-mover"}, {Seat: 1, Name: "last-mover"}}}
	if !x.exceeds() {
		t.Error("n3 hears three Byzantine members, and F is 1")
	}
	if x.Byzantine = x.Byzantine[1:]; !x.exceeds() {
		t.Error("n0 hears two Byzantine members, and F is 1")
	}
	x.Edges, x.Byzantine = x.Edges[:4], []synod.NodeID{0, 1, 2} // n3 hears n0 alone
	if x.exceeds() {
		t.Fatal("the only honest member hears one Byzantine member")
	}
	if x.chargeNobody(); len(x.Byzantine) != 2 || !x.Above || x.AtBound {
		t.Errorf("%v are Byzantine, above the bound: %v, at it: %v", x.Byzantine, x.Above, x.AtBound)
	}
	if x.Above = false; x.Check() == nil {
		t.Error("an execution above the bound is taken for one within it")
	}
}
