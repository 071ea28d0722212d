// Package sim runs the machines of a council under one seeded, single-threaded
// scheduler with virtual time. It schedules every council that lives in one
// process, whether its members are real models or simulated ones. RunByClock plays
// the same machines in real time.
//
// Model calls run in the background: the calls of one tick are started together,
// may be answered concurrently, and their replies are delivered CallTicks ticks
// later in (node, id) order, however long they took. A run is therefore a
// function of its seed, its faults and its replies.
//
// Faults (delay, loss, partition, crash) are data; their randomness is drawn from
// the seed.
package sim

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"synod.dev/synod"
)

// Call is one Consult effect on its way to a node's model.
type Call struct {
	Node   synod.NodeID
	ID     synod.ConsultID
	Prompt *synod.Prompt
}

// Config describes one run.
type Config struct {
	Machines []synod.Machine // by NodeID

	// Ask starts all calls of one tick. The function that it returns waits for
	// their replies and returns one for every call, in the order of the calls,
	// whatever its status. Run calls that function exactly once for every batch,
	// on its own goroutine: when the next thing to happen is the delivery of the
	// batch, or when the run is over. The slice of calls is valid until the
	// waiting function has returned.
	Ask func([]Call) (wait func() []synod.Reply)

	// CallTicks is how many ticks of virtual time a model call takes, at least 1;
	// 0 means 1. With 1, a member that calls its model keeps virtual time from
	// passing for all others until its reply has come. With more than the bound
	// on message delays, members that wait for the end of a round start their
	// next calls while earlier calls of other members are still running.
	CallTicks synod.Tick

	Faults Faults
	Seed   uint64 // of the faults' randomness
	Carry  Carry  // what arrives of a message; nil: Faults decides
	Log    Log    // nil: no log is kept
	Notes  Watch  // like Watch, but called before the model calls of the tick start; may be nil
	Watch  Watch  // nil: the run goes on to its end
	// Opened is called with what a node has opened, which is valid until its machine is used again; it may be nil.
	Opened func(node synod.NodeID, first []synod.Given)
}

// Immediate turns a function that answers all calls before it returns into a
// Config.Ask.
func Immediate(ask func([]Call) []synod.Reply) func([]Call) (wait func() []synod.Reply) {
	return func(calls []Call) func() []synod.Reply {
		replies := ask(calls)
		return func() []synod.Reply { return replies }
	}
}

// Log receives every event and effect, in order.
type Log interface {
	Event(now synod.Tick, node synod.NodeID, e synod.Event)
	Effect(now synod.Tick, node synod.NodeID, e synod.Effect)
}

// Carry decides in place of Faults what arrives of one message at one receiver: it calls deliver once for every message
// that arrives, which may differ from m in all fields, with the ticks that it takes, at least 1. It must be a function
// of its arguments and of earlier calls.
type Carry func(now synod.Tick, to synod.NodeID, m *synod.Message, deliver func(after synod.Tick, m *synod.Message))

// Noted is an opinion and the node that noted it.
type Noted struct {
	Node synod.NodeID
	*synod.Opinion
}

// Watch is called after every tick in which something happened, with the notes of
// that tick. If the next thing to happen is the delivery of replies, these replies
// have come. A result other than "" stops the run and is its Result.Stopped.
type Watch func(now synod.Tick, notes []Noted) (stop string)

// The values of Result.Stopped, beside those that Watch returns.
const (
	Finished = "rounds"  // every machine has decided, or is down for good
	Stalled  = "stalled" // nothing was left to happen, or too much had happened
)

// maxSteps bounds the number of ticks in which something happens, so that a
// machine that never stops setting alarms cannot keep a run going for ever.
const maxSteps = 1_000_000

// Result describes how a run ended.
type Result struct {
	Stopped string
	Ticks   synod.Tick                    // virtual time at the end
	Decided map[synod.NodeID]synod.Answer // of the nodes that decided
}

// Run plays the machines to the end. Before it returns it has waited for every
// call that it started, and has halted every machine.
func Run(c Config) Result { return play(c, (*run).loop) }

