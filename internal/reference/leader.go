package reference

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strconv"

	"synod.dev/synod"
)

// The phases of votes. With one phase there is only the one that commits.
const (
	Prepare = 1
	Commit  = 2
)

// Certificate is signed votes for one answer in one phase of a round.
type Certificate struct {
	Phase, Round int
	Answer       synod.Answer
	By           []synod.NodeID // ascending
	Signatures   [][]byte
}

// Same reports whether two certificates are equal; nil is one that is missing.
func (b *Certificate) Same(o *Certificate) bool {
	if b == nil || o == nil {
		return b == o
	}
	return b.Phase == o.Phase && b.Round == o.Round && b.Answer == o.Answer && slices.Equal(b.By, o.By) &&
		slices.EqualFunc(b.Signatures, o.Signatures, bytes.Equal)
}

// Leaders is one member of a council in which leaders propose and members vote (DecentLLMs §II). Its methods are the
// steps of a round, in their order.
type Leaders struct {
	*Election
	Protocol string // what is signed is bound to it
	Locks    bool   // two phases: an answer that was prepared binds those who saw it
	Exact    bool   // a proposal must be better than one's own answer
	Choice   string // what leaders propose: own, best or quorum
	Self     synod.NodeID
	Own      synod.Answer
	Verifier synod.Verifier

	Answers []synod.Answer // by member, as it told first
	Lock    *Certificate   // the highest that it prepared, or was told as a leader
	Done    *Certificate   // the decision

	Seen    *Offer         // the round's proposal; nil: none came
	Two     bool           // the leader signed another one as well
	Refused []synod.NodeID // who saw the proposal and did not vote for it
}

// Offer is a proposal.
type Offer struct {
	Value, Signature []byte // what the leader signed
	Readable         bool
	Answer           synod.Answer
	Lock             *Certificate // that it shows
}

// Told is what a member told at the beginning of a round.
type Told struct {
	From       synod.NodeID
	Answer     synod.Answer
	Lock, Done *Certificate
}

// Cast is a vote of a member and the proposal that it saw.
type Cast struct {
	From  synod.NodeID
	Offer *Offer // nil: none
	Vote  []byte // nil: it did not vote for it
}

// Members returns the members, ascending.
func (e *Election) Members() (ids []synod.NodeID) {
	for i := range e.N {
		ids = append(ids, synod.NodeID(i))
	}
	return ids
}

// Leader returns the leader of a round: members take turns.
func (e *Election) Leader(round int) synod.NodeID { return synod.NodeID((round - 1) / e.Turns % e.N) }

func (e *Election) group(protocol, name string) *Group {
	return &Group{Protocol: protocol, Name: name, Members: e.Members(), Senders: e.Members(), F: e.F}
}

// VoteStatement is what a member signs to vote for an answer: it binds protocol, members, F, phase and round.
func (e *Election) VoteStatement(protocol string, phase, round int, a synod.Answer) []byte {
	if e.votes == nil || e.votes.Protocol != protocol {
		e.votes = e.group(protocol, "votes")
	}
	group, hash := e.votes.Digest(), sha256.Sum256([]byte(a))
	b := append([]byte("synod/leader/1"), group[:]...)
	b = binary.BigEndian.AppendUint32(b, uint32(phase))
	b = binary.BigEndian.AppendUint32(b, uint32(round))
	return append(b, hash[:]...)
}

// proposalStatement is what a leader signs.
func (l *Leaders) proposalStatement(round int, value []byte) []byte {
	name := "proposal " + strconv.Itoa(round)
	return l.group(l.Protocol, name).Statement(l.Leader(round), 1, value)
}

// proves reports whether a certificate of a phase is one, and of an earlier round than this one.
func (l *Leaders) proves(c *Certificate, phase, round int) bool {
	if c == nil || c.Phase != phase || c.Round < 1 || c.Round >= round || c.Answer == synod.None {
		return false
	}
	voted := map[synod.NodeID]bool{}
	for i, id := range c.By {
		if i > 0 && id <= c.By[i-1] || !l.voted(id, phase, c.Round, c.Answer, c.Signatures[i]) {
			return false
		}
		voted[id] = true
	}
	return l.enough(voted)
}

// voted reports whether a member has signed a vote.
func (l *Leaders) voted(by synod.NodeID, phase, round int, a synod.Answer, sig []byte) bool {
	return int(by) < l.N && l.Verifier.Verify(by, l.VoteStatement(l.Protocol, phase, round, a), sig)
}

