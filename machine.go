package synod

// NodeID is a member's place in the council, from 0. Names for people belong to
// the council file; a protocol needs only the order.
type NodeID int32

// Tick is virtual time: whole steps since the instance began. What a tick is in
// seconds is the business of whoever runs the machine.
type Tick int64

// ConsultID numbers the model calls of one node, AlarmID its alarms; both from 0.
type (
	ConsultID uint32
	AlarmID   uint32
)

// Seat is all that an honest member may know (SAC, Remark 4.1): no graph, no
// key, no list of liars.
type Seat struct {
	Self     NodeID
	Role     Role     // "" in a protocol without roles
	Cast     []Role   // of every seat, by NodeID; nil in a protocol without roles
	Peers    []NodeID // whom I hear and who hears me, ascending
	F        int      // the bound on Byzantine peers that the protocol is run for
	Question *Question
	Seed     uint64 // the only source of chance
	Signer   Signer // nil in a protocol that signs nothing
}

// Machine is one member's side of a protocol. Calls of Step are never
// concurrent, and none follows Halt. The effects belong to the machine and are
// valid until its next Step: a wrapper that keeps them copies them.
type Machine interface {
	Step(now Tick, e Event) []Effect
}

// Protocol seats members. Join must not share state between machines.
type Protocol interface {
	Join(Seat) Machine
}

// Event is something that happens to a machine. Exactly the types below
// implement it.
type Event interface{ event() }

// Begin is the first event of every machine.
type Begin struct{}

// Heard delivers a peer's message. The message is shared by all its receivers
// and must not be changed.
type Heard struct{ *Message }

// Answered returns the reply to a Consult, whatever its status.
type Answered struct {
	ID ConsultID
	*Reply
}

// Expired says that the tick of an Alarm has come.
type Expired struct{ ID AlarmID }

// Halt ends the machine: it passes through every wrapper, so nothing is left
// behind.
type Halt struct{}

func (Begin) event()    {}
func (Heard) event()    {}
func (Answered) event() {}
func (Expired) event()  {}
func (Halt) event()     {}

// Effect is something that a machine wants done. Exactly the types below
// implement it.
type Effect interface{ effect() }

// Send gives one message to each of the named peers. Naming them is what lets
// an adversary split one Send in two, and lets a threat model forbid it.
type Send struct {
	To []NodeID
	*Message
}

// Consult asks the member's own model.
type Consult struct {
	ID ConsultID
	*Prompt
}

// Alarm asks for an Expired at the given tick.
type Alarm struct {
	ID AlarmID
	At Tick
}

// Note puts what the member now holds on record.
type Note struct{ *Opinion }

// Decide is the member's final answer, None if it has none.
type Decide struct{ Answer Answer }

func (Send) effect()    {}
func (Consult) effect() {}
func (Alarm) effect()   {}
func (Note) effect()    {}
func (Decide) effect()  {}
