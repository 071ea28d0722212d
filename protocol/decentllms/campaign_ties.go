package decentllms

import (
	"bytes"
	"crypto/sha256"
	"math"
	"strconv"

	"synod.dev/synod"
	"synod.dev/synod/core/script"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/protocol/check"
)

var grinding = []check.Trial{
	{Claim: check.Claim{ID: "I-DL-7", Property: "nothing that decides between equal totals is sent before all " +
		"evaluators hold all answers, and no answer changes it: a worker that tries 1,000 answers for each tie wins " +
		"its share of ties",
		Model: check.Sync, Source: "DecentLLMs §III.C.3; own (DL-4)", Margin: "standard deviations below 8"},
		Kind: check.Attacks, Try: grindTies},
}

// Ties of a trial, and answers that the worker tries for each.
const (
	ties     = 100
	variants = 1000
)

// mostSigmas is how many standard deviations above its share the wins of a worker may be. The salt is drawn afresh in
// each run, so the wins are binomial, and 8 are exceeded less than once in 10^11 trials: there is no violation by
// chance. A worker that knows the salt wins nearly all ties, which is more than 9.
const mostSigmas = 8

// tie is a run of DecentLLMs in which all answers get equal grades.
type tie struct {
	workers, evaluators int
	seed                uint64
	answer              synod.Answer // of worker 0

	graded synod.Tick              // when the last evaluator began to grade
	sent   map[synod.Tick][][]byte // messages, by when they were sent
}

// grindTies has worker 0 choose its answers for the salt of the run before.
func grindTies(t *check.Tried) {
	x := tie{workers: 2 + t.Rand.IntN(3), evaluators: 3 + t.Rand.IntN(3)}
	p := New()
	p.Rationale = 0
	last, wins := []byte(nil), 0.0
	for i := range ties {
		x.seed, x.answer = t.Rand.Uint64(), winning(last)
		decided, record := x.play(p)
		if record == nil {
			t.Check(false, "no evaluator has a record of run %d", i)
			return
		}
		t.Check(x.hidden(record), "the salt of run %d is known before all evaluators hold all answers", i)
		if decided == x.answer {
			wins++
		}
		if last = record.Salt; i == 0 {
			x.answer = "7"
			_, other := x.play(p)
			t.Check(other != nil && bytes.Equal(other.Salt, last), "another answer changes the salt")
		}
	}
	share := 1 / float64(x.workers)
	sigmas := (wins - ties*share) / math.Sqrt(ties*share*(1-share))
	t.Check(sigmas <= mostSigmas, "%v of %d ties among %d are won by a worker that chooses its answers", wins, ties,
		x.workers)
	t.Spare(mostSigmas - sigmas)
}

// winning returns the answer with the largest hash for a salt.
func winning(salt []byte) (a synod.Answer) {
	var top [sha256.Size]byte
	for v := range variants {
		text := strconv.AppendInt(nil, int64(1000+v), 10)
		if h := sha256.Sum256(append(append(text, 0), salt...)); bytes.Compare(h[:], top[:]) > 0 {
			a, top = synod.Answer(text), h
		}
	}
	return a
}

// play returns what evaluators decide, and their record; nil: there is none.
func (x *tie) play(p synod.Protocol) (decided synod.Answer, record *Record) {
	n := x.workers + x.evaluators
	x.graded, x.sent = 0, map[synod.Tick][][]byte{}
	keys, machines := sign.DeriveSymbolic(1, n), make([]synod.Machine, n)
	seat := synod.Seat{F: 1, Pace: check.Pace, Question: &synod.Question{Text: "How many?", Form: synod.Number}}
	for i := range n {
		role := Evaluator
		if i < x.workers {
			role = Worker
		}
		seat.Cast = append(seat.Cast, role)
	}
	for i := range machines {
		s := seat
		s.Self, s.Role, s.Seed, s.Peers = synod.NodeID(i), s.Cast[i], script.Derive(x.seed, uint64(i)), nil
		for j := range n {
			if j != i {
				s.Peers = append(s.Peers, synod.NodeID(j))
			}
		}
		s.Signer = keys.Signer(s.Self, "campaign")
		machines[i] = &tapped{p.Join(s), x}
	}
	watch := func(_ synod.Tick, notes []sim.Noted) string {
		for _, o := range notes {
			if r := RecordOf(o.Opinion); r != nil {
				decided, record = o.Answer, r
			}
		}
		return ""
	}
	sim.Run(sim.Config{Machines: machines, Seed: x.seed, Ask: x.ask, Notes: watch})
	return decided, record
}

// ask answers calls: workers give different numbers, and evaluators equal grades.
func (x *tie) ask(calls []sim.Call) (wait func() []synod.Reply) {
	replies := make([]synod.Reply, len(calls))
	for i, c := range calls {
		d, grades := c.Prompt.Detail.(synod.Simulable)
		switch {
		case grades:
			replies[i] = d.Simulate(c.Prompt, synod.Simulation{Score: func(synod.Answer, string) float64 { return .5 }})
		case c.Node == 0:
			replies[i] = synod.Reply{Status: synod.OK, Typed: true, Answer: x.answer}
		default:
			replies[i] = synod.Reply{Status: synod.OK, Typed: true, Answer: synod.Answer(strconv.Itoa(int(c.Node)))}
		}
	}
	return func() []synod.Reply { return replies }
}

// tapped is a machine of a tie, whose messages are kept.
type tapped struct {
	synod.Machine
	x *tie
}

// Step implements synod.Machine.
func (m *tapped) Step(now synod.Tick, e synod.Event) []synod.Effect {
	effects := m.Machine.Step(now, e)
	for _, e := range effects {
		switch e := e.(type) {
		case synod.Send:
			m.x.sent[now] = append(m.x.sent[now], e.Body)
		case synod.Consult:
			if _, grades := e.Prompt.Detail.(synod.Simulable); grades {
				m.x.graded = max(m.x.graded, now)
			}
		}
	}
	return effects
}

// hidden reports whether no message before the last evaluator began to grade has an evaluator's part of the salt.
func (x *tie) hidden(r *Record) bool {
	for _, g := range r.Grades {
		if len(g.Value) < nonceSize {
			return false
		}
		for at, bodies := range x.sent {
			for _, b := range bodies {
				if at < x.graded && bytes.Contains(b, g.Value[:nonceSize]) {
					return false
				}
			}
		}
	}
	return len(r.Grades) == x.evaluators && x.graded > 0
}
