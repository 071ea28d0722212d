package synod

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"synod.dev/synod/core/wire"
)

// NodeID is the index of a seat in its council, from 0. Names for people belong to
// the council file; a protocol needs only the order.
type NodeID int32

// Tick is a time in milliseconds since the instance began, virtual or real.
type Tick int64

// ConsultID numbers the model calls of one node and AlarmID its alarms, both from 0.
type (
	ConsultID uint32
	AlarmID   uint32
)

// Role names the function of a seat in protocols that tell seats apart. The names
// belong to the protocol that reads them; most protocols have none.
type Role string

// Seat is everything that an honest member may know (SAC, Remark 4.1). It does not
// hold the graph, the right answer or the list of Byzantine seats.
type Seat struct {
	Self  NodeID
	Role  Role     // "" in a protocol without roles
	Cast  []Role   // the role of every seat, by NodeID; nil in a protocol without roles
	Peers []NodeID // the neighbours, with links in both directions, ascending
	// ByRound has the neighbours of single rounds, each list a part of Peers and ascending, if
	// the graph changes from round to round; nil: they are Peers in every round. See Neighbours.
	ByRound  [][]NodeID
	F        int // the bound on Byzantine neighbours for which the protocol runs
	Pace     Pace
	Question *Question
	Seed     uint64 // the only source of randomness
	Signer   Signer // nil in a protocol that signs nothing
	Run      string // the id of the run; "" where one process plays all seats
	Salt     Salt   // hides the seat's commitment until it is opened
	Guards   Guards // how it treats what others send
	// Names are the ids of all seats, by NodeID, if lists of answers are to name them (Guards.Named); else nil.
	Names []string
}

// Salt is a secret of one seat in one run, which nobody else can derive from anything that he knows.
type Salt [32]byte

// Neighbours returns the neighbours in the round of a slot, from 0, ascending. Where the graph
// changes, the list of rounds begins again after its last one. The slice must not be changed.
func (s *Seat) Neighbours(round int) []NodeID {
	if len(s.ByRound) == 0 {
		return s.Peers
	}
	return s.ByRound[max(0, round)%len(s.ByRound)]
}

// Pace bounds the time that models and the network take. Protocols compute the ends
// of their phases from it.
type Pace struct {
	Think  Tick // the longest time for one model call, ≥ 1
	Within Tick // the longest time for one message from one member to another, ≥ 1
}

// DefaultPace is the pace of a seat that has none: a minute and two seconds.
var DefaultPace = Pace{Think: 60_000, Within: 2_000}

// Machine is one member's side of a protocol. Calls of Step are never concurrent,
// and none follows Halt. The machine owns the returned effects, and they are valid
// until its next Step; a wrapper that keeps them must copy them.
type Machine interface {
	Step(now Tick, e Event) []Effect
}

// Batcher is implemented by machines that can take several events of one tick in one call.
// StepAll returns what Step would return for these events one after another, and saves most
// of the time of the calls.
type Batcher interface {
	Machine
	StepAll(now Tick, events []Input) []Effect
}

// Input is an event for StepAll. Most events are messages and replies, and a reply in an
// interface would take an allocation.
type Input struct {
	Event    Event    // nil: Answered
	Answered Answered // without an Event
}

// Resetter is implemented by machines that can be used for several runs. Reset makes a
// machine that has halted behave as one that Join has just returned for the seat, which
// must have the same protocol. It saves the time to allocate a machine. The machine may
// overwrite the messages, prompts and opinions of its last run, so the caller must have
// dropped them.
type Resetter interface {
	Machine
	Reset(Seat)
}

// Protocol creates the machines of members. Join must not share mutable state
// between machines.
type Protocol interface {
	Join(Seat) Machine
}

// Event is something that happens to a machine. Only the types below implement it.
type Event interface{ event() }

// Begin is the first event of every machine.
type Begin struct{}

// Heard delivers a message from a neighbour. All receivers share the message, so it
// must not be changed.
type Heard struct{ *Message }

// Answered returns the reply to a Consult, whatever its status is.
type Answered struct {
	ID ConsultID
	*Reply
}

// Expired reports that the tick of an Alarm has come.
type Expired struct{ ID AlarmID }

// Halt ends the machine. Wrappers pass it on to the machine that they wrap, so that
// everything is released.
type Halt struct{}

func (Begin) event()    {}
func (Heard) event()    {}
func (Answered) event() {}
func (Expired) event()  {}
func (Halt) event()     {}

// Effect is something that a machine asks for. Only the types below implement it.
type Effect interface{ effect() }

// Send delivers one message to each of the named neighbours. Because the recipients
// are named, an adversary can split one Send in two, and a threat model can forbid it.
type Send struct {
	To []NodeID
	*Message
}

