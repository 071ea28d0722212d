// Package weightedmajority is the vote weighted by confidence: every member answers and
// states a confidence, sends both to its neighbours, and takes the answer with the largest
// sum of confidences among its neighbours and itself.
//
// The weights are the members' own claims, so the protocol tolerates no Byzantine member:
// one that claims 1.0 outweighs three honest members with 0.3. It is the baseline for SAC,
// which ignores what a sender says about itself. A missing confidence has the weight 0, but
// the answer still counts as supported.
//
//	protocol: {name: weighted-majority}
package weightedmajority

import (
	"cmp"
	"math"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/script"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/answer"
	"synod.dev/synod/protocol/check"
)

// Entry is the protocol in the catalogue.
var Entry = protocol.Entry{
	Entry: synod.Entry{Name: "weighted-majority",
		Summary: "members answer with a confidence and take the answer with the largest sum of confidences around " +
			"them"},
	Traits: []synod.Trait{synod.Tells, synod.Votes, synod.FirstVotes, synod.Confides},
	Source: "the vote weighted by stated confidence, a baseline that every table needs",
	Exact:  exact,
	About: `Every member answers and states a confidence from 0 to 1, sends both to its neighbours,
and takes the answer with the largest sum of confidences among its neighbours and itself
(of equal sums the one with more supporters, then the first by its bytes). The council's
rule counts. n calls, one round.

A confidence that is missing or cannot be read has the weight 0.

not promised  anything: weights are the members' own claims, so one Byzantine member
              that claims 1.0 outweighs three honest members with 0.3. No Byzantine
              member is tolerated.`,
	New:       func() protocol.Protocol { return New() },
	Prompts:   answer.Templates,
	Campaigns: []check.Subject{campaign},
}

// WeightedMajority holds the protocol's parameters.
type WeightedMajority struct {
	answer.Plain `yaml:",inline"`
}

// New returns the defaults.
func New() *WeightedMajority { return &WeightedMajority{} }

// Join returns the machine of one member.
func (p *WeightedMajority) Join(seat synod.Seat) synod.Machine {
	return script.New(seat, script.Options{OneSeed: p.Exact}, p.play)
}

func (p *WeightedMajority) play(me *script.Agent) synod.Answer {
	m := answer.New(me, answer.Settings{
		Templates: "weighted-majority", Exact: p.Exact, ConfidenceMode: synod.StatedConfidence,
	})
	r := m.Answer()
	m.Note(0, r, synod.Opinion{})
	heard, silent := m.Exchange(0, &r, 0)
	r = adopt(r, heard)
	m.Note(1, r, synod.Opinion{Silent: silent})
	return r.Answer
}

// backed is an answer with its support.
type backed struct {
	answer     synod.Answer
	weight     uint64 // the sum of confidences in units of 1e-9, which does not depend on the order
	supporters int
}

// adopt takes the answer with the largest sum of confidences; of equal sums the
// one with more supporters, then the one whose bytes come first.
func adopt(r answer.Held, heard []answer.Heard) answer.Held {
	all := make([]backed, 0, len(heard)+1)
	back := func(a synod.Answer, sure float64) {
		i := slices.IndexFunc(all, func(b backed) bool { return b.answer == a })
		if i < 0 {
			i, all = len(all), append(all, backed{answer: a})
		}
		all[i].weight += uint64(math.Round(sure * 1e9))
		all[i].supporters++
	}
	for _, h := range heard {
		back(h.Value.Answer, h.Value.Confidence)
	}
	if r.Answer != synod.None {
		own := 0.0
		if r.Confidence != nil {
			own = *r.Confidence
		}
		back(r.Answer, own)
	}
	if len(all) == 0 {
		return r
	}
	best := slices.MinFunc(all, func(a, b backed) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(b.supporters, a.supporters),
			cmp.Compare(a.answer, b.answer))
	})
	return r.Take(best.answer, heard)
}

// Calls returns n.
func (p *WeightedMajority) Calls(degrees []int) int { return len(degrees) }

// Weight returns the confidence that a member stated in its first answer; 0 if it stated none.
func (p *WeightedMajority) Weight(first *synod.Opinion) float64 {
	if first.Confidence == nil {
		return 0
	}
	return *first.Confidence
}

// VotesByWeight reports that a member's last answer is the first answer with the largest sum of confidences.
func (p *WeightedMajority) VotesByWeight() bool { return true }

// Dynamic reports that each round has neighbours of its own.
func (p *WeightedMajority) Dynamic() bool { return true }

// TellsFirst reports that members exchange their first answers.
func (p *WeightedMajority) TellsFirst() bool { return true }

// MaxRounds returns 1.
func (p *WeightedMajority) MaxRounds() int { return 1 }

// Guarantee returns none: no Byzantine member is tolerated on any graph.
func (p *WeightedMajority) Guarantee(_, _ int, _ bool) (name, note string) {
	return "", "no guarantee: a member's weight is its own claim, so one Byzantine member that claims to be certain " +
		"can win; none is tolerated"
}

// exact is what "exact: paper" restores, and what it does not.
const exact = `restored    confidences are read as in the code of CP-WBFT; one seed; no reply is reused
differs     the words of the prompts (use prompts: FOLDER). It is a baseline and has no
            paper of its own`