// Meet begins a round: all have told their own answers, locks and decisions. Only the leader takes over a lock.
func (l *Leaders) Meet(round int, told []Told) {
	l.Seen, l.Two = nil, false
	if l.Answers == nil {
		l.Answers = make([]synod.Answer, l.N)
	}
	l.Answers[l.Self] = l.Own
	for _, t := range told {
		if l.Answers[t.From] == synod.None {
			l.Answers[t.From] = t.Answer
		}
		if l.Leader(round) == l.Self && t.Lock != nil && (l.Lock == nil || t.Lock.Round > l.Lock.Round) &&
			l.proves(t.Lock, Prepare, round) {
			l.Lock = t.Lock
		}
		if l.Done == nil && l.proves(t.Done, Commit, round) {
			l.Done = t.Done
		}
	}
}

// See takes a proposal that somebody sent. The first counts; a second one that the leader signed is evidence.
func (l *Leaders) See(round int, o *Offer) {
	switch {
	case o == nil, len(o.Value) == 0, l.Seen != nil && bytes.Equal(o.Value, l.Seen.Value),
		!l.Verifier.Verify(l.Leader(round), l.proposalStatement(round, o.Value), o.Signature):
	case l.Seen == nil:
		l.Seen = o
	default:
		l.Two = true
	}
}

// Compares reports whether the member grades the proposal and its own answer to vote. Else its vote is fixed: a lock
// binds it to its answer until the leader shows a later one, and an answer that was prepared is not compared again.
func (l *Leaders) Compares(round int) (compares, votes bool) {
	p := l.Seen
	if p == nil || !p.Readable {
		return false, false
	}
	if l.Locks {
		prepared := p.Lock != nil && p.Lock.Answer == p.Answer && l.proves(p.Lock, Prepare, round)
		switch {
		case l.Lock == nil && prepared:
			return false, true
		case l.Lock != nil:
			return false, l.Lock.Answer == p.Answer || prepared && p.Lock.Round > l.Lock.Round
		}
	}
	switch {
	case l.Own == synod.None:
		return false, false
	case p.Answer == l.Own, l.Leader(round) == l.Self:
		return false, true
	}
	return true, false
}

// Better reports whether grades of the proposal and of one's own answer lead to a vote.
func (l *Leaders) Better(proposal, own float64) bool {
	return proposal > own || proposal == own && !l.Exact
}

// Count counts the votes of a phase; mine is nil if the member itself did not vote. Votes of a quorum for one answer
// are a certificate.
func (l *Leaders) Count(phase, round int, all []Cast, mine *Cast) {
	first := !l.Locks || phase == Prepare
	if first {
		l.Refused = nil
	}
	tally := map[synod.Answer]*Certificate{}
	add := func(c *Cast) {
		a := c.Offer.Answer
		if tally[a] == nil {
			tally[a] = &Certificate{Phase: phase, Round: round, Answer: a}
		}
		t := tally[a]
		at, _ := slices.BinarySearch(t.By, c.From)
		t.By, t.Signatures = slices.Insert(t.By, at, c.From), slices.Insert(t.Signatures, at, c.Vote)
	}
	if mine != nil {
		add(mine)
	}
	for k := range all {
		c := &all[k]
		switch {
		case c.Offer == nil || !c.Offer.Readable:
		case first && len(c.Vote) == 0:
			l.Refused = append(l.Refused, c.From)
		case l.voted(c.From, phase, round, c.Offer.Answer, c.Vote):
			add(c)
		}
	}
	for _, b := range tally {
		voted := map[synod.NodeID]bool{}
		for _, id := range b.By {
			voted[id] = true
		}
		switch {
		case !l.enough(voted):
		case phase == Prepare && (l.Lock == nil || l.Lock.Round < round):
			l.Lock = b
		case phase == Commit && l.Done == nil:
			l.Done = b
		}
	}
}

// Proposes returns what a leader without a lock proposes in its first round, from the sums of its grades: its own
// answer; with best, the one with the best grades; with quorum, that of a rank, the worst that a quorum accepts. Of
// equal grades the earlier member is first. grades has none for answers that have none.
func (l *Leaders) Proposes(grades map[synod.Answer]float64) synod.Answer {
	var ranked []synod.Answer
	for _, a := range l.Answers {
		if _, graded := grades[a]; graded && a != synod.None {
			ranked = append(ranked, a)
		}
	}
	if l.Choice == "own" || len(ranked) == 0 {
		return l.Own
	}
	slices.SortStableFunc(ranked, func(a, b synod.Answer) int {
		switch {
		case grades[a] > grades[b]:
			return -1
		case grades[a] < grades[b]:
			return 1
		}
		return 0
	})
	if l.Choice == "best" {
		return ranked[0]
	}
	parts := 2
	if l.TwoThirds {
		parts = 3
	}
	rank := (len(ranked) + 1 + parts - 1) / parts // (n+1)/2 or (n+1)/3, rounded up
	return ranked[min(rank, len(ranked))-1]
}
