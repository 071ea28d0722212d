package decentllms

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/script"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/protocol/broadcast"
	"synod.dev/synod/protocol/grade"
)

// trial is one decision: workers 0 to w-1, then evaluators, with Byzantine ones among both.
var pace = synod.Pace{Think: 2, Within: 4}

type trial struct {
	w, e, f int
	p       *DecentLLMs
	hostile map[synod.NodeID]string // kind of adversary; see seat
	seed    uint64
	faults  sim.Faults
	carry   sim.Carry // nil: faults decides
	spread  float64
	keys    keyring // nil: symbolic signatures
	// nil: random; otherwise worker i answers i+1 and no call fails
	grade    func(by synod.NodeID, a synod.Answer) grade.Grades
	question *synod.Question                // nil: a number is asked for
	says     func(c sim.Call) (text string) // what a model replies; "": as reply does
	fails    func(c sim.Call) synod.Status  // how a call ends: OK, Timeout, or Unreadable for a reply without sense
	weighs   func(synod.Answer) float64     // likelihood of an answer's text, where it is asked for
}

// kept is the state of an honest evaluator at the end.
type kept struct {
	id       synod.NodeID
	at       synod.Tick // when it replied
	answer   synod.Answer
	suspects []synod.NodeID
	*Record
}

type outcome struct {
	held  []kept
	last  []synod.Opinion // by seat
	calls []sim.Call
	ticks synod.Tick
	keys  keyring
}

type keyring interface {
	Signer(synod.NodeID, sign.Instance) synod.Signer
}

const run = "run"

func (x *trial) cast() (cast []synod.Role) {
	return append(slices.Repeat([]synod.Role{Worker}, x.w), slices.Repeat([]synod.Role{Evaluator}, x.e)...)
}

func (x *trial) play() (o outcome) {
	n := x.w + x.e
	q := x.question
	if q == nil {
		q = &synod.Question{Text: "?", Form: synod.Number}
	}
	o.last = make([]synod.Opinion, n)
	if o.keys = x.keys; o.keys == nil {
		o.keys = sign.DeriveSymbolic(x.seed, n)
	}
	machines := make([]synod.Machine, n)
	for i := range machines {
		var peers []synod.NodeID
		for j := range n {
			if j != i {
				peers = append(peers, synod.NodeID(j))
			}
		}
		id := synod.NodeID(i)
		machines[i] = x.seat(synod.Seat{Self: id, Role: x.cast()[i], Cast: x.cast(), Peers: peers, F: x.f, Pace: pace,
			Question: q, Seed: script.Derive(x.seed, uint64(i)), Signer: o.keys.Signer(id, run)})
	}
	r := sim.Run(sim.Config{Machines: machines, Faults: x.faults, Carry: x.carry, Seed: x.seed,
		Ask: sim.Immediate(func(calls []sim.Call) []synod.Reply {
			out := make([]synod.Reply, len(calls))
			for i, c := range calls {
				out[i] = x.reply(c)
			}
			o.calls = append(o.calls, calls...)
			return out
		}),
		Watch: func(now synod.Tick, notes []sim.Noted) string {
			for _, note := range notes {
				o.last[note.Node] = *note.Opinion
				if r := RecordOf(note.Opinion); r != nil && x.hostile[note.Node] == "" {
					o.held = append(o.held, kept{note.Node, now, note.Answer, note.Suspects, r})
				}
			}
			return ""
		}})
	o.ticks = r.Ticks
	return o
}

// reply returns the reply of a member's model. It depends on seed, member, prompt and number of the
// consult, so that the two machines of a twin differ.
func (x *trial) reply(c sim.Call) synod.Reply {
	r := rand.New(rand.NewPCG(x.seed^uint64(c.Node)<<32^uint64(c.ID)<<8, uint64(len(c.Prompt.Candidate))))
	if x.fails != nil {
		switch s := x.fails(c); s {
		case synod.Timeout:
			return synod.Reply{Status: s}
		case synod.Unreadable:
			return synod.Reply{Status: synod.OK, Text: "well"}
		}
	}
	if x.says != nil {
		if text := x.says(c); text != "" {
			return synod.Reply{Status: synod.OK, Text: text}
		}
	}
	if c.Prompt.Purpose == synod.Weighing {
		return synod.Reply{Status: synod.OK, Typed: true, Value: math.Log(x.weighs(c.Prompt.Candidate))}
	}
	if c.Prompt.Purpose == synod.Answering && x.grade != nil {
		return synod.Reply{Status: synod.OK, Text: fmt.Sprintf("Answer: %d", 1+c.Node)}
	}
	if c.Prompt.Purpose == synod.Answering {
		return synod.Reply{Status: synod.OK, Text: fmt.Sprintf("because\nAnswer: %d", 1+r.IntN(5))}
	}
	if x.grade == nil && r.IntN(20) == 0 {
		return synod.Reply{Status: synod.Timeout}
	}
	if c.Prompt.Purpose == grade.All {
		return x.gradesOfAll(c, r)
	}
	g := x.marks(c.Node, c.Prompt.Candidate, r)
	return synod.Reply{Status: synod.OK, Text: g.Text()}
}

