package rotatingleader

import (
	"math/rand/v2"
	"slices"
	"strconv"

	"synod.dev/synod"
	"synod.dev/synod/core/script"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/protocol/grade"
	"synod.dev/synod/protocol/leader"
)

// trial is one decision.
var pace = synod.Pace{Think: 2, Within: 4}

type trial struct {
	n, f    int
	p       *RotatingLeader
	hostile map[synod.NodeID]string // kind of adversary; see seat
	seed    uint64
	faults  sim.Faults
	keys    keyring                              // nil: symbolic signatures
	answers func(synod.NodeID) synod.Answer      // nil: random, one of four
	quality func(synod.NodeID, synod.Answer) int // grade that a member gives an answer, 0 to 20; nil: random
	lenient bool                                 // without quality: most members grade all answers alike
}

type keyring interface {
	Signer(synod.NodeID, sign.Instance) synod.Signer
}

const run = "run"

// kept is the state of an honest member at the end.
type kept struct {
	id synod.NodeID
	*synod.Opinion
}

type outcome struct {
	x     *trial
	held  []kept // the last opinions of honest members
	notes []sim.Noted
	ticks synod.Tick
	calls int
	keys  keyring
	votes map[ballotBox][]synod.NodeID // votes of honest members as they were sent
	shown map[synod.NodeID]string      // proposal of the first leader to an honest member
}

// ballotBox identifies what a vote is for.
type ballotBox struct {
	phase, round int
	answer       synod.Answer
}

func (x *trial) play() *outcome {
	o := &outcome{x: x, keys: x.keys, votes: map[ballotBox][]synod.NodeID{}, shown: map[synod.NodeID]string{}}
	if o.keys == nil {
		o.keys = sign.DeriveSymbolic(x.seed, x.n)
	}
	q := &synod.Question{Text: "?", Form: synod.Number}
	machines := make([]synod.Machine, x.n)
	var all []synod.NodeID
	for i := range x.n {
		all = append(all, synod.NodeID(i))
	}
	for i := range machines {
		peers := slices.Delete(slices.Clone(all), i, i+1)
		machines[i] = x.seat(synod.Seat{Self: all[i], Peers: peers, F: x.f, Pace: pace, Question: q,
			Seed: script.Derive(x.seed, uint64(i)), Signer: o.keys.Signer(all[i], run)}, o)
	}
	o.held = make([]kept, 0, x.n)
	r := sim.Run(sim.Config{Machines: machines, Faults: x.faults, Seed: x.seed,
		Ask: sim.Immediate(func(calls []sim.Call) []synod.Reply {
			out := make([]synod.Reply, len(calls))
			for i, c := range calls {
				out[i] = x.reply(c)
			}
			o.calls += len(calls)
			return out
		}),
		Watch: func(_ synod.Tick, notes []sim.Noted) string { o.notes = append(o.notes, notes...); return "" },
	})
	o.ticks = r.Ticks
	for _, id := range all {
		for _, note := range slices.Backward(o.notes) {
			if note.Node == id && x.hostile[id] == "" {
				o.held = append(o.held, kept{id, note.Opinion})
				break
			}
		}
	}
	return o
}

// reply returns the reply of a member's model. That of a Byzantine member takes any answer it is shown.
func (x *trial) reply(c sim.Call) synod.Reply {
	r := rand.New(rand.NewPCG(x.seed^uint64(c.Node)<<40, uint64(c.ID)))
	hostile := x.hostile[c.Node] != ""
	if x.quality == nil && !hostile && r.IntN(20) == 0 {
		return synod.Reply{Status: synod.Timeout}
	}
	out := synod.Reply{Status: synod.OK, Typed: true}
	if c.Prompt.Purpose != grade.One {
		out.Answer = synod.Answer(strconv.Itoa(1 + r.IntN(4)))
		if x.answers != nil && !hostile {
			out.Answer = x.answers(c.Node)
		}
		return out
	}
	mark := 20
	switch {
	case hostile:
	case x.quality != nil:
		mark = x.quality(c.Node, c.Prompt.Candidate)
	case x.lenient && r.IntN(8) > 0:
		mark = 10
	default:
		mark = r.IntN(21)
	}
	out.Text = grade.Uniform(float64(mark)).Text()
	return out
}

// seat returns an honest or a Byzantine machine.
func (x *trial) seat(s synod.Seat, o *outcome) synod.Machine {
	free := *x.p
	free.twin.lock = true // no lock binds an adversary
	chance := rand.New(rand.NewPCG(x.seed, uint64(s.Self)))
	switch x.hostile[s.Self] {
	case "two-faced":
		return &faces{two: [2]synod.Machine{free.Join(s), free.Join(s)}, peers: s.Peers, chance: chance}
	case "selective":
		return &selective{free.Join(s), chance}
	case "bad":
		return free.Join(s)
	case "scribbler":
		return scribbler{free.Join(s)}
	case "silent":
		return silentMachine{}
	}
	all := append(slices.Clone(s.Peers), s.Self)
	slices.Sort(all)
	return &watched{x.p.Join(s), o, s.Self, s.Signer, leader.VoteGroup(x.p.version(), all, s.F)}
}

