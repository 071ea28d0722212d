package reference

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// Part says how a part of a value is decided (docs/use/forms.md), as far as campaigns draw it.
type Part struct {
	How    string // vote, median, mean, object, list or set
	Whole  bool   // with mean: of integers
	Slots  []Slot // of an object
	Groups [][]string
	Items  *Part // of a list
}

// Slot is a member of an object.
type Slot struct {
	Name     string
	Required bool
	Part     *Part
}

// Gave is the value that a seat gave: of maps, lists, texts, booleans and *big.Rat.
type Gave struct {
	Seat   int
	Value  any
	Weight int64 // in units of 1e-9
}

// Merger merges values of the seats of a council.
type Merger struct {
	Rule   Rule // its support is needed for each part
	F      int
	Seats  int   // that vote
	Voice  []int // by seat; nil: each is one
	Top    *Part
	Never  bool // a value that no seat gave is no decision
	opened []string
	joined []string // paths of parts that no seat gave by itself: numbers and sets
}

// Decide returns the value that is decided; nil: none. present is how many seats have an answer.
func (m *Merger) Decide(in []Gave, present int) (status string, value any) {
	if !m.Rule.reached(present, m.Seats) {
		return Degraded, nil
	}
	v, ok := m.merged(in)
	held := func(g Gave) bool { return Text(g.Value) == Text(v) }
	if !ok || m.Never && !slices.ContainsFunc(in, held) {
		return Undecided, nil
	}
	return Agreed, v
}

// merged decides on whole values, then on their parts. A combination that some seats gave, and no more than F, is no
// decision.
func (m *Merger) merged(in []Gave) (any, bool) {
	if m.Top.How == "object" || m.Top.How == "list" || m.Top.How == "set" {
		if best, ok := m.elect(in, func(g Gave) string { return Text(g.Value) }); ok {
			return best[0].Value, true
		}
	}
	m.opened, m.joined = nil, nil
	v, ok := m.part(m.Top, in, "")
	if !ok {
		return nil, false
	}
	fit := 0
	for _, g := range in {
		if m.alike(v, g.Value, "") {
			fit++
		}
	}
	return v, fit == 0 || fit > m.f()
}

// f is how many supporters are too few.
func (m *Merger) f() int { return max(m.F, m.Rule.Support-1) }

// needs is how many votes a decision needs.
func (m *Merger) needs() int {
	for k := 1; ; k++ {
		if k > m.f() && (m.Rule.Name == "plurality" || m.Rule.reached(k, m.Seats)) {
			return k
		}
	}
}

// enough reports whether so many seats, and voices, are enough for a decision.
func (m *Merger) enough(votes []Gave) bool {
	voices := map[int]bool{}
	for _, g := range votes {
		if m.Voice == nil {
			return len(votes) >= m.needs()
		}
		voices[m.Voice[g.Seat]] = true
	}
	return len(votes) >= m.needs() && len(voices) >= m.Rule.Support
}

// elect returns the votes for what has more weight than anything else, and is enough.
func (m *Merger) elect(in []Gave, key func(Gave) string) (best []Gave, ok bool) {
	by := map[string][]Gave{}
	for _, g := range in {
		by[key(g)] = append(by[key(g)], g)
	}
	for k, votes := range by {
		leads := true
		for other, rivals := range by {
			leads = leads && (other == k || weigh(votes) > weigh(rivals))
		}
		if leads {
			return votes, m.enough(votes)
		}
	}
	return nil, false
}

func weigh(votes []Gave) (sum int64) {
	for _, g := range votes {
		sum += g.Weight
	}
	return sum
}

// present decides whether something is there that some seats gave and others did not. open: it is undecided.
func (m *Merger) present(yes, no []Gave) (in, open bool) {
	switch {
	case len(yes) == 0:
		return false, false
	case len(no) > 0 && weigh(no) > weigh(yes):
		return false, false
	case len(no) > 0 && weigh(no) == weigh(yes), !m.enough(yes):
		return false, true
	}
	return true, false
}

