// Package wmsr is W-MSR, the weighted mean-subsequence-reduced algorithm: LeBlanc,
// Zhang, Koutsoukos, Sundaram, "Resilient Asymptotic Consensus in Robust Networks",
// IEEE JSAC 31(4), 2013; the scalar ancestor of SAC.
//
// Members hold numbers. In each round a member hears its neighbours', drops the F
// largest of those above its own (all of them, if there are fewer) and the F
// smallest of those below, and moves to the mean of its own and what is left. A
// model is asked for the first number only.
//
// With at most F Byzantine neighbours each, honest numbers stay between the
// smallest and the largest honest first number on any graph, and on an r-robust
// graph with r ≥ 2F+1 they approach one another, whatever the Byzantine members
// tell to whom.
//
// Arithmetic is exact and the same everywhere: numbers are whole multiples of
// 10^-(decimals+6), what is heard is rounded to that, and so is each mean; halves
// go away from zero. Rounding keeps order, so it cannot leave the range above, but
// numbers may come to rest some units of the last place apart. What is put on
// record and decided is rounded to the parameter decimals. Weights are equal.
//
//	protocol: {name: w-msr, rounds: 20, decimals: 3}
package wmsr

import (
	"fmt"

	"synod.dev/synod"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/answer"
	"synod.dev/synod/script"
)

// Entry is the protocol in the catalogue.
var Entry = protocol.Entry{
	Entry:  synod.Entry{Name: "w-msr", Summary: "numbers only: drop the F largest above and the F smallest below one's own, average the rest"},
	Source: `LeBlanc, Zhang, Koutsoukos, Sundaram, "Resilient Asymptotic Consensus in Robust Networks", IEEE JSAC 31(4), 2013`,
	About: `Every member answers with a number. Then, in each round, it hears its neighbours'
numbers, drops the F largest of those above its own and the F smallest of those
below (all, if there are fewer), and moves to the mean of its own and the rest.
Models are asked for the first number only: n calls. Questions of other forms are
refused.

guaranteed  with at most F Byzantine neighbours each, whatever they tell to whom:
            validity: honest numbers stay between the smallest and the largest that
            honest members began with, on any graph;
            convergence: they approach one another where r >= 2F+1.
not promised  that the number is right, nor that it is exactly one: what is shown is
            rounded, and two sides of a rounding border are two answers.

rounds       the number of rounds (20)
decimals     of what is shown and decided (3); six more are carried`,
	New:     func() protocol.Protocol { return New() },
	Prompts: answer.Templates,
}

// WMSR holds the protocol's parameters.
type WMSR struct {
	Rounds   int  `yaml:"rounds" json:"rounds"`     // 0 to 1000
	Decimals int  `yaml:"decimals" json:"decimals"` // of what is decided, 0 to 12
	Exact    bool `yaml:"-" json:"exact"`           // the papers' readers: council key "exact: paper"
}

// New returns the defaults.
func New() *WMSR { return &WMSR{Rounds: 20, Decimals: 3} }

// Paper has answers asked for and read as the papers do.
func (p *WMSR) Paper() { p.Exact = true }

// Validate reports the first parameter that is out of its range.
func (p *WMSR) Validate() error {
	return answer.Check("w-msr", answer.Range{Key: "rounds", Value: p.Rounds, High: 1000}, answer.Range{Key: "decimals", Value: p.Decimals, High: 12})
}

// Forms are those of the questions that it can decide.
func (p *WMSR) Forms() []synod.Form { return []synod.Form{synod.Number} }

// Join seats one member.
func (p *WMSR) Join(seat synod.Seat) synod.Machine {
	return script.New(seat, script.Options{OneSeed: p.Exact}, p.play)
}

// play: a member without a number tries in every round to
// get one, and is silent until then.
func (p *WMSR) play(me *script.Agent) synod.Answer {
	m := answer.New(me, answer.Settings{Templates: "w-msr", Exact: p.Exact})
	scale := newScale(p.Decimals)
	r := m.Answer()
	m.Note(0, r, synod.Opinion{})
	x := scale.read(r.Answer)
	for t := range p.Rounds {
		said := r
		said.Answer = scale.write(x)
		heard, silent := m.Exchange(t, &said, 1) // an answer that is asked for again
		if x == nil {
			r, x = said, scale.read(said.Answer)
		}
		o := synod.Opinion{Silent: silent}
		if x != nil {
			s := step(x, scale.readAll(heard), me.Seat().F)
			x, o.Retained, o.Dropped = s.next, s.retained, s.dropped
			r = r.Take(scale.shown(x), heard)
		}
		m.Note(t+1, r, o)
	}
	return r.Answer
}

// Calls is n: numbers are asked for once.
func (p *WMSR) Calls(degrees []int) int { return len(degrees) }

// MaxRounds is the number of rounds.
func (p *WMSR) MaxRounds() int { return p.Rounds }

// Settles: more decimals are carried than are shown, so that nothing follows from
// shown answers that do not change.
func (p *WMSR) Settles() bool { return false }

// The guarantees that a graph earns for a bound F.
const (
	Approach = "convergence" // r ≥ 2F+1: honest numbers approach one another, inside their first range
	Inside   = "validity"    // always: honest numbers stay inside their first range
)

// Guarantee is what holds on an r-robust graph for the bound f.
func (p *WMSR) Guarantee(f, r int, exact bool) (name, note string) {
	atLeast := ""
	if !exact {
		atLeast = "at least "
	}
	if r >= 2*f+1 {
		return Approach, fmt.Sprintf("r is %s%d: with at most F=%d Byzantine neighbours each, honest numbers approach one between the smallest and the largest that honest members began with", atLeast, r, f)
	}
	return Inside, fmt.Sprintf("r is %s%d and F=%d: with at most F Byzantine neighbours each, honest numbers stay between the smallest and the largest that honest members began with; to be sure to approach one another they need r of at least %d", atLeast, r, f, 2*f+1)
}
