package adversary

import (
	"cmp"
	"fmt"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/script"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/llm/read"
	"synod.dev/synod/protocol/broadcast"
)

// spread is one broadcast of every sender's answer, in which some parties are adversaries.
type spread struct {
	members, outside int // members 0 to members-1 broadcast, unless there are senders outside
	assumed          int // the bound that members assume
	adversaries      map[synod.NodeID]Adversary
	seed             uint64
	instance         string                                 // of the run; "": run
	base             int                                    // added to all answers
	heard            func(of synod.NodeID, m synod.Message) // is told what honest members send; may be nil
}

func (x *spread) run() sign.Instance { return sign.Instance(cmp.Or(x.instance, "run")) }

func (x *spread) group() broadcast.Group {
	g := broadcast.Group{Protocol: "test/1", Name: "answers", F: x.assumed, Start: 4, Within: 4, MaxValue: 200}
	for i := range x.members {
		g.Members = append(g.Members, synod.NodeID(i))
	}
	g.Senders = g.Members
	if x.outside > 0 {
		g.Senders = nil
	}
	for i := range x.outside {
		g.Senders = append(g.Senders, synod.NodeID(x.members+i))
	}
	return g
}

// play returns the deliveries of each honest member, and the verifier of the run.
func (x *spread) play() (held map[synod.NodeID][]broadcast.Delivery, v synod.Verifier) {
	n := x.members + x.outside
	keys, g := sign.DeriveSymbolic(x.seed, n), x.group()
	held = map[synod.NodeID][]broadcast.Delivery{}
	machines := make([]synod.Machine, n)
	for i := range machines {
		seat := synod.Seat{Self: synod.NodeID(i), F: x.assumed, Pace: synod.Pace{Think: 2, Within: 4}, Question: number,
			Seed: script.Derive(x.seed, uint64(i)), Signer: keys.Signer(synod.NodeID(i), x.run())}
		for j := range n {
			if j != i {
				seat.Peers = append(seat.Peers, synod.NodeID(j))
			}
		}
		if a := x.adversaries[seat.Self]; a != nil {
			machines[i] = Seat(a, seat, func(s synod.Seat) synod.Machine {
				return honestParty(s, g,
					func(*broadcast.Outcome) {})
			})
			continue
		}
		machines[i] = honestParty(seat, g, func(o *broadcast.Outcome) {
			if seat.Self < synod.NodeID(x.members) {
				held[seat.Self] = slices.Clone(o.Deliveries)
			}
		})
	}
	for i, m := range machines {
		if x.heard != nil && x.adversaries[synod.NodeID(i)] == nil {
			machines[i] = &MessageRewriter{Honest: m, Other: func(s synod.Send) []synod.Send {
				x.heard(synod.NodeID(i), *s.Message)
				return []synod.Send{s}
			}}
		}
	}
	faults := sim.Faults{}
	faults.Delay.Max = 1
	sim.Run(sim.Config{Machines: machines, Seed: x.seed, Faults: faults,
		Ask: sim.Immediate(func(calls []sim.Call) []synod.Reply {
			out := make([]synod.Reply, len(calls))
			for i := range calls {
				out[i] = synod.Reply{Status: synod.OK, Text: fmt.Sprintf("Answer: %d", x.base+40+int(calls[i].Node))}
			}
			return out
		})})
	return held, keys.Verifier(x.run())
}

// honestParty asks its model and broadcasts the answer.
func honestParty(seat synod.Seat, g broadcast.Group, done func(*broadcast.Outcome)) synod.Machine {
	return script.New(seat, script.Options{}, func(me *script.Agent) synod.Answer {
		var mine []byte
		if slices.Contains(g.Senders, seat.Self) {
			reply := me.Ask(synod.Prompt{Purpose: synod.Answering, Question: seat.Question})[0]
			answer, _, _ := read.Answer(seat.Question, reply, false)
			mine, _ = synod.Response{Answer: answer}.AppendBinary(nil)
		}
		out := broadcast.Run(me, g, mine)
		out.Recheck()
		done(out)
		return ""
	})
}

// splits reports whether two honest members hold different values of one sender.
func (x *spread) splits() bool {
	held, _ := x.play()
	return disagree(held)
}

func disagree(held map[synod.NodeID][]broadcast.Delivery) bool {
	var first []broadcast.Delivery
	for _, ds := range held {
		if first == nil {
			first = ds
		}
		for i := range ds {
			if delivered(ds[i]) != delivered(first[i]) {
				return true
			}
		}
	}
	return false
}

func delivered(d broadcast.Delivery) string {
	if d.Signed == nil {
		return "⊥"
	}
	var r synod.Response
	if err := r.UnmarshalBinary(d.Signed.Value); err != nil {
		return err.Error()
	}
	return string(r.Answer)
}
