// Package protocol defines what a council expects of a protocol. Each protocol has a
// folder of its own below this one, with its code, prompts and transcripts. Package
// protocol/catalog lists them; programs of other modules add theirs to that list.
package protocol

import (
	"fmt"
	"io/fs"

	"synod.dev/synod"
	"synod.dev/synod/core/param"
	"synod.dev/synod/core/robust"
	"synod.dev/synod/protocol/check"
)

// Protocol is a protocol with its parameters as documented struct fields. Their tags range and enum say what they may
// be.
type Protocol interface {
	synod.Protocol
	// Paper sets what the council key "exact: paper" means for this protocol.
	Paper()
	// Calls returns the largest number of model calls of a run, without retries, for
	// members of the given degrees.
	Calls(degrees []int) int
	// MaxRounds returns the largest number of rounds of a run.
	MaxRounds() int
	// Settles reports whether a round in which every call succeeded and no answer changed
	// would repeat itself for ever.
	Settles() bool
}

// Casting is implemented by a protocol with roles. Every seat must have one of them.
type Casting interface{ Roles() []synod.Role }

// Electorate is implemented by a protocol in which not every seat has a vote.
type Electorate interface {
	// Votes reports whether a seat has a vote. cast has the role of every seat.
	Votes(seat synod.NodeID, cast []synod.Role) bool
}

// Respondents is implemented by a protocol with votes in which other seats are asked for an
// answer of their own than have a vote. Without it, those with a vote are asked.
type Respondents interface {
	// Asks reports whether a seat is asked for its own answer to the question.
	Asks(seat synod.NodeID, cast []synod.Role) bool
}

// Validating is implemented by a protocol whose parameters restrict one another, or that tags do not describe.
type Validating interface {
	// Validate returns an error that begins with the protocol's name.
	Validate() error
}

// Formal is implemented by a protocol that decides questions of certain forms only.
type Formal interface{ Forms() []synod.Form }

// Selecting is implemented by a protocol for short answers that also decides prose: its members then choose among
// their texts, and are never asked to write one after they have seen others. A protocol that is Formal lists
// synod.Prose instead.
type Selecting interface{ SelectsProse() bool }

// Guaranteed is implemented by a protocol with a guarantee that depends on the graph.
type Guaranteed interface {
	// Guarantee returns what holds for the bound f on an r-robust graph: the name of the
	// property, "" if none holds, and a sentence for people. exact says that r is the
	// graph's robustness; otherwise r is a lower bound.
	Guarantee(f, r int, exact bool) (name, note string)
}

// Dynamic is implemented by a protocol that may run on a graph which changes from round to round:
// its members send to and wait for the neighbours of the round (synod.Seat.Neighbours).
type Dynamic interface{ Dynamic() bool }

// OverTime is what is known of the robustness of a graph that changes. All numbers are proven
// lower bounds.
type OverTime struct {
	R       int  // the least r of the graphs of all rounds
	Exact   bool // whether that is the exact r of a round
	Repeats bool // the graphs of the run begin again after some rounds
	// Windows returns the least and the largest r of the unions of so many rounds in a row; 0
	// and 0 if the run has fewer rounds.
	Windows func(rounds int) (least, most int)
}

// GuaranteedOverTime is implemented by a protocol that guarantees something on a graph which
// changes, beyond Guaranteed's guarantee for the least r of all rounds. Without it, that one holds
// where the guarantee is about each round by itself (RoundClaims).
type GuaranteedOverTime interface {
	// GuaranteeOverTime is Guarantee for a graph that changes.
	GuaranteeOverTime(f int, g OverTime) (name, note string)
}

// Patient is implemented by a protocol that may claim its guarantee for messages that take
// any time.
type Patient interface {
	// AnyDelay reports whether it does with its present parameters.
	AnyDelay() bool
}

// RoundClaims is implemented by a protocol whose guarantee is about each round by
// itself: other seats may be faulty in another round.
type RoundClaims interface{ ClaimsEachRound() bool }

// Concluding is implemented by a protocol whose last step decides. The council's rule
// "protocol" calls it.
type Concluding interface {
	// Conclude returns the decision from the last opinions of the voting seats; None if
	// there is none.
	Conclude(last []synod.Opinion) synod.Answer
}

