package node

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"synod.dev/synod"
)

// world plays schedules by a clock of its own: nodes with calls of models, links with delays, partitions that end
// within the patience, and up to F nodes that crash or are Byzantine.
//
// Every node plays rounds with fixed ends. In each it asks its model, sends the reply to all, and waits: until the end
// of the round, or if early is set until all have sent. A round of a node that ends by its alarm must have the messages
// of all nodes that are neither crashed nor Byzantine.
type world struct {
	random *rand.Rand
	now    time.Duration
	seq    int
	queue  []*happening
	nodes  []*actor
	early  bool
	faults []string
	last   map[[2]int]time.Duration // by link: when the last frame arrives, so that frames keep their order
	broken map[[2]int]time.Duration // by link: until when it is broken
	wrong  []string
}

// happening is what happens at a time.
type happening struct {
	at  time.Duration
	seq int
	do  func()
}

func (w *world) Len() int { return len(w.queue) }
func (w *world) Less(i, j int) bool {
	a, b := w.queue[i], w.queue[j]
	return a.at < b.at || a.at == b.at && a.seq < b.seq
}
func (w *world) Swap(i, j int) { w.queue[i], w.queue[j] = w.queue[j], w.queue[i] }
func (w *world) Push(x any)    { w.queue = append(w.queue, x.(*happening)) }
func (w *world) Pop() any {
	x := w.queue[len(w.queue)-1]
	w.queue = w.queue[:len(w.queue)-1]
	return x
}

func (w *world) after(d time.Duration, do func()) {
	w.seq++
	heap.Push(w, &happening{w.now + d, w.seq, do})
}

// upTo draws a time.
func (w *world) upTo(d time.Duration) time.Duration { return time.Duration(w.random.Int64N(int64(d))) }

// actor is a node of a world.
type actor struct {
	w       *world
	id      int
	s       *schedule
	round   int
	got     map[[2]int]bool // by sender and round
	wakes   int
	done    bool
	crashed bool
	byz     bool
	pings   bool        // Byzantine: it closes the first tick, and sends only pings from then on
	answers bool        // Byzantine: and answers to those who ask for a tick
	mode    map[int]int // of a Byzantine node, by neighbour
	calls   int
	alarms  int
}

// The modes of a link of a Byzantine node.
const (
	honestly = iota
	silently // it sends nothing but pings
	lying    // it says that it has nothing to do, and its messages come later
	away     // its stream is closed, and perhaps nobody listens at its address
	declined // it says that it takes no part, and does
	modes
)

const (
	toyThink, toyWithin = time.Second, 200 * time.Millisecond
	toyRound            = synod.Tick(2200)
	toyRounds           = 4
	toyCall             = synod.Tick(201)
)

// newWorld draws a world of n nodes.
func newWorld(seed uint64) *world {
	w := &world{random: rand.New(rand.NewPCG(seed, 32)), last: map[[2]int]time.Duration{},
		broken: map[[2]int]time.Duration{}}
	f := 1 + w.random.IntN(2)
	n := 3*f + 1
	w.early = w.random.IntN(2) == 0
	l := patience{within: toyWithin, call: toyThink, absent: toyThink + toyWithin, silent: toyWithin + 2*pingEvery,
		gone: toyWithin + 2*pingEvery}
	for i := range n {
		a := &actor{w: w, id: i, got: map[[2]int]bool{}, mode: map[int]int{}}
		var peers []synod.NodeID
		for j := range n {
			if j != i {
				peers = append(peers, synod.NodeID(j))
			}
		}
		a.s = newSchedule(synod.NodeID(i), n, peers, f, l)
		for _, p := range a.s.peers {
			p.present = true
		}
		w.nodes = append(w.nodes, a)
	}
	for _, i := range w.random.Perm(n)[:w.random.IntN(f+1)] {
		w.spoil(w.nodes[i])
	}
	for range w.random.IntN(4) {
		w.partition(w.random.IntN(n), w.random.IntN(n))
	}
	return w
}

