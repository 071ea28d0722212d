// Package script plays straight-line protocol text as a synod.Machine.
//
// A protocol is written the way a paper prints it, top to bottom, with calls
// that wait: Ask waits for the member's own model, Exchange and Collect wait for
// peers. The runtime turns it into a step function: it runs the text until it
// waits, hands out the effects so far, and goes on when the events it waits for
// have come. One coroutine a machine, never two at once; nothing is scheduled by
// the Go runtime, so a run is a function of its events.
//
//	machine := script.New(seat, script.Options{}, func(me *script.Agent) synod.Answer {
//		reply := me.Ask(synod.Prompt{…})[0]
//		heard := script.Exchange(me, "respond", 0, word, script.Until{At: 8, Early: true})
//		…
//		return answer
//	})
//
// Rounds end at fixed ticks counted from the start of the instance (Until.At).
// Ending earlier, when all peers have spoken, is a choice that each call must
// make and justify: it is safe where a round needs no agreement on who was
// silent (SAC), and unsafe in a signed broadcast, where one selectively silent
// liar then splits the honest.
//
// Play text must not use recover, go, select or channels, and must let no panic
// of its own escape but for a broken invariant.
package script

import (
	"cmp"
	"iter"

	"synod.dev/synod"
)

// Options says how a machine asks its model.
type Options struct {
	// Remember answers a prompt that the same member has asked before in this
	// run, and got an OK reply to, from memory.
	Remember bool
	// OneSeed leaves the seed of every call to the member, as the papers' code
	// does, instead of deriving one from (seat, call).
	OneSeed bool
}

// Play is a protocol's text for one member. What it returns is decided.
type Play func(me *Agent) synod.Answer

// New seats play. Nothing runs before the first event. A seat without a pace gets
// synod.DefaultPace.
func New(seat synod.Seat, opt Options, play Play) synod.Machine {
	seat.Pace = cmp.Or(seat.Pace, synod.DefaultPace)
	return &machine{agent: Agent{seat: seat, opt: opt}, play: play}
}

type machine struct {
	agent  Agent
	play   Play
	resume func() (struct{}, bool)
	stop   func()
	over   bool
}

// halted unwinds play text when its machine is halted. It never leaves script.
type halted struct{}

func (m *machine) Step(now synod.Tick, e synod.Event) []synod.Effect {
	if m.over {
		return nil
	}
	me := &m.agent
	me.now = now
	me.effects = me.effects[:0]
	switch e := e.(type) {
	case synod.Begin:
		if m.resume == nil {
			m.start()
		}
	case synod.Halt:
		m.end()
		return nil
	case synod.Heard:
		me.keep(e.Message)
	case synod.Answered:
		me.answered(e)
	case synod.Expired:
		me.expired = max(me.expired, int64(e.ID))
	}
	if m.resume != nil && me.ready() {
		if _, more := m.resume(); !more {
			m.end()
		}
	}
	return me.effects
}

func (m *machine) start() {
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
		answer := m.play(&m.agent)
		m.agent.effects = append(m.agent.effects, synod.Decide{Answer: answer})
	})
}

func (m *machine) end() {
	m.over = true
	if m.stop != nil {
		m.stop()
	}
}
