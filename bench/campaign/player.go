package campaign

import (
	"cmp"
	"fmt"
	"runtime/debug"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/adversary"
	"synod.dev/synod/core/script"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/protocol/check"
)

// ExecutionPlayer plays executions one after another and uses their memory again. It is not safe for concurrent use.
type ExecutionPlayer struct {
	trace *trace
	x     *Execution
	net   network

	protocols map[string]synod.Protocol // by subject and parameters
	idle      map[synod.Protocol][]synod.Resetter
	joined    []synod.Resetter // by the execution that is played
	current   synod.Protocol
	symbolic  map[int]*sign.Derived // symbolic keys by the number of seats
	others    map[string]adversary.Adversary

	known  *knowledge // of insiders; nil: there are none
	calls  []int      // by seat
	server *provider  // that fails; nil: none was needed yet
	judges judges
}

// NewPlayer returns a player.
func NewPlayer() *ExecutionPlayer {
	return &ExecutionPlayer{
		net:       network{last: map[lastKey]*synod.Message{}, odd: map[int]bool{}},
		protocols: map[string]synod.Protocol{}, idle: map[synod.Protocol][]synod.Resetter{},
		symbolic: map[int]*sign.Derived{}, others: map[string]adversary.Adversary{},
	}
}

// ExecutionResult is what an execution came to.
type ExecutionResult struct {
	Violations []Violation
	Applied    map[string]float64 // the claims that applied, each with its margin; NaN: it has none
	Injected   []string           // kinds of faults that took effect
	States     []string           // situations of the protocol that occurred
	Ticks      synod.Tick         // virtual time that it took

	marks []uint64     // of states that an execution with insiders reached, ascending
	ends  []synod.Tick // when its rounds end
}

// variant is a change of an execution that must change nothing that is compared.
type variant struct {
	changed func(to synod.NodeID, m *synod.Message) *synod.Message
	double  bool          // every message to an honest member arrives twice
	run     sign.Instance // ""; thisRun
	more    int           // members of the committee beside the seats
	known   *knowledge    // of the insiders of a later run, who hear this one; nil: there is none
}

// play plays an execution once.
func (p *ExecutionPlayer) play(s *subject, x *Execution, v variant) (t *trace) {
	for i := range x.Events {
		x.Events[i].kind, _ = kindOf(x.Events[i].Kind)
	}
	known := v.known
	if known == nil && x.insiders() {
		known = newKnowledge(x, s.Within, p.messageType)
		p.earlierRun(s, x, known)
	}
	t = newTrace(s, x)
	p.trace, p.x, p.known = t, x, known
	p.net.reset(x)
	p.net.changed, p.net.double, p.net.happens = v.changed, v.double, p.happens
	p.calls = append(p.calls[:0], make([]int, x.Total()+len(x.Events))...)
	defer p.release()
	defer func() {
		if r := recover(); r != nil {
			t.Fail(claimCrash, "%v; %s", r, where(string(debug.Stack())))
		}
	}()
	if s.disk != nil {
		t.Applies(claimCrash)
		s.disk(t)
		return t
	}
	protocol, err := p.protocol(s, x.Params)
	if err != nil {
		panic(err)
	}
	p.current = protocol
	t.Protocol = protocol
	machines := p.machines(s, protocol, &v)
	config := sim.Config{Machines: machines, Seed: x.Seed, Ask: p.ask, Notes: t.note}
	if x.Delay > 0 || len(p.net.events) > 0 || len(x.Twins) > 0 || v.changed != nil || v.double {
		config.Carry = p.net.carry
	}
	t.ended = sim.Run(config)
	t.callsOf = p.calls
	t.judge()
	p.decide(t)
	if known != nil {
		t.marks, t.ends = known.marks(&t.Trace), known.ends
	}
	if x.sampled(repeatShare) || x.sampled(16) {
		t.first = t.digest(false)
	}
	return t
}

// where returns the innermost frames of a stack that belong to this module.
func where(stack string) string {
	var frames []string
	for line := range strings.Lines(stack) {
		if strings.Contains(line, "synod.dev/synod") && strings.Contains(line, "(") && !strings.Contains(line,
			"campaign.") {
			frames = append(frames, strings.TrimSpace(line))
		}
	}
	return strings.Join(frames[:min(3, len(frames))], " in ")
}

