package script

import (
	"cmp"

	"synod.dev/synod"
)

// Steps is a protocol in rounds, written as a list of functions that do not wait. A step
// may put prompts (Agent.Put) or begin a round (Agent.Expect), but not both; the next step
// runs when the replies have come or the round has ended, and reads them. A machine of
// Steps needs no coroutine: it takes less memory, and a run of a simulation half the time.
// That is worth the form in protocols of which a study plays millions of runs.
type Steps struct {
	First  []func()          // before the first round
	Rounds int               // the number of rounds
	Round  []func(round int) // of every round, from 0
	Answer func() synod.Answer
}

// NewSteps returns a machine that runs steps in a seat, from the first event on. A seat
// without a pace gets synod.DefaultPace. The function steps is called once; when the
// machine is reset, the steps run again from the first, which must not find anything of
// the earlier run.
//
// The machine is a synod.Resetter.
func NewSteps(seat synod.Seat, opt Options, steps func(me *Agent) Steps) synod.Machine {
	m := &stepper{agent: Agent{opt: opt, pause: mustNotWait}}
	m.steps = steps(&m.agent)
	m.Reset(seat)
	return m
}

type stepper struct {
	agent Agent
	steps Steps
	round int // -1: the steps before the first round
	next  int // the step of the round that runs next
	begun bool
	over  bool
}

// Reset implements synod.Resetter.
func (m *stepper) Reset(seat synod.Seat) {
	seat.Pace = cmp.Or(seat.Pace, synod.DefaultPace)
	m.agent.reset(seat)
	m.round, m.next, m.begun, m.over = -1, 0, false, false
}

func mustNotWait() { panic("script: a step must not wait") }

// Step implements synod.Machine.
func (m *stepper) Step(now synod.Tick, e synod.Event) []synod.Effect {
	m.agent.now, m.agent.effects = now, m.agent.effects[:0]
	m.step(&synod.Input{Event: e})
	return m.agent.effects
}

// StepAll implements synod.Batcher.
func (m *stepper) StepAll(now synod.Tick, events []synod.Input) []synod.Effect {
	m.agent.now, m.agent.effects = now, m.agent.effects[:0]
	for i := range events {
		m.step(&events[i])
	}
	return m.agent.effects
}

func (m *stepper) step(in *synod.Input) {
	if m.over {
		return
	}
	me := &m.agent
	switch e := in.Event.(type) {
	case nil:
		me.answered(in.Answered)
	case synod.Heard:
		me.receive(e.Message)
	case synod.Answered:
		me.answered(e)
	case synod.Expired:
		me.expired = max(me.expired, int64(e.ID))
	case synod.Begin:
		if !m.begun {
			m.begun, me.nonces = true, nonceSeed(me.seat.Seed)
		}
	case synod.Halt:
		m.over = true
		return
	}
	for m.begun && !m.over && me.ready() {
		me.waits.what = nothing
		m.advance()
	}
}

// advance runs the next step, or decides after the last one.
func (m *stepper) advance() {
	s, k := &m.steps, m.next
	m.next++
	switch {
	case m.round < 0 && k < len(s.First):
		s.First[k]()
	case m.round >= 0 && k < len(s.Round):
		s.Round[k](m.round)
	case m.round+1 < s.Rounds:
		m.round, m.next = m.round+1, 0
	default:
		m.over = true
		m.agent.effects = append(m.agent.effects, synod.Decide{Answer: s.Answer()})
	}
}
