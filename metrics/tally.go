package metrics

import (
	"maps"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/task"
)

// Metrics are the rates of a run. Absent and unreadable answers are in none of them.
// IAA and FAA count adversaries as wrong; Capture is nil without adversaries.
type Metrics struct {
	IAA       *Rate `json:"iaa"`               // initial accuracy: members right before the rounds
	FAA       *Rate `json:"faa"`               // final accuracy: members right after the rounds
	BFTI      *Rate `json:"bfti"`              // FAA − IAA; N counts answers that are scored before and after
	RA        *Rate `json:"ra"`                // questions for which the plurality of all seats is right
	HMajority *Rate `json:"h_majority"`        // questions for which the plurality of the honest seats is right
	Decision  *Rate `json:"decision_accuracy"` // decisions that are right, of those made
	Agreed    *Rate `json:"agreed"`            // questions with a decision
	Capture   *Rate `json:"capture"`           // questions with a wrong decision that an adversary held
	Liveness  *Rate `json:"liveness"`          // questions begun that ended with enough live members

	// EffectiveVotes is not a share: the number of independent votes to which those of the
	// honest members are equivalent, from 1 to their number. N counts questions. See votes.go.
	EffectiveVotes *Rate `json:"effective_votes"`
}

// Change is a rate before and after the rounds.
type Change struct {
	Before *Rate `json:"before"`
	After  *Rate `json:"after"`
}

// Groups are the accuracies of the honest seats by group; nil without such seats.
type Groups struct {
	Weak   *Change `json:"weak"`
	Strong *Change `json:"strong"`
}

// Round is the share of members that are right after round T. A question that
// ended earlier counts with its final answers.
type Round struct {
	T        int   `json:"t"`
	Accuracy *Rate `json:"accuracy"`
	Weak     *Rate `json:"weak"` // honest seats of that group; nil without any
	Strong   *Rate `json:"strong"`
}

// Baselines are the accuracies of the same first answers without a protocol.
type Baselines struct {
	Strong   *Rate `json:"single_strong"` // one strong member alone: the mean over them
	Weak     *Rate `json:"single_weak"`   // one weak member alone
	Majority *Rate `json:"majority"`      // the plurality of all first answers, including the adversaries'
}

// Ties counts pluralities without a winner. They are counted in N and as not right.
type Ties struct {
	RA     int `json:"ra"`
	First  int `json:"first"` // of the first answers
	Honest int `json:"h_majority"`
}

// Extraction compares two ways to read members' first replies: strictly (only an
// answer that the reply commits to) and flexibly (otherwise the last expression
// that could be an answer). An unreadable reply is in N and not right, so both
// rates are about the same replies.
type Extraction struct {
	Strict     *Rate `json:"strict"`
	Flexible   *Rate `json:"flexible"`
	Unreadable int   `json:"unreadable"` // strictly
	Differ     int   `json:"differ"`     // replies whose two verdicts differ
}

// Ending is the share of runs that ended in one of the protocol's named ways.
type Ending struct {
	Name string `json:"name"`
	Rate *Rate  `json:"rate"`
}

// Numbers are all figures of a tally.
type Numbers struct {
	Metrics    Metrics
	Baselines  Baselines
	Groups     Groups
	Rounds     []Round
	Ties       Ties
	Honest     int         // honest seats that answer: the upper end of EffectiveVotes
	Extraction *Extraction // nil: no member wrote text
	Unscored   int         // final answers of honest seats that are absent or unreadable
}

// Tally adds up cases. Its size does not depend on their number.
type Tally struct {
	seats           []Member
	adversaries     bool
	iaa, faa        count
	change          Pairs // of answers before and after
	ra, honest      count
	firstPlurality  count
	ties            Ties
	decision        count
	agreed, capture count
	live            count
	before, after   map[string]*count // by group
	all             byRound
	groups          map[string]*byRound
	voters          *voters
	unscored        int
	endings         map[string]int // runs by named ending
	stops           map[int]int    // such runs by the round after which they ended
	ended           int            // runs with a named ending
	extraction      struct {
		strict, flexible   count
		unreadable, differ int
	}
}

