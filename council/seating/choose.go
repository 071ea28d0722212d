// Package seating says which models to seat in a council: from lists of names, and from what was measured of
// them.
//
// It is pure, and nothing in it depends on who says what a model is worth. From names alone nothing is known about
// whether models err together; models of different makers are the best guess, which a calibration then checks.
package seating

import (
	"cmp"
	"slices"

	"synod.dev/synod/internal/order"
)

// Candidate is a model that a server offers.
type Candidate struct {
	Name   string   // at the server
	Source int      // the server: an index of the caller
	Local  bool     // it runs on the user's own machines
	USD    *float64 // of a million tokens of prompt and of reply together; nil: not known
}

// known reports whether the cost of a call is known before it is made.
func (c *Candidate) known() bool { return c.Local || c.USD != nil }

// Pick is a chosen model.
type Pick struct {
	Candidate
	Family string
	Seats  int
}

const (
	maxSeats     = 7 // seats that are proposed at most
	leastMakers  = 3 // makers from which on each gets one seat
	fewModels    = 3 // models that share the seats of fewer makers
	easyBillions = 9 // parameters with which a model on the user's own machine answers in seconds
)

// Choose proposes the seats of a council. The rule reads names and prices only:
//
//  1. Models that do not chat are left out (Chats).
//  2. Of each family (Family) the first model is taken in this order: its price is known before it is asked, where
//     models of the user's own machines are free; its name is no dated or preview version; its size: of hosted
//     models small ones (mini, flash, haiku), then those without such a word, then large ones, then the
//     smallest; of local ones the largest of up to 9 billion parameters, then larger ones; then the
//     higher version; then the shorter name.
//  3. With three families or more, each gets one seat, up to seven: first those whose price is known, in the order of
//     the table of makers. An error that one family shares is then one Byzantine seat.
//  4. With fewer, up to three models of these families share seven seats, as evenly as possible.
//
// It returns nil if no model chats.
func Choose(all []Candidate) []Pick {
	byFamily := map[string][]Pick{}
	for _, c := range all {
		if Chats(c.Name) {
			f := Family(c.Name)
			byFamily[f] = append(byFamily[f], Pick{Candidate: c, Family: f, Seats: 1})
		}
	}
	var first, rest []Pick
	for _, of := range byFamily {
		order.Sort(of, better)
		first, rest = append(first, of[0]), append(rest, distinct(of)...)
	}
	order.Sort(first, sooner)
	if len(first) >= leastMakers {
		return first[:min(len(first), maxSeats)]
	}
	order.Sort(rest, better)
	chosen := append(first, rest...)
	chosen = chosen[:min(len(chosen), fewModels)]
	for i := range chosen {
		chosen[i].Seats = (maxSeats + len(chosen) - 1 - i) / len(chosen)
	}
	return chosen
}

// distinct returns the models of a family after the first that are not the first one at another server.
func distinct(of []Pick) (rest []Pick) {
	seen := []string{base(of[0].Name)}
	for _, p := range of[1:] {
		if name := base(p.Name); !slices.Contains(seen, name) {
			seen, rest = append(seen, name), append(rest, p)
		}
	}
	return rest
}

// better compares two models of a family: the one to seat first is less.
func better(a, b Pick) int {
	return cmp.Or(
		first(a.known(), b.known()),
		first(a.Local, b.Local),
		first(!snapshot.MatchString(base(a.Name)), !snapshot.MatchString(base(b.Name))),
		cmp.Compare(a.bulk(), b.bulk()),
		cmp.Compare(version(b.Name), version(a.Name)),
		cmp.Compare(len(a.Name), len(b.Name)),
		cmp.Compare(a.Name, b.Name),
		cmp.Compare(a.Source, b.Source))
}

// bulk says how late a model comes because of its size.
func (p *Pick) bulk() float64 {
	if !p.Local {
		return float64(tier(p.Name))
	}
	switch b := billions(p.Name); {
	case b == 0:
		return easyBillions // after those that are known to be easy
	case b <= easyBillions:
		return easyBillions - b
	default:
		return b
	}
}

// sooner orders families.
func sooner(a, b Pick) int {
	return cmp.Or(first(a.known(), b.known()), cmp.Compare(placeOf(a.Family), placeOf(b.Family)),
		cmp.Compare(a.Family, b.Family))
}

func placeOf(name string) int {
	if i := slices.IndexFunc(families, func(f family) bool { return f.name == name }); i >= 0 {
		return i
	}
	return len(families)
}

// first puts true before false.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}
