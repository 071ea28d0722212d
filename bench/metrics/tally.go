package metrics

import (
	"maps"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/bench/task"
)

// Metrics are the rates of a run. IAA, FAA, BFTI, RA and HMajority are those of the
// papers: an absent or unreadable answer is not right and stays in the denominator. The
// rates whose names end in Present are the same over answers that could be graded.
// IAA and FAA count adversaries as wrong; Capture is nil without adversaries.
type Metrics struct {
	IAA       *Rate `json:"iaa"`        // initial accuracy: members right before the rounds
	FAA       *Rate `json:"faa"`        // final accuracy: members right after the rounds
	BFTI      *Rate `json:"bfti"`       // FAA − IAA of the same members
	RA        *Rate `json:"ra"`         // questions for which the plurality of all seats is right
	HMajority *Rate `json:"h_majority"` // questions for which the plurality of the honest seats is right

	IAAPresent       *Rate `json:"iaa_present"`  // N counts answers that could be graded
	FAAPresent       *Rate `json:"faa_present"`  // likewise
	BFTIPresent      *Rate `json:"bfti_present"` // N counts answers that could be graded before and after
	RAPresent        *Rate `json:"ra_present"`   // N counts questions whose plurality could be graded
	HMajorityPresent *Rate `json:"h_majority_present"`

	Decision *Rate `json:"decision_accuracy"` // decisions that are right, of those made
	Agreed   *Rate `json:"agreed"`            // questions with a decision
	Capture  *Rate `json:"capture"`           // questions with a wrong decision that an adversary held
	Liveness *Rate `json:"liveness"`          // questions begun that ended with enough live members

	// EffectiveVotes is not a share: the number of independent votes to which those of the
	// honest members are equivalent, from 1 to their number. N counts questions. See votes.go.
	EffectiveVotes *Rate `json:"effective_votes"`
}

// RateChange is a rate before and after the rounds.
type RateChange struct {
	Before *Rate `json:"before"`
	After  *Rate `json:"after"`
}

// Groups are the accuracies of the honest seats by group; nil without such seats.
type Groups struct {
	Weak   *RateChange `json:"weak"`
	Strong *RateChange `json:"strong"`
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

// Ties counts pluralities without a winner. They are in N and not right.
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
	Withstands []Withstood // by k, from 0; nil: it is known of no decision
	Errors     []PairErrors
	Unscored   int // final answers of honest seats that are absent or unreadable; see the Present rates
}

// Tally adds up cases. Its size does not depend on their number. The repeats of a question must be added one
// after the other; else they count as independent questions, and the intervals are too narrow.
type Tally struct {
	seats           []SeatFacts
	adversaries     bool
	questions       questions
	change, present pairCount // of answers before and after: all, and those that could be graded
	iaa, faa        count     // of answers that could be graded
	ra, honest      plurality
	firstPlurality  plurality
	decision        count
	agreed, capture count
	live            count
	before, after   map[string]*count // by group
	all             byRound
	groups          map[string]*byRound
	voters          *Voters
	unscored        int
	withstood       withstood
	endings         map[string]int // runs by named ending
	stops           map[int]int    // such runs by the round after which they ended
	ended           int            // runs with a named ending
	extraction      struct {
		strict, flexible   count
		unreadable, differ int
	}
}

// plurality counts questions whose plurality is right, among all questions and among
// those whose plurality could be graded. A tie is not right; it is in both, and in ties.
type plurality struct {
	all, present count
	ties         int
}

func (p *plurality) add(q question, c *GradedQuestion, answers []synod.Answer) {
	winner, tie := Plurality(answers)
	right, known := c.grade(winner)
	p.all.add(q, right, true)
	p.present.add(q, right, known || tie)
	p.ties += toInt(tie)
}

