package plan

import (
	"fmt"
	"strings"
)

// None is the guarantee of a council that has none.
const None = "none"

// Bound is what the protocol guarantees on the graph.
type Bound struct {
	F         int    `json:"f"`
	Voices    int    `json:"voices"` // of which any may be hostile, so that at most F seats are; see Spec.Voices
	R         int    `json:"r"`      // the graph's robustness; a proven lower bound if Exact is false
	Exact     bool   `json:"exact"`  // whether R is the exact robustness
	Edges     int    `json:"edges"`
	Guarantee string `json:"guarantee"` // the protocol's name of what holds; None
	Note      string `json:"note"`      // the same in a sentence, or why nothing holds
	// OverTime is set for a graph that changes from round to round. Then R is the least r of its
	// rounds, and Edges counts the edges of all rounds.
	OverTime *OverTime `json:"over_time,omitempty"`
}

// Withdraw takes the guarantee back.
func (b *Bound) Withdraw(why string) { b.Guarantee, b.Note = None, "no guarantee: "+why }

// Late corrects the claim for seats that patience cut off: in one round at most those,
// or in the whole run. Each is one of the F faulty seats that the protocol tolerates, so
// fewer of the others may be.
func (b *Bound) Late(ids []string, eachRound bool) {
	when := ""
	if eachRound {
		when = " in one round"
	}
	list := strings.Join(ids, ", ")
	switch {
	case len(ids) == 0 || b.Guarantee == None:
	case len(ids) > b.F:
		b.Withdraw(fmt.Sprintf("more seats than f, %d, were late%s: %s", b.F, when, list))
	default:
		b.Note += fmt.Sprintf("; seats that were late%s (%s) used up %d of F=%d, so it holds with at most %d "+
			"Byzantine among the others", when, list, len(ids), b.F, b.F-len(ids))
	}
}

// OverTime is what is known of a graph that changes from round to round.
type OverTime struct {
	// Repeats says that Rounds is one period of a schedule; otherwise it is the whole run.
	Repeats bool         `json:"repeats"`
	Rounds  []RoundGraph `json:"rounds"` // the graph of each round, from round 1 on
	// Windows has the robustness of unions of rounds in a row, by the length of the window, up to
	// the length whose unions are as robust as that of all rounds.
	Windows []WindowGraph `json:"windows"`
}

// RoundGraph describes the graph of a round.
type RoundGraph struct {
	Edges int  `json:"edges"`
	R     int  `json:"r"` // a proven lower bound if Exact is false
	Exact bool `json:"exact"`
}

// WindowGraph describes the unions of a number of rounds in a row.
type WindowGraph struct {
	Rounds int  `json:"rounds"`
	R      int  `json:"r"` // the least of all these unions; a proven lower bound if Exact is false
	Exact  bool `json:"exact"`
}
