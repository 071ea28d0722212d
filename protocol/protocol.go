// Package protocol defines what a council expects of a protocol, and the catalogue of
// protocols. Each protocol has a folder of its own below this one, with its code,
// prompts and transcripts. Package protocol/builtin puts these protocols into the
// catalogue; programs of other modules add theirs with Catalogue.Add.
package protocol

import (
	"io/fs"

	"synod.dev/synod"
)

// Protocol is a protocol with its parameters as documented struct fields.
type Protocol interface {
	synod.Protocol
	Validate() error
	// Paper sets whatever "exact: paper" means for it.
	Paper()
	// Calls is how many model calls a run makes at most for members of the given
	// degrees, retries aside.
	Calls(degrees []int) int
	// MaxRounds is how many rounds a run has at most.
	MaxRounds() int
	// Settles reports that a round in which every call succeeded and no answer
	// changed would repeat itself for ever.
	Settles() bool
}

// Casting is implemented by a protocol that tells roles apart: every seat must
// have one of them.
type Casting interface{ Roles() []synod.Role }

// Electorate is implemented by a protocol in which not every seat has a vote.
type Electorate interface {
	// Votes reports whether a seat has a vote in a council of the given cast; its
	// length is the number of seats.
	Votes(seat synod.NodeID, cast []synod.Role) bool
}

// Formal is implemented by a protocol that decides questions of some forms only.
type Formal interface{ Forms() []synod.Form }

// Guaranteed is implemented by a protocol that promises something on a graph that
// is robust enough.
type Guaranteed interface {
	// Guarantee is what holds for the bound f on an r-robust graph: the name of the
	// property, "" if none holds, and a sentence for people that says so. exact says
	// that r is the graph's robustness; else it has at least that.
	Guarantee(f, r int, exact bool) (name, note string)
}

// RoundClaims is implemented by a protocol whose guarantee is about each round by
// itself: other seats may be faulty in another round.
type RoundClaims interface{ ClaimsEachRound() bool }

// Concluding is implemented by a protocol whose own last step makes the decision
// of what the members hold at the end; the council's rule "protocol" calls it.
type Concluding interface {
	// Conclude is the decision of the last opinions, one a voting seat; None where
	// they make none.
	Conclude(last []synod.Opinion) synod.Answer
}

// Accepting is implemented by a protocol whose members reply to a user, who takes
// an answer on enough of their signed replies. It is then the default rule of its
// councils, under the name "protocol".
type Accepting interface {
	// Accept is what a user makes of the last opinions, by seat: an answer, None if
	// there is none. enough reports that as many signed replies came as it takes; why
	// says it all for people.
	Accept(last []synod.Opinion, cast []synod.Role, f int, check synod.Verifier) (a synod.Answer, enough bool, why string)
	// Replied reports that a seat has signed the answer that it holds.
	Replied(seat synod.NodeID, last *synod.Opinion, check synod.Verifier) bool
}

// Certified is implemented by a protocol whose records a third party can check.
type Certified interface {
	// Verify checks the record of one opinion against the keys of the committee. It
	// returns nil and no error if the opinion has nothing to check.
	Verify(VerifyInput) (*Verified, error)
}

// VerifyInput is what a third party knows of the opinion that it checks.
type VerifyInput struct {
	Self     synod.NodeID // whose opinion it is
	Opinion  *synod.Opinion
	Question *synod.Question
	N        int          // the number of seats
	Cast     []synod.Role // the role of every seat; nil in a protocol without roles
	F        int
	Check    synod.Verifier            // the keys of the committee
	Name     func(synod.NodeID) string // the name of a seat
}

// Verified says what a record proves.
type Verified struct {
	Claims    []string // what follows from the signatures, one sentence each
	NotProved []string // what a reader could expect and does not follow
}

// Presenter is implemented by a protocol whose records are shown in the outcome of a
// run.
type Presenter interface {
	// Present returns what to show of the last opinions, by seat, or nil.
	Present(last []synod.Opinion, v View) *Presentation
}

// View is what a Presenter may use.
type View struct {
	Accepted synod.Answer // the council's answer; None if there is none
	Cast     []synod.Role
	Check    synod.Verifier
	Name     func(synod.NodeID) string        // the name of a seat
	Show     func(synod.Answer) *synod.Answer // an answer as people are to see it; nil for None
}

// Presentation is what a protocol adds to an outcome.
type Presentation struct {
	Key    string   // the name of Value in the outcome's JSON
	Value  any      // encodable as JSON
	Voters string   // what the voting seats are called, for example "evaluators"
	Count  int      // how many voting seats there are
	Lines  []string // Value for people
}

// RoundPresenter is implemented by a protocol whose records have fields that are
// shown in every round.
type RoundPresenter interface {
	// PresentRound returns fields of an opinion by their JSON names; nil: none.
	PresentRound(o *synod.Opinion, name func(synod.NodeID) string) map[string]any
}

// Ranking is implemented by a protocol whose records rank answers.
type Ranking interface {
	// Ranked returns the answers of an opinion's record, the best first; nil: it has none.
	Ranked(o *synod.Opinion) []synod.Answer
}

// Answering is implemented by a protocol in which other seats give an independent
// answer in round 0 than have a vote.
type Answering interface {
	Answers(seat synod.NodeID, cast []synod.Role) bool
}

// Suiting is implemented by a protocol that not every cast can play with every
// bound f.
type Suiting interface {
	// Suits reports why this cast cannot play with this f, and the largest f it can.
	Suits(cast []synod.Role, f int) error
}

// Signing is implemented by a protocol whose seats sign what they say.
type Signing interface{ Signs() bool }

// AllToAll is implemented by a protocol whose members must all hear one another.
type AllToAll interface{ AllToAll() bool }

// Ending is implemented by a protocol whose runs end in one of a few named ways,
// which only the experimenter can tell apart.
type Ending interface {
	// Endings lists the ways in the order in which they are reported.
	Endings() []string
	// Ended is the way in which a run ended, and after which round; 0: after none.
	// notes are by seat, ascending by round.
	Ended(notes [][]*synod.Opinion, honest []bool) (way string, round int)
}

// Entry is a protocol's line in the catalogue.
type Entry struct {
	synod.Entry
	Source  string // the paper
	About   string // a few paragraphs for "synod explain"
	New     func() Protocol
	Prompts func() fs.FS
}

// Catalogue lists the protocols.
var Catalogue = synod.NewCatalogue[Entry]("protocol")