// Telling is implemented by a protocol whose members tell one another the answers that they gave before they heard
// others, in slot synod.Respond of round 0. They can commit to these answers first (protocol/reveal).
type Telling interface {
	// TellsFirst reports whether they do, and whether its rounds have fixed ends, with its present parameters.
	TellsFirst() bool
}

// Beginning is implemented by a Telling protocol that does not ask all members in round 0.
type Beginning interface {
	// FirstAsked returns those that it asks, of n members with the bound f.
	FirstAsked(q *synod.Question, n, f int) []synod.NodeID
}

// Staged is implemented by a protocol that asks members in stages and decides from their first answers. Its rule is
// "protocol".
type Staged interface {
	// Decide returns what follows from the opinions of all seats, which may be those of a run that was cut off. It is
	// what the members themselves computed from what they heard.
	Decide(q *synod.Question, noted [][]*synod.Opinion, f int) StagedDecision
}

// Auditing is implemented by a Staged protocol that asks every member of some questions. Only from these may somebody
// learn how reliable members are: who else is asked depends on what others answered.
type Auditing interface {
	Audited(q *synod.Question) bool
}

// Foretelling is implemented by a Staged protocol whose course follows from first answers where members do not change
// them.
type Foretelling interface {
	// Foretell returns what all seats would note, of which Decide computes the decision, if these were their first
	// answers.
	Foretell(q *synod.Question, first []synod.Answer, f int) (noted [][]*synod.Opinion)
}

// StagedDecision is the result of a Staged protocol.
//
// For a question with a JSON answer it says only whom to ask: the first answers of those asked are merged field by
// field.
type StagedDecision struct {
	Answer  synod.Answer // None: undecided
	Why     string
	Order   []synod.NodeID // all seats, in the order in which they are asked until the run stops
	Asked   int            // how many of them were asked until the decision followed
	Lacking bool           // undecided only because members that were asked gave no answer
	// Withstands is what the decision withstands, of the votes that were cast; nil: Fragile says why that is not known.
	Withstands *robust.Withstood
	Fragile    string
	// Probability is how likely the answer is right, or, of an undecided run, the most probable one that more than F
	// members gave; nil: that is not known.
	Probability *Probability
}

// Probability is how likely an answer is right, from questions whose right answer is known.
type Probability struct {
	Value  float64 `json:"value"`
	Low    float64 `json:"low"` // limits of a 95 % interval
	High   float64 `json:"high"`
	Labels int     `json:"labels"` // how many questions it rests on
	// Feedback is how many of Labels are feedback of users, who do not mark all answers alike.
	Feedback int `json:"feedback,omitempty"`
	// Likelihood says that it also rests on how likely models say their answers are.
	Likelihood bool `json:"likelihood,omitempty"`
}

// Weighting is implemented by a protocol whose first answers may be counted with weights. The fields of JSON
// answers are then merged from the first answers, whatever members adopt later.
type Weighting interface {
	// Weight returns the weight of a first answer, from 0 to 1. A member can choose its own.
	Weight(first *synod.Opinion) float64
}

// Grading is implemented by a protocol whose members grade one another's first answers. It merges JSON answers with
// parts that are decided as prose: such a part is taken from the answer with the best grades.
type Grading interface {
	// Graded returns the answers that have a total of enough grades, the best first, from the last opinions by seat.
	Graded(last []synod.Opinion, f int) []GradedAnswer
}

// GradedAnswer is an answer that members graded.
type GradedAnswer struct {
	Of     synod.NodeID
	Answer synod.Answer
}

// WeightedVote is implemented by a protocol of one round in which every member takes the first answer with the largest
// weight of those that it heard and its own.
type WeightedVote interface {
	Weighting
	VotesByWeight() bool
}

// MeanVote is implemented by a protocol that can decide by the highest mean weight of the first answers.
type MeanVote interface {
	Weighting
	// VotesByMean reports whether its last step does so with its present parameters.
	VotesByMean() bool
}

