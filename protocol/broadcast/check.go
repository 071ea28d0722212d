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

// LateValue is a value in a message that came after the end of its round.
type LateValue struct {
	Sender  synod.NodeID
	Value   []byte
	Signers []synod.NodeID // of its chain
}

// LateValues returns the values in a message of a broadcast that came at a tick before the last round ended, and after
// the end of its own round; nil for other messages. It checks no signatures.
func LateValues(g *Group, m *synod.Message, at synod.Tick) (all []LateValue) {
	round := m.Slot.Round/g.parts() + 1
	var chains parcel
	if m.Slot.Name != g.Name || at <= g.end(round) || at >= g.End() || chains.UnmarshalBinary(m.Body) != nil {
		return nil
	}
	for _, c := range chains {
		v := LateValue{Sender: c.sender, Value: c.value}
		for _, l := range c.links {
			v.Signers = append(v.Signers, l.by)
		}
		all = append(all, v)
	}
	return all
}