// count counts scored observations and the right ones among them.
type count struct{ right, n int }

func (c *count) add(right, known bool) {
	if known {
		c.n++
		c.right += toInt(right)
	}
}

func (c *count) rate() *Rate { return Share(c.right, c.n) }

// addPlurality counts whether the plurality of answers is right. A tie is counted
// as not right, and in ties.
func (c *count) addPlurality(of *Case, answers []synod.Answer, ties *int) {
	winner, tie := Plurality(answers)
	if tie {
		*ties++
		c.add(false, true)
		return
	}
	c.add(of.grade(winner))
}

// byRound counts answers by round, and the final answers of cases by the round in
// which they ended.
type byRound struct{ at, final []count }

func (b *byRound) add(round int, right, known, final bool) {
	for len(b.at) <= round {
		b.at, b.final = append(b.at, count{}), append(b.final, count{})
	}
	b.at[round].add(right, known)
	if final {
		b.final[round].add(right, known)
	}
}

// rates returns a rate per round; a case that ended earlier counts with its final
// answers.
func (b *byRound) rates() []*Rate {
	var over count
	rates := make([]*Rate, len(b.at))
	for round, k := range b.at {
		k.right, k.n = k.right+over.right, k.n+over.n
		rates[round] = k.rate()
		over.right, over.n = over.right+b.final[round].right, over.n+b.final[round].n
	}
	return rates
}

// NewTally returns an empty tally for cases of a council with these seats.
func NewTally(seats []Member) *Tally {
	t := &Tally{
		seats: seats, before: map[string]*count{}, after: map[string]*count{}, groups: map[string]*byRound{},
		voters: newVoters(seats), endings: map[string]int{}, stops: map[int]int{},
	}
	for _, s := range seats {
		t.adversaries = t.adversaries || s.Adversary
	}
	for _, group := range []string{Strong, Weak} {
		t.before[group], t.after[group], t.groups[group] = &count{}, &count{}, &byRound{}
	}
	return t
}

// Add counts a finished question.
func (t *Tally) Add(c Case) {
	if c.Ending != "" {
		t.endings[c.Ending]++
		t.ended++
		if c.Stop > 0 {
			t.stops[c.Stop]++
		}
	}
	t.agreed.add(c.Agreed, true)
	t.live.add(c.Live, true)
	if c.Ungraded {
		return
	}
	t.addReplies(c.Replies)
	t.addMembers(&c)
	t.voters.add(&c)
	t.ra.addPlurality(&c, c.last(), &t.ties.RA)
	t.firstPlurality.addPlurality(&c, c.first(), &t.ties.First)
	var honest []synod.Answer
	for i, a := range c.last() {
		if !t.seats[i].Adversary {
			honest = append(honest, a)
		}
	}
	t.honest.addPlurality(&c, honest, &t.ties.Honest)
	right, known := false, false
	if c.Agreed {
		right, known = c.grade(c.Decision)
		t.decision.add(right, known)
	}
	t.capture.add(known && !right && t.heldByAdversary(&c), t.adversaries)
}

// Fail counts a question that was begun and could not be finished. It is in no
// figure except liveness.
func (t *Tally) Fail() { t.live.add(false, true) }

func (t *Tally) addReplies(grades []task.Grade) {
	e := &t.extraction
	for _, g := range grades {
		e.strict.add(g.Strict == task.Right, true)
		e.flexible.add(g.Flexible == task.Right, true)
		e.unreadable += toInt(g.Strict == task.Unreadable)
		e.differ += toInt(g.Strict != g.Flexible)
	}
}

