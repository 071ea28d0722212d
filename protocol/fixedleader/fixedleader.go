// Package fixedleader is the rival that DecentLLMs (§II, Fig. 3a, §V) calls
// fixed-leader, debate-style consensus: BlockAgents. A leader proposes an answer, the
// others vote, and where no majority votes for it the leader hears their answers and
// proposes again, up to three rounds; then another leads.
//
// The paper names the steps and leaves the rest open. This is what we do:
//
//   - members answer themselves and vote, and lead in the order of seats. In
//     BlockAgents workers answer, evaluators vote, and who is first to make a block
//     leads;
//   - a vote compares the proposal with the member's own answer by DecentLLMs' five
//     criteria; no worse is a vote (under exact: better);
//   - what is debated is the leader's proposal: it is shown the answers and reasons of
//     those who did not vote for it. Blocks and rewards are not played;
//   - a majority's signatures are a certificate, which members pass on.
//
// One phase and a plain majority are weak, and kept so. A leader that proposes two
// things can have a majority for each, and so can voters that hold votes of one round
// back until another is decided. Under synchrony, with faulty members that are silent
// at worst, honest members decide alike.
package fixedleader

import (
	"embed"
	"fmt"
	"io/fs"

	"synod.dev/synod"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/answer"
	"synod.dev/synod/protocol/leader"
	"synod.dev/synod/script"
)

// FixedLeader holds the protocol's parameters.
type FixedLeader struct {
	leader.Params `yaml:",inline"`
	Leaders       int `yaml:"leaders" json:"leaders"` // at most, one after another
	Rounds        int `yaml:"rounds" json:"rounds"`   // that a leader has
}

// New returns the paper's three rounds a leader.
func New() *FixedLeader { return &FixedLeader{Params: leader.Defaults(), Leaders: 4, Rounds: 3} }

// Validate returns an error for the first parameter that is out of its range.
func (p *FixedLeader) Validate() error {
	if err := answer.Check("fixed-leader", answer.Range{Key: "leaders", Value: p.Leaders, Low: 1, High: 100}, answer.Range{Key: "rounds", Value: p.Rounds, Low: 1, High: 10}); err != nil {
		return err
	}
	return p.Check("fixed-leader")
}

// Suits reports why so many seats cannot play with the bound f, and the largest they
// can.
func (p *FixedLeader) Suits(cast []synod.Role, f int) error {
	n := len(cast)
	switch most := (n - 1) / 2; {
	case n > leader.MaxMembers:
		return fmt.Errorf("fixed-leader: %d members; %d are the most", n, leader.MaxMembers)
	case f < 0 || f > most:
		return fmt.Errorf("fixed-leader: f is %d; the honest must be a majority, and %d members bear at most f = %d", f, n, most)
	case p.Leaders <= f:
		return fmt.Errorf("fixed-leader: leaders is %d; with f = %d so many may all be Byzantine: give at least %d", p.Leaders, f, f+1)
	}
	return nil
}

func majority(n int) func([]synod.NodeID) bool {
	return func(ids []synod.NodeID) bool { return 2*len(ids) > n }
}

// Rank is which of so many ranked answers is the last that a majority still accepts:
// those who gave it or a lower one vote for it (LB-3, Fig. 6).
func Rank(answers int) int { return (answers + 1 + 1) / 2 }

// Join returns the machine of one member.
func (p *FixedLeader) Join(seat synod.Seat) synod.Machine {
	return script.New(seat, script.Options{OneSeed: p.Exact}, p.play)
}

// play is Fig. 3a.
func (p *FixedLeader) play(me *script.Agent) synod.Answer {
	m := leader.Sit(me, p.rules(len(me.Seat().Peers)+1))
	r := 1
	for ; !m.Meet(r) && r <= p.MaxRounds(); r++ {
		m.Propose(r)
		m.Vote(r)
		m.Record(r)
	}
	return m.Decide(r - 1)
}

func (p *FixedLeader) rules(n int) leader.Rules {
	r := p.Params.Rules("fixed-leader")
	r.Protocol, r.Rounds, r.Turns = "fixed-leader/1", p.MaxRounds(), p.Rounds
	r.Enough, r.Rank = majority(n), Rank
	return r
}

// Verify checks the decision and the evidence in an opinion's record.
func (p *FixedLeader) Verify(in protocol.VerifyInput) (*protocol.Verified, error) {
	r := p.rules(in.N)
	return r.Verify(in)
}

//go:embed prompts/*.tmpl
var files embed.FS

// Prompts returns the protocol's templates.
func Prompts() fs.FS { return leader.Pages(files) }

// MaxRounds is the rounds of all leaders.
func (p *FixedLeader) MaxRounds() int { return p.Leaders * p.Rounds }

// Calls is how many model calls a run makes at most: everyone answers, and marks its
// own answer and a proposal in each round; a leader that ranks marks all answers, and
// answers again in every round but its first.
func (p *FixedLeader) Calls(degrees []int) int {
	return p.Cost(len(degrees), p.MaxRounds(), p.Leaders) + p.Leaders*(p.Rounds-1)
}

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
