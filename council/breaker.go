package council

import (
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/adversary"
	"synod.dev/synod/core/param"
	"synod.dev/synod/core/sim"
)

// Breakers stop a run that makes no progress, with a reason (GR-1), whatever the
// protocol. All are off by default. Limits (calls, tokens, money, deadline) stop a run
// too. An infrastructure failure is not a disagreement (GR-2): it counts only if the rule
// cannot be met because of it.
type Breakers struct {
	NoProgress   int      `yaml:"no_progress,omitempty" json:"no_progress,omitempty" doc:"stop when no answer but those of at most F members has changed in this many rounds in a row and the rule does not decide; 0: never" range:"0:1000" unit:"rounds" example:"3"`
	Oscillation  int      `yaml:"oscillation,omitempty" json:"oscillation,omitempty" doc:"stop when answers in this many rounds in a row, but those of at most F members, were those of two to four rounds before and the rule does not decide; 0: never" range:"0:1000" unit:"rounds" example:"3"`
	Drift        int      `yaml:"drift,omitempty" json:"drift,omitempty" doc:"stop when in this many rounds in a row more than F members changed their answers, the members came no closer together, and the rule does not decide; 0: never" range:"0:1000" unit:"rounds" example:"5"`
	Quorum       bool     `yaml:"quorum,omitempty" json:"quorum,omitempty" doc:"stop when so many members are unreachable that the rule cannot be met any more"`
	Equivocation bool     `yaml:"equivocation,omitempty" json:"equivocation,omitempty" doc:"stop when a member was seen to equivocate"`
	Escalate     Escalate `yaml:"escalate,omitempty" json:"escalate,omitzero" doc:"where to report a run that a breaker or a limit stopped"`
}

// The breakers by name, as an outcome names them.
const (
	NoProgress   = "no-progress"
	Oscillation  = "oscillation"
	Drift        = "drift"
	NoQuorum     = "no-quorum"
	Equivocation = "equivocation"
)

// Trip is a breaker that stopped a run.
type Trip struct {
	Breaker string `json:"breaker"`
	Round   int    `json:"round"`
	Detail  string `json:"detail"` // for people
	// Continue is the setting with which a resumed run ignores this breaker, such as
	// "breakers.no_progress=0".
	Continue string `json:"continue"`
}

func (b *Breakers) any() bool {
	return b.NoProgress > 0 || b.Oscillation > 0 || b.Drift > 0 || b.Quorum || b.Equivocation
}

// Validate reports the first breaker that is out of range.
func (b *Breakers) Validate() error {
	if err := param.Verify(b); err != nil {
		return err
	}
	if w := b.Escalate.Webhook; w != "" {
		u, err := url.Parse(w)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return errors.New("escalate: webhook must be a URL that begins with http:// or https://")
		}
	}
	if c := b.Escalate.Command; len(c) > 0 && c[0] == "" {
		return errors.New("escalate: command must begin with a program")
	}
	return nil
}

// breaker watches one run round by round. It sees opinions only, so the same breaker
// trips when Judge looks at the records of the run.
type breaker struct {
	Breakers
	plan *Plan
	// by round, by seat; a seat that has not noted the round has its answer of the round before
	answers  [][]synod.Answer
	noted    []int // by round: how many members that vote have noted it
	latest   int   // the last round that a member has noted
	judged   int   // rounds that were looked at
	drift    drift
	suspects []synod.NodeID
}

func newBreaker(p *Plan) *breaker {
	return &breaker{Breakers: p.spec.Breakers, plan: p, drift: drift{narrowed: math.Inf(1)}}
}

// reset prepares for another run.
func (b *breaker) reset() { *b = *newBreaker(b.plan) }

// after takes the notes of a tick and returns the breaker that trips; nil if none
// does. dead reports whether all calls of a seat have failed so far.
func (b *breaker) after(notes []sim.Noted, dead func(seat int) bool) *Trip {
	if !b.any() {
		return nil
	}
	for _, n := range notes {
		b.add(n)
	}
	if trip := b.equivocation(); trip != nil {
		return trip
	}
	for b.judged < len(b.noted) && b.over(b.judged) {
		t := b.judged
		b.judged++
		if trip := b.judge(t, dead); trip != nil {
			trip.Round = t
			return trip
		}
	}
	return nil
}

// maxRounds bounds the round of a note, which a journal may claim to be any number.
const maxRounds = 100_000