// Accepting is implemented by a protocol whose members reply to a user, who accepts an
// answer if enough signed replies agree. It is the default rule of its councils, under the
// name "protocol".
type Accepting interface {
	// Accept returns the answer that the user accepts, from the last opinions by seat; None
	// if there is none. enough reports whether there were enough signed replies, and why
	// explains the result for people.
	Accept(last []synod.Opinion, cast []synod.Role, f int, check synod.Verifier) (a synod.Answer, enough bool,
		why string)
	// Replied reports whether a seat signed the answer that it holds.
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
	F        int
	Check    synod.Verifier
	Name     func(synod.NodeID) string // the name of a seat
}

// Presentation is what a protocol adds to an outcome.
type Presentation struct {
	Key    string   // the name of Value in the outcome's JSON
	Value  any      // encodable as JSON
	Voters string   // what the voting seats are called, for example "evaluators"
	Count  int      // how many voting seats there are
	Lines  []string // Value for people
	// Head describes the decision in a few words, in place of the number of seats that end on it; "": that
	// number says it.
	Head string
}

// Claiming is implemented by a protocol whose members judge the single sentences of the decision.
type Claiming interface {
	// JudgeClaims sets the parameter that makes them do so: council key "claims: true".
	JudgeClaims()
	// ListClaims returns all sentences of the decision, from the last opinions by seat; nil: none were judged.
	ListClaims(last []synod.Opinion, f int) []Claim
}

// Claim is a sentence of the decision, and who judged it how.
type Claim struct {
	Text                string
	Start, End          int // its bytes in the decision: from Start to before End
	Verdict             ClaimVerdict
	Judged              bool           // a member judged it
	Supporters, Critics []synod.NodeID // ascending; the author is neither
}

// ClaimVerdict is what a council says of a claim.
type ClaimVerdict string

// The verdicts, by the bound F: more than F supporters and at most F critics; more than F critics; all others.
const (
	Supported ClaimVerdict = "supported"
	Disputed  ClaimVerdict = "disputed"
	Open      ClaimVerdict = "open"
)

// Joining is implemented by a protocol whose members can say which short answers mean the same.
type Joining interface {
	// JoinAnswers sets the parameter that makes them do so: council key "same: members".
	JoinAnswers()
	// JoinPrompts returns the protocol's templates with that parameter. They are apart from Entry.Prompts, so that
	// runs without it keep the digests of their templates.
	JoinPrompts() fs.FS
	// SamePairs returns the pairs of answers that an opinion's record calls the same, and whether it has a record of
	// a comparison. Nothing is checked: the record may be a Byzantine member's.
	SamePairs(o *synod.Opinion) (pairs [][2]synod.Answer, asked bool)
}

// Accusing is implemented by a protocol whose records hold evidence of equivocation.
type Accusing interface {
	// Accusations returns the evidence in an opinion's record, each as broadcast.Evidence
	// encodes it. Nothing is checked: the record may be a Byzantine member's.
	Accusations(o *synod.Opinion) [][]byte
}

