package council

import (
	"encoding/binary"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/protocol"
	"synod.dev/synod/sign"
)

// identities derives the identities of all seats from the run's seed, so that a
// replay has the same. Signatures are real, unless all members are simulated or the
// protocol signs nothing.
func (c *Council) identities(seed uint64) *sign.Derived {
	if c.signs() && slices.ContainsFunc(c.seats, func(s seat) bool { return c.spec.Models[s.model]["provider"] != "simulated" }) {
		return sign.Derive(seed, len(c.seats))
	}
	return sign.DeriveSymbolic(seed, len(c.seats))
}

// signs reports whether the protocol signs its messages.
func (c *Council) signs() bool {
	p, ok := c.protocol.(protocol.Signing)
	return ok && p.Signs()
}

// verifier checks the signatures of one question; nil for a protocol that signs nothing.
func (c *Council) verifier(q *synod.Question, seed uint64) synod.Verifier {
	if !c.signs() {
		return nil
	}
	return c.identities(seed).Verifier(instanceOf(q, seed))
}

// instanceOf identifies a run, so that messages of one run are invalid in another.
func instanceOf(q *synod.Question, seed uint64) sign.Instance {
	return sign.NewInstance(nil, q, binary.BigEndian.AppendUint64(nil, seed))
}

// checkCast refuses a bound that the cast cannot bear.
func (c *Council) checkCast() error {
	p, ok := c.protocol.(protocol.Suiting)
	if !ok {
		return nil
	}
	cast := c.cast
	if cast == nil { // no roles, but a number of seats
		cast = make([]synod.Role, len(c.seats))
	}
	return p.Suits(cast, c.spec.F)
}
