package node

import (
	"time"

	"synod.dev/synod"
)

// Observer is told what a node does while it does it; a tracer implements it. Its methods are called from several
// goroutines and must return at once. What it is told has no text of a question, a prompt or a reply.
type Observer interface {
	// Run begins a run of a question.
	Run(r ObservedRun) RunObserver
	// Refused reports what the node did not take or not sign. kind is one of the constants below; run is "" if it is
	// not known, and peer if no neighbour sent it.
	Refused(kind, run, peer string, err error)
}

// The kinds of what a node refuses.
const (
	RefusedQuestion = "question" // it does not take part in a run
	RefusedStream   = "stream"   // a neighbour's stream was closed because of a frame on it
	RefusedValue    = "value"    // it does not sign a value
)

// ObservedRun is a run that begins.
type ObservedRun struct {
	Run     string // its instance
	Form    synod.Form
	Model   string    // that the seat asks
	Begins  time.Time // the agreed start
	Resumed bool      // it goes on from its journal
}

// RunObserver is told what happens in one run.
type RunObserver interface {
	// Round reports that the seat has the opinion of a round. Round 0 is its first answer.
	Round(round int, at synod.Tick)
	// Call reports that a model call begins; the function that it returns reports its end.
	Call(id synod.ConsultID, at synod.Tick) (end func(ObservedCall))
	// End reports the end of the seat's part, and why it has ended. It is called once.
	End(stopped string, calls int)
}

// ObservedCall is a model call that has ended.
type ObservedCall struct {
	Status             synod.Status
	Requests           int // sent for the call, retries included
	Prompt, Completion int // tokens
	Reused             bool
}

// unobserved is the Observer of a node that has none.
type unobserved struct{}

func (unobserved) Run(ObservedRun) RunObserver                         { return unobserved{} }
func (unobserved) Refused(_, _, _ string, _ error)                     {}
func (unobserved) Round(int, synod.Tick)                               {}
func (unobserved) End(string, int)                                     {}
func (unobserved) Call(synod.ConsultID, synod.Tick) func(ObservedCall) { return func(ObservedCall) {} }
