// Package rotatingleader is the protocol that DecentLLMs (§II, Fig. 3b, §V) calls
// rotating-leader, quality-based consensus: Trusted MultiLLMN. Each view has a leader, which
// proposes an answer. The others compare it with their own and vote for it if they consider
// it no worse. More than two thirds of the weight prepare it, and then commit it. After a
// view without a decision the next leader follows.
//
// The paper names the steps and leaves the rest open. This implementation:
//
//   - uses HotStuff's lock with two phases: a certificate of the first phase binds the
//     members that have it to its answer until they see a later one. The next leader gets
//     all locks and proposes the highest. Its answer is not compared again;
//   - takes as quorum more than two thirds of the weight and, whatever the weights, at
//     least ⌈(n+f+1)/2⌉ members. The paper takes two thirds "of the honest stake", which no
//     member can know;
//   - gets the reputation from the council file, as weights by seat: one question cannot
//     earn any, and members with different views could not agree on it while they vote. Any
//     f seats must have less than a third of the weight;
//   - sends votes to all members, with the proposal (see package leader);
//   - grades by DecentLLMs' five criteria. Equal grades lead to a vote (not with Exact).
//
// Promised with f < n/3: no two decisions, even if messages are late or lost; under
// synchrony, a decision in view k+1 after k Byzantine leaders, if honest members do not
// reject the proposal of an honest leader. They may, because a leader that proposes only its
// own answer competes with better ones. Not promised: that the accepted answer is the best
// one. If it is not, that is recorded.
package rotatingleader

import (
	"fmt"
	"io/fs"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/script"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/leader"
)

// RotatingLeader holds the protocol's parameters.
type RotatingLeader struct {
	leader.Params `yaml:",inline"`
	Views         int   `yaml:"views" json:"views" doc:"the most views, each with another leader" range:"1:100"`
	Weights       []int `yaml:"weights" json:"weights" doc:"reputation of each seat, 1 to 1000; empty: all equal" example:"[2, 1, 1, 1]"`

	twin twin // makes the protocol vulnerable, for tests
}

// twin says which parts of the protocol are left out or replaced.
type twin struct {
	lock   bool
	enough func(n int) func([]synod.NodeID) bool // replaces the quorum
}

// New returns the defaults.
func New() *RotatingLeader { return &RotatingLeader{Params: leader.Defaults(), Views: 8} }

// Validate returns an error for the first weight that is out of its range.
func (p *RotatingLeader) Validate() error {
	for i, w := range p.Weights {
		if w < 1 || w > 1000 {
			return fmt.Errorf("rotating-leader: weight %d is %d; it must be between 1 and 1000", i+1, w)
		}
	}
	return nil
}

// CheckCast returns an error if this number of seats cannot tolerate the bound f. The error names
// the largest f that it can.
func (p *RotatingLeader) CheckCast(cast []synod.Role, f int) error {
	n := len(cast)
	switch most := p.most(n); {
	case n > leader.MaxMembers:
		return fmt.Errorf("rotating-leader: %d members; %d are the most", n, leader.MaxMembers)
	case len(p.Weights) > 0 && len(p.Weights) != n:
		return fmt.Errorf("rotating-leader: %d weights for %d seats; give every seat one, or none at all",
			len(p.Weights), n)
	case f < 0 || f > most:
		return fmt.Errorf("rotating-leader: f is %d; any f seats must be, and weigh, less than a third of all, and "+
			"these tolerate at most f = %d", f, most)
	case p.Views <= f:
		return fmt.Errorf("rotating-leader: views is %d; with f = %d so many leaders may all be Byzantine: give at "+
			"least %d", p.Views, f, f+1)
	}
	return nil
}

// most returns the largest f for n seats.
func (p *RotatingLeader) most(n int) int {
	if len(p.Weights) != n {
		return (n - 1) / 3
	}
	heaviest := slices.Clone(p.Weights)
	slices.Sort(heaviest)
	slices.Reverse(heaviest)
	// Seats with less than a third of the weight are less than a third of all, because no other seat is heavier.
	f, held, all := 0, 0, sum(heaviest)
	for _, w := range heaviest {
		if held += w; 3*held >= all {
			break
		}
		f++
	}
	return f
}

func sum(all []int) (total int) {
	for _, x := range all {
		total += x
	}
	return total
}

// quorum returns the function that reports whether members are a quorum: at least
// ⌈(n+f+1)/2⌉ of n [I-LB-1], with more than two thirds of the weight [LB-1].
func (p *RotatingLeader) quorum(n, f int) func([]synod.NodeID) bool {
	if p.twin.enough != nil {
		return p.twin.enough(n)
	}
	return func(ids []synod.NodeID) bool {
		weight, all := len(ids), n
		if len(p.Weights) > 0 {
			weight, all = 0, sum(p.Weights)
			for _, id := range ids {
				weight += p.Weights[id]
			}
		}
		return 2*len(ids) > n+f && 3*weight > 2*all
	}
}

