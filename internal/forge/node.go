package forge

import (
	"bytes"
	"errors"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/record/certificate"
)

// node is an honest member. It signs what certificate.Own.Sign allows, as the nodes of package node do. Its disk
// outlives it when it is killed.
type node struct {
	arena  *Arena
	owner  int
	both   bool              // during a change it plays by both rosters; else by one at a time
	at     int               // the roster by which it plays
	disk   map[string][]byte // by run: the answer that it may have signed
	memory map[string][]byte // what the process knows of the disk
	broken bool              // a write has failed: the process signs nothing more
	signed map[string][]byte // by run: the answer that it has signed, for those who judge
	papers map[string]bool   // what it has signed
}

// What happens to a node that writes down an answer.
var (
	errKilledBefore = errors.New("the node was killed before the answer was on its disk")
	errKilledAfter  = errors.New("the node was killed when the answer was on its disk")
	errDisk         = errors.New("the disk fails")
	errSecond       = errors.New("another answer of the run may have been signed")
)

func newNode(a *Arena, owner int) *node {
	return &node{arena: a, owner: owner, both: a.one(2), disk: map[string][]byte{}, memory: map[string][]byte{},
		signed: map[string][]byte{}, papers: map[string]bool{}}
}

// restart starts the process again: it knows what is on the disk.
func (n *node) restart() {
	n.memory, n.broken = map[string][]byte{}, false
	for run, answer := range n.disk {
		n.memory[run] = answer
	}
}

// ask asks the node for its signature under an encoded statement about a run. The error is why it does not sign.
func (n *node) ask(instance string, statement []byte) ([]byte, error) {
	s, err := certificate.DecodeStatement(statement)
	if err != nil {
		return nil, err
	}
	r, key, own := n.own(instance)
	if r == nil {
		return nil, errors.New("the node has no record of the run")
	}
	signature, err := own.Sign(s, func(answer []byte) error { return n.commit(instance, answer) }, key)
	if err == nil {
		n.arena.Signed++
		n.audit(r, own.Seat, s)
		payload, _ := s.Payload()
		n.papers[string(payload)] = true
	}
	return signature, err
}

// own returns what the node knows of a run by its record; nil: nothing.
func (n *node) own(instance string) (*arenaRun, Key, *certificate.Own) {
	for _, r := range n.arena.runs {
		seat := r.of.seatOf(n.owner)
		if r.instance != instance || seat < 0 {
			continue
		}
		now := n.arena.rosters[n.at]
		if n.both {
			now = r.of
		}
		at := now.seatOf(n.owner)
		if at < 0 {
			return nil, nil, nil // it is no member any more
		}
		return r, now.keys[at], &certificate.Own{Seat: at, Council: now.council, Instance: r.instance,
			Question: r.question, Form: r.form(), Schema: r.schema, Signature: r.votes[seat], Keys: n.arena.Keys,
			Vote: certificate.VoteBytes(r.of.hash, r.question, r.first[seat], r.final[seat])}
	}
	return nil, nil, nil
}

// commit puts an answer on the disk, as package node does, and may be killed on the way.
func (n *node) commit(instance string, answer []byte) error {
	a := n.arena
	if call := a.callback; call != nil { // another caller comes first
		a.callback = nil
		call()
	}
	if before, ok := n.memory[instance]; ok {
		if !bytes.Equal(before, answer) {
			return errSecond
		}
		return nil
	}
	if n.broken {
		return errDisk
	}
	switch a.rand.IntN(40) {
	case 0:
		n.restart()
		return errKilledBefore
	case 1:
		n.disk[instance] = answer
		n.restart()
		return errKilledAfter
	case 2:
		n.broken = true
		return errDisk
	}
	n.disk[instance], n.memory[instance] = answer, answer
	return nil
}

// audit checks what the node has signed against what it answered, without the code that let it sign.
func (n *node) audit(r *arenaRun, seat int, s *certificate.Statement) {
	a := n.arena
	if before, ok := n.signed[r.instance]; ok && !bytes.Equal(before, s.Answer) {
		a.wrong(OneAnswer, "an honest member signed two answers of a run")
	}
	n.signed[r.instance] = s.Answer
	switch {
	case !bytes.Equal(s.Council, r.of.hash):
		a.wrong(OneAnswer, "an honest member signed a statement of another roster than its run had")
	case s.Instance != r.instance || !bytes.Equal(s.Question, r.question):
		a.wrong(OneAnswer, "an honest member signed a statement about another run or question")
	case !r.of.Members[seat].Voter:
		a.wrong(OneAnswer, "a member without a vote signed")
	case s.Merge == nil && !bytes.Equal(r.final[seat], s.Answer):
		a.wrong(OneAnswer, "an honest member signed an answer that it did not end on")
	case s.Merge != nil && len(s.Merge.Values[seat]) == 0:
		a.wrong(OneAnswer, "an honest member signed a value to which it gave nothing")
	}
}

var _ Key = sign.Secret{}