func (b *breaker) add(n sim.Noted) {
	if n.Round < 0 || n.Round > maxRounds {
		return
	}
	for len(b.noted) <= n.Round {
		next := make([]synod.Answer, len(b.plan.seats))
		if k := len(b.answers); k > 0 {
			copy(next, b.answers[k-1])
		}
		b.answers, b.noted = append(b.answers, next), append(b.noted, 0)
	}
	if !b.plan.seats[n.Node].NonVoting {
		b.noted[n.Round]++
	}
	b.latest = max(b.latest, n.Round)
	for t := n.Round; t < len(b.answers); t++ {
		b.answers[t][n.Node] = n.Answer
	}
	b.suspects = append(b.suspects, n.Suspects...)
}

// equivocation trips as soon as any seat is suspected, because an adversary may have chosen the
// answers that the others hold then.
func (b *breaker) equivocation() *Trip {
	if !b.Equivocation || len(b.suspects) == 0 {
		return nil
	}
	slices.Sort(b.suspects)
	names := namer{seats: b.plan.seats}
	return &Trip{
		Breaker: Equivocation, Round: b.latest, Continue: "breakers.equivocation=false",
		Detail: fmt.Sprintf("%v told different members different things", names.of(slices.Compact(b.suspects))),
	}
}

// over reports whether a round is over: all voting members that noted the first round have
// noted it, or all of them but F have noted the next one.
func (b *breaker) over(t int) bool {
	first := b.noted[0]
	return first > 0 && (b.noted[t] >= first ||
		t+1 < len(b.noted) && b.noted[t+1] >= max(1, first-b.leftOut()))
}

// judge looks at a round that is over.
func (b *breaker) judge(t int, dead func(int) bool) *Trip {
	if trip := b.quorum(t, dead); trip != nil {
		return trip
	}
	b.follow(t)
	if t == 0 {
		return nil
	}
	still, swings := b.unmoved(t), b.returned(t)
	stuck, swinging := b.NoProgress > 0 && still >= b.NoProgress, b.Oscillation > 0 && swings >= b.Oscillation
	drifting := b.Drift > 0 && b.drift.rounds >= b.Drift
	switch {
	case !stuck && !swinging && !drifting || b.decided(t):
		return nil
	case stuck:
		return &Trip{Breaker: NoProgress, Detail: fmt.Sprintf("no answer%s changed in %d rounds, and the rule does "+
			"not decide", b.others(), still), Continue: "breakers.no_progress=0"}
	case !swinging:
		return &Trip{Breaker: Drift, Detail: fmt.Sprintf("for %d rounds the members have changed their answers "+
			"without coming closer together%s", b.drift.rounds, b.leaving()), Continue: "breakers.drift=0"}
	}
	return &Trip{Breaker: Oscillation, Detail: fmt.Sprintf("for %d rounds the members have returned to answers that "+
		"they had given up", swings), Continue: "breakers.oscillation=0"}
}

// others names the members that a breaker leaves out.
func (b *breaker) others() string {
	if out := b.leftOut(); out > 0 {
		return fmt.Sprintf(" but those of at most F=%d members", out)
	}
	return ""
}

// leaving says that a breaker leaves members out.
func (b *breaker) leaving() string {
	if out := b.leftOut(); out > 0 {
		return fmt.Sprintf(", F=%d of them left out", out)
	}
	return ""
}

// follow shows the drift breaker a round that is over.
func (b *breaker) follow(t int) {
	if b.Drift == 0 {
		return
	}
	now := b.voting(t)
	if t == 0 {
		b.drift.record(now, b.voicing())
		return
	}
	b.drift.next(b.voting(t-1), now, b.voicing())
}

// voicing returns who is one voice among the members that vote.
func (b *breaker) voicing() voicing {
	p, out := b.plan, b.leftOut()
	if p.voices == nil {
		return voicing{nil, out, out}
	}
	v := voicing{leftOut: min(p.hostileVoices(), p.Voices()-1), seats: out}
	for i := range p.seats {
		if !p.seats[i].NonVoting {
			v.voices = append(v.voices, p.voices[i])
		}
	}
	return v
}

// voting returns the answers after round t of the members that vote.
func (b *breaker) voting(t int) (all []synod.Answer) {
	for i, s := range b.plan.seats {
		if !s.NonVoting {
			all = append(all, b.answers[t][i])
		}
	}
	return all
}

