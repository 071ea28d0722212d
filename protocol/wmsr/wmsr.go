// Package wmsr is W-MSR, the weighted mean-subsequence-reduced algorithm: LeBlanc,
// Zhang, Koutsoukos, Sundaram, "Resilient Asymptotic Consensus in Robust Networks",
// IEEE JSAC 31(4), 2013. SAC generalises it from numbers to answers.
//
// Members hold numbers. In each round a member hears those of its neighbours, drops the F
// largest of those above its own (all, if there are fewer) and the F smallest of those
// below, and moves to the mean of its own and the remaining ones. A model is asked for the
// first number only.
//
// With at most F Byzantine neighbours of each member, honest numbers stay between the
// smallest and the largest honest first number on any graph, and on an r-robust graph with
// r ≥ 2F+1 they converge, whatever the Byzantine members send to whom.
//
// On a graph that changes from round to round, the range holds if at most F of the neighbours of
// each round are Byzantine. Numbers converge if in every so many rounds, however many these are,
// there is one whose graph is (2F+1)-robust: in the other rounds no honest number leaves the range
// of honest numbers, and one that has left its end does not return to it. With Window = T a member
// also uses the last number that it heard from each neighbour in the last T rounds. Then the unions
// of T rounds in a row take the place of the graphs of single rounds, in both conditions (SW-MSR:
// Saldaña, Prorok, Sundaram, Campos, Kumar, "Resilient Consensus for Time-Varying Networks of
// Dynamic Agents", ACC 2017, 252-258).
//
// Arithmetic is exact and the same on all machines. First numbers are exact fractions. Means
// are rounded to whole multiples of 10^-(decimals+6), halves away from zero, so numbers may
// stop some units of the last place apart. Recorded and decided numbers are rounded to the
// parameter decimals. No rounding leaves the range above: a mean that would be rounded to
// below the smallest of the numbers that it averages becomes that number, and recorded numbers
// get more decimals if they would otherwise leave the range of the numbers that the member has
// averaged so far. Weights are equal.
//
//	protocol: {name: w-msr, rounds: 20, decimals: 3}
package wmsr

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/script"
	"synod.dev/synod/internal/order"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/answer"
	"synod.dev/synod/protocol/check"
)

// Entry is the protocol in the catalogue.
var Entry = protocol.Entry{
	Entry: synod.Entry{Name: "w-msr",
		Summary: "numbers only: drop the F largest above and the F smallest below the own number, average the rest"},
	Traits: []synod.Trait{synod.Tells, synod.Rounds, synod.Trims},
	Source: `LeBlanc, Zhang, Koutsoukos, Sundaram, "Resilient Asymptotic Consensus in Robust Networks", IEEE JSAC 31(4), 2013`,
	Exact:  exact,
	About: `Every member answers with a number. Then, in each round, it hears its neighbours'
numbers, drops the F largest of those above its own and the F smallest of those
below (all, if there are fewer), and moves to the mean of its own and the rest.
Models are asked for the first number only: n calls. Questions of other forms are
refused.

guaranteed  with at most F Byzantine neighbours each, whatever they send to whom:
            validity: honest numbers stay between the smallest and the largest first
            number of honest members, on any graph;
            convergence: they approach one another if r >= 2F+1.
            On a graph that changes from round to round, each round needs at most F
            Byzantine neighbours, and one round in each period needs r >= 2F+1. With a
            window of T rounds, this goes for the unions of T rounds in a row.
not promised  that the number is right, nor that all members show exactly the same:
            numbers are rounded, and those on two sides of a rounding border differ.

rounds       the number of rounds (20)
decimals     of recorded and decided numbers (3), more where rounding would leave the
            range of honest numbers; six more are used internally
window       T: a member uses the last number that it heard from each neighbour in the
             last T rounds (1: those of the present round only)`,
	New:       func() protocol.Protocol { return New() },
	Prompts:   answer.Templates,
	Campaigns: []check.Subject{campaign},
}

// WMSR holds the protocol's parameters.
type WMSR struct {
	Rounds   int  `yaml:"rounds" json:"rounds" doc:"rounds after the first answers" range:"0:1000"`
	Decimals int  `yaml:"decimals" json:"decimals" doc:"decimals of recorded and decided numbers" range:"0:12"`
	Window   int  `yaml:"window" json:"window,omitempty" doc:"rounds whose numbers count, the last one heard from each neighbour; above 1 for graphs that change" range:"1:1000" unit:"rounds"`
	Exact    bool `yaml:"-" json:"exact"` // the papers' readers: council key "exact: paper"
}

// New returns the defaults.
func New() *WMSR { return &WMSR{Rounds: 20, Decimals: 3, Window: 1} }

// Paper makes members ask and read as the papers do.
func (p *WMSR) Paper() { p.Exact = true }

// Validate returns an error for parameters that do not go together.
func (p *WMSR) Validate() error {
	if p.Exact && p.Window > 1 {
		return fmt.Errorf("w-msr: window is %d; numbers of earlier rounds are not in the paper, so it must be 1 "+
			"beside exact: paper", p.Window)
	}
	return nil
}

