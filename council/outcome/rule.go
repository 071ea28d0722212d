package outcome

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/council/plan"
)

// oneLine is a text without line breaks or runs of space.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// certain reports whether a verdict stays the same whatever the given number of seats without an
// answer would answer. A majority of all seats stays one. A plurality must lead by more than
// their number.
func certain(r plan.Rule, v *verdict, missing int) bool {
	if v.status != Agreed || r.Name != plan.Plurality {
		return v.status == Agreed
	}
	second := 0
	if len(v.votes) > 1 {
		second = len(v.votes[1].Seats)
	}
	return len(v.votes[0].Seats) > second+missing
}

// Certain reports whether the rule decides on these answers, and does so whatever the given number of seats without an
// answer would say. first has the answers of all seats before they heard others, held those at the end.
func Certain(p *plan.Plan, first []synod.Answer, held func(seat int) synod.Answer, missing int) bool {
	v := decide(p.Full().Rule, ballotOf(p, first, held))
	return certain(p.Full().Rule, &v, missing)
}

// ballotOf is a ballot of the seats that vote.
func ballotOf(p *plan.Plan, first []synod.Answer, final func(seat int) synod.Answer) ballot {
	b := ballot{first: first, voice: p.VoicesOf(), seats: p.VoterIDs(), final: make([]synod.Answer, 0, p.Voters())}
	for i := range p.Seats() {
		if !p.Seats()[i].NonVoting {
			b.final = append(b.final, final(i))
		}
	}
	return b
}

func AnswerOf(o *synod.Opinion) synod.Answer {
	if o == nil {
		return synod.None
	}
	return o.Answer
}

// Statuses of a decision.
const (
	Agreed    = "agreed"
	Degraded  = "degraded"  // fewer live members than the rule needs
	Undecided = "undecided" // enough members, but no answer meets the rule
)

// Vote is one answer and the seats whose final answer it is.
type Vote struct {
	Answer      synod.Answer `json:"answer"`
	Text        string       `json:"text"` // Answer as it is printed: spelled as most of these seats wrote it
	Seats       []string     `json:"seats"`
	Independent int          `json:"independent"` // voices that gave it in round 0
}

// ballot is what the rule counts.
type ballot struct {
	seats []string       // that vote
	final []synod.Answer // by seat that votes
	first []synod.Answer // of all seats, voting or not: what counts as independent
	voice []int          // by seat: the number of its voice; nil: each seat is one
	own   ownStep        // with ByProtocol
	// failed is how many seats that vote have no answer because theirs failed a check: they have taken part.
	failed int
}

// ownStep is the result of the protocol's own decision step.
type ownStep struct {
	answer  synod.Answer // None: it has no result
	signed  bool         // it counts, however many seats have an answer: signed replies, or the answers of those asked
	lacking bool         // too few signed replies or answers came
	why     string       // "" if the protocol does not count seats
}

// verdict is the result of the rule.
type verdict struct {
	status string
	answer synod.Answer // None unless agreed
	reason string
	votes  []Vote // most seats first, then most independent, then by answer
}

