// Package broadcast is synchronous Byzantine broadcast with ⊥: Dolev and Strong,
// "Authenticated algorithms for Byzantine agreement" (1983), one broadcast for
// every sender, all in the same rounds. DecentLLMs (§III.C) names reliable
// broadcast, which does not end if a sender is silent; it needs this one.
//
// In round 1 every sender signs its value and sends it to the members. A member extracts the
// value of a chain of signatures if, by the end of round k, it has at least k valid signatures
// of distinct parties, the sender's first. It adds its own signature and relays the chain, for
// at most two values of each sender. After the last round a member delivers the one value that
// it extracted, or ⊥ if there is none or more than one.
//
// It is a building block and not a protocol: protocols call Run.
//
//	out := broadcast.Run(me, broadcast.Group{
//		Protocol: "decentllms/1", Name: "answers", Members: evaluators, Senders: workers,
//		F: me.Seat().F, Start: 8, Within: 4, MaxValue: 4096,
//	}, answer)
//	for _, d := range out.Deliveries { // the same values at every honest evaluator
//		if d.Signed != nil {
//			judge(d.Sender, d.Signed.Value)
//		}
//	}
//
// Guaranteed under synchrony (what is sent at the beginning of a round arrives before its
// end), with unforgeable signatures, at most F Byzantine members and any number of Byzantine
// senders outside the group: agreement, validity, and delivery at Group.End.
// Guaranteed always: a value is delivered only with its sender's signature, there is no
// evidence against an honest sender, and a valid chain that came too late for its length
// marks the delivery as Unsafe. Then the synchrony that agreement needs may be broken, or an
// adversary makes it look so. At most F Byzantine members cannot cause Outcome.Broken.
//
// Rounds have fixed ends. If a round ended as soon as all have sent, a Byzantine member that is
// silent to some members only could keep honest members in different rounds.
package broadcast

import (
	"synod.dev/synod"
	"synod.dev/synod/core/script"
)

// Delivery is what a member holds of one sender's broadcast after the last round.
type Delivery struct {
	Sender synod.NodeID
	// Signed is the value that was broadcast, with its signature; nil is ⊥. It must not be changed.
	Signed *Signed
	// Evidence proves that the sender signed two values; nil if not both were seen. It may have values that came late
	// at this member alone.
	Evidence *Evidence
	// Equivocated says that it is ⊥ because two values were broadcast. All honest members agree on that, as they do on
	// the value; on Evidence they need not.
	Equivocated bool
	// Unsafe is set if the bound on delays seems to have been broken: a message came
	// late, or this member was late itself. Members may then hold different values.
	Unsafe bool
	Late   []Late // at most two, of different values
}

// Late is a valid chain of signatures that was too short when it came. It has no influence
// on the delivery.
type Late struct {
	From    synod.NodeID   // the member that sent it
	Round   int            // the round in which it came; one more than the last one if it came afterwards
	Signers []synod.NodeID // of the chain, the sender first
	Signed  Signed
}

// Outcome has the deliveries of one Run at one party.
type Outcome struct {
	Deliveries []Delivery // ascending by sender; none if this party is not a member
	p          *party
}

// Run takes part in the broadcasts of g. mine is this party's value if it is a sender;
// nil: it sends none. For a sender that is not a member, Run returns after it has sent.
// For a member it returns at g.End().
// It panics if g is not valid, if mine is longer than g.MaxValue or belongs to no sender,
// if the seat has no Signer, or if it is not linked with the members and senders. The
// calling protocol must exclude these.
func Run(me *script.Agent, g Group, mine []byte) *Outcome {
	p := join(me, &g, mine)
	p.sendOwn(mine)
	if !g.member(p.self) {
		return &Outcome{}
	}
	last := g.rounds()
	for k := 1; k <= last; k++ {
		for _, m := range p.collect(k) {
			for _, c := range m.Value {
				p.take(k, m.From, c, false)
			}
		}
		p.relay(k + 1)
		p.overdue(k)
	}
	o := &Outcome{p: p}
	o.deliver()
	return o
}

// Recheck marks deliveries as Unsafe if messages that came since then show it. A protocol
// with later rounds calls it before it relies on agreement.
func (o *Outcome) Recheck() {
	if o.p != nil {
		o.p.overdue(o.p.g.rounds() + 1)
		o.deliver()
	}
}

// Broken reports whether the bound on delays was certainly broken, and not only apparently
// (Unsafe): more than F members signed values that came too late. An honest member that
// signs a value sends it to all others in the next round, so while delays are within the
// bound, everything that it signed is known before it could be late. A member that signed
// late values is therefore Byzantine, or the bound is broken. Up to F Byzantine members
// and any number of senders outside can make a delivery Unsafe, but cannot cause this.
func (o *Outcome) Broken() bool { return o.p != nil && (o.p.late || len(o.p.lateSigners) > o.p.g.F) }

func (o *Outcome) deliver() {
	o.Deliveries = o.Deliveries[:0]
	for i := range o.p.instances {
		o.Deliveries = append(o.Deliveries, o.p.instances[i].delivery())
	}
}