// Rank returns the rank of the worst of n ranked answers that two thirds still accept:
// members with this answer or a worse one vote for it (LB-3, Fig. 6).
func Rank(answers int) int { return (answers + 1 + 2) / 3 }

// Join returns the machine of one member.
func (p *RotatingLeader) Join(seat synod.Seat) synod.Machine {
	return script.New(seat, script.Options{OneSeed: p.Exact}, p.play)
}

// play is Fig. 3b.
func (p *RotatingLeader) play(me *script.Agent) synod.Answer {
	m := leader.Sit(me, p.rules(len(me.Seat().Peers)+1, me.Seat().F))
	v := 1
	for ; !m.Meet(v) && v <= p.Views; v++ {
		m.Propose(v)
		m.Vote(v)   // prepare
		m.Commit(v) // commit
		m.Record(v)
	}
	return m.Decide(v - 1)
}

func (p *RotatingLeader) rules(n, f int) leader.Rules {
	r := p.Rules("rotating-leader")
	r.Protocol, r.Rounds, r.Turns = p.version(), p.Views, 1
	r.Lock, r.Enough, r.Rank = true, p.quorum(n, f), Rank
	r.Forget = p.twin.lock
	return r
}

// version is part of everything that is signed, and includes the weights.
func (p *RotatingLeader) version() string { return fmt.Sprintf("rotating-leader/1 %v", p.Weights) }

// Accusations returns the evidence in a member's record.
func (p *RotatingLeader) Accusations(o *synod.Opinion) [][]byte { return leader.Accusations(o) }

// Verify checks the decision and the evidence in an opinion's record.
func (p *RotatingLeader) Verify(in protocol.VerifyInput) (*protocol.Verified, error) {
	r := p.rules(in.N, in.F)
	return r.Verify(in)
}

// Prompts returns the protocol's templates.
func Prompts() fs.FS { return leader.Templates() }

// MaxRounds returns the number of views.
func (p *RotatingLeader) MaxRounds() int { return p.Views }

// Calls returns the largest number of model calls of a run: every member answers, and grades
// its own answer and a proposal in each view. A leader that ranks grades all answers.
func (p *RotatingLeader) Calls(degrees []int) int { return p.Cost(len(degrees), p.Views, p.Views) }

// Entry is the protocol in the catalogue.
var Entry = protocol.Entry{
	Entry: synod.Entry{Name: "rotating-leader",
		Summary: "each view's leader proposes, a weighted quorum prepares and commits; compared in DecentLLMs' paper"},
	Traits:    []synod.Trait{synod.Reasons, synod.Judges, synod.Grades, synod.Signs},
	Source:    `Trusted MultiLLMN, as described in Jo, Park, "Byzantine-Robust Decentralized Coordination of LLM Agents", §II`,
	Exact:     exact,
	About:     About,
	New:       func() protocol.Protocol { return New() },
	Prompts:   Prompts,
	Campaigns: campaigns(),
}

// About is the text of "synod explain".
const About = `Every member answers by itself. Then views follow one another, each with the next seat as
its leader. The leader proposes an answer; every other member compares it with its own by
DecentLLMs' five criteria (0 to 20 each) and votes for it if it grades it no lower; a
quorum prepares it, and then commits it. A view without a decision, because its leader is
silent, sends different proposals, or proposes what others reject, takes its time, and
the next seat leads. Proposals and votes are signed and go to all members; the graph must
be complete. An answer that members have seen prepared binds them (HotStuff's lock).

A quorum is more than two thirds of the weight, and at least (n+f+1)/2 members.

guaranteed  with f < n/3, and even if messages are late or lost: no two decisions; a
            decision has a certificate; a leader that sent different proposals to honest
            members leaves evidence with all of them, if messages are in time; a member
            with a better answer than the accepted one records that.
            If honest members judge alike with propose: best, and messages are in time:
            a decision in view k+1 after k Byzantine leaders.
not promised  that the best answer wins: one that is better than a third of the others
            can win; that there is a decision if honest members reject honest leaders.

propose      what a leader proposes: own, its answer; best, of all members' answers
             the one that it grades highest; quorum, the one of rank (n+1)/3, rounded
             up, the worst that two thirds accept if n is not a multiple of three
views        at most, each with another leader (8)
weights      reputation by seat, 1 to 1000; none: all equal
rationale    bytes of reasoning that are sent beside an answer (600)
caution      what prompts say about hostile proposals: none or may-exist`

// Guarantee returns what holds for the bound f. The graph is complete, so its robustness has
// no influence.
func (p *RotatingLeader) Guarantee(f, _ int, _ bool) (name, note string) {
	return "agreement", fmt.Sprintf("with at most F=%d Byzantine members honest ones never decide differently, even "+
		"if messages are late or lost; not that they decide, nor that they are right", f)
}

// exact is what "exact: paper" restores, and what it does not.
const exact = `restored    a proposal must be better than one's own answer to get a vote; one seed; no
            reply is reused
differs     reputation earned over questions (weights come from the council file); a quorum
            of the honest stake, which nobody knows; votes to the leader only; blocks. The
            paper names these steps and does not define them`