// leftOut returns how many members may say what they like without disabling a breaker:
// the F that may be Byzantine, but never all that vote.
func (b *breaker) leftOut() int { return min(b.plan.spec.F, b.plan.voters-1) }

// unmoved returns for how many rounds in a row up to t all voting members but F have kept
// their answers. Always the same F are left out.
func (b *breaker) unmoved(t int) int {
	rounds := b.runs(t, 1, b.NoProgress)
	slices.Sort(rounds)
	return rounds[b.leftOut()]
}

// returned returns for how many rounds in a row up to t all voting members but F have held
// their answers of two to four rounds before, while one of these members changed its answer.
// Always the same F are left out.
func (b *breaker) returned(t int) (most int) {
	for period := 2; period <= 4 && period <= t; period++ {
		back, kept := b.runs(t, period, b.Oscillation), b.runs(t, 1, b.Oscillation)
		rounds := slices.Sorted(slices.Values(back))[b.leftOut()]
		for i := range back {
			if back[i] >= rounds && kept[i] < rounds {
				most = max(most, rounds)
			}
		}
	}
	return most
}

// runs returns, for every voting member, for how many rounds in a row up to t its answers
// were those of period rounds before, counting to at most most.
func (b *breaker) runs(t, period, most int) (rounds []int) {
	for i, s := range b.plan.seats {
		if s.NonVoting {
			continue
		}
		n := 0
		for at := t; n < most && at >= period && b.answers[at][i] == b.answers[at-period][i]; at-- {
			n++
		}
		rounds = append(rounds, n)
	}
	return rounds
}

// decided reports whether the rule would decide on the answers of round t.
func (b *breaker) decided(t int) bool {
	votes := b.plan.ballot(b.answers[0], func(i int) synod.Answer { return b.answers[t][i] })
	return b.plan.spec.Rule.decide(votes).status == Agreed
}

// quorum trips if the rule needs more live members than there are. A member is not live if it has
// no answer and none of its calls has succeeded by the end of round 1.
func (b *breaker) quorum(t int, dead func(int) bool) *Trip {
	if !b.Quorum || t == 0 {
		return nil
	}
	p := b.plan
	var gone []int
	for i, s := range p.seats {
		if !s.NonVoting && b.answers[t][i] == synod.None && dead(i) {
			gone = append(gone, i)
		}
	}
	_, live := p.spec.Rule.need(p.voters)
	if p.voters-len(gone) >= live {
		return nil
	}
	return &Trip{
		Breaker: NoQuorum, Continue: "breakers.quorum=false",
		Detail: fmt.Sprintf("%v are unreachable, and %s needs %d live members of %d", p.names(gone),
			p.spec.Rule.decider(), live, p.voters),
	}
}

// fixedPoint notices that no remaining round can change the decision. A round in which
// every call succeeded and no answer or confidence changed is a fixed point of a
// protocol that Settles, because every later round would ask the same. There is no fixed point with
// random faults in the network, or with an adversary whose messages change by themselves.
//
// Seats that patience made late in the round are left out: at most the spare number, and
// only if the others agree without them. They count among the F faulty seats. To the
// others, a later round could only bring other messages of faulty seats, and the run
// would never end early if it waited for a seat that is late again and again. The claim
// does not need those rounds: what holds after every number of rounds holds after this
// one. A late seat that would have changed its answer later is not waited for; that is
// the price of patience.
//
// A seat whose refinement was cut off is left out in the same way, but if all seats that
// are not faulty hold one answer, its refinement had nothing else to choose, and the
// seat counts as one that kept its answer.
type fixedPoint struct {
	plan     *Plan
	possible bool
	first    []*synod.Opinion // by seat
	last     []*synod.Opinion // by seat
	rounds   []roundNotes
	complete int  // the last round that all have noted who noted round 0; -1: none
	merges   bool // the decision is made field by field, so late seats may change a part of it
}

// roundNotes summarises the notes of one round.
type roundNotes struct {
	members int
	faulty  []synod.NodeID // seats that patience made faulty
	kept    []synod.NodeID // other seats whose refinement was cut off
	changed bool           // an answer or confidence of another seat changed, or a call of it failed
}

func newFixedPoint(p *Plan) *fixedPoint {
	return &fixedPoint{
		plan: p, possible: p.settles, complete: -1,
		first: make([]*synod.Opinion, len(p.seats)), last: make([]*synod.Opinion, len(p.seats)),
	}
}

