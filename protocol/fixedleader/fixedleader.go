// Package fixedleader is the protocol that DecentLLMs (§II, Fig. 3a, §V) calls
// fixed-leader, debate-style consensus: BlockAgents. A leader proposes an answer and the
// others vote. If no majority votes for it, the leader sees their answers and proposes
// again, for up to three rounds; then another member leads.
//
// The paper names the steps and leaves the rest open. This implementation:
//
//   - lets all members answer and vote, and lead in the order of seats. In BlockAgents,
//     workers answer, evaluators vote, and the first to create a block leads;
//   - compares the proposal with the member's own answer by DecentLLMs' five criteria. A
//     proposal that is no worse gets a vote (with Exact: one that is better);
//   - debates the leader's proposal: the leader is shown the answers and reasons of the
//     members that did not vote for it. There are no blocks and rewards;
//   - makes a certificate of the signatures of a majority, which members pass on.
//
// One phase and a plain majority are weak, as in the paper. A leader that sends two
// proposals can get a majority for each, and so can voters that withhold the votes of one
// round until another is decided. Under synchrony, with faulty members that are at worst
// silent, honest members decide alike.
package fixedleader

import (
	"embed"
	"fmt"
	"io/fs"

	"synod.dev/synod"
	"synod.dev/synod/core/script"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/check"
	"synod.dev/synod/protocol/leader"
)

// FixedLeader holds the protocol's parameters.
type FixedLeader struct {
	leader.Params `yaml:",inline"`
	Leaders       int `yaml:"leaders" json:"leaders" doc:"the most leaders, one after another; more than f" range:"1:100"`
	Rounds        int `yaml:"rounds" json:"rounds" doc:"rounds of each leader" range:"1:10"`
}

// New returns the defaults: the paper's three rounds for each leader.
func New() *FixedLeader { return &FixedLeader{Params: leader.Defaults(), Leaders: 4, Rounds: 3} }

// CheckCast returns an error if this number of seats cannot tolerate the bound f. The error names
// the largest f that it can.
func (p *FixedLeader) CheckCast(cast []synod.Role, f int) error {
	n := len(cast)
	switch most := (n - 1) / 2; {
	case n > leader.MaxMembers:
		return fmt.Errorf("fixed-leader: %d members; %d are the most", n, leader.MaxMembers)
	case f < 0 || f > most:
		return fmt.Errorf("fixed-leader: f is %d; honest members must be a majority, and %d members tolerate at most "+
			"f = %d", f, n, most)
	case p.Leaders <= f:
		return fmt.Errorf("fixed-leader: leaders is %d; with f = %d all of them may be Byzantine: give at least %d",
			p.Leaders, f, f+1)
	}
	return nil
}

func majority(n int) func([]synod.NodeID) bool {
	return func(ids []synod.NodeID) bool { return 2*len(ids) > n }
}

// Rank returns the rank of the worst of n ranked answers that a majority still accepts:
// members with this answer or a worse one vote for it (LB-3, Fig. 6).
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

// Accusations returns the evidence in a member's record.
func (p *FixedLeader) Accusations(o *synod.Opinion) [][]byte { return leader.Accusations(o) }

// Verify checks the decision and the evidence in an opinion's record.
func (p *FixedLeader) Verify(in protocol.VerifyInput) (*protocol.Verified, error) {
	r := p.rules(in.N)
	return r.Verify(in)
}

//go:embed prompts/*.tmpl
var files embed.FS

// Prompts returns the protocol's templates.
func Prompts() fs.FS { return leader.Templates(files) }

// MaxRounds returns the number of rounds of all leaders.
func (p *FixedLeader) MaxRounds() int { return p.Leaders * p.Rounds }

// Calls returns the largest number of model calls of a run: every member answers, and grades
// its own answer and a proposal in each round. A leader that ranks grades all answers, and a
// leader answers again in every round except its first.
func (p *FixedLeader) Calls(degrees []int) int {
	return p.Cost(len(degrees), p.MaxRounds(), p.Leaders) + p.Leaders*(p.Rounds-1)
}

// Entry is the protocol in the catalogue.
var Entry = protocol.Entry{
	Entry: synod.Entry{Name: "fixed-leader", Summary: "a leader proposes up to three times for a majority's votes, " +
		"then another leads; compared in DecentLLMs' paper"},
	Traits:    []synod.Trait{synod.Reasons, synod.Lists, synod.Judges, synod.Grades, synod.Signs},
	Source:    `BlockAgents, as described in Jo, Park, "Byzantine-Robust Decentralized Coordination of LLM Agents", §II`,
	Exact:     exact,
	About:     About,
	New:       func() protocol.Protocol { return New() },
	Prompts:   Prompts,
	Campaigns: []check.Subject{campaign()},
}

// About is the text of "synod explain".
const About = `Every member answers by itself. Then the first seat leads: it proposes an answer, and
every other member compares it with its own by DecentLLMs' five criteria (0 to 20 each)
and votes for it if it grades it no lower. More than half of all votes decide. Without
them, the leader is shown the answers of the members that did not vote for it and
proposes again, for three rounds in all; then the next seat leads. A silent leader takes
three rounds too. Proposals and votes are signed and go to all members; the graph must be
complete.

guaranteed  under synchrony, if faulty members are at worst silent: no two decisions.
not promised  agreement if a member is Byzantine: a leader that sends two proposals, or voters
            that withhold their votes, can have two majorities (the two phases and the
            lock of rotating-leader prevent that). Not that the best answer wins: one
            that is better than half of the others can win. A member with a better
            answer records that, and a member that saw two proposals has evidence.

propose      what a leader proposes first: own, its answer; best, of all members'
             answers the one that it grades highest; quorum, the one of rank (n+1)/2,
             rounded up, the worst that a majority of an odd number accepts
leaders      at most, one after another (4)
rounds       of each leader (3)
rationale    bytes of reasoning that are sent beside an answer (600)
caution      what prompts say about hostile proposals: none or may-exist`

// Guarantee returns what holds for the bound f. The graph is complete, so its robustness has
// no influence.
func (p *FixedLeader) Guarantee(f, _ int, _ bool) (name, note string) {
	return "agreement-crash", fmt.Sprintf("with at most F=%d silent members, and no delay beyond an exchange, the "+
		"others decide alike; a Byzantine member can break this; not that they are right", f)
}

// exact is what "exact: paper" restores, and what it does not.
const exact = `restored    a proposal must be better than one's own answer to get a vote; one seed; no
            reply is reused
differs     separate workers and evaluators, the race to create a block, blocks and rewards
            of BlockAgents. The paper names these steps and does not define them`
