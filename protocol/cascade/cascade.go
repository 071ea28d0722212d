// Package cascade asks few members, stops when that is safe, and spends more only on contested questions. It is a
// protocol of our own; docs/research/cascade.md has its assumptions, guarantee and proof, and the exhaustive test
// cites it.
//
// Members are asked in stages, in an order that all of them compute: F+1 that are drawn at random, then one at a time,
// by weight and price. A member of the stage gives an independent answer and sends it to all.
// Every member counts the same first answers and knows by itself whether another stage follows, so there is no
// coordinator: the same machines run in one process and over nodes. Judge counts the first answers in the records
// again, with the same functions; what members tell one another has no influence on that.
//
// A member that equivocates can make honest members see different stages. Then members may be asked in vain, or not be
// asked, so that the outcome is undecided; it cannot make a decision that the records do not support.
//
//	protocol: {name: cascade, stop: probable}
package cascade

import (
	"fmt"
	"io/fs"
	"math"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/odds"
	"synod.dev/synod/core/script"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/answer"
	"synod.dev/synod/protocol/check"
	"synod.dev/synod/protocol/sac"
)

// Stop says when no further member is asked.
type Stop string

// The ways to stop.
const (
	Certain  Stop = "certain"  // no completion of the missing votes and no F ignored seats change the decision
	Probable Stop = "probable" // more than F members agree independently, and the answer is right with probability P
)

// Cascade holds the protocol's parameters.
type Cascade struct {
	Stop     Stop                 `yaml:"stop" json:"stop" doc:"when no further member is asked: certain: no missing vote and no F ignored seats could change the decision; probable: more than F members agree and the answer is right with probability p" enum:"certain|probable"`
	P        float64              `yaml:"p" json:"p" doc:"with stop: probable: the least probability that the answer is right, by the weights and if F of its supporters lied; it says when to stop and is not calibrated" range:"0.5:0.999999"`
	Doubt    float64              `yaml:"doubt" json:"doubt" doc:"with stop: probable: asking also ends when an answer has more than F supporters and the other members change that it leads with at most this probability; 0: only when they cannot" range:"0:0.5"`
	Rounds   int                  `yaml:"rounds" json:"rounds" doc:"T of the SAC that decides contested questions" range:"0:100"`
	Score    sac.ScoreBy          `yaml:"score" json:"score" doc:"how members score answers of a contested question, as in sac" enum:"stated|likelihood"`
	Weights  map[string][]float64 `yaml:"weights" json:"weights,omitempty" doc:"log-odds of an answer by form of question, a number for each seat; filled in from the trust file where the council names one" example:"{number: [2.1, 1.3, 0.4]}"`
	Together [][2]synod.NodeID    `yaml:"together" json:"together,omitempty" doc:"pairs of seats, from 0, that err together: they count as one supporter; filled in from the trust file" example:"[[0, 3]]"`
	Prices   []float64            `yaml:"prices" json:"prices,omitempty" doc:"what a call of each seat costs, relative to the others; absent: from the price table, for a call of 400 prompt and at most 150 completion tokens" example:"[1, 1, 10]"`
	Audit    float64              `yaml:"audit" json:"audit,omitempty" doc:"share of the questions that ask every member, so that trust is learned from all alike; it changes no decision; filled in from trust.audit where the council learns" range:"0:1"`
	Secret   uint64               `yaml:"secret" json:"secret,omitempty" doc:"seed by which audits are drawn; filled in at random"`
	Tiers    [][]synod.NodeID     `yaml:"tiers" json:"tiers,omitempty" doc:"seats by tier, by id or from 0; all of a tier are asked at once, and the answer stands after it if more than F members gave it and it is right with probability p, or without graded questions if all that answered agree; absent: F+1 drawn seats, then one at a time" example:"[[a, b], [c]]"`
	Odds     []*odds.Predictor    `yaml:"odds" json:"odds,omitempty" doc:"how likely answers are right, by the tiers that were asked; filled in from the graded questions of the trust file"`
	Probe    answer.Probe         `yaml:"probe" json:"probe,omitzero" doc:"with tiers: likelihood: members report how likely their model's answer is (models with logprobs: true), which counts in the probability if the graded questions have it too" enum:"none|likelihood"`
	AtLeast  float64              `yaml:"at_least" json:"at_least,omitempty" doc:"with tiers: an answer that is less probable is no decision; 0: every answer with more than F voices may be one" range:"0:1"`
	Race     bool                 `yaml:"race" json:"race,omitempty" doc:"with tiers: the next tier is called as soon as a member of a tier is late or two of its answers differ; the decision stays the same, and calls that were not needed are paid"`
	Exact    bool                 `yaml:"-" json:"exact"` // one seed, and no reply is reused

	voices [][2]synod.NodeID // more pairs that count as one supporter, because they have one model
}