// spoil makes a node crash at some time, or Byzantine.
func (w *world) spoil(a *actor) {
	if w.random.IntN(3) == 0 {
		at := w.upTo(500 * time.Millisecond)
		w.faults = append(w.faults, fmt.Sprintf("%d crashes at %v", a.id, at))
		w.after(at, func() {
			a.crashed = true
			for _, b := range w.nodes {
				b.presence(a.id, false)
				if b != a {
					b.s.peers[synod.NodeID(a.id)].refused = true
				}
			}
		})
		return
	}
	a.byz = true
	if w.random.IntN(3) == 0 {
		a.answers = w.random.IntN(2) == 0
		w.faults = append(w.faults, fmt.Sprintf("%d pings, answers %v", a.id, a.answers))
		a.pings = true
		for i := range w.nodes {
			a.mode[i] = silently
		}
		return
	}
	w.faults = append(w.faults, fmt.Sprintf("%d is Byzantine", a.id))
	var turn func()
	turn = func() {
		for _, b := range w.nodes {
			if w.random.IntN(2) == 0 {
				mode := w.random.IntN(modes)
				if was := a.mode[b.id]; b != a && (was == away) != (mode == away) {
					b.presence(a.id, mode != away)
				}
				a.mode[b.id] = mode
				if b != a {
					p := b.s.peers[synod.NodeID(a.id)]
					p.declined, p.refused = mode == declined, mode == away && w.random.IntN(2) == 0
				}
			}
		}
		w.after(w.upTo(400*time.Millisecond), turn)
	}
	turn()
}

// partition breaks the links between two nodes for a time that is shorter than the patience.
func (w *world) partition(i, j int) {
	if _, before := w.broken[[2]int{i, j}]; i == j || before {
		return
	}
	w.broken[[2]int{i, j}], w.broken[[2]int{j, i}] = 0, 0
	at, d := w.upTo(time.Second), w.upTo(toyThink)
	w.faults = append(w.faults, fmt.Sprintf("%d and %d are apart from %v for %v", i, j, at, d))
	w.after(at, func() {
		for _, x := range [][2]int{{i, j}, {j, i}} {
			w.broken[x] = max(w.broken[x], w.now+d)
			w.nodes[x[1]].presence(x[0], false)
		}
	})
	w.after(at+d, func() {
		for _, x := range [][2]int{{i, j}, {j, i}} {
			if from := w.nodes[x[0]]; w.now >= w.broken[x] && !from.crashed && from.mode[x[1]] != away {
				w.nodes[x[1]].presence(x[0], true)
			}
		}
	})
}

// presence is that a stream was opened or has broken.
func (a *actor) presence(from int, here bool) {
	if p := a.s.peers[synod.NodeID(from)]; p != nil && p.present != here {
		p.heard, p.present, p.behind, p.asked = a.w.now, here, here && p.closed < a.s.closed, -1
		p.opened = a.w.now
		a.play()
	}
}

// carry takes a frame to a node, in order, after at most the bound on messages, or when the link is whole again.
func (a *actor) carry(to int, arrive func(b *actor)) {
	w, x := a.w, [2]int{a.id, to}
	delay := w.upTo(toyWithin / time.Duration(1+w.random.IntN(20)))
	at := max(w.now+delay, w.last[x], w.broken[x])
	w.last[x] = at
	w.after(at-w.now, func() {
		if b := w.nodes[to]; !b.crashed {
			if p := b.s.peers[synod.NodeID(a.id)]; p.present {
				p.heard = w.now
			}
			arrive(b)
			b.play()
		}
	})
}

// closed tells all which tick is closed.
func (a *actor) tellClosed(t, idle synod.Tick) {
	for _, b := range a.w.nodes {
		mode := a.mode[b.id]
		if b == a || a.byz && (mode == silently && !(a.pings && t == 0) || mode == away) {
			continue
		}
		says := idle
		if a.byz && mode == lying && a.w.random.IntN(2) == 0 {
			says += toyRound
		}
		a.carry(b.id, func(b *actor) { b.s.heardClosed(synod.NodeID(a.id), t, says, a.w.now) })
	}
}

