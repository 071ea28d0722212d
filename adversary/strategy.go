package adversary

import (
	"strconv"

	"synod.dev/synod"
	"synod.dev/synod/protocol/game"
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
	oscillatorEntry = strategyEntry(oscillator{}, "oscillator",
		"in the game: proposes the least and the greatest number in turn",
		`Proposes the least number in odd rounds and the greatest in even rounds, and votes to go on.`)
	extremistEntry = strategyEntry(extremist{}, "extremist", "in the game: proposes the greatest number in every round",
		`Proposes the greatest number in every round and votes to go on.`)
	saboteurEntry = Entry{
		Entry: synod.Entry{Name: "saboteur",
			Summary: "in the game: the paper's Byzantine player, a model whose prompt tells it to prevent agreement"},
		About: `Plays with its own model, whose prompts say that it wins if the honest players do not
agree on one number (GM-6). It may abstain.`,
		New: NoParams(saboteur{}),
	}
)

// strategy is how a scripted player plays a round.
type strategy interface {
	value(*game.Table) int
	vote(*game.Table) game.Vote
}

func strategyEntry(s strategy, name, summary, about string) Entry {
	return Entry{Entry: synod.Entry{Name: name, Summary: summary}, About: about, New: NoParams(scripted{s})}
}

// scripted plays a strategy.
type scripted struct{ strategy }

func (s scripted) Corrupt(_ synod.Seat, honest synod.Machine) synod.Machine {
	return &PromptAnswerer{Honest: honest, Answer: func(p *synod.Prompt) *synod.Reply {
		r := &synod.Reply{Status: synod.OK, Typed: true}
		t := game.TableOf(p)
		if t == nil {
			r.Status = synod.Refused
			return r
		}
		switch p.Purpose {
		case game.Proposing:
			r.Answer = synod.Answer(strconv.Itoa(min(max(s.value(t), t.Low), t.High)))
		case game.Voting:
			r.Answer = synod.Answer(s.vote(t))
		default:
			r.Status = synod.Refused
		}
		return r
	}}
}

// others returns the numbers that other players proposed.
func others(t *game.Table, all []game.Proposal) (values []int) {
	for _, s := range all {
		if s.By != t.Self && s.Value != nil {
			values = append(values, *s.Value)
		}
	}
	return values
}

// last returns the numbers of other players in the last round that the table has.
func last(t *game.Table) []int {
	if len(t.Past) == 0 {
		return nil
	}
	return others(t, t.Past[len(t.Past)-1].Proposals)
}

type midpoint struct{}

func (midpoint) value(t *game.Table) int {
	low, high := t.High, t.Low
	for _, v := range last(t) {
		low, high = min(low, v), max(high, v)
	}
	if low > high {
		low, high = t.Low, t.High
	}
	return low + (high-low)/2
}

func (midpoint) vote(t *game.Table) game.Vote {
	values := others(t, t.Now)
	for _, v := range values {
		if v != values[0] {
			return game.Stop
		}
	}
	return game.Continue
}

type mimic struct{}

func (mimic) value(t *game.Table) int {
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

func (mimic) vote(*game.Table) game.Vote { return game.Continue }

type oscillator struct{}

func (oscillator) value(t *game.Table) int {
	if t.Round%2 == 1 {
		return t.Low
	}
	return t.High
}

func (oscillator) vote(*game.Table) game.Vote { return game.Continue }

type extremist struct{}

func (extremist) value(t *game.Table) int    { return t.High }
func (extremist) vote(*game.Table) game.Vote { return game.Continue }

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
			if t := game.TableOf(&p); t != nil {
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
