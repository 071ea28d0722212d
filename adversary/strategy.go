package adversary

import (
	"strconv"

	"synod.dev/synod"
	"synod.dev/synod/protocol/game"
)

// The strategies below play the consensus game (GM-6). They see what every player
// sees, name a number and vote, and ask no model; to whatever else is asked they
// say nothing. Their aim is the one that the game's paper gives its Byzantine
// players: honest players that hold different numbers when the game ends.
var (
	midpointEntry = strategyEntry(midpoint{}, "midpoint", "in the game: names the middle of what was named, which nobody was given",
		`Names the middle between the smallest and the greatest number of the last round, so
that those who follow it settle on a number that nobody was given. Votes to stop
while numbers differ, and to go on once they agree.`)
	mimicEntry = strategyEntry(mimic{}, "mimic", "in the game: goes along until the others agree, then defects",
		`Names what most players named in the last round, and so gains weight; as soon as two
thirds of them are of one mind it names the number farthest from theirs. Votes to
go on.`)
	oscillatorEntry = strategyEntry(oscillator{}, "oscillator", "in the game: names the least and the greatest number by turns",
		`Names the least number in odd rounds and the greatest in even ones, and votes to go on.`)
	extremistEntry = strategyEntry(extremist{}, "extremist", "in the game: names the greatest number for ever",
		`Names the greatest number in every round and votes to go on.`)
	saboteurEntry = Entry{
		Entry: synod.Entry{Name: "saboteur", Summary: "in the game: the paper's Byzantine player, a model that is told to keep the others apart"},
		About: `Plays with its own model, which is told in secret that it wins if the honest
players do not come to one number (GM-6). It may abstain.`,
		New: plain(saboteur{}),
	}
)

// strategy is what a scripted player does in a round.
type strategy interface {
	value(*game.Table) int
	vote(*game.Table) game.Vote
}

func strategyEntry(s strategy, name, summary, about string) Entry {
	return Entry{Entry: synod.Entry{Name: name, Summary: summary}, About: about, New: plain(scripted{s})}
}

// scripted puts a strategy into a seat.
type scripted struct{ strategy }

func (s scripted) Corrupt(_ synod.Seat, honest synod.Machine) synod.Machine {
	return &mouth{honest: honest, says: func(p *synod.Prompt) *synod.Reply {
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

// others are the numbers that other players named.
func others(t *game.Table, all []game.Proposal) (values []int) {
	for _, s := range all {
		if s.By != t.Self && s.Value != nil {
			values = append(values, *s.Value)
		}
	}
	return values
}

// last is what others named in the last round that the player remembers.
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

// saboteur has its model told that it is hostile.
type saboteur struct{}

func (saboteur) Corrupt(_ synod.Seat, honest synod.Machine) synod.Machine {
	return &traitor{honest: honest}
}

type traitor struct {
	honest synod.Machine
	out    []synod.Effect
}

func (m *traitor) Step(now synod.Tick, e synod.Event) []synod.Effect {
	m.out = m.out[:0]
	for _, x := range m.honest.Step(now, e) {
		if c, asks := x.(synod.Consult); asks {
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
