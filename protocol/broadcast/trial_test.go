package broadcast

import (
	"fmt"
	"math/rand/v2"

	"synod.dev/synod"
	"synod.dev/synod/core/script"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/core/sim"
)

// The times of the trials, in ticks: a message takes one or two ticks. Adversaries are rushing:
// they act three ticks after the beginning of a round, when they have received the messages of
// all honest members, and their own messages still arrive before its end.
const (
	start  = 2
	within = 6
	rush   = 3
)

// trial is one execution with members 0 to n-1 and senders outside the group from n on.
// Without senders outside, every member is a sender.
type trial struct {
	n, outside, f int
	byzantine     []bool // by node; those in faulty are not part of the coalition
	senders       []synod.NodeID
	act           func(c *coalition, k int) // the actions of the adversaries in round k; nil: none
	faulty        map[synod.NodeID]func(synod.Machine) synod.Machine
	instead       map[synod.NodeID]func(*result, synod.Machine) synod.Machine // adversaries of another kind
	wrap          func(synod.NodeID, *result, synod.Machine) synod.Machine    // of honest machines; nil: none
	silent        map[synod.NodeID]bool                                       // honest senders without a value
	faults        sim.Faults
	seed          uint64
	linger        synod.Tick // tick of the Recheck; 0: none
	longest       int        // length of values in bytes; 0: short ones
	keys          keys       // nil: symbolic
}

type keys interface {
	Signer(synod.NodeID, sign.Instance) synod.Signer
}

const run = "run"

// held is the result of one honest member.
type held struct {
	id         synod.NodeID
	at         synod.Tick
	out        *Outcome
	deliveries []Delivery // at the end of the last round, before any Recheck
}

type result struct {
	g         Group
	held      []held
	sent      []sent
	coalition *coalition
}

// sent is one chain in a message of an honest node.
type sent struct {
	by    synod.NodeID
	slot  int
	to    int
	chain chain
}

func (x *trial) group() Group {
	g := Group{Protocol: "test/1", Name: "values", F: x.f, Start: start, Within: within, MaxValue: 100,
		Senders: x.senders}
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

func value(id synod.NodeID) []byte { return fmt.Appendf(nil, "value of %d", id) }

func (x *trial) run() *result {
	total := x.n + x.outside
	keys := x.keys
	if keys == nil {
		keys = sign.DeriveSymbolic(x.seed, total)
	}
	r := &result{g: x.group()}
	r.coalition = &coalition{trial: x, g: &r.g, known: map[position][]byte{}, sends: map[synod.NodeID][]synod.Effect{},
		r: rand.New(rand.NewPCG(x.seed, 0xbad)), group: r.g.digest()}
	machines := make([]synod.Machine, total)
	var everyone []synod.NodeID
	for i := range total {
		everyone = append(everyone, synod.NodeID(i))
		r.coalition.signers = append(r.coalition.signers, keys.Signer(synod.NodeID(i), run))
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
		return &adversary{self: id, peers: peers, coalition: r.coalition}
	}
	seat := synod.Seat{Self: id, Peers: peers, F: x.f, Seed: script.Derive(x.seed, uint64(id)),
		Signer: r.coalition.signers[id]}
	m := script.New(seat, script.Options{}, func(me *script.Agent) synod.Answer {
		var mine []byte
		if has(r.g.Senders, id) && !x.silent[id] {
			mine = append(value(id), make([]byte, max(0, x.longest-len(value(id))))...)
		}
		out := Run(me, r.g, mine)
		h := held{id: id, at: me.Now(), out: out, deliveries: append([]Delivery(nil), out.Deliveries...)}
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

// watched records the chains that an honest machine sends.
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
			panic("an honest machine sends a message that cannot be decoded")
		}
		for _, c := range p {
			w.r.sent = append(w.r.sent, sent{w.id, s.Slot.Round, len(s.To), c})
		}
	}
	return effects
}

// omitting is a machine that loses some of its messages.
type omitting struct {
	synod.Machine
	r    *rand.Rand
	loss float64
}

func (o *omitting) Step(now synod.Tick, e synod.Event) (kept []synod.Effect) {
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
