package simtest

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"synod.dev/synod"
	"synod.dev/synod/core/script"
	"synod.dev/synod/core/sim"
)

// RandomCouncil is a random council: a connected graph, honest members whose models answer, score, fail and
// return unreadable text at random, and Byzantine ones that send random messages.
type RandomCouncil struct {
	Protocol Protocol
	F        int
	Peers    [][]synod.NodeID
	Hostile  []bool
	Seed     uint64
	Faults   sim.Faults
	Shake    func(*synod.Message) []*synod.Message // what the network delivers for a message; nil: the message
}

// RandomRun is the result of a trial.
type RandomRun struct {
	Record string // all effects, one in a line
	Notes  []sim.Noted
	Calls  int
	Sends  int // messages, by receiver
	Result sim.Result
}

// Draw returns a random council of 2 to 7 members with F up to 3.
func Draw(t *rapid.T, p Protocol) *RandomCouncil {
	n := rapid.IntRange(2, 7).Draw(t, "n")
	c := &RandomCouncil{Protocol: p, F: rapid.IntRange(0, 3).Draw(t, "f"), Seed: rapid.Uint64().Draw(t, "seed")}
	var edges []string
	for i := range n {
		for j := i + 1; j < n; j++ {
			if j == i+1 || rapid.Bool().Draw(t, "edge") {
				edges = append(edges, fmt.Sprintf("%d-%d", i, j))
			}
		}
		c.Hostile = append(c.Hostile, rapid.IntRange(0, 3).Draw(t, "hostile") == 0)
	}
	c.Peers = Neighbours(n, strings.Join(edges, ","))
	return c
}

// reply returns the reply of a member's model. It depends only on node and prompt, so that runs can
// be compared.
func (c *RandomCouncil) reply(call sim.Call) synod.Reply {
	h := fnv.New64a()
	fmt.Fprint(h, c.Seed, call.Node, call.Prompt, call.Prompt.Seed)
	r := rand.New(rand.NewPCG(h.Sum64(), 1))
	switch r.IntN(8) {
	case 0:
		return synod.Reply{Status: synod.Timeout}
	case 1:
		return synod.Reply{Status: synod.OK, Text: "no idea, to be honest"}
	}
	if call.Prompt.Purpose == synod.Scoring {
		return synod.Reply{Status: synod.OK, Text: fmt.Sprintf("0.%d", r.IntN(4))}
	}
	out := synod.Reply{Status: synod.OK, Text: fmt.Sprintf("Answer: %d", r.IntN(4))}
	if call.Prompt.ConfidenceMode != synod.NoConfidence {
		sure := float64(r.IntN(5)) / 4
		out.Confidence = &sure
	}
	return out
}

// Run plays the trial and returns its result.
func (c *RandomCouncil) Run() RandomRun {
	var out RandomRun
	var log recorder
	out.Result = sim.Run(sim.Config{
		Machines: c.machines(), Faults: c.Faults, Seed: c.Seed, Log: &log,
		Ask: sim.Immediate(func(all []sim.Call) []synod.Reply {
			replies := make([]synod.Reply, len(all))
			for i, call := range all {
				replies[i] = c.reply(call)
			}
			out.Calls += len(all)
			return replies
		}),
		Watch: func(_ synod.Tick, n []sim.Noted) string { out.Notes = append(out.Notes, n...); return "" },
	})
	out.Record = log.b.String()
	for line := range strings.Lines(out.Record) {
		if _, send, ok := strings.Cut(line, " send to "); ok {
			to, _, _ := strings.Cut(send, ":")
			out.Sends += strings.Count(to, ",") + 1
		}
	}
	return out
}

func (c *RandomCouncil) machines() []synod.Machine {
	q := &synod.Question{Text: "?", Form: synod.Number}
	machines := make([]synod.Machine, len(c.Peers))
	for i := range machines {
		seat := synod.Seat{Self: synod.NodeID(i), Peers: c.Peers[i], F: c.F, Pace: Pace, Question: q,
			Seed: script.Derive(c.Seed, uint64(i))}
		machines[i] = &network{Machine: c.Protocol.Join(seat), shake: c.Shake}
		if c.Hostile[i] {
			machines[i].Step(0, synod.Halt{})
			machines[i] = &vandal{seat: seat, r: rand.New(rand.NewPCG(c.Seed, uint64(i)))}
		}
	}
	return machines
}

// Opinions returns what each member noted, by member, without the ticks.
func (p *RandomRun) Opinions() string {
	notes := slices.Clone(p.Notes)
	slices.SortStableFunc(notes, func(a, b sim.Noted) int { return int(a.Node) - int(b.Node) })
	var s strings.Builder
	for _, n := range notes {
		fmt.Fprintf(&s, "n%d %s\n", n.Node, n.Opinion)
	}
	return s.String()
}

// rounds returns the rounds that a node has noted.
func (p *RandomRun) rounds(node int) (rounds []int) {
	for _, n := range p.Notes {
		if int(n.Node) == node {
			rounds = append(rounds, n.Round)
		}
	}
	return rounds
}

// network changes the messages that a machine receives.
type network struct {
	synod.Machine
	shake func(*synod.Message) []*synod.Message
}

func (o *network) Step(now synod.Tick, e synod.Event) []synod.Effect {
	h, ok := e.(synod.Heard)
	if !ok || o.shake == nil {
		return o.Machine.Step(now, e)
	}
	var out []synod.Effect
	for _, m := range o.shake(h.Message) {
		out = append(out, o.Machine.Step(now, synod.Heard{Message: m})...)
	}
	return out
}

// vandal is a Byzantine machine that sends random messages for any slot and round, some of them
// invalid or twice, at random ticks.
type vandal struct {
	seat synod.Seat
	r    *rand.Rand
	acts int
}

func (v *vandal) Step(now synod.Tick, e synod.Event) (out []synod.Effect) {
	switch e.(type) {
	case synod.Begin:
		out = append(out, synod.Decide{})
	case synod.Expired:
	default:
		return nil // if it replied to messages, two of them would exchange messages without end
	}
	if v.acts++; v.acts > 8 {
		return out
	}
	for range v.r.IntN(3) {
		body, _ := synod.Response{Answer: synod.Answer(fmt.Sprint(v.r.IntN(9))),
			Confidence: v.r.Float64()}.AppendBinary(nil)
		if v.r.IntN(3) == 0 {
			body = body[:v.r.IntN(len(body))]
		}
		out = append(out, synod.Send{To: v.seat.Peers, Message: &synod.Message{
			From: v.seat.Self, Slot: synod.Slot{Name: []string{synod.Respond, "junk"}[v.r.IntN(2)], Round: v.r.IntN(6)},
			Body: body,
		}})
	}
	return append(out, synod.Alarm{ID: synod.AlarmID(v.acts), At: now + 1 + synod.Tick(v.r.IntN(5))})
}
