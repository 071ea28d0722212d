package rotatingleader

import (
	"fmt"
	"synod.dev/synod"
	"synod.dev/synod/protocol"
)

// Entry is the protocol in the catalogue.
var Entry = protocol.Entry{
	Entry:   synod.Entry{Name: "rotating-leader", Summary: "each view's leader proposes, a weighted quorum prepares and commits; DecentLLMs' second rival"},
	Source:  `Trusted MultiLLMN, as described in Jo, Park, "Byzantine-Robust Decentralized Coordination of LLM Agents", §II`,
	About:   About,
	New:     func() protocol.Protocol { return New() },
	Prompts: Prompts,
}

// About is the protocol in a few paragraphs, for "synod explain".
const About = `Every member answers by itself. Then views follow one another, each with the next
seat as its leader. The leader proposes an answer; every other compares it with its
own by DecentLLMs' five criteria (0 to 20 each) and votes for it if it marks it no
lower; a quorum prepares it, and again commits it. A view that does not decide, since
its leader is silent, says different things, or proposes what others turn down, costs
its time, and the next seat leads. Proposals and votes are signed and go to all; the
graph must be complete. What members have seen prepared binds them (HotStuff's lock).

A quorum is more than two thirds of the weight, and at least (n+f+1)/2 members.

guaranteed  with f < n/3, and even if messages are late or lost: no two decisions;
            a decision comes with a certificate; a leader that told honest members
            different things leaves evidence with all of them, if messages come in
            time; whoever holds a better answer than the accepted one records it.
            If honest members judge alike and propose: best, and messages come in
            time: a decision in view k+1 after k Byzantine leaders.
not promised  that the best answer wins: one that beats a third of the others' can;
            a decision at all while honest members turn honest leaders down.

propose      what a leader proposes: own, its answer; best, of all members' answers
             the one that it marks highest; quorum, the one of rank (n+1)/3, rounded
             up, the last that two thirds accept where n is not a multiple of three
views        leaders at most, one after another (8)
weights      reputation by seat, 1 to 1000, from outside; none: all the same
rationale    bytes of reasoning that travel beside an answer (600)
caution      what prompts say of hostile proposals: none or may-exist`

// Guarantee is what members promise one another: the graph is complete, so its
// robustness plays no part.
func (p *RotatingLeader) Guarantee(f, _ int, _ bool) (name, note string) {
	return "agreement", fmt.Sprintf("with at most F=%d Byzantine members honest ones never decide differently, whatever is late or lost; not that they decide, nor that they are right", f)
}
