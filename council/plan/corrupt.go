package plan

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/adversary"
	"synod.dev/synod/core/param"
	"synod.dev/synod/graph/topology"
	"synod.dev/synod/llm"
)

// WithAdversaries returns the spec with adversaries at seats by their ids, in place of those that sit there. An entry
// of several seats becomes one entry for each of them if one of them gets an adversary.
func (s Spec) WithAdversaries(at map[string]Params) (Spec, error) {
	placed, ids, list := 0, []string(nil), []SeatSpec(nil)
	for _, entry := range s.Seats {
		singles, some := []SeatSpec(nil), false
		for k := range max(entry.Count, 1) {
			one := entry
			if one.Count = 0; entry.Count > 0 {
				one.ID += strconv.Itoa(k + 1)
			}
			ids = append(ids, one.ID)
			if a, ok := at[one.ID]; ok {
				one.Adversary, some = a, true
				placed++
			}
			singles = append(singles, one)
		}
		if !some {
			singles = []SeatSpec{entry}
		}
		list = append(list, singles...)
	}
	if placed < len(at) {
		for _, id := range sortedKeys(at) {
			if !slices.Contains(ids, id) {
				return Spec{}, fmt.Errorf("no seat is called %q%s", id, synod.Hint(id, ids))
			}
		}
	}
	s.Seats = list
	return s, nil
}

// PlaceAdversaries returns the seats that the section gets, ascending: those that it lists, or
// those that its rule picks among the seats with its role which have no adversary yet. It
// depends on its arguments only.
func PlaceAdversaries(g topology.Built, seats []Seat, a Adversaries) ([]int, error) {
	ids, rule, err := a.listed()
	if err != nil {
		return nil, err
	}
	var free []int
	names := make([]string, len(seats))
	for i, s := range seats {
		names[i] = s.ID
		if s.Adversary == "" && (a.Role == "" || string(s.Role) == a.Role) {
			free = append(free, i)
		}
	}
	if rule == "" {
		return listedSeats(names, seats, ids, a)
	}
	members := 1
	if a.Members != nil {
		members = *a.Members
	}
	switch {
	case a.Role != "" && len(free) == 0:
		return nil, fmt.Errorf("no seat has the role %q", a.Role)
	case members < 0 || members > len(free):
		return nil, fmt.Errorf("members is %d; it must be between 0 and the number of seats to pick from, %d", members,
			len(free))
	}
	at, err := topology.PlaceAmong(g, rule, members, free, a.Seed)
	if err != nil {
		return nil, fmt.Errorf("seats: %s", strings.TrimPrefix(err.Error(), "graph: "))
	}
	return at, nil
}

// listedSeats finds listed seats. Of a longer list than members it takes the first ones, so
// that a sweep over members can list one order.
func listedSeats(names []string, seats []Seat, ids []string, a Adversaries) (at []int, err error) {
	if a.Members != nil {
		if *a.Members > len(ids) {
			return nil, fmt.Errorf("members is %d, and seats lists %d", *a.Members, len(ids))
		}
		ids = ids[:max(0, *a.Members)]
	}
	for _, id := range ids {
		i := slices.Index(names, id)
		switch {
		case i < 0:
			return nil, fmt.Errorf("seats: no seat is called %q%s", id, synod.Hint(id, names))
		case slices.Contains(at, i):
			return nil, fmt.Errorf("seats lists %s twice", id)
		case seats[i].Adversary != "":
			return nil, fmt.Errorf("seats lists %s, which has the adversary %s already", id, seats[i].Adversary)
		case a.Role != "" && string(seats[i].Role) != a.Role:
			return nil, fmt.Errorf("seats lists %s, whose role is %q and not %q", id, seats[i].Role, a.Role)
		}
		at = append(at, i)
	}
	slices.Sort(at)
	return at, nil
}

// collude tells adversaries whose members know one another which seats have them.
func collude(p *Plan) error {
	seats := map[string][]synod.NodeID{}
	for i, s := range p.seats {
		seats[s.Adversary] = append(seats[s.Adversary], synod.NodeID(i))
	}
	for i, a := range p.adversaries {
		if c, ok := a.(adversary.Colluding); ok {
			p.adversaries[i] = c.Among(seats[p.seats[i].Adversary])
		}
	}
	return nil
}

// CheckLinks returns an error if an adversary sits at the links between nodes, which a council that is
// played in one process does not have.
func CheckLinks(p *Plan) error {
	for i, a := range p.adversaries {
		if h, ok := a.(adversary.Hostile); ok && h.At() == adversary.AtLink {
			return &ConfigError{Section: "seats." + p.seats[i].ID, Err: fmt.Errorf("adversary %s attacks the links "+
				"between nodes, and a council in one process has none: run the seat with synod-node "+
				"(docs/operate/nodes.md)", h.Name())}
		}
	}
	return nil
}

// stateFooling adds to what fools simulated members that they believe derivations, where adversaries can send some.
func stateFooling(p *Plan) error {
	if number(parametersOf(p)["rationale"]) == 0 || !slices.ContainsFunc(p.seats, func(s Seat) bool {
		return s.Adversary != ""
	}) {
		return nil
	}
	for i := range p.seats {
		p.seats[i].Fooling = llm.Fooling(p.spec.Models[p.seats[i].Model], true)
	}
	return nil
}

// placeByRule makes the adversaries of the section, and records the seats that they got.
func placeByRule(p *Plan) error {
	a := &p.spec.Adversaries
	switch {
	case a.none():
		return nil
	case len(a.Adversary) == 0:
		return errors.New("it names no adversary (example: adversaries: {adversary: {name: replay}, members: 2})")
	}
	name, _, err := a.Adversary.split()
	if err != nil {
		return fmt.Errorf("adversary: %w", err)
	}
	if err := param.Verify(a); err != nil {
		return err
	}
	at, err := PlaceAdversaries(p.graph.Built, p.seats, *a)
	if err != nil {
		return err
	}
	if _, err := newAdversary(p, a.Adversary); err != nil { // also where no seat gets it
		return err
	}
	ids := make([]string, len(at))
	for k, i := range at {
		if p.adversaries[i], err = newAdversary(p, a.Adversary); err != nil {
			return err
		}
		p.seats[i].Adversary, ids[k] = name, p.seats[i].ID
	}
	a.Seats, a.Members = ids, nil
	return nil
}

func newAdversary(p *Plan, params Params) (adversary.Adversary, error) {
	if len(params) == 0 {
		return nil, nil
	}
	name, rest, err := params.split()
	if err != nil {
		return nil, err
	}
	entry, err := adversary.Catalogue.Find(name)
	if err != nil {
		return nil, err
	}
	a, err := entry.New(rest)
	if h, ok := a.(adversary.Hostile); ok && err == nil && h.At() == adversary.AtFile {
		return nil, &HelpError{fmt.Errorf("adversary %s is a model file and cannot be seated", name), HelpExplain, name}
	}
	if n, ok := a.(adversary.Naming); ok && err == nil {
		a, err = n.Found(func(name string) (synod.NodeID, error) { return findSeat(p, name) })
	}
	if err != nil {
		return nil, fmt.Errorf("adversary %s: %w", name, err)
	}
	return a, nil
}

// findSeat returns the seat with this id, or else the seat at this place, from 0.
func findSeat(p *Plan, name string) (synod.NodeID, error) {
	ids := idsOf(p)
	if i := slices.Index(ids, name); i >= 0 {
		return synod.NodeID(i), nil
	}
	if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(ids) {
		return synod.NodeID(i), nil
	}
	return 0, fmt.Errorf("no seat is called %q%s", name, synod.Hint(name, ids))
}
