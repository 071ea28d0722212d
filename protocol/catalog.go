// Package protocol is the table of protocols. Each protocol has a folder of its
// own below this one, with code, prompts and transcripts; its name stands here
// and nowhere else.
package protocol

import (
	"io/fs"

	"synod.dev/synod"
	"synod.dev/synod/protocol/cpwbft"
	"synod.dev/synod/protocol/decentllms"
	"synod.dev/synod/protocol/fixedleader"
	"synod.dev/synod/protocol/game"
	"synod.dev/synod/protocol/rotatingleader"
	"synod.dev/synod/protocol/sac"
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

// Recording is implemented by a protocol whose members keep a record that a third
// party can check (synod.Panel).
type Recording interface {
	// Verify checks the opinion of a seat that has a Panel, against the keys of the run.
	Verify(self synod.NodeID, o *synod.Opinion, q *synod.Question, cast []synod.Role, f int, check synod.Verifier) error
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

// Catalogue lists every protocol.
var Catalogue = synod.NewCatalogue("protocol",
	singleEntry, majorityEntry, weightedMajorityEntry, selfConsistencyEntry, debateEntry, wMSREntry,
	Entry{
		Entry:   synod.Entry{Name: "cp-wbft", Summary: "CP-WBFT: say how sure you are, adopt what is said with more confidence; a baseline that one liar captures"},
		Source:  `Zheng et al., "Rethinking the Reliability of Multi-agent Systems: A Perspective from Byzantine Fault Tolerance", arXiv 2511.10400`,
		About:   cpwbft.About,
		New:     func() Protocol { return cpwbft.New() },
		Prompts: cpwbft.Prompts,
	},
	Entry{
		Entry:   synod.Entry{Name: "decentllms", Summary: "DecentLLMs: workers answer, evaluators mark; signed broadcast and a robust aggregate pick the best"},
		Source:  `Jo, Park, "Byzantine-Robust Decentralized Coordination of LLM Agents"`,
		About:   decentllms.About,
		New:     func() Protocol { return decentllms.New() },
		Prompts: decentllms.Prompts,
	},
	Entry{
		Entry:   synod.Entry{Name: "fixed-leader", Summary: "a leader proposes up to three times for a majority's votes, then another leads; DecentLLMs' first rival"},
		Source:  `BlockAgents, as described in Jo, Park, "Byzantine-Robust Decentralized Coordination of LLM Agents", §II`,
		About:   fixedleader.About,
		New:     func() Protocol { return fixedleader.New() },
		Prompts: fixedleader.Prompts,
	},
	Entry{
		Entry:   synod.Entry{Name: "rotating-leader", Summary: "each view's leader proposes, a weighted quorum prepares and commits; DecentLLMs' second rival"},
		Source:  `Trusted MultiLLMN, as described in Jo, Park, "Byzantine-Robust Decentralized Coordination of LLM Agents", §II`,
		About:   rotatingleader.About,
		New:     func() Protocol { return rotatingleader.New() },
		Prompts: rotatingleader.Prompts,
	},
	Entry{
		Entry:   synod.Entry{Name: "game", Summary: "the Byzantine consensus game: propose a number, hear all, vote to stop"},
		Source:  `Berdoz, Rugli, Wattenhofer, "Can AI Agents Agree?"`,
		About:   game.About,
		New:     func() Protocol { return game.New() },
		Prompts: game.Prompts,
	},
	Entry{
		Entry:  synod.Entry{Name: "sac", Summary: "Self-Anchored Consensus: score what neighbours say, drop up to F below oneself, refine"},
		Source: `Lee et al., "Robust Multi-Agent LLMs under Byzantine Faults", arXiv 2605.09076`,
		About: `Every member answers by itself. Then, for a number of rounds, it tells its
neighbours its answer, scores theirs and its own with its own model, drops at
most F of those that it scores below itself, and answers again in the light of
the rest. Nothing that a sender says about itself is looked at.

guaranteed  on an r-robust graph with at most F Byzantine neighbours each:
            r >= F+1: no retained answer scores below the lowest-scored reliable
            one (Property 4.2, at reliable members), and what is retained still
            links everyone to some root (Property 4.3);
            r >= 2F+1: reliable members alone stay linked (4.3-strong).
measured    that good judges carry right answers to weak members.
not promised  agreement, correctness, anything once a judge is fooled.

rounds       T, the number of rounds (6)
score        stated: the model writes a number; likelihood: the mean log-probability
             it gives the answer's text (members in the box only)
strict-trim  true: drop the F lowest whatever the self-score, which extends 4.2 to
             faulty members
caution      what prompts say of hostile peers: none, may-exist, or bound (names F)
rationale    bytes of reasoning that travel beside an answer (0: answers alone)
within       ticks that an exchange may take (4)`,
		New:     func() Protocol { return sac.New() },
		Prompts: sac.Prompts,
	},
)
