package decentllms

import (
	"fmt"
	"synod.dev/synod"
	"synod.dev/synod/protocol"
)

// Entry is the protocol in the catalogue.
var Entry = protocol.Entry{
	Entry:   synod.Entry{Name: "decentllms", Summary: "DecentLLMs: workers answer, evaluators mark; signed broadcast and a robust aggregate pick the best"},
	Source:  `Jo, Park, "Byzantine-Robust Decentralized Coordination of LLM Agents"`,
	About:   About,
	New:     func() protocol.Protocol { return New() },
	Prompts: Prompts,
}

// About is the protocol in a few paragraphs, for "synod explain".
const About = `Seats have a role. Workers answer the question and never hear one another.
Every answer reaches all evaluators by signed broadcast; each evaluator marks each
answer from 0 to 20 by five criteria (factual contradiction, factual fabrication,
instruction inconsistency, context inconsistency, logical inconsistency), one answer
a call, and broadcasts its marks. Each aggregates all marks so that a minority cannot
drag them, and replies with the answer of the highest total, signed. Equal totals
are cut by a hash whose salt was not known when answers were given. Only evaluators
vote; f is the bound on Byzantine evaluators, and the graph must be complete.

guaranteed  under synchrony and with at most f Byzantine evaluators: all honest ones
            hold the same answers and marks and reply alike, bit for bit, in a time
            that does not depend on what workers do; with median-total every score
            lies in the range of the honest marks.
measured    that the answer with the best marks is right.
not promised  correctness; with geometric-median (the paper's) a score may leave the
            range of the honest marks; that honest evaluators reply alike once delays
            exceed a round: an evaluator that knows for sure then replies that there is
            no decision, one that only suspects it (which a liar can bring about) marks
            its record unsafe.

aggregate    geometric-median, median-total, coordinate-median, trimmed-mean, krum,
             bulyan (geometric-median)
judge        one: an evaluator sees one answer a call; all: all in one, as in the paper
rationale    bytes of a worker's reasoning that evaluators see (1000)
caution      what prompts say of hostile answers: none or may-exist`

// Guarantee is what evaluators promise one another: the graph is complete, so its
// robustness plays no part.
func (p *DecentLLMs) Guarantee(f, _ int, _ bool) (name, note string) {
	return "agreement", fmt.Sprintf("with at most F=%d Byzantine evaluators and no delay beyond a round, honest evaluators reply alike; not that they are right", f)
}
