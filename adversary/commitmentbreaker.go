package adversary

import (
	"fmt"
	"slices"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/protocol/reveal"
)

var commitmentBreakerEntry = Entry{
	Entry: synod.Entry{Name: "commitment-breaker",
		Summary: "breaks the rules by which members commit to their first answers before they tell them"},
	Facts: Facts{Place: AtSeat, Model: Synchronous, Where: synod.With(synod.Tells, synod.Votes),
		Defence: "commitments: what was not committed to in time is silence", Kind: Deterministic,
		Source: "our own; package protocol/reveal"},
	About: `Takes part as an honest member does, and breaks the rules of commitments in one way. In a council
without commitments it is honest.

how  late: commits only when others have opened, to the answer of the first of them
     split: commits to one neighbour, says that it is ready, and copies the answer of the first that opens in
     commitments to the others
     twice: commits to its answer and then to another one, and opens that
     other: opens another answer than it has committed to
     replay: sends the commitment of a neighbour, and later that one's opening, as its own
     early: opens at once
     withhold: never opens`,
	New: newCommitmentBreaker, Params: func() any { return &commitmentBreaker{How: breaksLate} },
}

// The ways to break the rules of commitments.
const (
	breaksLate  = "late"
	breaksSplit = "split"
	breaksTwice = "twice"
	opensOther  = "other"
	replaysIt   = "replay"
	opensEarly  = "early"
	withholds   = "withhold"
)

type commitmentBreaker struct {
	How string `yaml:"how" doc:"which rule it breaks" enum:"late|split|twice|other|replay|early|withhold"`
}

func newCommitmentBreaker(params map[string]any) (Adversary, error) {
	a := &commitmentBreaker{How: breaksLate}
	if err := decode(params, a); err != nil {
		return nil, err
	}
	all := []string{breaksLate, breaksSplit, breaksTwice, opensOther, replaysIt, opensEarly, withholds}
	if !slices.Contains(all, a.How) {
		return nil, fmt.Errorf("how is %q; it must be one of %s", a.How, strings.Join(all, ", "))
	}
	return a, nil
}

// Steady reports that its answer does not change once it is given.
func (a *commitmentBreaker) Steady() bool { return true }

// Corrupt returns the honest machine: the attack is outside of it.
func (a *commitmentBreaker) Corrupt(_ synod.Seat, honest synod.Machine) synod.Machine { return honest }

// Enclose implements Outer.
func (a *commitmentBreaker) Enclose(seat synod.Seat, committing synod.Machine) synod.Machine {
	return &breaker{inner: committing, seat: seat, how: a.How}
}

// mostReady is how often members say that they are ready at most.
const mostReady = 8

// breaker is a machine that changes what the machine inside sends in the slots of package reveal. What it notes is what
// it wants others to count.
type breaker struct {
	inner synod.Machine
	seat  synod.Seat
	how   string

	mine   synod.Response // its answer, and then what it pretends to have answered
	stolen *synod.Message // the commitment of another member
	copied bool           // mine is the answer of another member
	noted  []synod.Note   // until it has copied an answer
	out    []synod.Effect
}

// Step passes the event on and changes what is sent and noted.
func (m *breaker) Step(now synod.Tick, e synod.Event) []synod.Effect {
	m.out = m.out[:0]
	if h, ok := e.(synod.Heard); ok {
		m.hear(h.Message)
	}
	for _, effect := range m.inner.Step(now, e) {
		switch x := effect.(type) {
		case synod.Send:
			switch x.Slot.Name {
			case reveal.Commit:
				m.commit(x)
				continue
			case reveal.Open:
				m.open(x)
				continue
			}
		case synod.Note:
			m.note(x)
			continue
		case synod.Decide:
			m.flush()
		}
		m.out = append(m.out, effect)
	}
	return m.out
}

// commit sends something in place of a commitment.
func (m *breaker) commit(x synod.Send) {
	switch m.how {
	case breaksLate, replaysIt:
		return
	case breaksSplit:
		m.out = append(m.out, synod.Send{To: slices.Clone(x.To[:1]), Message: x.Message})
		for k := range mostReady { // it lies
			m.send(synod.Slot{Name: reveal.Ready, Round: k}, nil)
		}
		return
	case opensEarly:
		body := m.opening()
		m.send(x.Slot, m.sum(body))
		m.send(synod.Slot{Name: reveal.Open}, body)
		return
	}
	m.out = append(m.out, x)
	if m.how == breaksTwice {
		m.send(x.Slot, m.sum(m.opening()))
	}
}

// open sends something in place of an opening.
func (m *breaker) open(x synod.Send) {
	if m.how == breaksTwice || m.how == opensOther {
		m.send(x.Slot, m.opening())
	}
}

// hear uses what a neighbour commits to and opens.
func (m *breaker) hear(x *synod.Message) {
	switch {
	case m.copied:
	case m.how == replaysIt && x.Slot.Name == reveal.Commit && m.stolen == nil:
		m.stolen = x
		m.send(x.Slot, x.Body)
	case m.how == replaysIt && x.Slot.Name == reveal.Open && m.stolen != nil && x.From == m.stolen.From:
		if m.take(x.Body) {
			m.send(x.Slot, x.Body)
		}
	case (m.how == breaksLate || m.how == breaksSplit) && x.Slot.Name == reveal.Open && m.take(x.Body):
		body := m.opening()
		m.send(synod.Slot{Name: reveal.Commit}, m.sum(body))
		m.send(x.Slot, body)
	}
}

// take makes the answer of another member its own. It reports whether it could.
func (m *breaker) take(opening []byte) bool {
	if len(opening) < len(m.seat.Salt) || m.mine.UnmarshalBinary(opening[len(m.seat.Salt):]) != nil {
		return false
	}
	m.copied = true
	m.flush()
	return true
}

// note changes what it notes, or holds it until there is something to copy.
func (m *breaker) note(x synod.Note) {
	o := *x.Opinion
	switch {
	case m.mine.Answer != synod.None || o.Answer == synod.None:
	case m.how == breaksTwice || m.how == opensOther:
		m.mine.Answer = other(m.seat.Question, o.Answer)
	default:
		m.mine.Answer = o.Answer
	}
	m.noted = append(m.noted, synod.Note{Opinion: &o})
	if m.copied || m.how != breaksLate && m.how != breaksSplit && m.how != replaysIt {
		m.flush()
	}
}

// flush gives the opinions that were held, with its answer.
func (m *breaker) flush() {
	for _, x := range m.noted {
		if a := canonical(m.seat.Question, string(m.mine.Answer)); x.Answer != synod.None && x.Answer != a {
			x.Answer, x.Surface = a, ""
		}
		m.out = append(m.out, x)
	}
	m.noted = m.noted[:0]
}

// opening returns the body of an opening of its own answer.
func (m *breaker) opening() []byte {
	body, err := m.mine.AppendBinary(slices.Clone(m.seat.Salt[:]))
	if err != nil {
		panic("adversary: encode a response: " + err.Error()) // it never fails
	}
	return body
}

func (m *breaker) sum(opening []byte) []byte {
	sum := reveal.Commitment(m.seat.Run, m.seat.Self, opening, new([]byte))
	return sum[:]
}

// send sends a message to all neighbours.
func (m *breaker) send(slot synod.Slot, body []byte) {
	m.out = append(m.out, synod.Send{To: m.seat.Neighbours(0), Message: &synod.Message{From: m.seat.Self, Slot: slot,
		Body: slices.Clone(body)}})
}
