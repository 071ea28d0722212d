package broadcast_test

import (
	"fmt"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/script"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/protocol/broadcast"
)

// Two workers broadcast to three evaluators, of which one may be Byzantine. The second worker
// is silent. Every evaluator delivers the same.
func ExampleRun() {
	keys := sign.DeriveSymbolic(1, 5)
	machines := make([]synod.Machine, 5)
	for i := range machines {
		id := synod.NodeID(i)
		peers := slices.DeleteFunc([]synod.NodeID{0, 1, 2, 3, 4}, func(p synod.NodeID) bool { return p == id })
		seat := synod.Seat{Self: id, Peers: peers, F: 1, Signer: keys.Signer(id, "run 1")}
		machines[i] = script.New(seat, script.Options{}, play)
	}
	sim.Run(sim.Config{Machines: machines})
	// Output:
	// at tick 14, 0 holds [3: "forty-two" 4: ⊥]
	// at tick 14, 1 holds [3: "forty-two" 4: ⊥]
	// at tick 14, 2 holds [3: "forty-two" 4: ⊥]
}

func play(me *script.Agent) synod.Answer {
	g := broadcast.Group{
		Protocol: "example/1", Name: "answers", F: me.Seat().F, Start: 2, Within: 4, MaxValue: 1000,
		Members: []synod.NodeID{0, 1, 2}, Senders: []synod.NodeID{3, 4},
	}
	var mine []byte
	if me.Seat().Self == 3 {
		mine = []byte("forty-two")
	}
	var held []string
	for _, d := range broadcast.Run(me, g, mine).Deliveries {
		if d.Signed == nil {
			held = append(held, fmt.Sprintf("%d: ⊥", d.Sender))
		} else {
			held = append(held, fmt.Sprintf("%d: %q", d.Sender, d.Signed.Value))
		}
	}
	if held != nil {
		fmt.Printf("at tick %d, %d holds %v\n", me.Now(), me.Seat().Self, held)
	}
	return ""
}
