// Package leader has what the leader-based protocols share that DecentLLMs (§II, §V)
// compares itself with: a leader proposes an answer, the others compare it with their own
// and vote, and the signatures of a quorum are a certificate. The protocol itself says
// whether a decision needs one vote or two, and when the next leader follows.
//
//	v := 1
//	for ; !m.Meet(v) && v <= views; v++ { // exchange own answers, locks and decisions
//		m.Propose(v) // the leader sends its proposal
//		m.Vote(v)    // members compare it with their own answers
//		m.Commit(v)  // only with two phases
//		m.Record(v)
//	}
//	return m.Decide(v)
//
// Votes go to all members and contain the proposal. So every member makes certificates
// itself, a leader cannot withhold one, and a member that sees two proposals of one leader
// has evidence against it. HotStuff sends votes to the leader only, which is cheaper by a
// factor of n.
//
// Rounds have fixed ends. A silent leader takes one round, like any other failing leader.
package leader

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/script"
	"synod.dev/synod/protocol/answer"
	"synod.dev/synod/protocol/broadcast"
	"synod.dev/synod/protocol/grade"
)

// What a leader without a lock proposes (LB-3).
const (
	Own    = "own"    // its own answer: LB-1, LB-2
	Best   = "best"   // of all answers the one that it grades highest
	Quorum = "quorum" // the lowest-ranked one that could still get a quorum: Fig. 6
)

// Rules are what distinguishes the protocols of this kind.
type Rules struct {
	Settings answer.Settings
	// with version and everything that members must agree on; part of everything that is signed
	Protocol string
	Rounds   int                         // at most
	Turns    int                         // consecutive rounds of a leader
	Lock     bool                        // whether a prepared answer binds the members that saw it prepared: two phases
	Forget   bool                        // makes the protocol vulnerable, for tests: a lock binds no member
	Enough   func([]synod.NodeID) bool   // reports whether members are a quorum
	Choice   string                      // Own, Best or Quorum
	Rank     func(answers int) (kth int) // with Quorum
}

// Member is the protocol at one seat.
type Member struct {
	*answer.Member
	rules   Rules
	members []synod.NodeID
	own     answer.Held
	answers []memberAnswer // by member: its own answer, as it reported it
	grades  map[synod.Answer]float64

	group    broadcast.Group   // of this round's proposal
	digest   [sha256.Size]byte // of the group
	votes    [sha256.Size]byte // what all votes are bound to
	lock     *Certificate      // the highest prepare certificate that this member has
	done     *Certificate      // the decision
	proposed *proposal         // this round's, nil if none came
	signed   *broadcast.Signed // the same, as signed
	refused  []synod.NodeID    // members that saw the last proposal and did not vote for it
	against  []against         // leaders that sent two proposals, by round
	shown    int               // how many of these are recorded
	silent   bool              // the last leader proposed nothing that reached this member
	last     *proposal         // this member's own, when it led
}

// memberAnswer is a member's own answer as this member knows it.
type memberAnswer struct {
	answer    synod.Answer
	rationale string
}

// against is evidence, and its round.
type against struct {
	round int
	proof broadcast.Evidence
}

// Sit returns the member of an agent. It asks for the own answer, which is the opinion of
// round 0.
func Sit(me *script.Agent, r Rules) *Member {
	seat := me.Seat()
	m := &Member{Member: answer.New(me, r.Settings), rules: r, grades: map[synod.Answer]float64{}}
	m.members = append(slices.Clone(seat.Peers), seat.Self)
	slices.Sort(m.members)
	m.answers = make([]memberAnswer, len(m.members))
	m.votes = VoteGroup(r.Protocol, m.members, seat.F)
	if m.own = m.Answer(); m.own.Answer == synod.None {
		m.own = m.Answer()
	}
	m.answers[m.at(seat.Self)] = memberAnswer{m.own.Answer, m.own.Rationale}
	m.Note(0, m.own, synod.Opinion{})
	if m.own.Source == synod.Own {
		m.own.Source = synod.Kept // from now on
	}
	return m
}

func (m *Member) at(id synod.NodeID) int { return slices.Index(m.members, id) }
func (m *Member) self() synod.NodeID     { return m.Me.Seat().Self }

// Leader returns the leader of a round: members take turns in the order of seats.
func (m *Member) Leader(round int) synod.NodeID {
	return m.members[(round-1)/m.rules.Turns%len(m.members)]
}

// first reports whether a leader's turn begins with this round.
func (m *Member) first(round int) bool { return (round-1)%m.rules.Turns == 0 }

// ends are the ticks at which the parts of a round end, counted from the start. They
// are fixed: a leader that is silent to some members only must not make them be in
// different rounds.
type ends struct{ met, proposed, voted, committed synod.Tick }

func (m *Member) ends(round int) (e ends) {
	pace := m.Me.Seat().Pace
	think := 2 * pace.Think // a call, and once more if it fails
	length := 3*pace.Within + 2*think
	if m.rules.Lock {
		length += pace.Within
	}
	e.met = think + synod.Tick(round-1)*length + pace.Within
	e.proposed = e.met + think + pace.Within
	e.voted = e.proposed + think + pace.Within
	e.committed = e.voted + pace.Within
	return e
}

func proposals(protocol string, members []synod.NodeID, f, round int) broadcast.Group {
	return broadcast.Group{Protocol: protocol, Name: fmt.Sprintf("proposal %d", round), Members: members,
		Senders: members, F: f}
}

// Templates returns the templates of the question and of grading, and a protocol's own.
func Templates(own ...fs.FS) fs.FS { return answer.With(append(own, grade.Templates)...) }

// Params are the parameters of all protocols of this kind.
type Params struct {
	Propose   string `yaml:"propose" json:"propose" doc:"what a leader proposes: its own answer, the best graded one, or what a quorum gave (LB-3)" enum:"own|best|quorum"`
	Rationale int    `yaml:"rationale" json:"rationale" doc:"bytes of reasoning that are sent beside an answer; 0: none" range:"0:4000" unit:"bytes"`
	// what prompts say about hostile proposals: none | may-exist
	Caution synod.Caution `yaml:"caution" json:"caution" doc:"what prompts say about hostile proposals" enum:"none|may-exist"`
	Exact   bool          `yaml:"-" json:"exact"` // as in the paper: council key "exact: paper"
}

// Defaults returns the defaults: a leader proposes its own answer, as in both papers.
func Defaults() Params {
	return Params{Propose: Own, Rationale: 600, Caution: synod.CautionNone}
}

// Rules returns the rules of a protocol as far as these parameters set them.
func (p *Params) Rules(templates string) Rules {
	return Rules{
		Settings: answer.Settings{Templates: templates, Exact: p.Exact, Caution: p.Caution, Rationale: p.Rationale},
		Choice:   p.Propose,
	}
}

// Paper sets Exact: a member votes only for a proposal that is better than its own answer,
// and models choose the seeds of their calls.
func (p *Params) Paper() { p.Exact = true }

// Settles returns false: the round after one that changed nothing has another leader.
func (p *Params) Settles() bool { return false }

// AllToAll returns true: votes go to all members.
func (p *Params) AllToAll() bool { return true }

// Signs returns true: proposals and votes are signed.
func (p *Params) Signs() bool { return true }

// Cost returns the largest number of model calls of n members. Every member answers, and
// grades its own answer, one proposal in each round, and the accepted answer. A leader that
// ranks grades all answers.
func (p *Params) Cost(n, rounds, leaders int) int {
	calls := n * (3 + rounds)
	if p.Propose != Own {
		calls += min(leaders, n) * n
	}
	return calls
}
