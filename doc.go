// Package synod holds the types that all other packages share: the seats of a
// council, questions and answers, prompts and replies, messages, and the two lists
// (events, effects) through which a protocol touches the world.
//
// A protocol is a deterministic function from events to effects. A model call is
// one more effect (Consult), whose reply comes back as an event (Answered). The
// same protocol code therefore runs under a simulator, on a network, and from a
// journal, and it cannot tell which:
//
//	Begin, Heard, Answered, Expired, Halt  ->  Step  ->  Send, Consult, Alarm, Note, Decide
//
// The package is pure: it uses no clock, no network, and no randomness except the
// seed of a Seat. It knows no protocol, model or adversary by name.
package synod