// part decides on a part of those who gave one.
func (m *Merger) part(p *Part, in []Gave, at string) (any, bool) {
	if !m.enough(in) {
		m.opened = append(m.opened, at)
		return nil, false
	}
	switch p.How {
	case "object":
		return m.object(p, in, at)
	case "list":
		return m.list(p, in, at)
	case "set":
		return m.set(in, at)
	case "median", "mean":
		return m.number(p, in, at)
	}
	best, ok := m.elect(in, func(g Gave) string { return Text(g.Value) })
	if !ok {
		m.opened = append(m.opened, at)
		return nil, false
	}
	return best[0].Value, true
}

// number takes the lower middle, or the mean, of the numbers without the F lowest and the F highest, by weight.
func (m *Merger) number(p *Part, in []Gave, at string) (any, bool) {
	if len(in) <= 2*m.f() {
		m.opened = append(m.opened, at)
		return nil, false
	}
	m.joined = append(m.joined, at)
	in = slices.Clone(in)
	slices.SortStableFunc(in, func(a, b Gave) int { return a.Value.(*big.Rat).Cmp(b.Value.(*big.Rat)) })
	in = in[m.f() : len(in)-m.f()]
	if weigh(in) == 0 {
		in = slices.Clone(in)
		for i := range in {
			in[i].Weight = 1
		}
	}
	if p.How == "median" {
		sum := int64(0)
		for _, g := range in {
			if sum += g.Weight; 2*sum >= weigh(in) {
				return g.Value, true
			}
		}
	}
	mean, places := new(big.Rat), 0
	for _, g := range in {
		x := g.Value.(*big.Rat)
		mean.Add(mean, new(big.Rat).Mul(x, big.NewRat(g.Weight, weigh(in))))
		own, _ := x.FloatPrec()
		places = max(places, own+6)
	}
	if p.Whole {
		places = 0
	}
	return rounded(mean, places), true
}

// rounded returns a number with so many decimals; of two that are as near, the one whose last digit is even.
func rounded(x *big.Rat, places int) *big.Rat {
	unit := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places)), nil))
	units := new(big.Rat).Quo(x, unit)
	low := new(big.Int).Div(units.Num(), units.Denom()) // rounds down
	rest := new(big.Rat).Sub(units, new(big.Rat).SetInt(low))
	if c := rest.Cmp(big.NewRat(1, 2)); c > 0 || c == 0 && low.Bit(0) == 1 {
		low.Add(low, big.NewInt(1))
	}
	return new(big.Rat).Mul(new(big.Rat).SetInt(low), unit)
}

func (m *Merger) object(p *Part, in []Gave, at string) (any, bool) {
	value, ok := map[string]any{}, true
	for _, s := range p.Slots {
		if slices.ContainsFunc(p.Groups, func(g []string) bool { return slices.Contains(g, s.Name) }) {
			continue
		}
		var yes, no []Gave
		for _, g := range in {
			if x, has := g.Value.(map[string]any)[s.Name]; has {
				yes = append(yes, Gave{g.Seat, x, g.Weight})
			} else {
				no = append(no, g)
			}
		}
		path := at + "/" + s.Name
		if there, open := m.present(yes, no); !s.Required && !there {
			if open {
				m.opened = append(m.opened, path)
			}
			continue
		}
		if x, decided := m.part(s.Part, yes, path); decided {
			value[s.Name] = x
		} else if s.Required {
			ok = false
		} else {
			m.opened = append(m.opened, path)
		}
	}
	for _, group := range p.Groups {
		ok = m.group(p, group, in, at, value) && ok
	}
	return value, ok
}