// play plays the machines with a loop that returns why the run ended.
func play(c Config, loop func(*run) string) Result {
	s := &run{Config: c, queue: newQueue(len(c.Machines))}
	s.buffers, s.queue.spare = s.queue.spare, buffers{}
	s.decided = slices.Grow(s.decided[:0], len(c.Machines))[:len(c.Machines)]
	clear(s.decided)
	s.place = slices.Grow(s.place[:0], len(c.Machines))[:len(c.Machines)]
	clear(s.place)
	s.calls = s.list()
	if !c.Faults.None() {
		s.random = rand.New(rand.NewPCG(c.Seed, 0x5ced))
	}
	s.CallTicks = max(s.CallTicks, 1)
	if c.Carry != nil {
		s.arrive = func(after synod.Tick, m *synod.Message) {
			s.queue.add(s.now+max(after, 1), item{node: s.receiver, event: synod.Heard{Message: m}})
		}
	}
	for id := range c.Machines {
		s.queue.add(0, item{node: synod.NodeID(id), event: synod.Begin{}})
	}
	stopped := loop(s)
	for _, b := range s.batches {
		b.replies()
		s.unused = append(s.unused, b.calls[:0])
	}
	for id := range c.Machines {
		s.step(synod.NodeID(id), synod.Halt{})
	}
	result := Result{Stopped: stopped, Ticks: s.now, Decided: make(map[synod.NodeID]synod.Answer, s.done)}
	for id, d := range s.decided {
		if d.done {
			result.Decided[synod.NodeID(id)] = d.answer
		}
	}
	s.unused = append(s.unused, s.calls[:0])
	s.queue.spare = s.buffers
	s.queue.release()
	return result
}

type run struct {
	Config
	buffers
	queue   *queue
	random  *rand.Rand // nil without faults
	now     synod.Tick
	calls   []Call       // started by the current tick
	batches []batch      // whose replies have not been delivered, by delivery tick
	begin   func([]Call) // starts the calls of a tick by the clock; nil: they are a batch
	done    int          // nodes that have decided

	receiver synod.NodeID // of the message that Carry is asked about
	arrive   func(after synod.Tick, m *synod.Message)
}

// decision is what a node has decided.
type decision struct {
	done   bool
	answer synod.Answer
}

// buffers are used again by later runs.
type buffers struct {
	decided []decision     // by node
	notes   []Noted        // of the current tick
	nodes   []synod.NodeID // that have events in the current tick
	inputs  []synod.Input  // the events of the current tick
	place   []int          // by node: where in inputs its next event belongs; 0 between two ticks
	unused  [][]Call       // lists of calls
}

// batch is the calls of one tick.
type batch struct {
	due     synod.Tick
	calls   []Call
	wait    func() []synod.Reply
	arrived []synod.Reply // what wait returned
}

// replies waits for the replies once.
func (b *batch) replies() []synod.Reply {
	if b.wait != nil {
		b.arrived, b.wait = b.wait(), nil
	}
	return b.arrived
}

func (s *run) loop() string {
	for range maxSteps {
		what, tick, ok := s.queue.next()
		if !ok {
			return Stalled
		}
		if why := s.tick(what, tick); why != "" {
			return why
		}
	}
	return Stalled
}

// tick plays the events of a tick. It returns why the run ends with it; "" if it goes on.
func (s *run) tick(what lists, tick synod.Tick) string {
	s.now, s.notes = tick, s.notes[:0]
	s.arrange(what)
	s.deliver()
	if s.Notes != nil {
		if why := s.Notes(s.now, s.notes); why != "" {
			return why
		}
	}
	s.ask()
	if next, any := s.queue.peek(); any && len(s.batches) > 0 && s.batches[0].due <= next {
		s.batches[0].replies()
	}
	if s.Watch != nil {
		if why := s.Watch(s.now, s.notes); why != "" {
			return why
		}
	}
	if s.done+s.lost() >= len(s.Machines) {
		return Finished
	}
	return ""
}

// lost counts the nodes that will never decide because they are down for good.
func (s *run) lost() (n int) {
	for _, c := range s.Faults.Crashes {
		if !s.decided[c.Node].done && c.To == 0 && s.now >= c.At {
			n++
		}
	}
	return n
}

