package campaign

import (
	"encoding/json"
	"testing"
)

// The executions of a campaign are named by protocol, seed and number, in reports and in campaigns that go on after an
// update. New kinds of faults and new subjects must not change those that there are. An adversary that applies to one
// more protocol changes the draws of that protocol.
func TestDrawsStay(t *testing.T) {
	const want uint64 = 5690770366215817143
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