// Forms returns the forms of the questions that it can decide.
func (p *WMSR) Forms() []synod.Form { return []synod.Form{synod.Number} }

// Join returns the machine of one member.
func (p *WMSR) Join(seat synod.Seat) synod.Machine {
	return script.New(seat, script.Options{OneSeed: p.Exact}, p.play)
}

// play runs one member. A member without a number asks for one again in every round, and
// is silent until it has one.
func (p *WMSR) play(me *script.Agent) synod.Answer {
	m := answer.New(me, answer.Settings{Templates: "w-msr", Exact: p.Exact})
	scale := newScale(p.Decimals)
	r := m.Answer()
	m.Note(0, r, synod.Opinion{})
	x := scale.read(r.Answer)
	seen := span{x, x}
	memory := memory{window: p.Window}
	for t := range p.Rounds {
		reported := r
		reported.Answer = scale.write(x)
		heard, silent := m.Exchange(t, &reported, 1) // an answer that is asked for again
		if x == nil {
			r, x = reported, scale.read(reported.Answer)
			seen = span{x, x}
		}
		o := synod.Opinion{Silent: silent}
		if x != nil {
			s := scale.step(x, memory.with(t, scale.readAll(heard)), me.Seat().F)
			x, o.Retained, o.Dropped = s.next, s.retained, s.dropped
			seen = seen.with(s.averaged)
			r = r.Take(scale.shown(x, seen), heard)
		}
		m.Note(t+1, r, o)
	}
	return r.Answer
}

// memory is what a member heard in the last rounds.
type memory struct {
	window int
	last   []value // the last of each neighbour, ascending
	at     []int   // the round of each
}

// with returns the last number that was heard from each neighbour in the window that ends with
// round t, in which these numbers were heard.
func (m *memory) with(t int, heard []value) []value {
	if m.window <= 1 {
		return heard
	}
	for _, v := range heard {
		i, known := slices.BinarySearchFunc(m.last, v.from, func(old value, id synod.NodeID) int {
			return cmp.Compare(old.from, id)
		})
		if !known {
			m.last, m.at = slices.Insert(m.last, i, v), slices.Insert(m.at, i, t)
		}
		m.last[i], m.at[i] = v, t
	}
	var recent []value
	for i, v := range m.last {
		if m.at[i] > t-m.window {
			recent = append(recent, v)
		}
	}
	return recent
}

// Calls returns n: each member asks for a number once.
func (p *WMSR) Calls(degrees []int) int { return len(degrees) }

// Dynamic reports that each round has neighbours of its own.
func (p *WMSR) Dynamic() bool { return true }

// TellsFirst reports that members exchange their first answers.
func (p *WMSR) TellsFirst() bool { return true }

// MaxRounds returns the number of rounds.
func (p *WMSR) MaxRounds() int { return p.Rounds }

// Settles returns false: numbers have more decimals than are recorded, so they may change
// while the recorded ones do not.
func (p *WMSR) Settles() bool { return false }

// The guarantees that a graph earns for a bound F.
const (
	Approach = "convergence" // r ≥ 2F+1: honest numbers approach one another, inside their first range
	Inside   = "validity"    // always: honest numbers stay inside their first range
)

// Guarantee returns what holds on an r-robust graph for the bound f.
func (p *WMSR) Guarantee(f, r int, exact bool) (name, note string) {
	atLeast := ""
	if !exact {
		atLeast = "at least "
	}
	if r >= 2*f+1 {
		return Approach, fmt.Sprintf("r is %s%d: with at most F=%d Byzantine neighbours each, honest numbers approach "+
			"one between the smallest and the largest that honest members began with", atLeast, r, f)
	}
	return Inside, fmt.Sprintf("r is %s%d and F=%d: with at most F Byzantine neighbours each, honest numbers stay "+
		"between the smallest and the largest that honest members began with; to be sure to approach one another they "+
		"need r of at least %d", atLeast, r, f, 2*f+1)
}

// GuaranteeOverTime returns what holds for the bound f on a graph that changes.
func (p *WMSR) GuaranteeOverTime(f int, g protocol.OverTime) (name, note string) {
	least, most := g.Windows(p.Window)
	graphs, when := "graphs of single rounds", "in a round"
	if p.Window > 1 {
		graphs = fmt.Sprintf("unions of %d rounds in a row", p.Window)
		when = "in as many rounds"
	}
	graphs = fmt.Sprintf("the graph changes, and the %s have r %d", graphs, least)
	if most > least {
		graphs += fmt.Sprintf(" to %d", most)
	}
	byzantine := fmt.Sprintf(": with at most F=%d Byzantine neighbours each %s, honest numbers ", f, when)
	between := "between the smallest and the largest that honest members began with"
	switch need := 2*f + 1; {
	case least >= need:
		return Approach, graphs + byzantine + "approach one " + between
	case g.Repeats && most >= need:
		return Approach, graphs + fmt.Sprintf(", of at least %d once in every period", need) + byzantine +
			"approach one " + between + ", while the schedule goes on"
	}
	return Inside, graphs + byzantine + "stay " + between + fmt.Sprintf("; to be sure to approach one another they "+
		"need r of at least %d in all of these graphs, or in one of each period of a schedule", 2*f+1)
}