// New returns the defaults.
func New() *Cascade {
	return &Cascade{Stop: Probable, P: 0.99, Doubt: 0.01, Rounds: 2, Score: sac.Stated, Probe: answer.NoProbe}
}

// Paper sets Exact.
func (p *Cascade) Paper() { p.Exact = true }

// Validate returns an error for parameters that do not go together, and for weights, odds and prices out of range.
func (p *Cascade) Validate() error {
	switch {
	case len(p.Tiers) > 0 && p.Stop == Certain:
		return fmt.Errorf("cascade: tiers end by the probability of an answer; with them stop must be %s", Probable)
	case len(p.Tiers) == 0 && (p.AtLeast > 0 || len(p.Odds) > 0 || p.Race):
		return fmt.Errorf("cascade: at_least, odds and race need tiers (example: tiers: [[a, b], [c]])")
	case len(p.Tiers) == 0 && p.Probe == answer.LikelihoodProbe:
		return fmt.Errorf("cascade: probe: likelihood needs tiers (example: tiers: [[a, b], [c]])")
	case len(p.Odds) > len(p.Tiers):
		return fmt.Errorf("cascade: odds has %d entries; it must have at most one for each of the %d tiers",
			len(p.Odds), len(p.Tiers))
	}
	for k, m := range p.Odds {
		if m == nil {
			return fmt.Errorf("cascade: odds[%d] is empty", k)
		}
		if err := m.Check(); err != nil {
			return fmt.Errorf("cascade: odds[%d]: %w", k, err)
		}
	}
	for kind, weights := range p.Weights {
		if !slices.Contains(synod.Forms(), synod.Form(kind)) {
			return fmt.Errorf("cascade: weights: no form of question is called %q; there are: %v", kind, synod.Forms())
		}
		if i := slices.IndexFunc(weights, bad); i >= 0 {
			return fmt.Errorf("cascade: weights: %s[%d] is %v; it must be a number of at least 0", kind, i, weights[i])
		}
	}
	if i := slices.IndexFunc(p.Prices, func(x float64) bool { return bad(x) || x == 0 }); i >= 0 {
		return fmt.Errorf("cascade: prices[%d] is %v; it must be a number above 0", i, p.Prices[i])
	}
	return nil
}

func bad(x float64) bool { return !(x >= 0) || math.IsInf(x, 0) }

// CheckCast refuses a bound that no decision could meet, and lists that do not fit the seats.
func (p *Cascade) CheckCast(cast []synod.Role, f int) error {
	n := len(cast)
	if n < 2*f+1 {
		return fmt.Errorf("cascade: f is %d, and with %d seats F members could outweigh the others; it must be at "+
			"most %d", f, n, (n-1)/2)
	}
	for _, kind := range synod.Forms() {
		if w, ok := p.Weights[string(kind)]; ok && len(w) != n {
			return fmt.Errorf("cascade: weights: %s has %d numbers; it must have one for each of the %d seats", kind,
				len(w), n)
		}
	}
	if len(p.Prices) > 0 && len(p.Prices) != n {
		return fmt.Errorf("cascade: prices has %d numbers; it must have one for each of the %d seats", len(p.Prices), n)
	}
	if err := p.checkTiers(n); err != nil {
		return err
	}
	for _, pair := range p.Together {
		if pair[0] < 0 || pair[1] < 0 || int(pair[0]) >= n || int(pair[1]) >= n || pair[0] == pair[1] {
			return fmt.Errorf("cascade: together: [%d, %d] is not a pair of seats; they count from 0 to %d", pair[0],
				pair[1], n-1)
		}
	}
	return nil
}

// ErrTogether adds pairs of seats that count as one supporter.
func (p *Cascade) ErrTogether(pairs [][2]synod.NodeID) { p.voices = pairs }

