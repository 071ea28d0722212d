// Package leader is what the rivals that DecentLLMs (§II, §V) compares itself with
// have in common: a leader proposes an answer, the others compare it with their own
// and vote, and a quorum's signatures are a certificate. What a decision takes, one
// vote or two, and when the next leader comes, is the protocol's own.
//
//	v := 1
//	for ; !m.Meet(v) && v <= views; v++ { // tell all what one holds; hear of locks and decisions
//		m.Propose(v) // the leader's word
//		m.Vote(v)    // on it, compared with one's own
//		m.Commit(v)  // only with two phases
//		m.Record(v)
//	}
//	return m.Decide(v)
//
// Votes go to all members, and carry the proposal that they are about: so everyone
// makes certificates itself, a leader cannot keep one back, and whoever is shown two
// proposals of one leader has evidence against it. HotStuff sends votes to the leader,
// which is cheaper by a factor of n.
//
// Rounds have fixed ticks. A leader that says nothing costs one, like any other that
// fails.
package leader

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/protocol/answer"
	"synod.dev/synod/protocol/broadcast"
	"synod.dev/synod/protocol/grade"
	"synod.dev/synod/script"
)

// What a leader that is free to choose proposes (LB-3).
const (
	Own    = "own"    // its own answer: LB-1, LB-2
	Best   = "best"   // of all answers the one that it marks highest
	Quorum = "quorum" // the lowest-ranked one that could still get a quorum: Fig. 6
)

// Rules are how a protocol of this kind is played.
type Rules struct {
	Settings answer.Settings
	Protocol string                      // with version and all that members must agree on; signed with everything
	Rounds   int                         // at most
	Turns    int                         // rounds in a row that a leader has
	Lock     bool                        // whether a prepared answer binds those who saw it prepared: two phases
	Forget   bool                        // a vulnerable twin, for tests: a lock binds nobody
	Enough   func([]synod.NodeID) bool   // whether these make a quorum
	Choice   string                      // Own, Best or Quorum
	Rank     func(answers int) (kth int) // with Quorum
}

// Member is one seat playing.
type Member struct {
	*answer.Member
	rules   Rules
	members []synod.NodeID
	own     answer.Held
	answers []stance // by member: what each said is its own
	marks   map[synod.Answer]float64

	group    broadcast.Group   // of this round's proposal
	digest   [sha256.Size]byte // of the group
	votes    [sha256.Size]byte // what all votes are bound to
	lock     *Certificate      // the highest prepare certificate that is known
	done     *Certificate      // the decision
	proposed *proposal         // this round's, nil if none came
	word     *broadcast.Signed // the same, as signed
	refused  []synod.NodeID    // who heard the last proposal and gave it no vote
	against  []against         // leaders that have proposed two things, by round
	shown    int               // of these, how many are on record
	silent   bool              // the last leader proposed nothing that reached this member
	last     *proposal         // this member's own, when it led
}

// stance is a member's own answer as another knows it.
type stance struct {
	answer    synod.Answer
	rationale string
}

// against is evidence and the round that it is of.
type against struct {
	round int
	proof broadcast.Evidence
}

// Sit seats a member and gets its own answer, which is held in round 0.
func Sit(me *script.Agent, r Rules) *Member {
	seat := me.Seat()
	m := &Member{Member: answer.New(me, r.Settings), rules: r, marks: map[synod.Answer]float64{}}
	m.members = append(slices.Clone(seat.Peers), seat.Self)
	slices.Sort(m.members)
	m.answers = make([]stance, len(m.members))
	m.votes = VoteGroup(r.Protocol, m.members, seat.F)
	if m.own = m.Answer(); m.own.Answer == synod.None {
		m.own = m.Answer()
	}
	m.answers[m.at(seat.Self)] = stance{m.own.Answer, m.own.Rationale}
	m.Note(0, m.own, synod.Opinion{})
	if m.own.Source == synod.Own {
		m.own.Source = synod.Kept // from now on
	}
	return m
}

func (m *Member) at(id synod.NodeID) int { return slices.Index(m.members, id) }
func (m *Member) self() synod.NodeID     { return m.Me.Seat().Self }

// Leader is who leads in a round: members by turns, in the order of seats.
func (m *Member) Leader(round int) synod.NodeID {
	return m.members[(round-1)/m.rules.Turns%len(m.members)]
}

// first reports that a leader's turn begins with this round.
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
	return broadcast.Group{Protocol: protocol, Name: fmt.Sprintf("proposal %d", round), Members: members, Senders: members, F: f}
}

// Pages are the page that asks a question and the one that has an answer marked,
// and beside them a protocol's own.
func Pages(own ...fs.FS) fs.FS { return answer.With(append(own, grade.Templates)...) }

// Params are the parameters that protocols of this kind share.
type Params struct {
	Propose   string        `yaml:"propose" json:"propose"`     // own | best | quorum (LB-3)
	Rationale int           `yaml:"rationale" json:"rationale"` // bytes of reasoning that travel beside an answer
	Caution   synod.Caution `yaml:"caution" json:"caution"`     // what prompts say of hostile proposals: none | may-exist
	Exact     bool          `yaml:"-" json:"exact"`             // the paper's letter: council key "exact: paper"
}

// Defaults have a leader propose its own answer, as in both papers.
func Defaults() Params {
	return Params{Propose: Own, Rationale: 600, Caution: synod.CautionNone}
}

// Check reports the first parameter that is out of its range.
func (p *Params) Check(protocol string) error {
	choices := []string{Own, Best, Quorum}
	switch {
	case p.Propose != Own && p.Propose != Best && p.Propose != Quorum:
		return fmt.Errorf("%s: propose is %q%s; it must be one of %v", protocol, p.Propose, synod.Hint(p.Propose, choices), choices)
	case p.Caution != synod.CautionNone && p.Caution != synod.CautionMayExist:
		return fmt.Errorf("%s: caution is %q; it must be none or may-exist", protocol, p.Caution)
	}
	return answer.Check(protocol, answer.Range{Key: "rationale", Value: p.Rationale, High: 4000})
}

// Rules begins the rules of a protocol with these parameters.
func (p *Params) Rules(templates string) Rules {
	return Rules{
		Settings: answer.Settings{Templates: templates, Exact: p.Exact, Caution: p.Caution, Rationale: p.Rationale},
		Choice:   p.Propose,
	}
}

// Paper sets what "exact: paper" means: a proposal needs to be better than one's own
// answer and not only as good, and members choose the seeds of their calls.
func (p *Params) Paper() { p.Exact = true }

// Settles reports that a round that changed nothing has another leader after it.
func (p *Params) Settles() bool { return false }

// AllToAll reports that votes go to all.
func (p *Params) AllToAll() bool { return true }

// Signs reports that proposals and votes are signed.
func (p *Params) Signs() bool { return true }

// Cost is the most model calls of n members in so many rounds with so many leaders:
// everyone answers, and marks its own answer, a proposal a round, and once more what
// was accepted; a leader that ranks marks all answers.
func (p *Params) Cost(n, rounds, leaders int) int {
	calls := n * (3 + rounds)
	if p.Propose != Own {
		calls += min(leaders, n) * n
	}
	return calls
}
