// Package script runs a protocol that is written as a sequential function as a
// synod.Machine.
//
// A protocol is written in the order in which a paper prints it, with calls that
// wait: Ask waits for the member's own model, Exchange and Collect wait for
// neighbours. The package turns this function into a step function: it runs it until
// it waits, returns the effects so far, and continues it when the events that it
// waits for have come. Each machine has one coroutine, which runs only inside Step, so
// the Go scheduler has no influence and a run is a function of its events.
//
//	machine := script.New(seat, script.Options{}, func(me *script.Agent) synod.Answer {
//		reply := me.Ask(synod.Prompt{…})[0]
//		heard := script.Exchange(me, "respond", 0, word, script.Until{At: 8, Early: true})
//		…
//		return answer
//	})
//
// Rounds end at fixed ticks counted from the start of the instance (Until.At). A call
// may choose to end earlier, when all neighbours have sent, and must justify that: it
// is safe where a round needs no agreement on who was silent (SAC), and unsafe in a
// signed broadcast, where one selectively silent Byzantine member could then make
// honest members disagree.
//
// A protocol function must not use recover, go, select or channels, and may panic only
// when an invariant is broken.
//
// The package has rank 1: it needs only the vocabulary of the root package.
package script

import (
	"cmp"
	"iter"

	"synod.dev/synod"
)

// Options controls how a machine asks its model.
type Options struct {
	// Remember answers a prompt from memory if the same member has asked it before in
	// this run and the reply was OK.
	Remember bool
	// OneSeed leaves the seed of every call to the member, as the code of the papers
	// does. Otherwise each call gets a seed derived from the seat's seed.
	OneSeed bool
}

// Play is a protocol as one member runs it. The member decides what it returns.
type Play func(me *Agent) synod.Answer

// New returns a machine that runs play in a seat, from the first event on. A seat
// without a pace gets synod.DefaultPace.
//
// The machine is a synod.Resetter and a synod.Batcher.
func New(seat synod.Seat, opt Options, play Play) synod.Machine {
	m := &machine{play: play, agent: Agent{opt: opt}}
	m.Reset(seat)
	return m
}

type machine struct {
	agent  Agent
	play   Play
	resume func() (struct{}, bool)
	stop   func()
	over   bool
}

// Reset implements synod.Resetter.
func (m *machine) Reset(seat synod.Seat) {
	seat.Pace = cmp.Or(seat.Pace, synod.DefaultPace)
	m.end() // a wrapper may have kept the Halt for itself
	m.agent.reset(seat)
	m.resume, m.stop, m.over = nil, nil, false
}

// halted is the panic that unwinds a protocol function when its machine is halted. It
// never leaves this package.
type halted struct{}

// Step implements synod.Machine.
func (m *machine) Step(now synod.Tick, e synod.Event) []synod.Effect {
	m.agent.now, m.agent.effects = now, m.agent.effects[:0]
	m.step(&synod.Input{Event: e})
	return m.agent.effects
}

// StepAll implements synod.Batcher.
func (m *machine) StepAll(now synod.Tick, events []synod.Input) []synod.Effect {
	m.agent.now, m.agent.effects = now, m.agent.effects[:0]
	for i := range events {
		m.step(&events[i])
	}
	return m.agent.effects
}

func (m *machine) step(in *synod.Input) {
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
		if m.resume == nil {
			m.start()
		}
	case synod.Halt:
		m.end()
		return
	}
	if m.resume != nil && me.ready() {
		if _, more := m.resume(); !more {
			m.end()
		}
	}
}

func (m *machine) start() {
	m.agent.nonces = nonceSeed(m.agent.seat.Seed)
	m.resume, m.stop = iter.Pull(func(yield func(struct{}) bool) {
		defer func() {
			if r := recover(); r != nil {
				if _, ok := r.(halted); !ok {
					panic(r)
				}
			}
		}()
		m.agent.pause = func() {
			if !yield(struct{}{}) {
				panic(halted{})
			}
		}
		growStack(0)
		answer := m.play(&m.agent)
		m.agent.effects = append(m.agent.effects, synod.Decide{Answer: answer})
	})
}

// growStack makes the stack of a new coroutine large while it holds almost nothing. A
// protocol function needs some six kilobytes, and a stack that grows on the way is
// copied, frame by frame, each time it doubles.
//
//go:noinline
func growStack(i int) byte {
	var room [6 << 10]byte
	return room[i%len(room)]
}

func (m *machine) end() {
	m.over = true
	if m.stop != nil {
		m.stop()
	}
}
