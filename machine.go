package synod

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
