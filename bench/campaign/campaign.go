// Package campaign tries the claims of this module in many random executions. An execution is drawn from a seed: a
// protocol with its parameters, a graph, a bound F, Byzantine members, and a schedule of faults as a list of events. It
// is played under package sim with the machines that councils use, and all claims of its protocol are checked in it.
//
//	x := campaign.Draw("sac", 42, campaign.Want{})
//	r := campaign.NewPlayer().Play(&x)
//	for _, v := range r.Violations {
//		fmt.Println(v.Claim, v.Detail)
//	}
//
// Run plays many executions on all processors and keeps a Tally in a folder; Shrink makes a failing execution small;
// Save and Load keep one as a file. The same code is behind "synod campaign", "synod verify-claims" and the tests of
// the protocols.
//
// The package has rank 7: it knows protocols and adversaries. It is no test code, because it runs on users' machines.
package campaign

import (
	"fmt"
	"slices"
	"sync"

	"synod.dev/synod"
)

// Model is the fault model under which a claim holds.
type Model string

// The fault models.
const (
	Any   Model = "any"  // whatever is sent, lost, late or failed, above the bound F too
	Sync  Model = "S(f)" // messages within the bound on delays, unforgeable signatures, at most f Byzantine members
	Local Model = "L(F)" // the same with at most F Byzantine neighbours of each member
	Async Model = "A"    // delays without bound; signatures still hold; at most f Byzantine members
	Crash Model = "C"    // crash and restart at any event; what was durable survives
	Disk  Model = "D"    // changed and torn bytes on a disk
	Calls Model = "P"    // model servers that fail in any way
)

// Claim is a property that must hold in every execution of its protocols under its fault model.
type Claim struct {
	ID        string   `json:"id"`
	Property  string   `json:"property"` // one sentence
	Model     Model    `json:"fault_model"`
	Source    string   `json:"source"`                 // section of a paper, or the name of a finding
	Margin    string   `json:"margin_means,omitempty"` // what the smallest margin means; "": the claim has none
	Protocols []string `json:"protocols"`              // names of subjects
}

// Claims returns all claims, in the order of subjects, each with all its protocols.
func Claims() (all []Claim) {
	for _, s := range subjects {
		for _, c := range s.claims {
			i := slices.IndexFunc(all, func(o Claim) bool { return o.ID == c.ID })
			if i < 0 {
				i, all = len(all), append(all, c)
			}
			all[i].Protocols = append(slices.Clip(all[i].Protocols), s.name)
		}
	}
	return all
}

// Violation is a claim that did not hold in an execution.
type Violation struct {
	Claim  string `json:"claim"`
	Detail string `json:"detail"`
}

func (v Violation) String() string { return v.Claim + ": " + v.Detail }

// subject is what executions are of: a protocol, or a building block such as signed broadcast.
type subject struct {
	name      string
	share     float64 // of the executions of a campaign that no minimum demands
	sweep     uint64  // executions number 0 to sweep-1 are all that there are; 0: they are drawn at random
	claims    []Claim
	states    []string   // situations that must occur in a campaign: the report is red if one never does
	signs     bool       // messages are signed, so that faults of signatures mean something
	counts    bool       // the messages of honest members are counted
	private   bool       // members write notes that nobody else may read
	exchanges bool       // members exchange answers in rounds
	bare      bool       // executions have no faults of the catalogue and no adversaries
	form      synod.Form // of the question; "": a number
	also      []string   // adversaries that apply although their entries do not name the subject

	// setup draws parameters, size, graph, roles and the bound of an execution. It leaves faults to the caller.
	setup   func(c chance, x *Execution)
	horizon func(x *Execution) synod.Tick // about when an execution ends
	// build returns the protocol with its parameters; a player calls it once for each text of parameters.
	build func(p *Player, params string) (synod.Protocol, error)
	check func(t *trace) // all claims of the subject beside those that all subjects have
	// own returns what the machines of the subject record in; nil: nothing
	own func(x *Execution) any
	// disk plays an execution that has no machines, but a disk with a ledger or journals on it, or hostile callers;
	// nil: it has machines
	disk func(t *trace)
	// again plays some executions once more, with a change that must change nothing; nil: it does not
	again func(p *Player, t *trace)

	once  sync.Once
	seats []string // see adversaries
}

// subjects are in the order of reports.
var subjects = []*subject{
	sacSubject, broadcastSubject, decentSubject, rotatingSubject, fixedSubject, gameSubject, cpwbftSubject, wmsrSubject,
	cascadeSubject, panelSubject, twinsSubject,
	ordinary("debate", 10, "{}", "{rounds: 2}"), ordinary("majority", 6, "{}"), singleSubject,
	ordinary("self-consistency", 5, "{}"), ordinary("weighted-majority", 6, "{}"),
	ledgerDisk, journalDisk, callersSubject,
}

// Subjects returns the names of all subjects in the order of reports.
func Subjects() (names []string) {
	for _, s := range subjects {
		names = append(names, s.name)
	}
	return names
}

func subjectOf(name string) (*subject, error) {
	for _, s := range subjects {
		if s.name == name {
			return s, nil
		}
	}
	return nil, fmt.Errorf("campaign: nothing is called %q%s; there are: %v", name, synod.Hint(name, Subjects()),
		Subjects())
}
