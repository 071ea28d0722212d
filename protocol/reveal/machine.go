package reveal

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"synod.dev/synod"
)

// machine plays the exchange of first answers of one seat.
//
// Its stages are numbered: in stage 0 it takes commitments, in stages 1 to hops it waits until neighbours are ready,
// and after these it opens and takes openings.
type machine struct {
	inner  synod.Machine
	batch  synod.Batcher // inner, if it is one
	config Config

	self  synod.NodeID
	run   string
	salt  synod.Salt
	pace  synod.Pace
	to    []synod.NodeID // the neighbours of round 0, ascending
	peers []peer         // in the same order

	now     synod.Tick
	stage   int
	missing int  // commitments, and then openings, that have not come
	told    bool // Opened was given

	out    []synod.Effect
	box    outbox
	hash   []byte          // buffer
	inbox  []synod.Message // by peer: what the inner machine hears
	heard  []synod.Input   // the part of it that it has not been given yet
	known  []known         // the different answers that were opened
	first  []synod.Given
	opened synod.Effect // with first
}

// peer is what is known of a neighbour.
type peer struct {
	id      synod.NodeID
	asked   bool
	has     bool           // it has committed
	hash    [32]byte       // its first commitment
	ready   int            // the last stage for which it is ready
	opening *synod.Message // the first one
	heard   bool           // the inner machine has its opening, or an empty message in its place
	valid   bool           // the opening has the hash, and is a synod.Response with
	answer  synod.Answer
}

// known is an answer that was opened. Most members give the same few.
type known struct {
	body     []byte
	response synod.Response
	ok       bool // it could be read
}

// maxKnown bounds what is known, so that many different answers take no memory.
const maxKnown = 16

// prepare begins a run.
func (m *machine) prepare(seat *synod.Seat) {
	m.self, m.run, m.salt, m.pace = seat.Self, seat.Run, seat.Salt, cmp.Or(seat.Pace, synod.DefaultPace)
	m.to = seat.Neighbours(0)
	n := len(m.to)
	m.peers, m.inbox = slices.Grow(m.peers[:0], n)[:n], slices.Grow(m.inbox[:0], n)[:n]
	var asked []synod.NodeID
	if m.config.Asked != nil {
		asked = m.config.Asked(seat.Question)
	}
	m.missing = 0
	for i, id := range m.to {
		m.peers[i] = peer{id: id, asked: m.config.Asked == nil || slices.Contains(asked, id)}
		if m.peers[i].asked {
			m.missing++
		}
	}
	m.now, m.stage, m.told, m.known = 0, 0, false, m.known[:0]
	m.box.sends, m.box.held, m.box.set, m.heard = 0, m.box.held[:0], 0, m.heard[:0]
}

// Step implements synod.Machine.
func (m *machine) Step(now synod.Tick, e synod.Event) []synod.Effect {
	m.out, m.now = m.out[:0], now
	if mine(e) {
		m.handle(e)
		m.deliver()
		return m.out
	}
	if _, begins := e.(synod.Begin); begins {
		m.begin()
	}
	m.take(m.inner.Step(now, e))
	return m.out
}

// StepAll implements synod.Batcher.
func (m *machine) StepAll(now synod.Tick, events []synod.Input) []synod.Effect {
	m.out, m.now = m.out[:0], now
	from := 0
	for i := range events {
		e := events[i].Event
		if _, begins := e.(synod.Begin); begins {
			m.begin()
		}
		if e == nil || !mine(e) {
			continue
		}
		if from < i {
			m.deliver()
			m.pass(events[from:i])
		}
		m.handle(e)
		from = i + 1
	}
	m.deliver()
	m.pass(events[from:])
	return m.out
}

// deliver hands what was opened to the inner machine.
func (m *machine) deliver() {
	m.pass(m.heard)
	m.heard = m.heard[:0]
}

// pass hands events to the inner machine.
func (m *machine) pass(events []synod.Input) {
	if m.batch != nil && len(events) > 0 {
		m.take(m.batch.StepAll(m.now, events))
		return
	}
	for i := range events {
		e := events[i].Event
		if e == nil {
			e = events[i].Answered
		}
		m.take(m.inner.Step(m.now, e))
	}
}

// mine reports whether an event belongs to the commitments, so that the inner machine must not see it.
func mine(e synod.Event) bool {
	switch e := e.(type) {
	case synod.Heard:
		return e.Slot == answers || strings.HasPrefix(e.Slot.Name, prefix)
	case synod.Expired:
		return e.ID >= ownAlarms
	}
	return false
}

// handle takes an event of its own.
func (m *machine) handle(e synod.Event) {
	switch e := e.(type) {
	case synod.Expired:
		m.expired()
	case synod.Heard:
		if i, ok := slices.BinarySearch(m.to, e.From); ok {
			m.hear(i, e.Message)
		}
	}
}

