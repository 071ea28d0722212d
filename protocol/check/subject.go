package check

import (
	"reflect"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/internal/reference"
)

// Subject is how campaigns try a protocol.
type Subject struct {
	Name   string   // "": the name of the protocol
	Place  int      // in reports, ascending; 0: after those with a place, by name
	Share  float64  // of the executions of a campaign that no minimum demands; 0: 1
	Claims []Claim  // beside those of all subjects
	Never  []string // claims of all subjects that can never apply here
	States []string // situations that must occur in a campaign: its report is red if one never does
	Relies []string // claims without runs, about rules and parsers, on which the protocol relies

	Signs     bool       // messages are signed, so that faults of signatures mean something
	Exchanges bool       // members exchange answers in rounds, and note one opinion a round
	Form      synod.Form // of the question: synod.Prose or synod.Number; "": a number
	Also      []string   // adversaries that are seated although their traits do not admit the protocol
	Uncounted synod.Role // a role that the bound F does not count; "": there is none

	// Setup draws parameters, size, graph, roles and the bound of an execution. It leaves faults to the campaign.
	Setup   func(c Chance, x *Case)
	Horizon func(x *Case) synod.Tick // about when an execution ends
	Check   func(t *Trace)           // checks Claims; nil: there is nothing more to check
	// Decision is the claim that says that a council decides what a slow reference computes from the records; "": none
	// does, and reports are red.
	Decision string
	// Step says what the protocol's own step chooses, by the reference; nil: councils count last answers.
	Step func(t *Trace) reference.Step
	// Changes must change no opinion of honest members. One of 16 executions is played again with one of them.
	Changes []Change
	// Watch wraps the machine of an honest seat, to see what it sends and asks; nil: nothing is watched.
	Watch func(t *Trace, self synod.NodeID, m synod.Machine) synod.Machine
	// Reply changes the reply of a simulated member; nil: it stays.
	Reply func(t *Trace, by synod.NodeID, p *synod.Prompt, r synod.Reply) synod.Reply

	// Within are the types of values that stand as bytes in messages, such as what is broadcast. Insiders change those,
	// too. They must implement encoding.BinaryUnmarshaler and, as pointers, encoding.BinaryAppender.
	Within []reflect.Type

	// Twins says that all schedules of four members are played, of whom the last one has two copies with one key (Bano
	// et al., "Twins: BFT Systems Made Robust"). Setup then sets only Params, in which the members play four views of
	// TwinView ticks each.
	Twins bool

	// Council is how councils play the protocol in trials of budgets and keys, as in a council file; "": not at all.
	Council string
	Trials  []Trial
}

// TwinView is the length of a view in executions with Twins.
const TwinView synod.Tick = 32

// TwinViews is the number of views in them.
const TwinViews = 4

// Change is a change of an execution that must change nothing that honest members note.
type Change struct {
	Claim  string // which says so
	Double bool   // every message to an honest member arrives twice
	// Message returns what arrives in place of a message; nil: messages stay.
	Message func(t *Trace, to synod.NodeID, m *synod.Message) *synod.Message
}

// Ordinary returns the subject of a protocol whose members exchange answers and that promises nothing more. params are
// parameters as YAML mappings, of which each execution draws one.
func Ordinary(share float64, params ...string) Subject {
	return Subject{
		Share: share, Exchanges: true,
		States: []string{"answer own", "answer absent"},
		Setup: func(c Chance, x *Case) {
			x.N = 4 + c.IntN(4)
			x.F = 1 + c.IntN((x.N-1)/2)
			x.Params = params[c.IntN(len(params))]
		},
		Horizon: func(*Case) synod.Tick { return 10 },
	}
}

// Staged is Ordinary for a protocol whose members do not exchange answers in rounds.
func Staged(share float64, form synod.Form, params ...string) Subject {
	s := Ordinary(share, params...)
	s.Exchanges, s.Form, s.States = false, form, []string{"answers", "no answer"}
	s.Horizon = func(*Case) synod.Tick { return 60 }
	s.Check = (*Trace).Answered
	return s
}

// Deciding returns the subject with a claim about the decision: it is what a slow reference computes from the records.
// property says in a few words what that is. step is Subject.Step.
func (s Subject) Deciding(id, property, source string, step func(*Trace) reference.Step) Subject {
	s.Claims = append(slices.Clip(s.Claims), Claim{ID: id, Model: Any, Source: source,
		Property: "the decision is that of a slow reference: " + property})
	s.Decision, s.Step = id, step
	return s
}

// Saying returns the subject with the trial of a claim about what the protocol says of a council before it runs. try
// draws a council.
func (s Subject) Saying(id, source string, try func(t *Tried)) Subject {
	s.Trials = append(slices.Clip(s.Trials), Trial{Claim: Claim{ID: id, Model: Any, Source: source,
		Property: "which bounds a council accepts, what it guarantees and how many calls it makes at most are what a " +
			"second program computes"}, Kind: Rules, Try: try})
	return s
}

// At returns the subject with a place in reports.
func (s Subject) At(place int) Subject {
	s.Place = place
	return s
}