// release gives the machines of the execution back.
func (p *ExecutionPlayer) release() {
	p.idle[p.current] = append(p.idle[p.current], p.joined...)
	p.joined = p.joined[:0]
}

// protocol returns the protocol of a subject with parameters.
func (p *ExecutionPlayer) protocol(s *subject, params string) (synod.Protocol, error) {
	key := s.Name + params
	if known := p.protocols[key]; known != nil {
		return known, nil
	}
	if len(p.protocols) >= mostProtocols {
		clear(p.protocols)
		clear(p.idle)
	}
	made, err := s.build(p, params)
	if err == nil {
		p.protocols[key] = made
	}
	return made, err
}

// mostProtocols is how many protocols a player keeps with their idle machines, each of which holds what it heard last.
// A campaign draws hundreds, and would keep 200 MB of them.
const mostProtocols = 64

// join returns the honest machine of a seat. copy tells apart machines of one seat.
func (p *ExecutionPlayer) join(seat synod.Seat, copy int) synod.Machine {
	m := p.joinPlain(seat, copy)
	if watch := p.trace.subject.Watch; watch != nil && p.trace.Honest(seat.Self) {
		return watch(&p.trace.Trace, seat.Self, m)
	}
	return m
}

func (p *ExecutionPlayer) joinPlain(seat synod.Seat, copy int) synod.Machine {
	seat.Seed += uint64(copy)
	idle := p.idle[p.current]
	if n := len(idle); n > 0 {
		m := idle[n-1]
		p.idle[p.current] = idle[:n-1]
		m.Reset(seat)
		p.joined = append(p.joined, m)
		return m
	}
	m := p.current.Join(seat)
	if r, ok := m.(synod.Resetter); ok {
		p.joined = append(p.joined, r)
	}
	return m
}

const (
	thisRun  sign.Instance = "campaign"
	otherRun sign.Instance = "another run"
)

// keys returns the keys of n seats and of one that is no member any more. They are symbolic unless the execution has
// real ones.
func (p *ExecutionPlayer) keys(n int) *sign.Derived {
	if p.x.RealKeys {
		return sign.Derive(1, n+1)
	}
	b := p.symbolic[n]
	if b == nil {
		b = sign.DeriveSymbolic(1, n+1)
		p.symbolic[n] = b
	}
	return b
}

// otherKeys returns keys that are not those of the committee.
func otherKeys(n int) *sign.Derived { return sign.DeriveSymbolic(2, n+1) }

// machines returns the machines of all seats, and of those who are no members.
func (p *ExecutionPlayer) machines(s *subject, protocol synod.Protocol, v *variant) []synod.Machine {
	x, n := p.x, p.x.Total()
	peers := x.peers()
	p.trace.Peers = peers
	var signerOf func(synod.NodeID) synod.Signer
	if s.Signs {
		signerOf, p.trace.Verifier = p.signers(n, v)
	}
	machines := make([]synod.Machine, n, n+len(x.Events))
	for i := range machines {
		id := synod.NodeID(i)
		seat := synod.Seat{Self: id, Cast: x.Cast, Peers: peers[i], F: x.F, Pace: check.Pace,
			Question: p.trace.Question, Guards: p.trace.Guards, Names: seatNames[:n],
			Seed: script.Derive(x.Seed, uint64(i))}
		if x.Cast != nil {
			seat.Role = x.Cast[i]
		}
		if s.Signs {
			seat.Signer = signerOf(id)
		}
		machines[i] = p.machine(seat)
	}
	for i := range x.Events {
		if e := &x.Events[i]; e.Kind == "sybil" || e.Kind == "removed-member" {
			machines = append(machines, p.stranger(s, e, peers))
		}
	}
	return machines
}

// signers returns the signers of seats, and what third parties check signatures with.
func (p *ExecutionPlayer) signers(n int, v *variant) (of func(synod.NodeID) synod.Signer, check synod.Verifier) {
	derived, run := p.keys(n+v.more), cmp.Or(v.run, thisRun)
	of = func(id synod.NodeID) synod.Signer { return derived.Signer(id, run) }
	check = derived.Verifier(run)
	if k := p.known; k != nil {
		plain := of
		of = func(id synod.NodeID) synod.Signer { return &signer{plain(id), k, id} }
		check = verifier{check, k}
	}
	return of, check
}

