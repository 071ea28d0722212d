package sac

import (
	"embed"
	"io/fs"

	"synod.dev/synod"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/answer"
)

// Entry is the protocol in the catalogue.
var Entry = protocol.Entry{
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
rationale    bytes of reasoning that travel beside an answer (0: answers alone)`,
	New:     func() protocol.Protocol { return New() },
	Prompts: Prompts,
}

//go:embed prompts/*.tmpl
var files embed.FS

// Prompts are the protocol's templates, in our words; a council file's prompts
// folder replaces them page by page.
func Prompts() fs.FS { return answer.With(files) }
