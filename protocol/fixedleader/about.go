package fixedleader

import (
	"fmt"
	"synod.dev/synod"
	"synod.dev/synod/protocol"
)

// Entry is the protocol in the catalogue.
var Entry = protocol.Entry{
	Entry:   synod.Entry{Name: "fixed-leader", Summary: "a leader proposes up to three times for a majority's votes, then another leads; DecentLLMs' first rival"},
	Source:  `BlockAgents, as described in Jo, Park, "Byzantine-Robust Decentralized Coordination of LLM Agents", §II`,
	About:   About,
	New:     func() protocol.Protocol { return New() },
	Prompts: Prompts,
}

// About is the protocol in a few paragraphs, for "synod explain".
const About = `Every member answers by itself. Then the first seat leads: it proposes an answer, and
every other compares it with its own by DecentLLMs' five criteria (0 to 20 each) and
votes for it if it marks it no lower. More than half of all votes decide. Where they
do not come, the leader is shown the answers of those who gave no vote and proposes
again, for three rounds in all; then the next seat leads. A silent leader costs its
three rounds too. Proposals and votes are signed and go to all; the graph must be
complete.

guaranteed  under synchrony, while faulty members are silent at worst: no two
            decisions.
not promised  agreement once anyone lies: a leader that proposes two things, or voters
            that hold their votes back, can have two majorities (rotating-leader's
            two phases and its lock are against that). Not that the best answer wins:
            one that beats half of the others' can; whoever holds a better one
            records it, and whoever saw two proposals of a leader has evidence.

propose      what a leader proposes first: own, its answer; best, of all members'
             answers the one that it marks highest; quorum, the one of rank (n+1)/2,
             rounded up, the last that a majority of an odd number accepts
leaders      at most, one after another (4)
rounds       that a leader has (3)
rationale    bytes of reasoning that travel beside an answer (600)
caution      what prompts say of hostile proposals: none or may-exist`

// Guarantee is what members promise one another: the graph is complete, so its
// robustness plays no part.
func (p *FixedLeader) Guarantee(f, _ int, _ bool) (name, note string) {
	return "agreement-crash", fmt.Sprintf("with at most F=%d members that are silent, and no delay beyond an exchange, the others decide alike; one that lies can break it, and nothing says that they are right", f)
}
