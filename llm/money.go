package llm

import (
	"fmt"
	"slices"
	"strings"

	"synod.dev/synod"
)

// Use counts the requests to a model and their tokens.
type Use struct {
	Model  string // its name in the council
	Info   Info
	Calls  int // requests that left
	Silent int // calls whose number of tokens is unknown
	synod.Usage
}

// Add counts a reply. A reply without a request, such as one from a cache, counts
// nothing.
func (u *Use) Add(r *synod.Reply) {
	if r.Calls == 0 {
		return
	}
	u.Calls = synod.Sum(u.Calls, r.Calls)
	if r.Usage != (synod.Usage{}) {
		u.Usage = u.Usage.Plus(r.Usage)
	} else if r.Status == synod.OK || r.Status == synod.Timeout || r.Needless {
		// After a timeout, or where the caller hangs up, the server may go on writing.
		u.Silent++
	}
}

// Plus adds the counts of v.
func (u *Use) Plus(v Use) {
	u.Calls, u.Silent, u.Usage = synod.Sum(u.Calls, v.Calls), synod.Sum(u.Silent, v.Silent), u.Usage.Plus(v.Usage)
}

// Lose counts requests whose reply never came. How many tokens they had is not known.
func (u *Use) Lose(calls int) {
	u.Calls, u.Silent = synod.Sum(u.Calls, calls), synod.Sum(u.Silent, calls)
}

// Money is what calls cost, as far as that is known. An unknown price never counts
// as zero.
type Money struct {
	AtLeast float64  `json:"at_least"` // USD, for what has a known price
	Unknown []string `json:"unknown"`  // models whose price or number of tokens is unknown
	Free    []string `json:"free"`     // models that cost nothing: embedded, recorded or simulated
	AsOf    string   `json:"as_of"`    // the earliest date of a price that was used; "": none has a date
}

// Cost is an amount of money that is known completely.
type Cost struct {
	USD float64 `json:"usd"`
}

// Bill returns what the counted calls cost: what the server says that it charges, or else by a price table. A server
// that says so of one reply is taken to say so of each that it charges.
func (p Prices) Bill(uses []Use) Money {
	m := Money{Unknown: []string{}, Free: make([]string, 0, len(uses))}
	for i := range uses {
		u := &uses[i]
		if u.Info.Kind != Endpoint {
			m.Free = append(m.Free, u.Model)
			continue
		}
		price, known := p.Of(u.Info)
		switch {
		case u.Calls == 0:
			continue
		case !known && (u.Bills == 0 || u.Silent > 0), u.Silent > 0 && price.Prompt+price.Completion > 0:
			m.Unknown = append(m.Unknown, u.Model)
		}
		switch {
		case u.Bills > 0:
			m.AtLeast += float64(u.Billed) / 1e9
		case known:
			m.AtLeast += price.of(u.Usage)
			m.AsOf = older(m.AsOf, price.Date)
		}
	}
	m.Unknown, m.Free = names(m.Unknown), names(m.Free)
	return m
}

// Plus returns the sum.
func (m Money) Plus(n Money) Money {
	return Money{
		AtLeast: m.AtLeast + n.AtLeast, AsOf: older(m.AsOf, n.AsOf),
		Unknown: names(slices.Concat([]string{}, m.Unknown, n.Unknown)),
		Free:    names(slices.Concat([]string{}, m.Free, n.Free)),
	}
}

// Cost returns the whole cost, nil if a part is unknown.
func (m Money) Cost() *Cost {
	if len(m.Unknown) > 0 {
		return nil
	}
	return &Cost{USD: m.AtLeast}
}

// String describes the amount for people.
func (m Money) String() string {
	s := dollars(m.AtLeast)
	if m.AsOf != "" {
		s += " (prices of " + m.AsOf + ")"
	}
	unknown := "unknown for " + strings.Join(m.Unknown, ", ")
	switch {
	case len(m.Unknown) > 0 && m.AtLeast > 0:
		return "at least " + s + ", " + unknown
	case len(m.Unknown) > 0:
		return unknown
	case m.AtLeast == 0 && len(m.Free) > 0:
		return "nothing (no member is paid for)"
	}
	return s
}

func dollars(usd float64) string {
	if usd > 0 && usd < 0.1 {
		return fmt.Sprintf("$%.4f", usd)
	}
	return fmt.Sprintf("$%.2f", usd)
}

// older returns the earlier of two dates; a month counts as its first day.
func older(a, b string) string {
	if a == "" || b != "" && b < a {
		return b
	}
	return a
}

func names(all []string) []string {
	slices.Sort(all)
	return slices.Compact(all)
}