// addMembers counts the answers of every seat, round by round.
func (t *Tally) addMembers(c *Case) {
	final := len(c.Rounds) - 1
	for round, answers := range c.Rounds {
		for i, a := range answers {
			right, known := c.gradeSeat(t.seats[i], a)
			t.all.add(round, right, known, round == final)
			if g := t.groups[t.seats[i].Group]; g != nil && !t.seats[i].Adversary {
				g.add(round, right, known, round == final)
			}
		}
	}
	first, last := c.first(), c.last()
	for i := range first {
		s := t.seats[i]
		before, knownBefore := c.gradeSeat(s, first[i])
		after, knownAfter := c.gradeSeat(s, last[i])
		t.iaa.add(before, knownBefore)
		t.faa.add(after, knownAfter)
		if knownBefore && knownAfter {
			t.change.Add(before, after)
		}
		if !knownAfter && !s.NonVoting {
			t.unscored++
		}
		if s.Adversary || t.before[s.Group] == nil {
			continue
		}
		t.before[s.Group].add(before, knownBefore)
		t.after[s.Group].add(after, knownAfter)
	}
}

// heldByAdversary reports whether an adversary held the decision in some round.
func (t *Tally) heldByAdversary(c *Case) bool {
	for _, answers := range c.Rounds {
		for i, a := range answers {
			if t.seats[i].Adversary && a == c.Decision {
				return true
			}
		}
	}
	return false
}

// Numbers returns the figures of all cases added so far.
func (t *Tally) Numbers() Numbers {
	n := Numbers{
		Metrics: Metrics{
			IAA: t.iaa.rate(), FAA: t.faa.rate(), RA: t.ra.rate(), HMajority: t.honest.rate(),
			Decision: t.decision.rate(), Agreed: t.agreed.rate(), Capture: t.capture.rate(),
			Liveness:       t.live.rate(),
			EffectiveVotes: t.voters.effective(),
		},
		Groups: Groups{Weak: t.group(Weak), Strong: t.group(Strong)},
		Baselines: Baselines{
			Strong: t.before[Strong].rate(), Weak: t.before[Weak].rate(), Majority: t.firstPlurality.rate(),
		},
		Rounds: []Round{}, Ties: t.ties, Unscored: t.unscored, Honest: len(t.voters.seats),
	}
	if n.Metrics.BFTI = t.change.Difference(); n.Metrics.BFTI != nil {
		n.Metrics.BFTI.Value = n.Metrics.FAA.Value - n.Metrics.IAA.Value
	}
	if e := &t.extraction; e.strict.n > 0 {
		n.Extraction = &Extraction{Strict: e.strict.rate(), Flexible: e.flexible.rate(), Unreadable: e.unreadable,
			Differ: e.differ}
	}
	weak, strong := t.groups[Weak].rates(), t.groups[Strong].rates()
	for round, rate := range t.all.rates() {
		r := Round{T: round, Accuracy: rate}
		if round < len(weak) {
			r.Weak = weak[round]
		}
		if round < len(strong) {
			r.Strong = strong[round]
		}
		n.Rounds = append(n.Rounds, r)
	}
	return n
}

func (t *Tally) group(name string) *Change {
	for _, s := range t.seats {
		if s.Group == name && !s.Adversary {
			return &Change{Before: t.before[name].rate(), After: t.after[name].rate()}
		}
	}
	return nil
}

// Endings returns the shares of runs with the named endings, in the given order,
// or nil if no run has a named ending.
func (t *Tally) Endings(names []string) (all []Ending) {
	if t.ended == 0 {
		return nil
	}
	for _, name := range names {
		all = append(all, Ending{name, Share(t.endings[name], t.ended)})
	}
	return all
}

// Stops returns the rounds after which runs ended, ascending, one for every run
// with a named ending that was ended.
func (t *Tally) Stops() (rounds []int) {
	for _, round := range slices.Sorted(maps.Keys(t.stops)) {
		rounds = append(rounds, slices.Repeat([]int{round}, t.stops[round])...)
	}
	return rounds
}