type silentMachine struct{}

func (silentMachine) Step(synod.Tick, synod.Event) []synod.Effect {
	return []synod.Effect{synod.Decide{}}
}

// faces is two machines with one key. The receivers of each message are random, so the seat makes
// two proposals and votes twice.
type faces struct {
	two    [2]synod.Machine
	peers  []synod.NodeID
	chance *rand.Rand
	out    []synod.Effect
}

func (t *faces) Step(now synod.Tick, e synod.Event) []synod.Effect {
	t.out = t.out[:0]
	for i, face := range t.two {
		mine := e
		switch e := e.(type) {
		case synod.Answered:
			if int(e.ID)%2 != i {
				continue
			}
			e.ID /= 2
			mine = e
		case synod.Expired:
			if int(e.ID)%2 != i {
				continue
			}
			e.ID /= 2
			mine = e
		}
		for _, x := range face.Step(now, mine) {
			switch x := x.(type) {
			case synod.Send:
				t.out = append(t.out, synod.Send{To: some(t.chance, x.To), Message: x.Message})
			case synod.Consult:
				t.out = append(t.out, synod.Consult{ID: 2*x.ID + synod.ConsultID(i), Prompt: x.Prompt})
			case synod.Alarm:
				t.out = append(t.out, synod.Alarm{ID: 2*x.ID + synod.AlarmID(i), At: x.At})
			default:
				t.out = append(t.out, x)
			}
		}
	}
	return t.out
}

func some(chance *rand.Rand, ids []synod.NodeID) (kept []synod.NodeID) {
	bits := chance.Uint64()
	for i, id := range ids {
		if bits>>i&1 == 1 {
			kept = append(kept, id)
		}
	}
	return kept
}

// scribbler sends votes and commitments with invalid signatures: it changes the last byte of each
// message.
type scribbler struct{ synod.Machine }

func (s scribbler) Step(now synod.Tick, e synod.Event) (out []synod.Effect) {
	for _, x := range s.Machine.Step(now, e) {
		if send, ok := x.(synod.Send); ok && send.Slot.Name != "meet" && len(send.Body) > 0 {
			m := *send.Message
			m.Body = slices.Clone(m.Body)
			m.Body[len(m.Body)-1] ^= 1
			x = synod.Send{To: send.To, Message: &m}
		}
		out = append(out, x)
	}
	return out
}

// selective sends messages to some of their receivers only.
type selective struct {
	synod.Machine
	chance *rand.Rand
}

func (s *selective) Step(now synod.Tick, e synod.Event) (out []synod.Effect) {
	for _, x := range s.Machine.Step(now, e) {
		if send, ok := x.(synod.Send); ok {
			x = synod.Send{To: some(s.chance, send.To), Message: send.Message}
		}
		out = append(out, x)
	}
	return out
}

// watched records how an honest machine votes. A vote ends in a signature; which answer was signed
// is found by trying all.
type watched struct {
	synod.Machine
	o       *outcome
	id      synod.NodeID
	network synod.Verifier
	group   [32]byte
}

func (w *watched) Step(now synod.Tick, e synod.Event) []synod.Effect {
	if h, ok := e.(synod.Heard); ok && h.Slot == (synod.Slot{Name: "propose", Round: 1}) && h.From == 0 &&
		w.o.shown[w.id] == "" {
		w.o.shown[w.id] = string(h.Body)
	}
	effects := w.Machine.Step(now, e)
	for _, x := range effects {
		if s, ok := x.(synod.Send); ok && w.o.x.keys == nil {
			w.vote(s.Message)
		}
	}
	return effects
}

const tokenSize = 16 // of a symbolic signature

func (w *watched) vote(m *synod.Message) {
	phase := map[string]int{"vote": leader.Prepare, "commit": leader.Commit}[m.Slot.Name]
	if phase == 0 || len(m.Body) < 4+tokenSize {
		return
	}
	for _, a := range []synod.Answer{"1", "2", "3", "4"} {
		if w.network.Verify(w.id, leader.VoteBytes(w.group, phase, m.Slot.Round, a), m.Body[len(m.Body)-tokenSize:]) {
			box := ballotBox{phase, m.Slot.Round, a}
			w.o.votes[box] = append(w.o.votes[box], w.id)
			return
		}
	}
}