// gradesOfAll returns the grades of all answers; some are not readable.
func (x *trial) gradesOfAll(c sim.Call, r *rand.Rand) synod.Reply {
	text := "{"
	for i, p := range c.Prompt.Peers {
		g := x.marks(c.Node, p.Answer, r)
		text += fmt.Sprintf("\"answer_%d\": %s, ", i+1, g.Text())
	}
	return synod.Reply{Status: synod.OK, Text: text[:len(text)-2-b2i(x.grade == nil && r.IntN(16) == 0)] + "}"}
}

func (x *trial) marks(by synod.NodeID, a synod.Answer, r *rand.Rand) (g grade.Grades) {
	switch {
	case x.hostile[by] == "cartel" && a == "1":
		return grade.Grades{20, 20, 20, 20, 20}
	case x.hostile[by] == "cartel":
		return g
	case x.grade != nil:
		return x.grade(by, a)
	}
	for i := range g {
		g[i] = min(max(float64(3*len(a)+int(a[0]-'0')*3)+x.spread*r.NormFloat64(), 0), 20)
	}
	return g
}

// seat returns an honest or a Byzantine machine.
func (x *trial) seat(s synod.Seat) synod.Machine {
	switch x.hostile[s.Self] {
	case "twin":
		return &twins{faces: [2]synod.Machine{x.p.Join(s), x.p.Join(s)}}
	case "selective":
		return &selective{x.p.Join(s), rand.New(rand.NewPCG(x.seed, uint64(s.Self)))}
	case "garbage":
		return x.raw(s)
	case "silent":
		m := x.p.Join(s)
		m.Step(0, synod.Halt{})
		return silent{}
	}
	return x.p.Join(s)
}

// raw is a seat that signs and sends bytes that are neither an answer nor grades.
func (x *trial) raw(s synod.Seat) synod.Machine {
	r := rand.New(rand.NewPCG(x.seed, uint64(s.Self)))
	return script.New(s, script.Options{}, func(me *script.Agent) synod.Answer {
		junk := make([]byte, r.IntN(200))
		for i := range junk {
			junk[i] = byte(r.Uint32())
		}
		g, m := x.p.answers(s.Cast, s.F, pace), x.p.marks(s.Cast, s.F, pace)
		broadcast.Run(me, g, junk)
		if s.Role == Evaluator {
			broadcast.Run(me, m, junk[:min(len(junk), m.MaxValue)])
		}
		return ""
	})
}

// drawn is a random trial of S(f): f Byzantine evaluators within the bound of the aggregate, and
// any number of Byzantine workers.
func drawn(seed uint64) *trial {
	r := rand.New(rand.NewPCG(seed, 0xd1))
	x := &trial{w: 1 + r.IntN(4), e: 3 + r.IntN(4), p: New(), hostile: map[synod.NodeID]string{}, seed: seed,
		spread: float64(r.IntN(6))}
	if raced && r.IntN(8) > 0 {
		x.w, x.e = min(x.w, 2), 3
	}
	x.p.Aggregate = []string{"geometric-median", "median-total", "coordinate-median", "trimmed-mean", "krum"}[r.IntN(5)]
	for x.f = r.IntN((x.e+1)/2 - 1 + 1); x.p.CheckCast(x.cast(), x.f) != nil; x.f-- {
	}
	ways := []string{"twin", "selective", "garbage", "silent", "cartel"}
	for _, i := range r.Perm(x.e)[:x.f] {
		x.hostile[synod.NodeID(x.w+i)] = ways[r.IntN(len(ways))]
	}
	for i := range x.w {
		if r.IntN(2) == 0 {
			x.hostile[synod.NodeID(i)] = ways[r.IntN(4)]
		}
	}
	if r.IntN(4) == 0 {
		x.p.Judge = All
	}
	x.faults.Delay.Max = synod.Tick(r.IntN(2))
	return x
}
