package outcome

import (
	"fmt"
	"math"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/council/plan"
)

// Breaker watches one run round by round. It sees opinions only, so the same breaker
// trips when Judge looks at the records of the run.
type Breaker struct {
	plan.Breakers
	plan *plan.Plan
	// by round, by seat; a seat that has not noted the round has its answer of the round before
	answers  [][]synod.Answer
	noted    []int // by round: how many members that vote have noted it
	latest   int   // the last round that a member has noted
	judged   int   // rounds that were looked at
	drift    drift
	suspects []synod.NodeID
}

func NewBreaker(p *plan.Plan) *Breaker {
	return &Breaker{Breakers: p.Full().Breakers, plan: p, drift: drift{narrowed: math.Inf(1)}}
}

// Reset prepares for another run.
func (b *Breaker) Reset() { *b = *NewBreaker(b.plan) }

// After takes the notes of a tick and returns the breaker that trips; nil if none
// does. dead reports whether all calls of a seat have failed so far.
func (b *Breaker) After(notes []sim.Noted, dead func(seat int) bool) *Trip {
	if !b.Any() {
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

func (b *Breaker) add(n sim.Noted) {
	if n.Round < 0 || n.Round > maxRounds {
		return
	}
	for len(b.noted) <= n.Round {
		next := make([]synod.Answer, len(b.plan.Seats()))
		if k := len(b.answers); k > 0 {
			copy(next, b.answers[k-1])
		}
		b.answers, b.noted = append(b.answers, next), append(b.noted, 0)
	}
	if !b.plan.Seats()[n.Node].NonVoting {
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
func (b *Breaker) equivocation() *Trip {
	if !b.Equivocation || len(b.suspects) == 0 {
		return nil
	}
	slices.Sort(b.suspects)
	names := namer{seats: b.plan.Seats()}
	return &Trip{
		Breaker: Equivocation, Round: b.latest, Continue: "breakers.equivocation=false",
		Detail: fmt.Sprintf("%v told different members different things", names.of(slices.Compact(b.suspects))),
	}
}

// over reports whether a round is over: all voting members that noted the first round have
// noted it, or all of them but F have noted the next one.
func (b *Breaker) over(t int) bool {
	first := b.noted[0]
	return first > 0 && (b.noted[t] >= first ||
		t+1 < len(b.noted) && b.noted[t+1] >= max(1, first-b.leftOut()))
}

// judge looks at a round that is over.
func (b *Breaker) judge(t int, dead func(int) bool) *Trip {
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
func (b *Breaker) others() string {
	if out := b.leftOut(); out > 0 {
		return fmt.Sprintf(" but those of at most F=%d members", out)
	}
	return ""
}

// leaving says that a breaker leaves members out.
func (b *Breaker) leaving() string {
	if out := b.leftOut(); out > 0 {
		return fmt.Sprintf(", F=%d of them left out", out)
	}
	return ""
}

// follow shows the drift breaker a round that is over.
func (b *Breaker) follow(t int) {
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
func (b *Breaker) voicing() voicing {
	p, out := b.plan, b.leftOut()
	if p.VoicesOf() == nil {
		return voicing{nil, out, out}
	}
	v := voicing{leftOut: min(plan.HostileVoices(p), plan.CountVoices(p)-1), seats: out}
	for i := range p.Seats() {
		if !p.Seats()[i].NonVoting {
			v.voices = append(v.voices, p.VoicesOf()[i])
		}
	}
	return v
}

// voting returns the answers after round t of the members that vote.
func (b *Breaker) voting(t int) (all []synod.Answer) {
	for i, s := range b.plan.Seats() {
		if !s.NonVoting {
			all = append(all, b.answers[t][i])
		}
	}
	return all
}

// leftOut returns how many members may say what they like without disabling a breaker:
// the F that may be Byzantine, but never all that vote.
func (b *Breaker) leftOut() int { return min(b.plan.Full().F, b.plan.Voters()-1) }

// unmoved returns for how many rounds in a row up to t all voting members but F have kept
// their answers. Always the same F are left out.
func (b *Breaker) unmoved(t int) int {
	rounds := b.runs(t, 1, b.NoProgress)
	slices.Sort(rounds)
	return rounds[b.leftOut()]
}

// returned returns for how many rounds in a row up to t all voting members but F have held
// their answers of two to four rounds before, while one of these members changed its answer.
// Always the same F are left out.
func (b *Breaker) returned(t int) (most int) {
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
func (b *Breaker) runs(t, period, most int) (rounds []int) {
	for i, s := range b.plan.Seats() {
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
func (b *Breaker) decided(t int) bool {
	votes := ballotOf(b.plan, b.answers[0], func(i int) synod.Answer { return b.answers[t][i] })
	return decide(b.plan.Full().Rule, votes).status == Agreed
}

// quorum trips if the rule needs more live members than there are. A member is not live if it has
// no answer and none of its calls has succeeded by the end of round 1.
func (b *Breaker) quorum(t int, dead func(int) bool) *Trip {
	if !b.Quorum || t == 0 {
		return nil
	}
	p := b.plan
	var gone []int
	for i, s := range p.Seats() {
		if !s.NonVoting && b.answers[t][i] == synod.None && dead(i) {
			gone = append(gone, i)
		}
	}
	_, live := p.Full().Rule.Need(p.Voters())
	if p.Voters()-len(gone) >= live {
		return nil
	}
	return &Trip{
		Breaker: NoQuorum, Continue: "breakers.quorum=false",
		Detail: fmt.Sprintf("%v are unreachable, and %s needs %d live members of %d", plan.NamesOf(p, gone),
			p.Full().Rule.Decider(), live, p.Voters()),
	}
}