// value is a neighbour's number.
type value struct {
	from synod.NodeID
	x    *big.Rat
}

// span is a range of numbers. That of the numbers that an honest member averages lies in the
// range of honest numbers (LeBlanc et al. 2013, Lemma 1).
type span struct{ low, high *big.Rat }

// with returns the range that covers both.
func (s span) with(t span) span { return span{lower(s.low, t.low), higher(s.high, t.high)} }

func lower(x, y *big.Rat) *big.Rat {
	if x.Cmp(y) < 0 {
		return x
	}
	return y
}

func higher(x, y *big.Rat) *big.Rat {
	if x.Cmp(y) > 0 {
		return x
	}
	return y
}

func (s span) has(x *big.Rat) bool { return x.Cmp(s.low) >= 0 && x.Cmp(s.high) <= 0 }

// moved is the result of a round at one member.
type moved struct {
	next              *big.Rat
	averaged          span
	retained, dropped []synod.NodeID // ascending
}

// step is one round of W-MSR at a member that holds own: of the numbers above it the f
// largest are dropped, of those below the f smallest. The result is the mean of the rest
// and own. Between equal numbers the neighbour's id decides, which changes who is dropped
// and nothing else.
func (s scale) step(own *big.Rat, heard []value, f int) moved {
	sorted := slices.Clone(heard)
	order.Sort(sorted, func(a, b value) int { return cmp.Or(a.x.Cmp(b.x), cmp.Compare(a.from, b.from)) })
	below, above := 0, 0
	for _, v := range sorted {
		switch v.x.Cmp(own) {
		case -1:
			below++
		case 1:
			above++
		}
	}
	low, high := min(f, below), len(sorted)-min(f, above)
	m := moved{averaged: span{own, own}}
	sum := new(big.Rat).Set(own)
	for i, v := range sorted {
		if i < low || i >= high {
			m.dropped = append(m.dropped, v.from)
			continue
		}
		m.retained = append(m.retained, v.from)
		m.averaged = m.averaged.with(span{v.x, v.x})
		sum.Add(sum, v.x)
	}
	slices.Sort(m.retained)
	slices.Sort(m.dropped)
	m.next = s.round(sum.Quo(sum, new(big.Rat).SetInt64(int64(len(m.retained)+1))), m.averaged)
	return m
}

// guard is the number of internal decimals beyond the recorded ones.
const guard = 6

// scale says how many decimals numbers have: those that are recorded, and internal ones.
type scale struct{ decimals, places int }

func newScale(decimals int) scale { return scale{decimals, decimals + guard} }

// round returns a mean rounded to the internal decimals, or the end of the range that it would leave, or the low end
// if it would be too long to be sent.
func (s scale) round(x *big.Rat, within span) *big.Rat {
	r := rounded(x, s.places)
	if len(r.FloatString(s.places)) > maxSent {
		return within.low
	}
	return lower(higher(r, within.low), within.high)
}

// maxSent is the longest number that is sent, in characters.
const maxSent = 250

// rounded returns x rounded to so many decimals, halves away from zero.
func rounded(x *big.Rat, places int) *big.Rat {
	r, _ := new(big.Rat).SetString(x.FloatString(places)) // always a number
	return r
}

// read returns the number of an answer; nil for None.
func (s scale) read(a synod.Answer) *big.Rat {
	r, ok := new(big.Rat).SetString(string(a)) // canonical numbers have no exponent
	if !ok {
		return nil
	}
	return r
}

// readAll returns the numbers of neighbours. An answer that is none, "18 euros" for example,
// is silence.
func (s scale) readAll(heard []answer.Heard) []value {
	all := make([]value, 0, len(heard))
	for _, h := range heard {
		if x := s.read(h.Value.Answer); x != nil {
			all = append(all, value{h.From, x})
		}
	}
	return all
}

// write returns a number as a canonical answer; None for nil.
func (s scale) write(x *big.Rat) synod.Answer {
	if x == nil {
		return synod.None
	}
	if places, finite := x.FloatPrec(); finite {
		return synod.Answer(x.FloatString(places))
	}
	return synod.Answer(x.RatString())
}

// shown returns a number rounded to the recorded decimals, or to as many more as it takes to
// stay in a range that has it.
func (s scale) shown(x *big.Rat, within span) synod.Answer {
	for places := s.decimals; places <= s.places; places++ {
		if r := rounded(x, places); within.has(r) {
			return s.write(r)
		}
	}
	return s.write(x)
}

// exact is what "exact: paper" restores, and what it does not.
const exact = `restored    one seed for the call that asks for the first number
differs     real arithmetic (numbers are exact fractions, rounded far behind the last place
            that is shown) and weights other than equal ones`