// Consult calls the member's own model.
type Consult struct {
	ID ConsultID
	*Prompt
}

// Alarm asks for an Expired event at a tick.
type Alarm struct {
	ID AlarmID
	At Tick
}

// Note records what the member now holds.
type Note struct{ *Opinion }

// Decide is the member's final answer, or None.
type Decide struct{ Answer Answer }

// Opened records the first answers of others to which they committed before the member told its own, in the order of
// members. It is there once in a run in which first answers are committed to (package protocol/reveal).
type Opened struct{ First []Given }

// Given is an answer that a member heard of another one.
type Given struct {
	Of     NodeID `json:"of"`
	Answer Answer `json:"answer"` // as it was sent; a long one as its Brief
}

func (Send) effect()    {}
func (Consult) effect() {}
func (Alarm) effect()   {}
func (Note) effect()    {}
func (Decide) effect()  {}
func (Opened) effect()  {}

// MaxSignature is the length of the longest signature in bytes.
const MaxSignature = 64

// Verifier checks signatures of members.
type Verifier interface {
	// Verify reports whether sig is by's signature for exactly these data.
	Verify(by NodeID, data, sig []byte) bool
}

// Signer signs for one seat and checks signatures of the others. The maker of the
// Signer binds its signatures to the run and the committee; a protocol binds
// everything else (its name, version, instance and round) through data.
type Signer interface {
	Verifier
	// Sign returns at most MaxSignature bytes. It is a function of data: signing the
	// same data again returns the same bytes, so that a journal can be replayed.
	Sign(data []byte) []byte
}

// Slot identifies a message among those of one sender: a name and a round. A sender
// fills each slot once. Receivers keep the first message of a slot and drop others.
type Slot struct {
	Name  string `json:"name"`
	Round int    `json:"round"`
}

// Message is one sender's message in one slot. The transport sets From; the sender
// cannot choose it.
type Message struct {
	From NodeID
	Slot Slot
	Body []byte
}

// MaxBody is the length in bytes of the longest body that is read. A longer one is
// malformed.
const MaxBody = 64 << 10

// MaxLongBody is the length in bytes of the longest Response that is read: an answer of a form that is
// Long, and the rationale beside it.
const MaxLongBody = MaxLong + MaxBody

// Respond is the name of the slot in which members exchange a Response.
const Respond = "respond"

// Response is the message body of answer-sharing protocols.
type Response struct {
	Answer     Answer
	Rationale  string  // the sender's reasoning; the protocol bounds its length
	Confidence float64 // in [0,1], as the sender states it; SAC ignores it
}

// AppendBinary appends a version byte, the confidence, and the two strings with
// their lengths. It never fails.
func (r Response) AppendBinary(b []byte) ([]byte, error) {
	b = append(slices.Grow(b, 1+8+4+len(r.Answer)+4+len(r.Rationale)), 1)
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(r.Confidence))
	b = wire.AppendBytes(b, r.Answer)
	return wire.AppendBytes(b, r.Rationale), nil
}

// UnmarshalBinary reads exactly what AppendBinary writes. It fails if the body is
// longer than MaxLongBody, is malformed, or has a confidence outside [0,1].
func (r *Response) UnmarshalBinary(b []byte) error {
	if len(b) < 1+8 || len(b) > MaxLongBody || b[0] != 1 {
		return errResponse
	}
	confidence := math.Float64frombits(binary.BigEndian.Uint64(b[1:]))
	answer, rest, ok := cutBytes(b[1+8:], MaxLong)
	rationale, rest, also := cutBytes(rest, MaxBody)
	if !(confidence >= 0 && confidence <= 1) || !ok || !also || len(rest) > 0 { // NaN too
		return errResponse
	}
	if string(r.Answer) != string(answer) { // a neighbour often repeats its answer: keep that string
		r.Answer = Answer(answer)
	}
	if r.Rationale != string(rationale) {
		r.Rationale = string(rationale)
	}
	r.Confidence = confidence
	return nil
}

var errResponse = fmt.Errorf("synod: response: %w", wire.ErrMalformed)

// briefly is the length in bytes of the longest answer that is its own Brief.
const briefly = 256

// Brief returns the answer, or if it is long, a hash of it.
func (a Answer) Brief() Answer {
	if len(a) <= briefly {
		return a
	}
	return Answer(fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(a))))
}

// cutBytes returns a byte string that wire.AppendBytes has written, of at most max bytes, and what
// follows it. A Reader would take twice as long, and a simulation reads millions of responses.
func cutBytes(b []byte, max uint32) (s, rest []byte, ok bool) {
	if len(b) < 4 {
		return nil, nil, false
	}
	n := binary.BigEndian.Uint32(b)
	if b = b[4:]; n > max || uint64(n) > uint64(len(b)) {
		return nil, nil, false
	}
	return b[:n], b[n:], true
}

