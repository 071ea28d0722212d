package broadcast

import (
	"fmt"
	"math/rand/v2"

	"synod.dev/synod"
	"synod.dev/synod/script"
	"synod.dev/synod/sign"
	"synod.dev/synod/sim"
)

// The clock of the trials: a message takes one or two ticks, liars act three ticks
// after a round's begin and have then heard all that the honest said in it (they
// are rushing), and their words still arrive before the round's end.
const (
	start  = 2
	within = 6
	rush   = 3
)

// trial is one execution: members 0 to n-1, and senders outside from n on; where
// there is none outside, every member is a sender.
type trial struct {
	n, outside, f int
	byzantine     []bool // by node; what is not a liar of act, faulty wraps
	senders       []synod.NodeID
	act           func(c *cabal, k int) // what the liars do in round k; nil: nothing
	faulty        map[synod.NodeID]func(synod.Machine) synod.Machine
	instead       map[synod.NodeID]func(*result, synod.Machine) synod.Machine // liars of another kind
	wrap          func(synod.NodeID, *result, synod.Machine) synod.Machine    // of honest machines; nil: none
	mute          map[synod.NodeID]bool                                       // honest senders that say nothing
	faults        sim.Faults
	seed          uint64
	linger        synod.Tick // look for late words at this tick; 0: do not
	longest       int        // values of so many bytes; 0: short ones
	book          book       // nil: symbolic
}

type book interface {
	Signer(synod.NodeID, sign.Instance) synod.Signer
}

const run = "run"

// held is what came out at one honest member.
type held struct {
	id   synod.NodeID
	at   synod.Tick
	out  *Outcome
	word []Delivery // at the end of the last round, before any Recheck
}

type result struct {
	g     Group
	held  []held
	sent  []sent
	cabal *cabal
}

// sent is one chain in a message of an honest node.
type sent struct {
	by    synod.NodeID
	slot  int
	to    int
	chain chain
}

func (x *trial) group() Group {
	g := Group{Protocol: "test/1", Name: "words", F: x.f, Start: start, Within: within, MaxValue: 100, Senders: x.senders}
	g.MaxValue = max(g.MaxValue, x.longest)
	for i := range x.n {
		g.Members = append(g.Members, synod.NodeID(i))
	}
	if g.Senders == nil && x.outside == 0 {
		g.Senders = g.Members
	}
	for i := range x.outside {
		g.Senders = append(g.Senders, synod.NodeID(x.n+i))
	}
	return g
}

func value(id synod.NodeID) []byte { return fmt.Appendf(nil, "word of %d", id) }

func (x *trial) run() *result {
	total := x.n + x.outside
	book := x.book
	if book == nil {
		book = sign.DeriveSymbolic(x.seed, total)
	}
	r := &result{g: x.group()}
	r.cabal = &cabal{trial: x, g: &r.g, known: map[mark][]byte{}, speak: map[synod.NodeID][]synod.Effect{}, r: rand.New(rand.NewPCG(x.seed, 0xbad)), group: r.g.digest()}
	machines := make([]synod.Machine, total)
	var everyone []synod.NodeID
	for i := range total {
		everyone = append(everyone, synod.NodeID(i))
		r.cabal.signers = append(r.cabal.signers, book.Signer(synod.NodeID(i), run))
	}
	for i := range machines {
		id := synod.NodeID(i)
		machines[i] = x.seat(id, without(everyone, id), r)
	}
	sim.Run(sim.Config{Machines: machines, Faults: x.faults, Seed: x.seed})
	return r
}

func (x *trial) seat(id synod.NodeID, peers []synod.NodeID, r *result) synod.Machine {
	if x.byzantine[id] && x.faulty[id] == nil && x.instead[id] == nil {
		return &liar{self: id, peers: peers, cabal: r.cabal}
	}
	seat := synod.Seat{Self: id, Peers: peers, F: x.f, Seed: script.Derive(x.seed, uint64(id)), Signer: r.cabal.signers[id]}
	m := script.New(seat, script.Options{}, func(me *script.Agent) synod.Answer {
		var mine []byte
		if has(r.g.Senders, id) && !x.mute[id] {
			mine = append(value(id), make([]byte, max(0, x.longest-len(value(id))))...)
		}
		out := Run(me, r.g, mine)
		h := held{id: id, at: me.Now(), out: out, word: append([]Delivery(nil), out.Deliveries...)}
		if x.linger > 0 {
			script.Collect[synod.Response](me, "idle", 0, script.Until{At: x.linger})
			out.Recheck()
		}
		if r.g.member(id) && !x.byzantine[id] {
			r.held = append(r.held, h)
		}
		return ""
	})
	if f := x.faulty[id]; f != nil {
		return f(m)
	}
	if f := x.instead[id]; f != nil {
		return f(r, m)
	}
	m = &watched{m, r, id}
	if x.wrap != nil {
		return x.wrap(id, r, m)
	}
	return m
}

// watched records what an honest machine sends.
type watched struct {
	synod.Machine
	r  *result
	id synod.NodeID
}

func (w *watched) Step(now synod.Tick, e synod.Event) []synod.Effect {
	effects := w.Machine.Step(now, e)
	for _, x := range effects {
		s, ok := x.(synod.Send)
		if !ok {
			continue
		}
		var p parcel
		if err := p.UnmarshalBinary(s.Body); err != nil {
			panic("an honest machine sends what cannot be read")
		}
		for _, c := range p {
			w.r.sent = append(w.r.sent, sent{w.id, s.Slot.Round, len(s.To), c})
		}
	}
	return effects
}

// omits is a machine that loses some of what it sends.
type omits struct {
	synod.Machine
	r    *rand.Rand
	loss float64
}

func (o *omits) Step(now synod.Tick, e synod.Event) (kept []synod.Effect) {
	for _, x := range o.Machine.Step(now, e) {
		if s, ok := x.(synod.Send); ok {
			for _, to := range s.To {
				if o.r.Float64() >= o.loss {
					kept = append(kept, synod.Send{To: []synod.NodeID{to}, Message: s.Message})
				}
			}
			continue
		}
		kept = append(kept, x)
	}
	return kept
}
