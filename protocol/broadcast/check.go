package broadcast

import (
	"synod.dev/synod"
	"synod.dev/synod/protocol/check"
)

// Framed checks that evidence stands, and that it is against Byzantine members only.
func Framed(t *check.Trace, claim string, id synod.NodeID, proofs [][]byte) {
	t.Applies(claim)
	for _, b := range proofs {
		var e Evidence
		ok := e.UnmarshalBinary(b) == nil && e.Verify(t.Verifier)
		t.Claim(claim, ok, "the evidence of n%d does not stand", id)
		t.Claim(claim, !ok || !t.Honest(e.Sender), "honest n%d is accused by n%d", e.Sender, id)
	}
	t.State("evidence", len(proofs) > 0)
}
