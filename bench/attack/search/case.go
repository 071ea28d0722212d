package search

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"synod.dev/synod/bench/attack"
	"synod.dev/synod/council/plan"
)

// AttackCase is an attack: adversaries with their parameters at some seats of a council, in the order of the seats.
type AttackCase []Placed

// Placed is one adversary.
type Placed struct {
	Seat      string      `json:"seat"`      // its id
	Adversary plan.Params `json:"adversary"` // name and parameters, as in a council file
}

// name returns the name of the adversary.
func (p Placed) name() string { return fmt.Sprint(p.Adversary["name"]) }

// key returns a text that is the same for equal cases only.
func (c AttackCase) key() string {
	b, err := json.Marshal(c)
	if err != nil {
		panic(err) // its values come from YAML or from draw
	}
	return string(b)
}

// at returns the index of a seat, -1 where it has no adversary.
func (c AttackCase) at(seat string) int {
	return slices.IndexFunc(c, func(p Placed) bool { return p.Seat == seat })
}

// with returns the case with an adversary at a seat, in place of the one that sits there.
func (c AttackCase) with(p Placed) AttackCase {
	c = c.without(p.Seat)
	c = append(c, p)
	slices.SortFunc(c, func(a, b Placed) int { return strings.Compare(a.Seat, b.Seat) })
	return c
}

// without returns a copy of the case with an honest member at a seat.
func (c AttackCase) without(seat string) AttackCase {
	return slices.DeleteFunc(slices.Clone(c), func(p Placed) bool { return p.Seat == seat })
}

// String returns the case in one line, such as a1 {name: replay}.
func (c AttackCase) String() string {
	var all []string
	for _, p := range c {
		all = append(all, p.Seat+" "+p.Settings())
	}
	return strings.Join(all, ", ")
}

// Settings returns the adversary as a council file has it, in one line.
func (p Placed) Settings() string {
	text, err := yaml.MarshalWithOptions(map[string]any(p.Adversary), yaml.Flow(true))
	if err != nil {
		return p.name()
	}
	return strings.TrimSpace(string(text))
}

// phased returns the case with the parameters that tell adversaries whether the history is over.
func (c AttackCase) phased(over bool) AttackCase {
	out := make(AttackCase, len(c))
	for i, p := range c {
		out[i] = Placed{p.Seat, maps.Clone(p.Adversary)}
		attack.SetPhase(p.name(), out[i].Adversary, over)
	}
	return out
}

// corrupt returns a council with the adversaries of the case. The council must have none.
func (c AttackCase) corrupt(honest plan.Spec) (plan.Spec, error) {
	at := map[string]plan.Params{}
	for _, p := range c {
		at[p.Seat] = p.Adversary
	}
	return honest.WithAdversaries(at)
}