// hear takes a message of a neighbour. The first one in each slot counts.
func (m *machine) hear(i int, x *synod.Message) {
	p := &m.peers[i]
	switch x.Slot.Name {
	case Commit:
		if m.stage > 0 || !p.asked || p.has {
			return
		}
		p.has = true
		if len(x.Body) == len(p.hash) { // else it has a hash that nothing has
			p.hash = [len(p.hash)]byte(x.Body)
		}
		if m.missing--; m.missing == 0 {
			m.enter(1)
		}
	case Ready:
		if x.Slot.Round < 0 || x.Slot.Round >= m.config.hops() {
			return
		}
		p.ready = max(p.ready, x.Slot.Round+1)
		m.goOn()
	case Open:
		if !p.asked || p.opening != nil {
			return
		}
		if p.opening = x; m.stage > m.config.hops() {
			m.open(i)
		}
	}
}

// begin sets the end of the first stage.
func (m *machine) begin() {
	m.box.alarm(m, m.ends(0))
	if m.missing == 0 { // there is nobody to wait for
		m.enter(1)
	}
}

// ends returns the tick at which a stage ends at the latest. Before the first end there is time for an answer that is
// asked for twice, as in answer.End.
func (m *machine) ends(stage int) synod.Tick {
	return 2*m.pace.Think + synod.Tick(stage+1)*m.pace.Within
}

// enter begins a stage.
func (m *machine) enter(stage int) {
	m.stage = stage
	if stage > m.config.hops() {
		m.reveal()
		return
	}
	m.box.send(m, m.to, Ready, stage-1, nil)
	m.goOn()
}

// goOn ends the stage if all neighbours are ready.
func (m *machine) goOn() {
	if m.stage == 0 || m.stage > m.config.hops() {
		return
	}
	for i := range m.peers {
		if m.peers[i].ready < m.stage {
			return
		}
	}
	m.enter(m.stage + 1)
}

// expired takes the alarm that was set for the end of a stage. There is one at a time.
func (m *machine) expired() {
	switch {
	case m.now < m.ends(m.stage): // that one ended early
	case m.stage > m.config.hops():
		m.tell()
	default:
		m.enter(m.stage + 1)
	}
	if !m.told {
		m.box.alarm(m, m.ends(m.stage))
	}
}

// take takes what the inner machine does.
func (m *machine) take(effects []synod.Effect) {
	for _, x := range effects {
		switch e := x.(type) {
		case synod.Send:
			if e.Slot == answers {
				m.commit(e)
				continue
			}
		case synod.Decide:
			m.tell()
		}
		m.out = append(m.out, x)
	}
}

// commit holds a first answer back and sends its hash; nothing if it is too late.
func (m *machine) commit(x synod.Send) {
	if m.now >= m.ends(0) {
		return
	}
	body := m.box.hold(m, x)
	sum := Commitment(m.run, m.self, body, &m.hash)
	m.box.send(m, x.To, Commit, 0, sum[:])
	if m.stage > m.config.hops() { // all neighbours have said that they take no commitment
		m.box.open(m)
	}
}

// reveal opens what is held, and gives the inner machine what others have opened.
func (m *machine) reveal() {
	m.box.open(m)
	m.missing = 0
	for i := range m.peers {
		if m.peers[i].asked {
			m.missing++
		}
	}
	for i := range m.peers {
		if p := &m.peers[i]; p.asked && (!p.has || p.opening != nil) {
			m.open(i)
		}
	}
	if m.missing == 0 {
		m.tell()
	}
}

// open gives the inner machine the answer of a neighbour, or an empty message if there is none, so that it need not
// wait for one.
func (m *machine) open(i int) {
	p, x := &m.peers[i], &m.inbox[i]
	if p.heard {
		return
	}
	p.heard = true
	*x = synod.Message{From: p.id, Slot: answers}
	if p.has && p.opening != nil && len(p.opening.Body) >= len(m.salt) &&
		Commitment(m.run, p.id, p.opening.Body, &m.hash) == p.hash {
		x.Body = p.opening.Body[len(m.salt):]
		p.answer, p.valid = m.read(x.Body)
	}
	if m.missing--; m.missing == 0 {
		m.tell() // before the inner machine goes on
	}
	m.heard = append(m.heard, synod.Input{Event: synod.Heard{Message: x}})
}

// read returns the answer of a message, in brief.
func (m *machine) read(body []byte) (synod.Answer, bool) {
	for i := range m.known {
		if k := &m.known[i]; bytes.Equal(k.body, body) {
			return k.response.Answer.Brief(), k.ok
		}
	}
	n := min(len(m.known), maxKnown-1)
	if m.known = m.known[:n]; n == cap(m.known) {
		m.known = append(m.known, known{})
	} else {
		m.known = m.known[:n+1] // with the answer of an earlier run, which is often the same
	}
	k := &m.known[n]
	k.body, k.ok = body, k.response.UnmarshalBinary(body) == nil
	return k.response.Answer.Brief(), k.ok
}

// tell gives Opened, once.
func (m *machine) tell() {
	if m.told {
		return
	}
	m.told, m.first = true, m.first[:0]
	for i := range m.peers {
		if p := &m.peers[i]; p.valid {
			m.first = append(m.first, synod.Given{Of: p.id, Answer: p.answer})
		}
	}
	old, _ := m.opened.(synod.Opened)
	if m.opened == nil || len(old.First) != len(m.first) || len(m.first) > 0 && &old.First[0] != &m.first[0] {
		m.opened = synod.Opened{First: m.first}
	}
	m.out = append(m.out, m.opened)
}