func (a *actor) send(t synod.Tick) {
	for _, b := range a.w.nodes {
		if b == a || a.byz && a.mode[b.id] == silently {
			continue
		}
		m := &synod.Message{From: synod.NodeID(a.id), Slot: synod.Slot{Name: "toy", Round: a.round}}
		arrive := func(b *actor) { b.s.heard(m.From, t, m, a.w.now, toyWithin) }
		if a.byz && a.mode[b.id] != honestly {
			a.w.after(a.w.upTo(toyThink), func() { a.carry(b.id, arrive) })
			continue
		}
		a.carry(b.id, arrive)
	}
}

// play is run.play without a machine and a journal.
func (a *actor) play() {
	w := a.w
	for !a.crashed && !a.done {
		for _, id := range a.s.suspect(w.now) {
			if x := w.nodes[id]; !a.byz && !x.byz && !x.crashed {
				w.wrong = append(w.wrong, fmt.Sprintf("%v: %d suspects %d", w.now, a.id, id))
			}
		}
		wait := a.s.wait(w.now)
		if wait == 0 {
			t := a.s.next()
			a.step(t, a.s.take(t))
			continue
		}
		if !a.closeIdle() {
			a.wakes++
			if wake := a.wakes; wait < forever {
				w.after(wait, func() {
					if a.wakes == wake {
						a.play()
					}
				})
			}
			return
		}
	}
}

func (a *actor) closeIdle() (closed bool) {
	for a.s.close(a.w.now) || a.s.leap() {
		closed = true
		a.tellClosed(a.s.closed, a.s.idle())
	}
	for id, t := range a.s.debtors(a.w.now) {
		a.ask(int(id), t, true)
	}
	ids, t := a.s.questions()
	for _, id := range ids {
		a.ask(int(id), t, false)
	}
	return closed
}

// ask asks a neighbour to close a tick, or to answer, as run.take hears it.
func (a *actor) ask(to int, t synod.Tick, answer bool) {
	a.carry(to, func(b *actor) {
		if !answer || b.s.over(t, a.w.now) {
			b.s.ask(t, a.w.now, toyWithin)
		}
		b.closeIdle()
		tells := !b.byz || b.mode[a.id] == honestly || b.answers
		if !b.done && answer && tells && b.s.mustAnswer(synod.NodeID(a.id), t) {
			closed, idle := b.s.closed, b.s.idle()
			b.carry(a.id, func(a *actor) { a.s.heardClosed(synod.NodeID(b.id), closed, idle, a.w.now) })
		}
	})
}

func (a *actor) step(t synod.Tick, events []item) {
	sent, before := false, a.calls
	for _, e := range events {
		switch x := e.event.(type) {
		case synod.Begin:
			a.enter(t, 1)
		case synod.Heard:
			a.got[[2]int{int(x.From), x.Slot.Round}] = true
		case synod.Expired:
			if int(x.ID) == a.round {
				a.check(t)
				a.enter(t, a.round+1)
			}
		case synod.Answered:
			if int(x.ID) == a.round {
				sent, a.got[[2]int{a.id, a.round}] = true, true
				a.send(t)
			}
		}
	}
	for a.w.early && !a.done && a.complete() {
		a.enter(t, a.round+1)
	}
	a.s.due[t+toyCall] += a.calls - before
	if a.s.due[t+toyCall] == 0 {
		delete(a.s.due, t+toyCall)
	}
	a.s.end(max(a.s.closed, t), sent)
	if a.done {
		a.tellClosed(never, t)
		return
	}
	a.tellClosed(t, a.s.idle())
}

// enter begins a round: it asks the model and sets the end.
func (a *actor) enter(t synod.Tick, round int) {
	if a.round = round; round > toyRounds {
		a.done = true
		return
	}
	a.calls++
	a.alarms++
	a.s.alarm(t, synod.Alarm{ID: synod.AlarmID(round), At: toyRound * synod.Tick(round)}, a.alarms)
	a.w.after(a.w.upTo(toyThink/time.Duration(1+a.w.random.IntN(50))), func() {
		if !a.crashed && !a.done {
			a.s.replied(t, t+toyCall, synod.Answered{ID: synod.ConsultID(round), Reply: &synod.Reply{}})
			a.play()
		}
	})
}