// sac is the protocol of contested questions.
func (p *Cascade) sac() *sac.SAC {
	s := sac.New()
	s.Rounds, s.Score, s.Exact = p.Rounds, p.Score, p.Exact
	return s
}

// Join returns the machine of one member.
func (p *Cascade) Join(seat synod.Seat) synod.Machine {
	return p.script(seat, p.play)
}

// script is the machine of one member that plays an algorithm.
func (p *Cascade) script(seat synod.Seat, play script.Play) synod.Machine {
	return script.New(seat, script.Options{Remember: !p.Exact, OneSeed: p.Exact}, play)
}

// member is one seat of a machine.
func (p *Cascade) member(me *script.Agent) *answer.Member {
	return answer.New(me, answer.Settings{Templates: "cascade", Exact: p.Exact, ConfidenceMode: p.ConfidenceMode()})
}

// play is the protocol at one seat.
func (p *Cascade) play(me *script.Agent) synod.Answer {
	seat := me.Seat()
	m := p.member(me)
	t := p.tally(seat.Question, len(seat.Peers)+1, seat.F)
	given := make([]said, len(t.order)) // by seat; more than were counted, in an audit
	r := answer.Held{Source: synod.Absent}
	ask := func(stage int, of []synod.NodeID) {
		if slices.Contains(of, seat.Self) {
			r = m.Answer()
			m.Note(0, r, synod.Opinion{})
			given[seat.Self] = saying(r.Answer, r.Confidence)
		}
		for _, h := range m.Stage(stage, &r, of) {
			given[h.From] = said{h.Value.Answer, h.Value.Confidence}
		}
	}
	audit := false
	for stage := 0; ; stage++ {
		of := t.stage(stage)
		if !audit {
			ask(stage, of)
		}
		if stage == 0 && len(of) < len(t.order) && p.Audited(seat.Question) {
			audit = true
			ask(1, t.order[len(of):])
		}
		t.count(of, given)
		all := t.table()
		switch t.next(all, t.stage(stage+1) == nil) {
		case decided:
			return t.leader(all).answer
		case hopeless, merged: // who reads the records merges
			return synod.None
		case contested:
			return p.sac().Contest(me, m, r, answers(t.candidates(all)), len(t.order)).Answer
		}
	}
}

// Audited reports whether a question asks every member. It is drawn by a seed that no member knows, and after the first
// stage has answered. What is decided does not depend on it: the answers are counted up to the stage in which asking
// would have ended.
func (p *Cascade) Audited(q *synod.Question) bool {
	return p.Audit > 0 && draw(fmt.Sprintf("audit %d", p.Secret), q).Float64() < p.Audit
}

func answers(some []candidate) (list []synod.Answer) {
	for _, c := range some {
		list = append(list, c.answer)
	}
	return list
}

// Calls returns the largest number of model calls of a run: a first answer of every member, and a contest.
func (p *Cascade) Calls(degrees []int) int {
	if len(p.Tiers) > 0 { // no contest follows
		return len(degrees)
	}
	return len(degrees) + p.sac().MaxContest(len(degrees))
}

// MaxRounds returns the rounds of a contest: a member without a candidate takes one, then T rounds.
func (p *Cascade) MaxRounds() int { return p.Rounds + 1 }

// Settles returns false: the protocol itself stops as soon as it can.
func (p *Cascade) Settles() bool { return false }

// AllToAll reports that every member must hear every first answer.
func (p *Cascade) AllToAll() bool { return true }

// TellsFirst reports that members exchange their first answers.
func (p *Cascade) TellsFirst() bool { return true }

// FirstAsked returns the members of the first stage. Those of later stages are asked because of the answers before, so
// they see these in any case.
func (p *Cascade) FirstAsked(q *synod.Question, n, f int) []synod.NodeID {
	return p.convene(q, n, f).stage(0)
}

// WantsPrices reports whether the council file gives no prices.
func (p *Cascade) WantsPrices() bool { return len(p.Prices) == 0 }

// Weighs reports whether members must be able to weigh text (SAC-12): in a contest, which does not follow tiers.
func (p *Cascade) Weighs() bool { return p.Score == sac.Likelihood && len(p.Tiers) == 0 }

