package campaign

import (
	"errors"
	"fmt"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/script"
	"synod.dev/synod/internal/reference"
)

// agentSubject plays texts of protocols that are drawn, with events in any order, and compares what they hear and are
// answered with a slow machine.
func agentSubject() *subject {
	return pieceSubject(agentName, .2, []string{"a stranger", "late", "early", "a second reply", "a failed call",
		"the graph changes", "long"}, playAgent, claimHeard, claimNonce)
}

// word is the body of a message; an empty one cannot be read.
type word string

func (w word) AppendBinary(b []byte) ([]byte, error) { return append(b, w...), nil }

func (w *word) UnmarshalBinary(b []byte) error {
	if *w = word(b); len(b) == 0 {
		return errors.New("an empty word")
	}
	return nil
}

// stage is where an agent plays.
type stage struct {
	*piece
	twin    *reference.Agent
	machine synod.Machine
	now     synod.Tick
	results []reference.Result
	late    []synod.Message
	alarms  []synod.Alarm
	open    []synod.ConsultID // that have not been answered
	asked   []*synod.Prompt
	done    bool
	flood   bool // a neighbour sends more messages than may wait
}

func playAgent(p *piece) {
	s := &stage{piece: p, twin: &reference.Agent{Seat: p.seat(), Remember: p.one(2)}}
	s.twin.Acts = p.acts(&s.twin.Seat)
	s.machine = script.New(s.twin.Seat, script.Options{Remember: s.twin.Remember}, s.play)
	s.take(s.machine.Step(0, synod.Begin{}))
	s.twin.Go(0)
	events := 4*len(s.twin.Acts) + 12
	if len(s.twin.Acts) == longText { // each neighbour is heard more often than messages of it may wait
		events *= 4
		s.flood = p.one(2) && len(s.twin.Seat.Peers) > 0
	}
	for range events {
		s.happen()
	}
	for !s.done && len(s.alarms)+len(s.open) > 0 {
		s.next()
	}
	s.take(s.machine.Step(s.now, synod.Halt{}))
	s.compare()
}

// seat draws a seat with neighbours, which may change from round to round.
func (p *piece) seat() synod.Seat {
	seat := synod.Seat{Self: 2, Seed: p.rand.Uint64() | 1, Question: questions[""][0]}
	for id := range synod.NodeID(6) {
		if id != seat.Self && !p.one(4) {
			seat.Peers = append(seat.Peers, id)
		}
	}
	if p.one(3) {
		p.State("the graph changes", true)
		for range 1 + p.rand.IntN(3) {
			some := []synod.NodeID{}
			for _, id := range seat.Peers {
				if p.one(2) {
					some = append(some, id)
				}
			}
			seat.ByRound = append(seat.ByRound, some)
		}
	}
	return seat
}

// longText is how many steps a long text has.
const longText = 90

// acts draws the text of a protocol.
func (p *piece) acts(seat *synod.Seat) (acts []reference.Act) {
	n := 1 + p.rand.IntN(5)
	if p.one(25) {
		n = longText
		p.State("long", true)
	}
	at := synod.Tick(0)
	for round := range n {
		if n < longText && p.one(3) {
			act := reference.Act{Forget: p.one(3)}
			for range 1 + p.rand.IntN(3) {
				act.Ask = append(act.Ask, fmt.Sprint("question ", p.rand.IntN(3)))
			}
			acts = append(acts, act)
			continue
		}
		at += synod.Tick(p.rand.IntN(4))
		act := reference.Act{Slot: synod.Slot{Name: "say", Round: round}, At: at, Early: p.one(2),
			AllBut: p.rand.IntN(3)}
		if p.one(4) && len(seat.Peers) > 0 {
			act.Of = seat.Peers[:1+p.rand.IntN(len(seat.Peers))]
		}
		acts = append(acts, act)
	}
	return acts
}

// play is the text of the protocol.
func (s *stage) play(me *script.Agent) synod.Answer {
	for _, act := range s.twin.Acts {
		var r reference.Result
		if act.Ask != nil {
			var prompts []synod.Prompt
			for _, what := range act.Ask {
				prompts = append(prompts, synod.Prompt{Purpose: synod.Answering, Own: synod.Answer(what)})
			}
			replies := me.Ask(prompts...)
			for _, reply := range replies {
				r.Replies = append(r.Replies, reply.Text)
			}
			if act.Forget {
				me.Forget(replies[0])
			}
		} else {
			for _, h := range script.Exchange(me, act.Slot.Name, act.Slot.Round, word("mine"),
				script.Until{At: act.At, Early: act.Early, AllBut: act.AllBut, Of: act.Of}) {
				r.Heard = append(r.Heard, synod.Message{From: h.From, Slot: act.Slot, Body: []byte(h.Value)})
			}
		}
		s.results = append(s.results, r)
	}
	for _, m := range script.Late(me, "say") {
		s.late = append(s.late, *m)
	}
	s.done = true
	return "over"
}