// The String methods below return one line each, for transcripts.

func (Begin) String() string { return "begin" }
func (Halt) String() string  { return "halt" }

func (e Heard) String() string    { return fmt.Sprintf("heard %s", e.Message) }
func (e Expired) String() string  { return fmt.Sprintf("alarm %d expired", e.ID) }
func (e Answered) String() string { return fmt.Sprintf("answered %d: %s", e.ID, e.Reply) }

func (x Send) String() string    { return fmt.Sprintf("send to %s: %s", ids(x.To), x.Message) }
func (x Consult) String() string { return fmt.Sprintf("consult %d: %s", x.ID, x.Prompt) }
func (x Alarm) String() string   { return fmt.Sprintf("alarm %d at tick %d", x.ID, x.At) }
func (x Note) String() string    { return fmt.Sprintf("note %s", x.Opinion) }
func (x Decide) String() string  { return fmt.Sprintf("decide %s", x.Answer) }

func (x Opened) String() string {
	parts := make([]string, len(x.First))
	for i, g := range x.First {
		parts[i] = fmt.Sprintf("n%d %s", g.Of, g.Answer)
	}
	return "opened " + strings.Join(parts, ", ")
}

// String quotes the answer. None is a dash.
func (a Answer) String() string {
	if a == None {
		return "–"
	}
	return fmt.Sprintf("%q", string(a))
}

func (s Slot) String() string { return fmt.Sprintf("%s/%d", s.Name, s.Round) }

func (m *Message) String() string {
	var r Response
	if r.UnmarshalBinary(m.Body) == nil {
		if r.Confidence > 0 {
			return fmt.Sprintf("n%d %s %s sure %.2f", m.From, m.Slot, r.Answer, r.Confidence)
		}
		return fmt.Sprintf("n%d %s %s", m.From, m.Slot, r.Answer)
	}
	return fmt.Sprintf("n%d %s %d bytes", m.From, m.Slot, len(m.Body))
}

func (r *Reply) String() string {
	switch {
	case r.Status != OK:
		return string(r.Status)
	case r.Typed && r.Answer != None:
		return r.Answer.String()
	case r.Typed:
		return fmt.Sprintf("%.2f", r.Value)
	}
	return fmt.Sprintf("%q", r.Text)
}

func (p *Prompt) String() string {
	var s strings.Builder
	s.WriteString(string(p.Purpose))
	if p.Candidate != None {
		fmt.Fprintf(&s, " %s", p.Candidate)
	}
	if p.Own != None {
		fmt.Fprintf(&s, " own %s", p.Own)
	}
	if p.Detail != nil {
		writePart(&s, p.Detail.String())
	}
	for _, q := range p.Peers {
		fmt.Fprintf(&s, " · %s at %s", q.Answer, q.Score)
	}
	return s.String()
}

func (o *Opinion) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "t=%d holds %s (%s)", o.Round, o.Answer, o.Source)
	if len(o.From) > 0 {
		fmt.Fprintf(&s, " from %s", ids(o.From))
	}
	if o.Confidence != nil {
		fmt.Fprintf(&s, " sure %.2f", *o.Confidence)
	}
	for i, j := range o.Scores {
		if i == 0 {
			s.WriteString(" scores")
		}
		fmt.Fprintf(&s, " n%d=%s", j.Of, j.Score)
	}
	for _, set := range []struct {
		name  string
		nodes []NodeID
	}{{"retained", o.Retained}, {"dropped", o.Dropped}, {"silent", o.Silent}, {"suspects", o.Suspects}} {
		if len(set.nodes) > 0 {
			fmt.Fprintf(&s, " %s %s", set.name, ids(set.nodes))
		}
	}
	if o.Record != nil {
		writePart(&s, o.Record.String())
	}
	for _, n := range []struct {
		name  string
		count int
	}{{"failed", o.Failed}, {"garbled", o.Unreadable}, {"unsure", o.Unsure}, {"reused", o.Reused}} {
		if n.count > 0 {
			fmt.Fprintf(&s, " %s %d", n.name, n.count)
		}
	}
	return s.String()
}

func ids(nodes []NodeID) string {
	parts := make([]string, len(nodes))
	for i, n := range nodes {
		parts[i] = fmt.Sprintf("n%d", n)
	}
	return strings.Join(parts, ",")
}

// writePart writes a space and the text, or nothing if the text is empty.
func writePart(s *strings.Builder, text string) {
	if text != "" {
		s.WriteByte(' ')
		s.WriteString(text)
	}
}
