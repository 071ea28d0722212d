package structured

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"synod.dev/synod/internal/order"
)

// Given is the value that one seat gave.
type Given struct {
	Seat   int
	Value  *Value
	Weight float64 // of its vote, from 0 to 1; 1 where all votes weigh the same
}

// Rule says which votes decide.
type Rule struct {
	F     int // at most so many seats are Byzantine: what is decided has more supporters
	Seats int // of the council, with those that gave no value
	// Voice returns the number of the voice of a seat: supporters with one voice are shown as one. nil: each seat is
	// one.
	Voice func(seat int) int
	// Voices is how many voices must have given what is decided, at least.
	Voices int
	// Need returns how many votes of so many seats a decision needs at least; nil: more than any other value.
	Need func(seats int) int
	// Best lists the seats whose answers have grades, the best first. Strings with x-merge: prose need it.
	Best []int
	// Parts is set where each part is decided by itself, also if the combination is nobody's: the rule of certificates
	// before version 3.
	Parts bool
}

// Withstands says how many seats a decision does not depend on.
type Withstands struct {
	// Ignored is the largest k such that the decision stays the same when any k seats are left out.
	Ignored int `json:"ignored"`
	// Changed is the largest k such that it stays the same whatever any k seats say instead, with any weight up
	// to 1: a weight is what a seat says of itself.
	Changed int `json:"changed"`
}

// and returns what two decisions that are both needed withstand.
func (w Withstands) and(v Withstands) Withstands {
	return Withstands{min(w.Ignored, v.Ignored), min(w.Changed, v.Changed)}
}

// any seats are withstood where there was nothing to decide.
var certain = Withstands{math.MaxInt, math.MaxInt}

// option is something that seats may vote for.
type option struct {
	key    string
	value  *Value
	votes  []Given
	total  int64
	weight []int64 // of the votes, the heaviest first
}

// unit is how many parts a weight of 1 has. Sums of whole parts do not depend on their order.
const unit = 1e9

func parts(weight float64) int64 {
	if !(weight > 0) { // NaN too
		return 0
	}
	return int64(math.Round(math.Min(weight, 1) * unit))
}

// options groups votes by a key, the heaviest group first, then the one with more seats, then by key.
func options(in []Given, key func(Given) string) []option {
	var all []option
	at := map[string]int{}
	for _, g := range in {
		k := key(g)
		i, ok := at[k]
		if !ok {
			i = len(all)
			at[k] = i
			all = append(all, option{key: k, value: g.Value})
		}
		o := &all[i]
		o.votes = append(o.votes, g)
		o.weight = append(o.weight, parts(g.Weight))
		o.total += parts(g.Weight)
	}
	for i := range all {
		slices.SortFunc(all[i].weight, func(a, b int64) int { return cmp.Compare(b, a) })
	}
	order.Sort(all, func(a, b option) int {
		return cmp.Or(cmp.Compare(b.total, a.total), cmp.Compare(len(b.votes), len(a.votes)), cmp.Compare(a.key, b.key))
	})
	return all
}

// least returns how many supporters a decision needs if so many seats are left out.
func (r Rule) least(ignored int) int { return max(r.F+1, r.need(ignored)) }

// numbers returns how many numbers are needed to combine them.
func (r Rule) numbers(ignored int) int { return max(2*r.F+1, r.need(ignored)) }

func (r Rule) need(ignored int) int {
	if r.Need == nil {
		return 1
	}
	return r.Need(r.Seats - ignored)
}

// Count counts the voices of some votes.
func (r Rule) Count(votes []Given) int {
	if r.Voice == nil {
		return len(votes)
	}
	heard := map[int]bool{}
	for _, g := range votes {
		heard[r.Voice(g.Seat)] = true
	}
	return len(heard)
}

// spare returns what it withstands that so many seats are needed of n; negative if there are fewer.
func spare(n int, needed func(ignored int) int) (w Withstands) {
	w.Changed = n - needed(0)
	for w.Ignored = min(w.Changed, 0); w.Ignored >= 0 && w.Ignored < n && n-w.Ignored-1 >= needed(w.Ignored+1); {
		w.Ignored++
	}
	return w
}