// ConfidenceMode says what an answer comes with. A member whose model reports no likelihood gives its answer alone.
func (p *Cascade) ConfidenceMode() synod.ConfidenceMode { return p.Probe.Mode() }

// Supported is the guarantee: more than F members gave the decision, so an honest one did, independently.
const Supported = "supported"

// Guarantee returns the guarantee, which does not depend on robustness: the graph is complete.
func (p *Cascade) Guarantee(f, _ int, _ bool) (name, note string) {
	return Supported, fmt.Sprintf("with at most F=%d Byzantine members, an honest member gave the decision "+
		"independently, before it heard others", f)
}

// Prompts returns the protocol's templates: those of SAC, for contested questions.
func Prompts() fs.FS { return sac.Prompts() }

// Entry is the protocol in the catalogue.
var Entry = protocol.Entry{
	Entry: synod.Entry{Name: "cascade",
		Summary: "asks few members, stops when that is safe, and spends more only on contested questions"},
	Traits: []synod.Trait{synod.Tells, synod.Votes, synod.FirstVotes, synod.Lists, synod.Solves, synod.Learns},
	Source: "our own; docs/research/cascade.md",
	Exact:  exact,
	About: `F+1 members that are drawn at random, cheap ones more often, answer first; then one more
member at a time, by weight and price. Weights are log-odds of reliability, learned without
labels from the council's own history (synod operate trust), and capped at the median and so that no F
members outweigh the others. Without history all are equal.

stop: certain   stops when the leading answer leads by more than all missing weight plus the F
                heaviest votes for it. The decision is the one that asking all would give.
stop: probable  stops when more than F members gave the answer independently, and it is right
                with probability p by the weights even if F of them lied, or when the missing
                votes change which answer leads with probability doubt at most. It decides
                nothing that its own evidence is against: an answer that is outweighed, or
                that is wrong rather than right by the weights.

tiers           all seats of a tier are asked at once. Its most probable answer with more than F
                supporters stands if it is right with probability p by the graded questions of
                the trust file, or without these if all that answered agree; after the last
                tier it stands in any case, unless it is less probable than at_least.

When there is nobody left to ask, an answer with more than F independent supporters is the
decision if it is the only one; between several, T rounds of SAC decide, by the weight of the
members' last answers. Without one the outcome is undecided.

guaranteed  with at most F Byzantine members of n >= 2F+1: more than F members gave the
            decision, so an honest one gave it before it heard others. A Byzantine member
            that is asked after the first F+1 sees the answers before, and can copy one; one
            of the first F+1 cannot, with the defence commit. With stop: certain the decision
            also is the honest members' own weighted plurality, and does not depend on when
            the asking stopped.
measured    that few members are enough, and what that costs in accuracy (docs/research/cascade.md).
not promised  that the answer is right; that p is met: it says when to stop, and is not calibrated; a decision where
            members equivocate: then the outcome may be undecided.

JSON answers are merged field by field from the first answers of those asked, and asking ends
when enough members gave one whole value (docs/research/cascade.md).

Members must hear one another: the graph is complete.

stop         certain or probable (probable)
p            with stop: probable, the least probability by the weights (0.99)
doubt        with stop: probable, the largest probability that the missing votes change which
             answer leads (0.01)
tiers        seats by tier, such as [[a, b], [c]]; none: F+1 that are drawn, then one at a time
at_least     with tiers: an answer that is less probable is no decision (0: every one may be)
probe        with tiers: likelihood: the probability also counts how likely models with
             logprobs: true say their answers are, among what each mostly says (none)
race         with tiers: call the next tier when a member of a tier is late or two of its answers
             differ (false); the decision stays the same, and needless calls are paid
odds         how likely answers are right; filled in from the trust file
rounds       T of the SAC for contested questions (2)
score        how members score then: stated or likelihood
weights      log-odds by form of question and seat; filled in from the trust file
together     pairs of seats that err together; filled in from the trust file
prices       relative price of a call of each seat; filled in from the price table`,
	New:       func() protocol.Protocol { return New() },
	Prompts:   Prompts,
	Campaigns: []check.Subject{campaign},
}

// exact is what "exact: paper" restores, and what it does not.
const exact = `restored    one seed; no reply is reused; the SAC of contested questions as in its paper
differs     it is a protocol of our own and has no paper`