// take notes what the machine asks for.
func (s *stage) take(effects []synod.Effect) {
	for _, e := range effects {
		switch e := e.(type) {
		case synod.Alarm:
			s.alarms = append(s.alarms, e)
		case synod.Consult:
			s.open, s.asked = append(s.open, e.ID), append(s.asked, e.Prompt)
		case synod.Send:
			to := s.twin.Seat.Neighbours(e.Slot.Round)
			s.Claim(claimHeard, slices.Equal(e.To, to) && string(e.Body) == "mine", "%v is sent to %v, not %v", e.Slot,
				e.To, to)
		}
	}
}

// happen lets one thing happen: a message, a reply, or time passes.
func (s *stage) happen() {
	ways := 4
	if len(s.twin.Acts) == longText { // most are messages, so that each round has some
		ways = 16
	}
	switch s.rand.IntN(ways) {
	case 0:
		s.next()
	case 1:
		s.reply(synod.ConsultID(s.rand.IntN(len(s.asked) + 2)))
	default:
		s.message()
	}
}

// next answers a call or lets the next alarm go off.
func (s *stage) next() {
	if len(s.open) > 0 && (len(s.alarms) == 0 || s.one(2)) {
		s.reply(s.open[0])
		return
	}
	if len(s.alarms) == 0 {
		return
	}
	first := 0
	for i, a := range s.alarms {
		if a.At < s.alarms[first].At {
			first = i
		}
	}
	a := s.alarms[first]
	s.alarms = slices.Delete(s.alarms, first, first+1)
	s.now = max(s.now, a.At)
	s.take(s.machine.Step(s.now, synod.Expired{ID: a.ID}))
	s.twin.Fired(s.now, int(a.ID))
}

// reply answers a call, which may have an answer already, or not exist.
func (s *stage) reply(id synod.ConsultID) {
	at := slices.Index(s.open, id)
	s.State("a second reply", at < 0 && int(id) < len(s.asked))
	if at >= 0 {
		s.open = slices.Delete(s.open, at, at+1)
	}
	r := &synod.Reply{Status: synod.OK, Text: fmt.Sprint("reply ", s.rand.IntN(1000))}
	if s.one(4) {
		r.Status = synod.Dropped
		s.State("a failed call", true)
	}
	s.take(s.machine.Step(s.now, synod.Answered{ID: id, Reply: r}))
	s.twin.Replied(s.now, int(id), r.Text, r.Status == synod.OK)
}

// message delivers a message of anybody for a round that is near.
func (s *stage) message() {
	round := max(0, len(s.results)+s.rand.IntN(6)-3)
	m := synod.Message{From: synod.NodeID(s.rand.IntN(7)), Slot: synod.Slot{Name: "say", Round: round},
		Body: fmt.Append(nil, "word ", s.rand.IntN(1000))}
	if s.flood && s.one(2) { // more messages than may wait, for rounds that are far away
		m.From, m.Slot.Round = s.twin.Seat.Peers[0], len(s.results)+s.rand.IntN(longText)
	}
	if s.one(10) {
		m.Body = nil
	}
	s.State("a stranger", !slices.Contains(s.twin.Seat.Peers, m.From))
	sent := m
	before := len(s.twin.Results)
	s.take(s.machine.Step(s.now, synod.Heard{Message: &sent}))
	s.twin.Heard(s.now, m)
	s.State("early", len(s.twin.Results) > before)
	s.State("late", len(s.twin.Late) > 0)
}

// compare compares what the steps came to, and checks the secrets of prompts.
func (s *stage) compare() {
	for i := range s.twin.Results { // a body that cannot be read is no message
		r := &s.twin.Results[i]
		r.Heard = slices.DeleteFunc(r.Heard, func(m synod.Message) bool { return len(m.Body) == 0 })
	}
	same := func(a, b synod.Message) bool {
		return a.From == b.From && a.Slot == b.Slot && string(a.Body) == string(b.Body)
	}
	ok := slices.EqualFunc(s.results, s.twin.Results, func(a, b reference.Result) bool {
		return slices.EqualFunc(a.Heard, b.Heard, same) && slices.Equal(a.Replies, b.Replies)
	})
	s.Claim(claimHeard, ok && len(s.asked) == s.twin.Calls(), "%+v: the steps came to %+v with %d calls, and by the "+
		"reference to %+v with %d", s.twin.Acts, s.results, len(s.asked), s.twin.Results, s.twin.Calls())
	if s.done {
		kept := map[synod.NodeID]int{}
		late := slices.DeleteFunc(s.twin.Late, func(m synod.Message) bool {
			kept[m.From]++
			return kept[m.From] > reference.MostPending
		})
		s.Claim(claimHeard, slices.EqualFunc(s.late, late, same), "%+v are late, and by the reference %+v", s.late,
			late)
	}
	s.Applies(claimNonce)
	for i, q := range s.asked {
		for _, other := range s.asked[:i] {
			s.Claim(claimNonce, q.Nonce != other.Nonce && q.Seed != other.Seed, "two calls have one seed or nonce")
		}
		s.Claim(claimNonce, q.Nonce != q.Seed && q.Nonce != s.twin.Seat.Seed && q.Seed != s.twin.Seat.Seed,
			"the nonce of a call follows from its seed")
	}
}
