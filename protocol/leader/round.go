package leader

import (
	"bytes"
	"slices"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/core/clean"
	"synod.dev/synod/core/script"
	"synod.dev/synod/internal/order"
	"synod.dev/synod/llm/read"
	"synod.dev/synod/protocol/answer"
	"synod.dev/synod/protocol/broadcast"
)

// Meet opens a round: all members send what they hold to all. It returns true if this member
// has now sent the decision to all others and has nothing left to do.
//
// Only the leader takes over locks here. Other members take them only from its proposal: a
// Byzantine member that shows a lock to them and hides it from the leader would make them
// reject an honest leader [I-LB-3]. Safety depends on the locks of the members that voted to
// commit, and these made their certificates themselves.
func (m *Member) Meet(round int) (over bool) {
	seat := m.Me.Seat()
	m.group = proposals(m.rules.Protocol, m.members, seat.F, round)
	m.digest = m.group.Digest()
	m.proposed, m.signed = nil, nil
	over = m.done != nil
	leads := m.Leader(round) == m.self()
	mine := meeting{m.response(m.own.Answer, m.own.Surface, m.own.Rationale), m.lock, m.done}
	for _, h := range script.Exchange(m.Me, "meet", round, mine, script.Until{At: m.ends(round).met}) {
		if at := m.at(h.From); m.answers[at].answer == synod.None {
			m.answers[at].answer, _ = read.Canonical(seat.Question, string(h.Value.own.Answer))
			m.answers[at].rationale = answer.Shown(seat, h.Value.own.Rationale, m.rules.Settings.Rationale)
		}
		if leads && m.higher(h.Value.lock) && m.valid(h.Value.lock, Prepare, round) {
			m.lock = h.Value.lock
		}
		if m.done == nil && m.valid(h.Value.done, Commit, round) {
			m.done = h.Value.done
		}
	}
	return over
}

// valid reports whether a certificate of a phase is correct and from an earlier round, of which 1 is the first.
func (m *Member) valid(c *Certificate, phase, round int) bool {
	return c != nil && c.Phase == phase && c.Round >= 1 && c.Round < round &&
		c.Verify(m.Me.Seat().Signer, m.votes, m.rules.Enough)
}

// higher reports whether a certificate is from a later round than the lock. The highest
// prepare certificate that a member made, or got as a leader, binds it, and it sends that one
// to the next leader. Of two in one round, which only a quorum that is too small allows, it
// keeps the first.
func (m *Member) higher(c *Certificate) bool {
	return c != nil && (m.lock == nil || c.Round > m.lock.Round)
}

// response returns an answer as it was written, if that reads as the same answer.
func (m *Member) response(a synod.Answer, surface, rationale string) synod.Response {
	text := a
	if c, ok := read.Canonical(m.Me.Seat().Question, surface); ok && c == a && len(surface) <= maxSurface {
		text = synod.Answer(surface)
	}
	return synod.Response{Answer: text, Rationale: rationale}
}

// maxSurface bounds the spelling of an answer, in bytes.
const maxSurface = 400

// Propose sends the proposal if this member leads. All members wait for it.
func (m *Member) Propose(round int) {
	leader := m.Leader(round)
	if leader == m.self() {
		if p := m.choose(round); p != nil {
			m.last = p
			m.see(round, offerOf(m.group.Sign(m.Me.Seat().Signer, leader, p.encode())))
			script.Tell(m.Me, "propose", round, offerOf(m.signed))
		}
	}
	for _, h := range script.Collect[offer](m.Me, "propose", round, script.Until{At: m.ends(round).proposed}) {
		if h.From == leader {
			m.see(round, h.Value)
		}
	}
}

// see takes a proposal of the round's leader, from any sender. Two different ones are
// evidence [I-LB-2].
func (m *Member) see(round int, o offer) {
	if len(o.value) == 0 || m.signed != nil && bytes.Equal(o.value, m.signed.Value) {
		return
	}
	s := &broadcast.Signed{Group: m.digest, Sender: m.Leader(round), Value: o.value, Signature: o.signature}
	if !s.Verify(m.Me.Seat().Signer) {
		return
	}
	if m.signed == nil {
		m.signed = s
		return
	}
	if n := len(m.against); n == 0 || m.against[n-1].round != round {
		m.against = append(m.against, against{round, broadcast.Evidence{
			Group: s.Group, Sender: s.Sender, Values: [2][]byte{m.signed.Value, s.Value},
			Signatures: [2][]byte{m.signed.Signature, s.Signature},
		}})
	}
}