// group decides on members that are one part. A seat without any of them votes for none.
func (m *Merger) group(p *Part, names []string, in []Gave, at string, value map[string]any) bool {
	of := func(g Gave) map[string]any {
		some := map[string]any{}
		for _, name := range names {
			if x, has := g.Value.(map[string]any)[name]; has {
				some[name] = x
			}
		}
		return some
	}
	best, ok := m.elect(in, func(g Gave) string { return Text(of(g)) })
	if ok {
		for name, x := range of(best[0]) {
			value[name] = x
		}
		return true
	}
	for _, name := range names {
		m.opened = append(m.opened, at+"/"+name)
	}
	return !slices.ContainsFunc(p.Slots, func(s Slot) bool { return s.Required && slices.Contains(names, s.Name) })
}

// list decides item by item, after a vote on whether there is a next item.
func (m *Merger) list(p *Part, in []Gave, at string) (any, bool) {
	items := []any{}
	for i := 0; ; i++ {
		var yes, no []Gave
		for _, g := range in {
			if list := g.Value.([]any); len(list) > i {
				yes = append(yes, Gave{g.Seat, list[i], g.Weight})
			} else {
				no = append(no, g)
			}
		}
		there, open := m.present(yes, no)
		if open {
			m.opened = append(m.opened, at)
			return nil, false
		}
		if !there {
			return items, true
		}
		x, ok := m.part(p.Items, yes, fmt.Sprint(at, "/", i))
		if !ok {
			return nil, false
		}
		items = append(items, x)
	}
}

// set votes on each different item.
func (m *Merger) set(in []Gave, at string) (any, bool) {
	m.joined = append(m.joined, at)
	items, seen := []any{}, map[string]bool{}
	for _, g := range in {
		for _, x := range g.Value.([]any) {
			if seen[Text(x)] {
				continue
			}
			seen[Text(x)] = true
			var yes, no []Gave
			for _, o := range in {
				if slices.ContainsFunc(o.Value.([]any), func(y any) bool { return Text(y) == Text(x) }) {
					yes = append(yes, o)
				} else {
					no = append(no, o)
				}
			}
			if there, _ := m.present(yes, no); there {
				items = append(items, x)
			}
		}
	}
	slices.SortFunc(items, func(a, b any) int { return strings.Compare(Text(a), Text(b)) })
	return items, true
}

// alike reports whether a seat gave a combination of parts: joined parts do not count, nor do parts that were left out
// because they are undecided.
func (m *Merger) alike(v, given any, at string) bool {
	if slices.Contains(m.joined, at) {
		return true
	}
	switch v := v.(type) {
	case map[string]any:
		w := given.(map[string]any)
		for name, x := range v {
			if y, has := w[name]; !has || !m.alike(x, y, at+"/"+name) {
				return false
			}
		}
		for name := range w {
			if _, has := v[name]; !has && !m.leftOut(at+"/"+name) {
				return false
			}
		}
		return true
	case []any:
		w := given.([]any)
		for i := range v {
			if len(v) == len(w) && !m.alike(v[i], w[i], fmt.Sprint(at, "/", i)) {
				return false
			}
		}
		return len(v) == len(w)
	}
	return Text(v) == Text(given)
}

func (m *Merger) leftOut(at string) bool {
	return slices.ContainsFunc(m.opened, func(p string) bool { return p == at || strings.HasPrefix(p, at+"/") })
}

// Text writes a value so that equal values are equal texts: JSON with sorted members.
func Text(v any) string {
	switch v := v.(type) {
	case *big.Rat:
		places, _ := v.FloatPrec()
		return v.FloatString(places)
	case []any:
		var items []string
		for _, x := range v {
			items = append(items, Text(x))
		}
		return "[" + strings.Join(items, ",") + "]"
	case map[string]any:
		var members []string
		for name, x := range v {
			members = append(members, fmt.Sprintf("%q:%s", name, Text(x)))
		}
		slices.Sort(members)
		return "{" + strings.Join(members, ",") + "}"
	}
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}