// Timed is implemented by a Presentation's Value that knows whether messages were in time.
type Timed interface {
	// TimingUnsafe reports whether messages seem to have been later than a round.
	TimingUnsafe() bool
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

// CastChecker is implemented by a protocol that does not tolerate every bound f with every
// cast.
type CastChecker interface {
	// CheckCast returns an error if the cast does not tolerate f. The error names the
	// largest f that it tolerates.
	CheckCast(cast []synod.Role, f int) error
}

// Signing is implemented by a protocol whose seats sign messages.
type Signing interface{ Signs() bool }

// AllToAll is implemented by a protocol whose members must all hear one another.
type AllToAll interface{ AllToAll() bool }

// Priced is implemented by a protocol that asks members in the order of what their answers cost.
type Priced interface {
	// WantsPrices reports whether its parameter prices, one number for each seat, is to be filled in.
	WantsPrices() bool
}

// Ending is implemented by a protocol whose runs end in one of several named ways. To tell
// them apart, one must know which members are honest.
type Ending interface {
	// Endings returns the names of the ways in the order of reports.
	Endings() []string
	// Ended returns how a run ended, and after which round; 0: after none. notes are by seat
	// and ascending by round.
	Ended(notes [][]*synod.Opinion, honest []bool) (way string, round int)
}

// Closing is implemented by a protocol whose members end a run themselves. A run that they
// did not end has no decision, whatever they hold.
type Closing interface {
	// Open says why the members have not ended the run, of whom f may be Byzantine; "" if
	// they have. last is by seat, nil for a seat that noted nothing.
	Open(last []*synod.Opinion, f int) (why string)
}

// Forfeiting is implemented by a protocol that may decide where its guarantee does not hold.
type Forfeiting interface {
	// Forfeits says why the guarantee does not hold for the decision from the last opinions by seat; "" if it does.
	Forfeits(last []synod.Opinion, f int) (why string)
}

// Voiced is implemented by a protocol that counts independent supporters itself.
type Voiced interface {
	// ErrTogether names pairs of seats that are one voice.
	ErrTogether(pairs [][2]synod.NodeID)
}

// Loose is implemented by a protocol that may decide by the members that came, however few.
type Loose interface {
	// DecidesWithoutSome reports whether it does, with its settings.
	DecidesWithoutSome() bool
}

// Unequal is implemented by a protocol that asks cheap members before strong ones, so that the time which the first
// ones take says little about the others.
type Unequal interface {
	// AsksUnequals reports whether it does, with its settings.
	AsksUnequals() bool
}

// Racing is implemented by a Staged protocol whose next members may be called before it asks them. A runner that sees
// all seats then begins these calls early. It changes when calls begin, and not whom the protocol asks.
type Racing interface {
	// Races reports whether they may, with the protocol's settings.
	Races() bool
	// Ahead returns the seats that will probably be asked after those in of, which are being asked; nil: that is not
	// known yet. first has the first answers so far, by seat. late says that a seat of them takes long.
	Ahead(of []synod.NodeID, first []synod.Answer, late bool) []synod.NodeID
	// Asking joins a seat with a machine that only does what it does first when its turn has come: it asks its model
	// for an independent answer.
	Asking(seat synod.Seat) synod.Machine
}

// CheckTraits returns an error if a protocol does something that an entry with declared traits leaves out: then it
// would be neither attacked nor defended there.
func (e *Entry) CheckTraits(p Protocol) error {
	does := func(needs synod.Where, what string) error {
		if !needs.Admits(e.Traits) {
			return fmt.Errorf("protocol %s %s, and does not declare the trait %s", e.Name, what, needs)
		}
		return nil
	}
	if t, ok := p.(Telling); ok && t.TellsFirst() {
		if err := does(synod.With(synod.Tells).Or(synod.Joins), "has members tell first answers"); err != nil {
			return err
		}
	}
	if _, ok := p.(Grading); ok {
		return does(synod.With(synod.Grades), "has members grade answers")
	}
	return nil
}

// Entry is a protocol in the catalogue.
type Entry struct {
	synod.Entry
	// Traits are what its members do, which adversaries and defences match. nil: it does not say, and may have any.
	Traits []synod.Trait
	Source string // the paper
	About  string // the text of "synod explain"
	Exact  string // what "exact: paper" restores, and what it does not, for "synod explain"
	// Default is the form that a council decides with this protocol where its user names none; "": no
	// form. Settings are its parameters then.
	Default  synod.Form
	Settings map[string]any
	New      func() Protocol
	Prompts  func() fs.FS
	// Campaigns are how campaigns try the protocol. nil: with its default parameters, for the claims that all have.
	Campaigns []check.Subject
	// Variable says that what is guaranteed depends on the parameters, so that nobody knows it from the name.
	Variable bool
}

// Verify returns an error for the first parameter of p, a protocol of this entry, that is outside what its tag says, or
// that does not go with the others.
func (e *Entry) Verify(p Protocol) error {
	if err := param.VerifySet(p); err != nil {
		return fmt.Errorf("%s: %w", e.Name, err)
	}
	if v, ok := p.(Validating); ok {
		return v.Validate()
	}
	return nil
}

// Claim returns the name of what the protocol guarantees with its default parameters, for the bound f on a graph of
// robustness r; "": nothing. known is false if that depends on the parameters.
func (e *Entry) Claim(f, r int) (name string, known bool) {
	if e.Variable {
		return "", false
	}
	if g, ok := e.New().(Guaranteed); ok {
		name, _ = g.Guarantee(f, r, true)
	}
	return name, true
}
