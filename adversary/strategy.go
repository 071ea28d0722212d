package adversary

import (
	"strconv"

	"synod.dev/synod"
	"synod.dev/synod/protocol/bargain"
)

// The strategies below play the consensus game (GM-6). They see what every player sees,
// propose a number and vote, and call no model. They refuse every other prompt. Their aim
// is that of the Byzantine players in the game's paper: honest players that hold different
// numbers when the game ends.
var (
	midpointEntry = strategyEntry(midpoint{}, "midpoint",
		"in the game: proposes the middle of the proposals, which no player was given",
		`Proposes the middle between the smallest and the greatest number of the last round, so
that players who follow it agree on a number that no player was given. Votes to stop
while numbers differ, and to go on once they agree.`)
	mimicEntry = strategyEntry(mimic{}, "mimic", "in the game: follows the others until they agree, then defects",
		`Proposes what most players proposed in the last round. As soon as two thirds of them
agree, it proposes the number farthest from theirs. Votes to go on.`)
	oscillatorEntry = Entry{
		Entry: synod.Entry{Name: "oscillator", Summary: "gives two answers in turn; in the game, the least and the " +
			"greatest number"},
		Facts: Facts{Number: 34, Place: AtSeat, Model: Restricted,
			Where:   arguing.Or(synod.Bargains),
			Kind:    Statistical,
			Defence: "a rule that computes the numbers (game rule); a fixed number of rounds",
			Source:  "the consensus game, GM-6"},
		About: `In the game it proposes the least number in odd rounds and the greatest in even rounds, and
votes to go on. Elsewhere it sends its model's first answer in even rounds and another one in odd rounds.`,
		New: NoParams(swinging{}),
	}
	extremistEntry = strategyEntry(extremist{}, "extremist", "in the game: proposes the greatest number in every round",
		`Proposes the greatest number in every round and votes to go on.`)
	jammerEntry = Entry{
		Entry: synod.Entry{Name: "vote-jammer", Summary: "in the game: votes to stop while numbers differ, and to " +
			"go on once they agree"},
		Facts: Facts{Number: 35, Place: AtSeat, Model: Restricted, Where: bargaining,
			Defence: "at most a third of the players, and a rule that ends with the votes (game rule: final-vote)",
			Kind:    Statistical,
			Source:  "the game's prompts, Fig. 8"},
		About: `Proposes what most players proposed in the last round, so that its numbers do no harm, and votes
against the sense of the rule: to stop while numbers differ, and to go on once they agree.

vote  stop or continue: the vote that it always gives instead`,
		New: func(params map[string]any) (Adversary, error) {
			var j jammer
			err := decode(params, &j)
			return scripted{j}, err
		},
		Params: func() any { return &jammer{} },
	}
	saboteurEntry = Entry{
		Entry: synod.Entry{Name: "saboteur",
			Summary: "in the game: the paper's Byzantine player, a model whose prompt tells it to prevent agreement"},
		About: `Plays with its own model, whose prompts say that it wins if the honest players do not
agree on one number (GM-6). It may abstain.`,
		New: NoParams(saboteur{}),
		Facts: Facts{Place: AtSeat, Model: Restricted, Where: bargaining, Kind: Statistical,
			Defence: "a rule that computes the numbers (game rule)", Source: "the consensus game, GM-6"},
	}
)

// strategy is how a scripted player plays a round.
type strategy interface {
	value(*bargain.Table) int
	vote(*bargain.Table) bargain.Vote
}

func strategyEntry(s strategy, name, summary, about string) Entry {
	return Entry{Entry: synod.Entry{Name: name, Summary: summary}, About: about, New: NoParams(scripted{s}),
		Facts: Facts{Place: AtSeat, Model: Restricted, Where: bargaining, Kind: Statistical,
			Defence: "a rule that computes the numbers (game rule)", Source: "the consensus game, GM-6"}}
}

// scripted plays a strategy.
type scripted struct{ strategy }

func (s scripted) Corrupt(_ synod.Seat, honest synod.Machine) synod.Machine {
	return &PromptAnswerer{Honest: honest, Answer: s.reply}
}

// reply returns the move that a prompt asks for.
func (s scripted) reply(p *synod.Prompt) *synod.Reply {
	r := &synod.Reply{Status: synod.OK, Typed: true}
	t := bargain.TableOf(p)
	if t == nil {
		r.Status = synod.Refused
		return r
	}
	switch p.Purpose {
	case bargain.Proposing:
		r.Answer = synod.Answer(strconv.Itoa(min(max(s.value(t), t.Low), t.High)))
	case bargain.Voting:
		r.Answer = synod.Answer(s.vote(t))
	default:
		r.Status = synod.Refused
	}
	return r
}