// machine returns the machine of a seat: honest, an adversary's, or one in a failing process.
func (p *ExecutionPlayer) machine(seat synod.Seat) synod.Machine {
	for _, a := range p.x.Seats {
		if a.Seat == seat.Self {
			return adversary.Seat(p.adversary(a), seat, func(s synod.Seat) synod.Machine { return p.join(s, 0) })
		}
	}
	if p.known != nil {
		if m := p.insider(seat); m != nil {
			return m
		}
	}
	if len(p.x.Twins) > 0 && seat.Self == twin {
		p.trace.Hosted[twin] = true
		return p.host(seat, &ScheduledFault{Kind: "twins", kind: byName["twins"], Node: twin})
	}
	for i := range p.x.Events {
		if e := &p.x.Events[i]; e.Node == seat.Self && onHost(e.kind) {
			p.trace.Hosted[seat.Self] = true
			return p.host(seat, e)
		}
	}
	m := p.join(seat, 0)
	if p.trace.subject.counts {
		return &counted{m, &p.trace.sends[seat.Self]}
	}
	return m
}

// counted counts the messages that a machine sends, each once for all its receivers.
type counted struct {
	synod.Machine
	sends *int
}

// Step implements synod.Machine.
func (m *counted) Step(now synod.Tick, e synod.Event) []synod.Effect {
	effects := m.Machine.Step(now, e)
	for _, x := range effects {
		if _, send := x.(synod.Send); send {
			*m.sends++
		}
	}
	return effects
}

func (p *ExecutionPlayer) adversary(a Seated) adversary.Adversary {
	key := a.Name + fmt.Sprint(a.Params)
	made := p.others[key]
	if made == nil {
		entry, err := adversary.Catalogue.Find(a.Name)
		if err == nil {
			made, err = entry.New(a.Params)
		}
		if err != nil {
			panic(fmt.Errorf("campaign: adversary %s: %w", a.Name, err))
		}
		p.others[key] = made
	}
	if c, ok := made.(adversary.Colluding); ok {
		var seats []synod.NodeID
		for _, s := range p.x.Seats {
			if s.Name == a.Name {
				seats = append(seats, s.Seat)
			}
		}
		return c.Among(seats)
	}
	return made
}

// stranger is a machine that takes part and is no member: with keys of its own, or with a key of the committee whose
// seat no member is linked with. It takes the place of a member in what it sends, and the scheduler names the sender.
func (p *ExecutionPlayer) stranger(s *subject, e *ScheduledFault, peers [][]synod.NodeID) synod.Machine {
	id, n := e.Node, p.x.Total()
	seat := synod.Seat{Self: id, Cast: p.x.Cast, Peers: peers[id], F: p.x.F, Pace: check.Pace,
		Question: p.trace.Question,
		Seed:     script.Derive(p.x.Seed, uint64(n))}
	if p.x.Cast != nil {
		seat.Role = p.x.Cast[id]
	}
	if s.Signs {
		if e.Kind == "sybil" {
			seat.Signer = otherKeys(n).Signer(id, thisRun)
		} else {
			seat.Signer = p.keys(n).Signer(synod.NodeID(n), thisRun)
		}
	}
	p.trace.stranger = true
	return &stranger{Machine: p.joinPlain(seat, 1), p: p, kind: e.kind, id: id}
}

type stranger struct {
	synod.Machine
	p    *ExecutionPlayer
	kind int
	id   synod.NodeID
}

// Step implements synod.Machine. Nobody waits for the decision of a stranger, and nobody records its opinions.
func (m *stranger) Step(now synod.Tick, e synod.Event) (out []synod.Effect) {
	if _, begin := e.(synod.Begin); begin {
		out = append(out, synod.Decide{})
	}
	for _, x := range m.Machine.Step(now, e) {
		switch x := x.(type) {
		case synod.Send:
			m.p.happens(m.kind)
			x.To = append([]synod.NodeID{m.id}, x.To...)
			out = append(out, x)
		case synod.Note, synod.Decide:
		default:
			out = append(out, x)
		}
	}
	return out
}

// happens records that a fault took effect.
func (p *ExecutionPlayer) happens(kind int) { p.trace.injected[kind] = true }
