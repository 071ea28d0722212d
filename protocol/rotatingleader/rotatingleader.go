// Package rotatingleader is the rival that DecentLLMs (§II, Fig. 3b, §V) calls
// rotating-leader, quality-based consensus: Trusted MultiLLMN. Each view has a leader,
// which proposes an answer; the others compare it with their own and vote for it if
// they think it no worse; more than two thirds of the weight prepare it, and again
// commit it; a view without a decision has the next leader after it.
//
// The paper names the steps and leaves the rest open. This is what we do:
//
//   - the lock is HotStuff's, with two phases: a certificate of the first binds who
//     has seen it to its answer until a later one is shown; the next leader hears all
//     locks and proposes the highest. Its answer is not compared again;
//   - a quorum is more than two thirds of the weight and, whatever the weights, at
//     least ⌈(n+f+1)/2⌉ members. The paper takes two thirds "of the honest stake",
//     which no member can know;
//   - reputation comes from outside, as weights by seat: one question earns none, and
//     members that see different things could not agree on it while they vote. Any f
//     seats must hold less than a third of it;
//   - votes go to all, with the proposal they are about (see package leader);
//   - marks are DecentLLMs' five criteria; equal marks are a vote (not under exact).
//
// Promised with f < n/3: no two decisions, even if messages are late or lost; under
// synchrony a decision in view k+1 after k Byzantine leaders, if honest members do not
// turn an honest leader's proposal down. They may: who proposes only its own answer
// has the better ones against it. Not promised that what is accepted is the best there
// was; it is recorded where it was not.
package rotatingleader

import (
	"fmt"
	"io/fs"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/answer"
	"synod.dev/synod/protocol/leader"
	"synod.dev/synod/script"
)

// RotatingLeader holds the protocol's parameters.
type RotatingLeader struct {
	leader.Params `yaml:",inline"`
	Views         int   `yaml:"views" json:"views"`     // leaders at most, one after another
	Weights       []int `yaml:"weights" json:"weights"` // reputation by seat, 1 to 1000; empty: all the same

	twin twin // a vulnerable one, for tests
}

// twin says what is left out.
type twin struct{ lock, quorum bool }

// New returns the defaults.
func New() *RotatingLeader { return &RotatingLeader{Params: leader.Defaults(), Views: 8} }

// Validate returns an error for the first parameter that is out of its range.
func (p *RotatingLeader) Validate() error {
	for i, w := range p.Weights {
		if w < 1 || w > 1000 {
			return fmt.Errorf("rotating-leader: weight %d is %d; it must be between 1 and 1000", i+1, w)
		}
	}
	if err := answer.Check("rotating-leader", answer.Range{Key: "views", Value: p.Views, Low: 1, High: 100}); err != nil {
		return err
	}
	return p.Check("rotating-leader")
}

// Suits reports why so many seats cannot play with the bound f, and the largest they
// can.
func (p *RotatingLeader) Suits(cast []synod.Role, f int) error {
	n := len(cast)
	switch most := p.most(n); {
	case n > leader.MaxMembers:
		return fmt.Errorf("rotating-leader: %d members; %d are the most", n, leader.MaxMembers)
	case len(p.Weights) > 0 && len(p.Weights) != n:
		return fmt.Errorf("rotating-leader: %d weights for %d seats; give every seat one, or none at all", len(p.Weights), n)
	case f < 0 || f > most:
		return fmt.Errorf("rotating-leader: f is %d; any f seats must be, and weigh, less than a third of all, and these bear at most f = %d", f, most)
	case p.Views <= f:
		return fmt.Errorf("rotating-leader: views is %d; with f = %d so many leaders may all be Byzantine: give at least %d", p.Views, f, f+1)
	}
	return nil
}

// most is the largest f of n seats.
func (p *RotatingLeader) most(n int) int {
	most := (n - 1) / 3
	if len(p.Weights) != n {
		return most
	}
	heaviest := slices.Clone(p.Weights)
	slices.Sort(heaviest)
	slices.Reverse(heaviest)
	f, held, all := 0, 0, sum(heaviest)
	for f < most && 3*(held+heaviest[f]) < all {
		held += heaviest[f]
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

// quorum reports whether these members are one: at least ⌈(n+f+1)/2⌉ of n [I-LB-1],
// with more than two thirds of the weight [LB-1].
func (p *RotatingLeader) quorum(n, f int) func([]synod.NodeID) bool {
	return func(ids []synod.NodeID) bool {
		if p.twin.quorum {
			return 2*len(ids) > n
		}
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

// Rank is which of so many ranked answers is the last that two thirds still accept:
// those who gave it or a lower one vote for it (LB-3, Fig. 6).
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

// version is signed with everything, and so is what makes a quorum.
func (p *RotatingLeader) version() string { return fmt.Sprintf("rotating-leader/1 %v", p.Weights) }

// Verify checks the decision and the evidence in an opinion's record.
func (p *RotatingLeader) Verify(in protocol.VerifyInput) (*protocol.Verified, error) {
	r := p.rules(in.N, in.F)
	return r.Verify(in)
}

// Prompts returns the protocol's templates.
func Prompts() fs.FS { return leader.Pages() }

// MaxRounds returns the number of views.
func (p *RotatingLeader) MaxRounds() int { return p.Views }

// Calls is how many model calls a run makes at most: everyone answers, and marks its
// own answer and a proposal in each view; a leader that ranks marks all answers.
func (p *RotatingLeader) Calls(degrees []int) int { return p.Cost(len(degrees), p.Views, p.Views) }

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