// elect returns the option that wins and what its victory withstands; nil and the reason if none wins. A
// winner has more weight than every other option, and enough supporters.
func (r Rule) elect(all []option) (*option, Withstands, string) {
	if len(all) == 0 {
		return nil, Withstands{}, "nobody gave a value"
	}
	best := &all[0]
	switch n := len(best.votes); {
	case len(all) > 1 && all[1].total == best.total && len(all[1].votes) == n:
		return nil, Withstands{}, fmt.Sprintf("a tie: the leading values have %d supporters each", n)
	case len(all) > 1 && all[1].total == best.total:
		return nil, Withstands{}, "a tie: the leading values have the same weight"
	case n < r.least(0):
		return nil, Withstands{}, fmt.Sprintf("the leading value has %d supporters, and %d are needed", n, r.least(0))
	case r.Count(best.votes) < r.Voices:
		return nil, Withstands{}, fmt.Sprintf("the leading value was given by %d voices, and support needs %d",
			r.Count(best.votes), r.Voices)
	}
	return best, r.margin(best, all[1:]), ""
}

// margin returns what the victory of an option over others withstands.
func (r Rule) margin(best *option, others []option) (w Withstands) {
	second := int64(0)
	if len(others) > 0 {
		second = others[0].total
	}
	most, lost := spare(len(best.votes), r.least), int64(0)
	for k := 1; k <= most.Ignored; k++ {
		if lost += best.weight[k-1]; best.total-lost <= second {
			break
		}
		w.Ignored = k
	}
	w.Changed = most.Changed
	if r.Voice != nil { // each seat takes away one voice at most
		spare := max(0, r.Count(best.votes)-r.Voices)
		w.Ignored, w.Changed = min(w.Ignored, spare), min(w.Changed, spare)
	}
	for x := -1; x < len(others); x++ { // -1: a value that nobody gave
		rival := int64(0)
		if x >= 0 {
			rival = others[x].total
		}
		w.Changed = min(w.Changed, changes(best.total-rival, r.gains(best, others, x), w.Changed))
	}
	return w
}

// gains returns by how much each seat that says others[x] instead brings it closer to the best option, the largest
// first. A seat can claim the weight 1, also one that says others[x] already, or gave no value.
func (r Rule) gains(best *option, others []option, x int) (all []int64) {
	for _, w := range best.weight {
		all = append(all, w+unit)
	}
	for i := range others {
		for _, w := range others[i].weight {
			if i != x {
				w = 0
			}
			all = append(all, unit-w)
		}
	}
	for len(all) < r.Seats {
		all = append(all, unit)
	}
	slices.SortFunc(all, func(a, b int64) int { return cmp.Compare(b, a) })
	return all
}

// changes returns how many of the largest gains together stay below a lead, at most so many.
func changes(lead int64, gains []int64, most int) int {
	for k, gain := range gains[:min(most, len(gains))] {
		if lead -= gain; lead <= 0 {
			return k
		}
	}
	return most
}

// include decides whether something is part of the result: yes if more weight is for it than against it,
// and it has enough supporters. open reports that it is left out for lack of supporters or because of a
// tie, and not because more weight is against it.
func (r Rule) include(yes, no []Given) (in, open bool, w Withstands) {
	all := options(slices.Concat(yes, no), func(g Given) string {
		if slices.ContainsFunc(yes, func(y Given) bool { return y.Seat == g.Seat }) {
			return "yes"
		}
		return "no"
	})
	if len(all) == 1 && len(no) == 0 || len(all) == 2 && all[0].total > all[1].total && all[0].key == "yes" {
		if len(yes) < r.least(0) || r.Count(yes) < r.Voices {
			return false, true, Withstands{}
		}
		return true, false, r.margin(&all[0], all[1:])
	}
	if len(all) == 2 && all[0].total == all[1].total {
		return false, true, Withstands{}
	}
	return false, false, r.excluded(yes, &all[0])
}

// nothingElse returns what is withstood by the absence of a member or item that none of the seats gave.
func (r Rule) nothingElse(in []Given) Withstands {
	return r.excluded(nil, &options(in, func(Given) string { return "" })[0])
}

// excluded returns what the decision against something withstands: it holds as long as the votes for it weigh
// less than those against it.
func (r Rule) excluded(yes []Given, no *option) Withstands {
	votes := option{votes: yes}
	for _, g := range yes {
		votes.weight = append(votes.weight, parts(g.Weight))
		votes.total += parts(g.Weight)
	}
	n := len(no.votes) + len(yes)
	w := Withstands{Ignored: n, Changed: changes(no.total-votes.total, r.gains(no, []option{votes}, 0), n)}
	lost := int64(0)
	for k, weight := range no.weight {
		if lost += weight; votes.total >= no.total-lost {
			w.Ignored = min(w.Ignored, k)
			break
		}
	}
	return w
}