// reset prepares for another run.
func (s *fixedPoint) reset() {
	clear(s.first)
	clear(s.last)
	s.rounds, s.complete = s.rounds[:0], -1
}

// mayEndEarly reports whether a run can have a fixed point.
func (p *Plan) mayEndEarly() bool {
	if p.graph.Changes() { // another round has other neighbours
		return false
	}
	for _, a := range p.adversaries {
		if steady, ok := a.(adversary.Steady); a != nil && (!ok || !steady.Steady()) {
			return false
		}
	}
	return p.protocol.Settles() && p.faults.None()
}

// after takes the notes of a tick and reports whether a round is a fixed point. late is
// session.late.
func (s *fixedPoint) after(notes []sim.Noted, late func(sim.Noted) (faulty, kept bool)) bool {
	found := false
	for _, n := range notes {
		before := s.last[n.Node]
		if s.last[n.Node] = n.Opinion; before == nil {
			s.first[n.Node] = n.Opinion
		}
		for len(s.rounds) <= n.Round {
			s.rounds = append(s.rounds, roundNotes{})
		}
		r := &s.rounds[n.Round]
		r.members++
		switch faulty, kept := late(n); {
		case faulty:
			r.faulty = append(r.faulty, n.Node)
		case kept:
			r.kept = append(r.kept, n.Node)
		case n.Failed > 0 || n.Answer == synod.None || // it is asked again
			before == nil || before.Answer != n.Answer || !equalConfidence(before.Confidence, n.Confidence):
			r.changed = true
		}
		if r.members < s.rounds[0].members {
			continue
		}
		s.complete = max(s.complete, n.Round)
		found = found || s.possible && n.Round > 0 && !r.changed && s.agreeWithoutLate(r)
	}
	return found
}

// agreeWithoutLate reports whether the late seats of a round need not be waited for:
// there are none, or they are no more than may be spared, and the decision is the same
// with their last answers and without.
func (s *fixedPoint) agreeWithoutLate(r *roundNotes) bool {
	late := r.faulty
	if !s.unanimous(r.faulty) {
		late = slices.Concat(r.faulty, r.kept)
	}
	if len(late) == 0 {
		return true
	}
	if s.merges {
		return false
	}
	if len(late) > s.plan.patience.spare && !s.plan.patience.byRule {
		return false
	}
	all, others := make([]Record, len(s.last)), make([]Record, len(s.last))
	for i, o := range s.last {
		all[i].Seat, others[i].Seat = synod.NodeID(i), synod.NodeID(i)
		if o == nil {
			continue
		}
		all[i].Opinions = []Noted{{Opinion: s.first[i]}, {Opinion: o}}
		if !slices.Contains(late, synod.NodeID(i)) {
			others[i].Opinions = all[i].Opinions
		}
	}
	with, without := s.plan.decide(all), s.plan.decide(others)
	return with.status == Agreed && without.status == Agreed && with.answer == without.answer
}

// unanimous reports whether all seats but the faulty ones hold the same answer.
func (s *fixedPoint) unanimous(faulty []synod.NodeID) bool {
	var held synod.Answer
	for i, o := range s.last {
		switch {
		case o == nil || slices.Contains(faulty, synod.NodeID(i)):
		case held == synod.None:
			held = o.Answer
		case held != o.Answer:
			return false
		}
	}
	return held != synod.None
}

// decide applies the rule to the opinions in records.
func (p *Plan) decide(records []Record) verdict {
	j := new(judgment)
	j.take(p, Instance{}, records)
	return p.spec.Rule.decide(j.ballot())
}

func equalConfidence(a, b *float64) bool { return a == b || a != nil && b != nil && *a == *b }

// Escalate determines where to report a run that was stopped. Both get the outcome as JSON;
// neither is waited for longer than Within.
type Escalate struct {
	Webhook string        `yaml:"webhook,omitempty" json:"webhook,omitempty" doc:"address that the outcome is posted to" example:"https://example.org/synod"`
	Command []string      `yaml:"command,omitempty" json:"command,omitempty" doc:"program and arguments; it gets the outcome on standard input; no shell" example:"[notify, --urgent]"`
	Within  time.Duration `yaml:"within,omitempty" json:"within,omitzero" doc:"the longest wait for them, at most 1h" range:"0s:1h" example:"10s" default:"5s"`
}
