// Package synod holds the vocabulary that every other package speaks: who sits
// in a council, what is asked, what is said, and the two lists (events, effects)
// through which a protocol touches the world.
//
// A protocol is a deterministic function from events to effects, and a model
// call is one more effect (Consult) whose reply comes back as an event
// (Answered). So the same protocol code runs under a simulator, on real
// machines, and from a journal, and it cannot tell which:
//
//	Begin, Heard, Answered, Expired, Halt  ->  Step  ->  Send, Consult, Alarm, Note, Decide
//
// The package is pure: no clock, no network, no chance but the one that comes
// with a Seat. Nothing here knows of any protocol, model or adversary by name.
package synod
