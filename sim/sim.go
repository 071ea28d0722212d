// Package sim runs machines under one seeded, single-threaded scheduler with
// virtual time. It is the only scheduler of councils that live in one process,
// with real models or simulated ones: model calls of the same tick are handed
// out together, may be answered concurrently, and come back in (node, id) order
// at the next tick. So a run is a function of seed, faults and replies.
//
// Faults (delay, loss, partition, crash) are data, drawn from the seed.
package sim

import (
	"math/rand/v2"

	"synod.dev/synod"
)

// Call is one Consult on its way to a node's model.
type Call struct {
	Node   synod.NodeID
	ID     synod.ConsultID
	Prompt *synod.Prompt
}

// Config is one run.
type Config struct {
	Machines []synod.Machine // by NodeID
	// Ask answers all calls of one tick, in the order given. It may work on them
	// concurrently; every call gets a reply, whatever its status. The slice is
	// valid until Ask returns.
	Ask    func([]Call) []synod.Reply
	Faults Faults
	Seed   uint64     // of the faults' chance
	Log    Log        // nil: none
	Watch  Watch      // nil: run to the end
	Limit  synod.Tick // give up after this tick; 0: a million
}

// Log is told everything that happens, in order.
type Log interface {
	Event(now synod.Tick, node synod.NodeID, e synod.Event)
	Effect(now synod.Tick, node synod.NodeID, e synod.Effect)
}

// Noted is an opinion and whose it is.
type Noted struct {
	Node synod.NodeID
	*synod.Opinion
}

// Watch sees the notes made in a tick, if any, after every tick. A reason other
// than "" stops the run.
type Watch func(now synod.Tick, notes []Noted) (stop string)

// The reasons why a run ended, beside those that Watch and Ask give.
const (
	Finished = "rounds"  // every machine decided
	Stalled  = "stalled" // nothing was left to happen, or Limit was reached
)

// Result is how a run ended.
type Result struct {
	Stopped string
	Ticks   synod.Tick
	Decided map[synod.NodeID]synod.Answer // of those that decided
}

// Run plays the machines to the end. It always halts every machine.
func Run(c Config) Result {
	s := &run{Config: c, queue: newQueue(len(c.Machines)), chance: rand.New(rand.NewPCG(c.Seed, 0x5ced)), decided: map[synod.NodeID]synod.Answer{}}
	if s.Limit == 0 {
		s.Limit = 1_000_000
	}
	for id := range c.Machines {
		s.queue.add(0, item{synod.NodeID(id), synod.Begin{}})
	}
	stopped := s.loop()
	for id := range c.Machines {
		s.step(synod.NodeID(id), synod.Halt{})
	}
	return Result{Stopped: stopped, Ticks: s.now, Decided: s.decided}
}

type run struct {
	Config
	queue   *queue
	chance  *rand.Rand
	now     synod.Tick
	calls   []Call
	notes   []Noted
	decided map[synod.NodeID]synod.Answer
}

func (s *run) loop() string {
	for {
		items, tick, ok := s.queue.next()
		if !ok || tick > s.Limit {
			return Stalled
		}
		s.now = tick
		s.calls, s.notes = s.calls[:0], s.notes[:0]
		for _, it := range items {
			if !s.Faults.down(it.node, s.now) {
				s.step(it.node, it.event)
			}
		}
		s.ask()
		if s.Watch != nil {
			if why := s.Watch(s.now, s.notes); why != "" {
				return why
			}
		}
		if len(s.decided)+s.lost() >= len(s.Machines) {
			return Finished
		}
	}
}

// lost counts the nodes that will never decide because they are down for good.
func (s *run) lost() (n int) {
	for _, c := range s.Faults.Crashes {
		if _, decided := s.decided[c.Node]; !decided && c.To == 0 && s.now >= c.At {
			n++
		}
	}
	return n
}

func (s *run) step(node synod.NodeID, e synod.Event) {
	if s.Log != nil {
		s.Log.Event(s.now, node, e)
	}
	for _, effect := range s.Machines[node].Step(s.now, e) {
		if s.Log != nil {
			s.Log.Effect(s.now, node, effect)
		}
		s.apply(node, effect)
	}
}

func (s *run) apply(node synod.NodeID, effect synod.Effect) {
	switch x := effect.(type) {
	case synod.Send:
		s.send(node, x)
	case synod.Consult:
		s.calls = append(s.calls, Call{node, x.ID, x.Prompt})
	case synod.Alarm:
		s.queue.add(max(x.At, s.now+1), item{node, synod.Expired{ID: x.ID}})
	case synod.Note:
		s.notes = append(s.notes, Noted{node, x.Opinion})
	case synod.Decide:
		if _, twice := s.decided[node]; !twice {
			s.decided[node] = x.Answer
		}
	}
}

func (s *run) send(node synod.NodeID, x synod.Send) {
	m := x.Message
	if m.From != node { // a sender cannot speak in another's name
		own := *m
		own.From = node
		m = &own
	}
	heard := synod.Event(synod.Heard{Message: m})
	for _, to := range x.To {
		if int(to) < 0 || int(to) >= len(s.Machines) || to == node {
			continue
		}
		if after, arrives := s.Faults.carry(s.chance, node, to, s.now); arrives {
			s.queue.add(s.now+after, item{to, heard})
		}
	}
}

// ask hands the tick's calls out at once and files the replies for the next tick.
// Calls stand in (node, id) order already where nodes stepped in order; a node
// may step twice in a tick, so they are put in order here.
func (s *run) ask() {
	if len(s.calls) == 0 {
		return
	}
	sortCalls(s.calls)
	replies := s.Ask(s.calls)
	for i := range s.calls {
		s.queue.add(s.now+1, item{s.calls[i].Node, synod.Answered{ID: s.calls[i].ID, Reply: &replies[i]}})
	}
}