// read returns the proposal of an encoded value; nil if it is not an answer to the question.
func (m *Member) read(value []byte) *proposal {
	var p proposal
	if p.decode(value) != nil {
		return nil
	}
	var ok bool
	if p.answer, ok = read.Canonical(m.Me.Seat().Question, p.surface); !ok {
		return nil
	}
	p.surface = clean.Line(p.surface, maxSurface)
	p.rationale = answer.Shown(m.Me.Seat(), p.rationale, m.rules.Settings.Rationale)
	return &p
}

// Vote sends the proposal that this member saw, and its vote if it votes for it, to all. The
// votes of a quorum are a certificate of the first phase, or of the only one.
func (m *Member) Vote(round int) {
	phase := Commit
	if m.rules.Lock {
		phase = Prepare
	}
	mine := ballot{offer: offerOf(m.signed)}
	seat := m.Me.Seat()
	if m.signed != nil {
		m.proposed = m.read(m.signed.Value)
	}
	var t tally
	if m.accepts(round) {
		mine.vote = seat.Signer.Sign(VoteBytes(m.votes, phase, round, m.proposed.answer))
		t.add(m.proposed.answer, Vote{m.self(), string(mine.vote)})
	}
	m.refused = nil
	for _, h := range script.Exchange(m.Me, "vote", round, mine, script.Until{At: m.ends(round).voted}) {
		m.see(round, h.Value.offer)
		p := m.about(h.Value.value)
		switch {
		case p == nil:
		case len(h.Value.vote) == 0:
			m.refused = append(m.refused, h.From)
		case seat.Signer.Verify(h.From, VoteBytes(m.votes, phase, round, p.answer), h.Value.vote):
			t.add(p.answer, Vote{h.From, string(h.Value.vote)})
		}
	}
	m.silent = m.signed == nil
	m.certify(phase, round, &t)
}

// about returns the proposal that a ballot contains.
func (m *Member) about(value []byte) *proposal {
	if m.proposed != nil && bytes.Equal(value, m.signed.Value) {
		return m.proposed
	}
	return m.read(value)
}

// Commit is the second phase: a member with this round's prepare certificate is locked on its
// answer and sends a pledge to all. The pledges of a quorum decide.
func (m *Member) Commit(round int) {
	seat, bytesOf := m.Me.Seat(), func(a synod.Answer) []byte { return VoteBytes(m.votes, Commit, round, a) }
	var t tally
	if m.lock != nil && m.lock.Round == round {
		mine := pledge{m.lock.Answer, seat.Signer.Sign(bytesOf(m.lock.Answer))}
		t.add(mine.answer, Vote{m.self(), string(mine.vote)})
		script.Tell(m.Me, "commit", round, mine)
	}
	for _, h := range script.Collect[pledge](m.Me, "commit", round, script.Until{At: m.ends(round).committed}) {
		if h.Value.answer != synod.None && seat.Signer.Verify(h.From, bytesOf(h.Value.answer), h.Value.vote) {
			t.add(h.Value.answer, Vote{h.From, string(h.Value.vote)})
		}
	}
	m.certify(Commit, round, &t)
}

// certify keeps a certificate if a quorum voted alike.
func (m *Member) certify(phase, round int, t *tally) {
	c := t.certificate(m.rules.Enough)
	if c == nil {
		return
	}
	c.Phase, c.Round = phase, round
	switch {
	case phase == Prepare:
		if m.higher(c) {
			m.lock = c
		}
	case m.done == nil:
		m.done = c
	}
}

// tally has the votes by answer, in the order of the answers' arrival.
type tally []Certificate

func (t *tally) add(a synod.Answer, v Vote) {
	at := slices.IndexFunc(*t, func(c Certificate) bool { return c.Answer == a })
	if at < 0 {
		at = len(*t)
		*t = append(*t, Certificate{Answer: a})
	}
	(*t)[at].Votes = append((*t)[at].Votes, v)
}

// certificate returns the certificate of the answer that a quorum voted for; nil if there is
// none. Of several, which only a quorum that is too small allows, it returns the first by its
// bytes.
func (t tally) certificate(enough func([]synod.NodeID) bool) *Certificate {
	order.Sort(t, func(a, b Certificate) int { return strings.Compare(string(a.Answer), string(b.Answer)) })
	for i := range t {
		c := &t[i]
		order.Sort(c.Votes, func(a, b Vote) int { return int(a.By - b.By) })
		if enough(c.Signers()) {
			return c
		}
	}
	return nil
}