func (a *actor) complete() bool {
	for _, b := range a.w.nodes {
		if !a.got[[2]int{b.id, a.round}] {
			return false
		}
	}
	return true
}

// check records which honest messages a round that ends by its alarm lacks.
func (a *actor) check(t synod.Tick) {
	for _, b := range a.w.nodes {
		if b != a && !a.byz && !b.byz && !b.crashed && !a.got[[2]int{b.id, a.round}] {
			a.w.wrong = append(a.w.wrong, fmt.Sprintf("%v: round %d of %d ends at tick %d without the message of %d",
				a.w.now, a.round, a.id, t, b.id))
		}
	}
}

// play plays the world until all honest nodes are done, and returns how long it took.
func (w *world) play() time.Duration {
	for _, a := range w.nodes {
		a.s.add(item{tick: 0, by: -1, node: a.id, event: synod.Begin{}})
		w.after(w.upTo(20*time.Millisecond), a.play)
		var ping func()
		ping = func() {
			for _, b := range w.nodes {
				if b != a && !a.crashed && a.mode[b.id] != away {
					a.carry(b.id, func(*actor) {})
				}
			}
			w.after(pingEvery, ping)
		}
		ping()
	}
	for len(w.queue) > 0 && w.now < time.Minute {
		x := heap.Pop(w).(*happening)
		w.now = x.at
		x.do()
		if !slices.ContainsFunc(w.nodes, func(a *actor) bool { return !a.done && !a.byz && !a.crashed }) {
			break
		}
	}
	return w.now
}

// The kinds of worlds whose time is bounded: without faults, and where some nodes send only pings, or answers too.
const noFault, pings, answers = "no fault", "some only ping", "some ping and answer"

// atMost has their bounds: pings cost three messages, answers a round and a call; then come rounds of one call each.
var atMost = map[string]time.Duration{
	noFault: toyRounds * time.Duration(toyRound) * time.Millisecond,
	pings:   4*toyWithin + toyRounds*(toyThink+2*toyWithin),
	answers: time.Duration(toyRound)*time.Millisecond + toyThink + 8*toyWithin +
		(toyRounds-1)*(toyThink+2*toyWithin),
}

// kind names a world.
func (w *world) kind() string {
	kind := noFault
	for _, f := range w.faults {
		switch {
		case strings.HasSuffix(f, "answers false") && kind == noFault:
			kind = pings
		case strings.HasSuffix(f, "answers true") && (kind == noFault || kind == pings):
			kind = answers
		case !strings.Contains(f, "pings, answers"):
			return "others"
		}
	}
	return kind
}

// No honest message comes after the round it belongs to, and no honest node suspects another, whatever up to F others
// do and although links are broken for up to one model call. Everybody ends.
func TestHonestMessagesComeInTime(t *testing.T) {
	runs := 1000
	if testing.Short() {
		runs = 200
	}
	ends := map[string][]time.Duration{}
	for seed := range runs {
		w := newWorld(uint64(seed))
		took := w.play()
		if len(w.wrong) > 0 || took >= time.Minute {
			t.Fatalf("seed %d, early %v, %v: after %v: %v", seed, w.early, w.faults, took,
				w.wrong[:min(len(w.wrong), 3)])
		}
		kind := w.kind()
		ends[kind] = append(ends[kind], took)
	}
	for kind, all := range ends {
		slices.Sort(all)
		t.Log(kind, len(all), "runs: median", all[len(all)/2], "worst", all[len(all)-1], "of", toyRound*toyRounds, "ms")
		if most := atMost[kind]; most > 0 && all[len(all)-1] > most {
			t.Errorf("%s: a run took %v, at most %v are allowed", kind, all[len(all)-1], most)
		}
	}
}
