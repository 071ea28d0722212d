package plan

import (
	"encoding/binary"

	"synod.dev/synod"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/llm"
	"synod.dev/synod/protocol"
)

// CallTicks returns how much virtual time a model call takes. Calls of real models take
// longer than a message may, so that members who wait for a silent neighbour until the
// end of a round still call their models at the same time as the others.
func (p *Plan) CallTicks() synod.Tick {
	for i := range p.seats {
		if !Free(p.seats[i].Kind) {
			return p.pace.Within + 1
		}
	}
	return 1
}

// Free reports whether calls of a kind of model cost neither time nor money.
func Free(kind llm.Kind) bool { return kind == llm.Simulated || kind == llm.Recorded }

// Identities derives the identities of all seats of a simulation from its seed, so that
// a replay has the same. Signatures are real, unless the protocol signs nothing, or all
// members are simulated and nobody measures the time.
func Identities(p *Plan, seed uint64) *sign.Derived {
	switch {
	case !p.Signs():
		return sign.DeriveUnsigned(seed, len(p.seats))
	case Simulated(p) && !p.spec.Runner.Capabilities().Measured:
		return sign.DeriveSymbolic(seed, len(p.seats))
	}
	return sign.Derive(seed, len(p.seats))
}

// Simulated reports whether all members are simulated.
func Simulated(p *Plan) bool {
	for i := range p.seats {
		if p.seats[i].Kind != llm.Simulated {
			return false
		}
	}
	return true
}

// Verifier checks the signatures of a simulation; nil for a protocol that signs nothing.
func Verifier(p *Plan, in *Instance) synod.Verifier {
	if !p.Signs() || in.Check != nil {
		return in.Check
	}
	if p.committee != nil {
		return p.committee.Verifier(in.ID)
	}
	return Identities(p, in.Seed).Verifier(p.InstanceID(*in))
}

// InstanceID identifies a run: signatures are bound to it, so that a message of one run
// is invalid in another. In a simulation the seed is the nonce.
func (p *Plan) InstanceID(in Instance) sign.Instance {
	if in.ID != "" {
		return in.ID
	}
	Put(p, &in.Question) // a question that it refuses has no run
	return sign.NewInstance(p.runKey, &in.Question, binary.BigEndian.AppendUint64(nil, in.Seed))
}

// SignedInstance is InstanceID for a protocol that signs, and "" for others, which have
// nothing to bind to it.
func SignedInstance(p *Plan, in Instance) sign.Instance {
	if !p.Signs() {
		return ""
	}
	return p.InstanceID(in)
}

// ClaimsEachRound reports whether the protocol's claim is about each round separately.
func ClaimsEachRound(p *Plan) bool {
	c, ok := p.protocol.(protocol.RoundClaims)
	return ok && c.ClaimsEachRound()
}

// Instance is one question as it is put to a council, with what identifies this run
// of it.
type Instance struct {
	Question synod.Question
	Seed     uint64 // of a simulation, which derives the secrets of all seats from it

	// Check checks the signatures of the run; nil: those of a simulation with this seed, or of the nodes of
	// the plan.
	Check synod.Verifier

	// ID is the run that nodes have played; "": it is that of the records or, in a simulation, follows from
	// the seed.
	ID sign.Instance
}