// give hands an event to a node, unless the node is down.
func (s *run) give(node synod.NodeID, e synod.Event) {
	if len(s.Faults.Crashes) == 0 || !s.Faults.down(node, s.now) {
		s.step(node, e)
	}
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

// deliver hands the events of a tick to their nodes. A log has the effects of every event after
// it; without one, a machine that can take all its events at once does.
func (s *run) deliver() {
	from := 0
	for _, node := range s.nodes {
		batch := s.inputs[from:s.place[node]]
		from, s.place[node] = s.place[node], 0
		m, ok := s.Machines[node].(synod.Batcher)
		if !ok || s.Log != nil || len(s.Faults.Crashes) > 0 {
			s.giveEach(node, batch)
			continue
		}
		for _, effect := range m.StepAll(s.now, batch) {
			s.apply(node, effect)
		}
	}
}

// giveEach hands events to a node one by one.
func (s *run) giveEach(node synod.NodeID, batch []synod.Input) {
	for i := range batch {
		e := batch[i].Event
		if e == nil {
			e = batch[i].Answered
		}
		s.give(node, e)
	}
}

func (s *run) apply(node synod.NodeID, effect synod.Effect) {
	switch x := effect.(type) {
	case synod.Send:
		s.send(node, x)
	case synod.Consult:
		s.calls = append(s.calls, Call{node, x.ID, x.Prompt})
	case synod.Alarm:
		s.queue.add(max(x.At, s.now+1), item{node: node, event: synod.Expired{ID: x.ID}})
	case synod.Note:
		s.notes = append(s.notes, Noted{node, x.Opinion})
	case synod.Opened:
		if s.Opened != nil {
			s.Opened(node, x.First)
		}
	case synod.Decide:
		if d := &s.decided[node]; !d.done {
			*d = decision{true, x.Answer}
			s.done++
		}
	}
}

func (s *run) send(node synod.NodeID, x synod.Send) {
	m := x.Message
	if m.From != node { // a node cannot send in the name of another
		own := *m
		own.From = node
		m = &own
	}
	if s.Carry != nil {
		for _, to := range x.To {
			if uint(to) < uint(len(s.Machines)) && to != node {
				s.receiver = to
				s.Carry(s.now, to, m, s.arrive)
			}
		}
		return
	}
	heard := synod.Event(synod.Heard{Message: m})
	if s.random == nil {
		next := s.queue.at(s.now + 1)
		before := len(next.receivers)
		for _, to := range x.To {
			if uint(to) < uint(len(s.Machines)) && to != node {
				next.receivers = append(next.receivers, to)
			}
		}
		if n := len(next.receivers) - before; n > 0 {
			next.items = append(next.items, item{several, int32(n), heard})
		}
		return
	}
	for _, to := range x.To {
		if uint(to) < uint(len(s.Machines)) && to != node {
			if after, arrives := s.Faults.carry(s.random, node, to, s.now); arrives {
				s.queue.add(s.now+after, item{node: to, event: heard})
			}
		}
	}
}

// ask starts the calls of this tick and queues the delivery of their replies. A
// node may step more than once in a tick, so the calls are put in order first.
func (s *run) ask() {
	if len(s.calls) == 0 {
		return
	}
	slices.SortFunc(s.calls, func(a, b Call) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.ID, b.ID))
	})
	if s.begin != nil {
		s.begin(s.calls)
		s.calls = s.calls[:0]
		return
	}
	b := batch{due: s.now + s.CallTicks, calls: s.calls, wait: s.Ask(s.calls)}
	s.batches = append(s.batches, b)
	s.queue.add(b.due, item{node: anyBatch})
	s.calls = s.list()
}

// list returns an empty list of calls.
func (s *run) list() []Call {
	last := len(s.unused) - 1
	if last < 0 {
		return nil
	}
	calls := s.unused[last]
	s.unused = s.unused[:last]
	return calls
}

// arrange sorts the events of a tick by node, with the replies of a batch in the place of the
// batch. The events of one node keep the order in which they were queued. So what a node is given
// in a tick, and in which order, does not depend on the order in which other nodes step, and a
// runner whose nodes share no queue can do the same.
func (s *run) arrange(what lists) {
	s.nodes = s.nodes[:0]
	n := s.count(what)
	if !slices.IsSorted(s.nodes) {
		slices.Sort(s.nodes)
	}
	from := 0
	for _, node := range s.nodes {
		from, s.place[node] = from+s.place[node], from
	}
	s.inputs = slices.Grow(s.inputs[:0], n)[:n]
	receivers := what.receivers
	for i := range what.items {
		switch it := &what.items[i]; it.node {
		case several:
			for _, to := range receivers[:it.count] {
				*s.input(to) = synod.Input{Event: it.event}
			}
			receivers = receivers[it.count:]
		case anyBatch:
			b := s.batches[0] // calls of different ticks are due in different ticks
			s.batches = slices.Delete(s.batches, 0, 1)
			replies := b.replies()
			for k := range b.calls {
				c := &b.calls[k]
				*s.input(c.Node) = synod.Input{Answered: synod.Answered{ID: c.ID, Reply: &replies[k]}}
			}
			s.unused = append(s.unused, b.calls[:0])
		default:
			*s.input(it.node) = synod.Input{Event: it.event}
		}
	}
}

// input returns the place of the next event of a node.
func (s *run) input(node synod.NodeID) *synod.Input {
	at := s.place[node]
	s.place[node] = at + 1
	return &s.inputs[at]
}

// count sets place to the number of events of each node and nodes to the nodes that have any. It
// returns the number of all events.
func (s *run) count(what lists) (n int) {
	add := func(node synod.NodeID) {
		if s.place[node]++; s.place[node] == 1 {
			s.nodes = append(s.nodes, node)
		}
	}
	for i := range what.items {
		switch it := &what.items[i]; it.node {
		case several:
			n += int(it.count)
		case anyBatch:
			calls := s.batches[0].calls
			n += len(calls)
			for k := range calls {
				add(calls[k].Node)
			}
		default:
			n++
			add(it.node)
		}
	}
	for _, to := range what.receivers {
		add(to)
	}
	return n
}