// NewTally returns an empty tally for cases of a council with these seats.
func NewTally(seats []SeatFacts) *Tally {
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
func (t *Tally) Add(c GradedQuestion) {
	q := t.questions.next(&c)
	if c.Ending != "" {
		t.endings[c.Ending]++
		t.ended++
		if c.Stop > 0 {
			t.stops[c.Stop]++
		}
	}
	t.agreed.add(q, c.Agreed, true)
	t.live.add(q, c.Live, true)
	if c.Ungraded {
		return
	}
	t.addReplies(q, c.Replies)
	t.addMembers(q, &c)
	t.voters.Add(&c)
	last := c.last(len(t.seats))
	t.ra.add(q, &c, last)
	if c.Asked == nil { // answers of some members say nothing about a plurality of all
		t.firstPlurality.add(q, &c, c.first(len(t.seats)))
	}
	var honest []synod.Answer
	for i, a := range last {
		if !t.seats[i].Adversary {
			honest = append(honest, a)
		}
	}
	t.honest.add(q, &c, honest)
	right, known := false, false
	if c.Agreed {
		right, known = c.Decided(t.seats)
		t.decision.add(q, right, known)
	}
	t.withstood.add(q, &c, right)
	captured, known := c.Captured(t.seats)
	t.capture.add(q, captured, known && t.adversaries)
}

// Fail counts an attempt at the question with this id that was begun and could not be finished. It is in no
// figure except liveness.
func (t *Tally) Fail(id string) {
	t.live.add(t.questions.next(&GradedQuestion{Question: id}), false, true)
}

func (t *Tally) addReplies(q question, grades []task.Grade) {
	e := &t.extraction
	for _, g := range grades {
		e.strict.add(q, g.Strict == task.Right, true)
		e.flexible.add(q, g.Flexible == task.Right, true)
		e.unreadable += toInt(g.Strict == task.Unreadable)
		e.differ += toInt(g.Strict != g.Flexible)
	}
}

// addMembers counts the answers of every seat, round by round.
func (t *Tally) addMembers(q question, c *GradedQuestion) {
	rounds := c.held(len(t.seats))
	final := len(rounds) - 1
	for i, s := range t.seats {
		if !c.asks(i, s) {
			continue
		}
		counted := func(to *count, round int) {
			if s.Adversary {
				to.addNever()
				return
			}
			right, _ := c.grade(rounds[round][i])
			to.add(q, right, true)
		}
		t.all.add(len(rounds), counted)
		if g := t.groups[s.Group]; g != nil && !s.Adversary {
			g.add(len(rounds), counted)
		}
		t.addMember(q, c, s, rounds[0][i], rounds[final][i])
	}
}

// addMember counts the first and the last answer of a seat.
func (t *Tally) addMember(q question, c *GradedQuestion, s SeatFacts, first, last synod.Answer) {
	if s.Adversary {
		t.change.addNever()
		t.present.addNever()
		t.iaa.addNever()
		t.faa.addNever()
		return
	}
	before, knownBefore := c.grade(first)
	after, knownAfter := c.grade(last)
	t.change.add(q, before, after)
	t.iaa.add(q, before, knownBefore)
	t.faa.add(q, after, knownAfter)
	if knownBefore && knownAfter {
		t.present.add(q, before, after)
	}
	t.unscored += toInt(!knownAfter)
	if t.before[s.Group] != nil {
		t.before[s.Group].add(q, before, true)
		t.after[s.Group].add(q, after, true)
	}
}

// Numbers returns the figures of all cases added so far.
func (t *Tally) Numbers() Numbers {
	n := Numbers{
		Metrics: Metrics{
			IAA: t.change.before.rate(), FAA: t.change.after.rate(), BFTI: t.change.difference(),
			RA: t.ra.all.rate(), HMajority: t.honest.all.rate(),
			IAAPresent: t.iaa.rate(), FAAPresent: t.faa.rate(), BFTIPresent: t.present.difference(),
			RAPresent: t.ra.present.rate(), HMajorityPresent: t.honest.present.rate(),
			Decision: t.decision.rate(), Agreed: t.agreed.rate(), Capture: t.capture.rate(),
			Liveness:       t.live.rate(),
			EffectiveVotes: t.voters.Effective(),
		},
		Groups: Groups{Weak: t.group(Weak), Strong: t.group(Strong)},
		Baselines: Baselines{
			Strong: t.before[Strong].rate(), Weak: t.before[Weak].rate(), Majority: t.firstPlurality.all.rate(),
		},
		Ties:   Ties{RA: t.ra.ties, First: t.firstPlurality.ties, Honest: t.honest.ties},
		Rounds: []Round{}, Unscored: t.unscored, Honest: t.voters.n,
		Withstands: t.withstood.curve(), Errors: t.voters.Errors(),
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

func (t *Tally) group(name string) *RateChange {
	for _, s := range t.seats {
		if s.Group == name && !s.Adversary {
			return &RateChange{Before: t.before[name].rate(), After: t.after[name].rate()}
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