// decide counts a ballot. It is the only place that does.
func decide(r plan.Rule, b ballot) verdict {
	v := verdict{votes: b.count()}
	live := 0
	for _, vote := range v.votes {
		live += len(vote.Seats)
	}
	n := len(b.seats)
	votes, quorum := r.Need(n)
	switch {
	case r.Name == plan.ByProtocol && b.own.lacking && b.failed > 0:
		v.status, v.reason = Undecided, fmt.Sprintf("%s; %d answers failed a check", b.own.why, b.failed)
	case r.Name == plan.ByProtocol && b.own.lacking:
		v.status, v.reason = Degraded, b.own.why
	case r.Name == plan.ByProtocol && b.own.signed:
		byProtocol(r, &v, b)
	case live == 0 && b.failed >= quorum:
		v.status, v.reason = Undecided, "every answer failed a check"
	case live+b.failed < quorum:
		v.status = Degraded
		v.reason = fmt.Sprintf("only %d of %d seats have an answer; %s needs %d", live, n, r.Decider(), quorum)
	case r.Name == plan.ByProtocol:
		byProtocol(r, &v, b)
	case len(v.votes[0].Seats) < votes:
		v.status = Undecided
		v.reason = fmt.Sprintf("%d of %d chose %s; %d needed (%s)", len(v.votes[0].Seats), n,
			brief(v.votes[0].Answer), votes, r.Name)
	case r.Name == plan.Plurality && len(v.votes) > 1 && len(v.votes[1].Seats) == len(v.votes[0].Seats):
		v.status = Undecided
		v.reason = fmt.Sprintf("a tie: the leading answers have %d seats each", len(v.votes[0].Seats))
	case v.votes[0].Independent < r.Support:
		v.status = Undecided
		v.reason = fmt.Sprintf("the leading answer was given independently by %d, and support needs %d",
			v.votes[0].Independent, r.Support)
	default:
		v.status, v.answer = Agreed, v.votes[0].Answer
		v.reason = fmt.Sprintf("%d of %d chose %s; %d needed (%s)", len(v.votes[0].Seats), n,
			brief(v.votes[0].Answer), votes, r.Name)
	}
	return v
}

// brief is an answer in one short line.
func brief(a synod.Answer) string {
	const most = 40
	if text := []rune(oneLine(string(a))); len(text) > most {
		return string(text[:most]) + "…"
	}
	return oneLine(string(a))
}

// byProtocol is the verdict where the protocol's own step decides.
func byProtocol(r plan.Rule, v *verdict, b ballot) {
	i := slices.IndexFunc(v.votes, func(vote Vote) bool { return vote.Answer == b.own.answer })
	switch {
	case i < 0:
		v.status, v.reason = Undecided, cmp.Or(b.own.why, "the protocol's decision step has no result")
	case v.votes[i].Independent < r.Support:
		v.status = Undecided
		v.reason = fmt.Sprintf("the protocol's answer was given independently by %d, and support needs %d",
			v.votes[i].Independent, r.Support)
	default:
		v.status, v.answer = Agreed, b.own.answer
		v.reason = cmp.Or(b.own.why, fmt.Sprintf("the protocol's decision step chose it; %d of %d seats end on it",
			len(v.votes[i].Seats), len(b.seats)))
	}
}

// repeats reports whether an earlier seat of the same voice gave the same first answer.
func (b *ballot) repeats(seat int) bool {
	if b.voice == nil {
		return false
	}
	for i, a := range b.first[:seat] {
		if a == b.first[seat] && b.voice[i] == b.voice[seat] {
			return true
		}
	}
	return false
}

func (b *ballot) count() []Vote {
	votes, seats := []Vote(nil), make([]string, 0, len(b.final))
	at := func(a synod.Answer) int { return slices.IndexFunc(votes, func(v Vote) bool { return v.Answer == a }) }
	for i, a := range b.final {
		if a == synod.None || at(a) >= 0 {
			continue
		}
		from := len(seats)
		for k, other := range b.final[i:] {
			if other == a {
				seats = append(seats, b.seats[i+k])
			}
		}
		if votes == nil {
			votes = make([]Vote, 0, min(3, len(b.final))) // few councils have more answers
		}
		votes = append(votes, Vote{Answer: a, Seats: slices.Clip(seats[from:])})
	}
	for i, a := range b.first {
		if k := at(a); k >= 0 && !b.repeats(i) {
			votes[k].Independent++
		}
	}
	slices.SortFunc(votes, func(a, b Vote) int {
		return cmp.Or(cmp.Compare(len(b.Seats), len(a.Seats)), cmp.Compare(b.Independent, a.Independent),
			cmp.Compare(a.Answer, b.Answer))
	})
	return votes
}