// others returns the numbers that other players proposed.
func others(t *bargain.Table, all []bargain.Proposal) (values []int) {
	for _, s := range all {
		if s.By != t.Self && s.Value != nil {
			values = append(values, *s.Value)
		}
	}
	return values
}

// last returns the numbers of other players in the last round that the table has.
func last(t *bargain.Table) []int {
	if len(t.Past) == 0 {
		return nil
	}
	return others(t, t.Past[len(t.Past)-1].Proposals)
}

type midpoint struct{}

func (midpoint) value(t *bargain.Table) int {
	low, high := t.High, t.Low
	for _, v := range last(t) {
		low, high = min(low, v), max(high, v)
	}
	if low > high {
		low, high = t.Low, t.High
	}
	return low + (high-low)/2
}

func (midpoint) vote(t *bargain.Table) bargain.Vote {
	values := others(t, t.Now)
	for _, v := range values {
		if v != values[0] {
			return bargain.Stop
		}
	}
	return bargain.Continue
}

type mimic struct{}

func (mimic) value(t *bargain.Table) int {
	values := last(t)
	best, most := t.Low+(t.High-t.Low)/2, 0
	for _, v := range values {
		n := 0
		for _, w := range values {
			if w == v {
				n++
			}
		}
		if n > most || n == most && v < best {
			best, most = v, n
		}
	}
	if most == 0 || 3*most < 2*len(values) {
		return best
	}
	if best-t.Low > t.High-best {
		return t.Low
	}
	return t.High
}

func (mimic) vote(*bargain.Table) bargain.Vote { return bargain.Continue }

type oscillator struct{}

func (oscillator) value(t *bargain.Table) int {
	if t.Round%2 == 1 {
		return t.Low
	}
	return t.High
}

func (oscillator) vote(*bargain.Table) bargain.Vote { return bargain.Continue }

// swinging plays the oscillator in the game, and gives two answers in turn elsewhere.
type swinging struct{}

func (swinging) Corrupt(seat synod.Seat, honest synod.Machine) synod.Machine {
	plays := false
	m := &PromptAnswerer{Honest: honest, Answer: func(p *synod.Prompt) *synod.Reply {
		if bargain.TableOf(p) == nil {
			return nil
		}
		plays = true
		return scripted{oscillator{}}.reply(p)
	}}
	return defecting(seat, m, func(round int, first synod.Answer) synod.Answer {
		if plays || round%2 == 0 {
			return first
		}
		return other(seat.Question, first)
	})
}

type extremist struct{}

func (extremist) value(t *bargain.Table) int       { return t.High }
func (extremist) vote(*bargain.Table) bargain.Vote { return bargain.Continue }

type jammer struct {
	Vote string `yaml:"vote" doc:"the vote that it always gives; default: to stop while numbers differ, and then to go on" enum:"stop|continue"`
}

func (jammer) value(t *bargain.Table) int {
	return frequent(last(t), t)
}

func (j jammer) vote(t *bargain.Table) bargain.Vote {
	if j.Vote != "" {
		return bargain.Vote(j.Vote)
	}
	return midpoint{}.vote(t)
}

// frequent returns the most frequent of some numbers, of equally frequent ones the least; the middle of the
// game's range if there are none.
func frequent(values []int, t *bargain.Table) int {
	count, best := map[int]int{}, t.Low+(t.High-t.Low)/2
	for _, v := range values {
		count[v]++
	}
	for v, n := range count {
		if n > count[best] || n == count[best] && v < best {
			best = v
		}
	}
	return best
}

// saboteur tells its model that it is hostile.
type saboteur struct{}

func (saboteur) Corrupt(_ synod.Seat, honest synod.Machine) synod.Machine {
	return &saboteurMachine{honest: honest}
}

type saboteurMachine struct {
	honest synod.Machine
	out    []synod.Effect
}

func (m *saboteurMachine) Step(now synod.Tick, e synod.Event) []synod.Effect {
	m.out = m.out[:0]
	for _, x := range m.honest.Step(now, e) {
		if c, ok := x.(synod.Consult); ok {
			p := *c.Prompt
			if t := bargain.TableOf(&p); t != nil {
				hostile := *t
				hostile.Hostile, hostile.Initial = true, nil // it was given no number
				p.Detail = &hostile
			}
			x = synod.Consult{ID: c.ID, Prompt: &p}
		}
		m.out = append(m.out, x)
	}
	return m.out
}
