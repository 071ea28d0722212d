package structured

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"

	"synod.dev/synod/internal/order"
)

// list merges arrays item by item. Whether there is a next item is decided like the presence of a member.
func (m *merger) list(nodes []*node, in []Given, path string, outer Withstands) (*Value, string) {
	var items []*Value
	for i := 0; ; i++ {
		yes, no := split(in, func(g Given) bool { return len(g.Value.items) > i })
		if len(yes) == 0 {
			break
		}
		present, open, w := m.rule.include(yes, no)
		if open {
			return m.open(path, "length", options(yes, func(Given) string { return "" }),
				fmt.Sprintf("%d of %d seats have more than %d items, which does not decide the length", len(yes),
					len(in), i))
		}
		outer = outer.and(w)
		if !present {
			break
		}
		var of []*node
		for _, n := range nodes {
			if at := n.itemAt(i); at != nil {
				of = append(of, at)
			}
		}
		values := make([]Given, len(yes))
		for k, g := range yes {
			values[k] = Given{g.Seat, g.Value.items[i], g.Weight}
		}
		v, why := m.merge(of, values, pointer(path, fmt.Sprint(i)), outer)
		if v == nil {
			return nil, why
		}
		items = append(items, v)
	}
	v := newArray(items)
	outer = outer.and(m.rule.nothingElse(in))
	if len(items) == 0 {
		m.decided(Field{Path: path, Support: m.rule.Count(in), How: "length", Value: v}, outer)
	}
	m.least = m.least.and(outer)
	return v, ""
}

// set merges arrays as sets: every different item by vote. The result is sorted by canonical text.
func (m *merger) set(in []Given, path string, outer Withstands) (*Value, string) {
	has := map[string][]Given{} // an item's text to the arrays that have it
	values := map[string]*Value{}
	for _, g := range in {
		for _, x := range g.Value.items {
			if by := has[x.canon]; len(by) == 0 || by[len(by)-1].Seat != g.Seat {
				has[x.canon], values[x.canon] = append(by, g), x
			}
		}
	}
	texts := make([]string, 0, len(has))
	for text := range has {
		texts = append(texts, text)
	}
	slices.Sort(texts)
	var items []*Value
	support := m.rule.Count(in)
	outer = outer.and(m.rule.nothingElse(in))
	for _, text := range texts {
		yes := has[text]
		_, no := split(in, func(g Given) bool {
			return slices.ContainsFunc(yes, func(y Given) bool { return y.Seat == g.Seat })
		})
		present, _, w := m.rule.include(yes, no)
		outer = outer.and(w)
		if present {
			items = append(items, values[text])
			support = min(support, m.rule.Count(yes))
		}
	}
	v := newArray(items)
	m.decided(Field{Path: path, Support: support, How: "set", Value: v}, outer)
	return v, ""
}

// number merges numbers.
func (m *merger) number(nodes []*node, how Combine, in []Given, path string, outer Withstands) (*Value, string) {
	in = slices.Clone(in)
	order.Stable(in, func(a, b Given) int { return a.Value.number.Cmp(b.Value.number) })
	f := m.rule.F
	if need := m.rule.numbers(0); len(in) < need {
		all := options(in, func(Given) string { return "" })
		return m.open(path, string(how), all, fmt.Sprintf("%d seats gave a number, and %d are needed", len(in), need))
	}
	kept := in[f : len(in)-f]
	v, w := median(kept), m.medianWithstands(in)
	if how == ByMean {
		v, w = mean(nodes, kept), m.meanWithstands(in)
	}
	m.decided(Field{Path: path, Support: m.rule.Count(in), How: string(how), Value: v}, outer.and(w))
	return v, ""
}

// median returns the lower weighted median of sorted numbers: the first that half of the weight does not
// exceed. It is one of the numbers.
func median(sorted []Given) *Value {
	total := int64(0)
	for _, g := range sorted {
		total += parts(g.Weight)
	}
	sum := int64(0)
	for _, g := range sorted {
		if sum += parts(g.Weight); 2*sum >= total && total > 0 {
			return g.Value
		}
	}
	return sorted[(len(sorted)-1)/2].Value
}

// mean returns the weighted mean of numbers. Of integers it is rounded to an integer, half to even, otherwise
// to six decimals more than the numbers have. Both stay between the least and the greatest of the numbers.
func mean(nodes []*node, kept []Given) *Value {
	sum, total, places := new(big.Rat), int64(0), 0
	for _, g := range kept {
		total += parts(g.Weight)
	}
	for _, g := range kept {
		w := parts(g.Weight)
		if total == 0 {
			w = 1
		}
		sum.Add(sum, new(big.Rat).Mul(g.Value.number, new(big.Rat).SetInt64(w)))
		own, _ := g.Value.number.FloatPrec()
		places = max(places, own)
	}
	sum.Quo(sum, new(big.Rat).SetInt64(cmp.Or(total, int64(len(kept)))))
	if slices.ContainsFunc(nodes, func(n *node) bool { return n.typed && n.whole }) {
		return decimal(round(sum, 0))
	}
	return decimal(round(sum, places+6))
}

// medianWithstands returns what the median of sorted numbers withstands: nothing where weights differ, and no change
// where a seat could claim more weight than the others have.
func (m *merger) medianWithstands(in []Given) (w Withstands) {
	n, at := len(in), (len(in)-1)/2
	if slices.ContainsFunc(in, func(g Given) bool { return g.Weight != in[0].Weight }) {
		return w
	}
	below, upTo := 0, 0 // numbers below the median, and not above it
	for _, g := range in {
		switch c := g.Value.number.Cmp(in[at].Value.number); {
		case c < 0:
			below++
			upTo++
		case c == 0:
			upTo++
		}
	}
	if in[0].Weight >= 1 { // a changed seat may give no number
		w.Changed = min(at-below, upTo-at-1, spare(n, m.rule.numbers).Changed)
	}
	for k := 1; k <= spare(n, m.rule.numbers).Ignored; k++ {
		next := (n - k - 1) / 2
		if below > next || upTo-k < next+1 {
			break
		}
		w.Ignored = k
	}
	return w
}

// meanWithstands returns what the trimmed mean of sorted numbers withstands: something only if all numbers
// that are not trimmed are equal.
func (m *merger) meanWithstands(in []Given) (w Withstands) {
	f, n, most := m.rule.F, len(in), spare(len(in), m.rule.numbers)
	from, to := f, n-f // the numbers equal to the first that is kept
	for from > 0 && in[from-1].Value.number.Cmp(in[f].Value.number) == 0 {
		from--
	}
	for to < n && in[to].Value.number.Cmp(in[f].Value.number) == 0 {
		to++
	}
	if in[f].Value.number.Cmp(in[n-f-1].Value.number) != 0 {
		return w
	}
	w.Changed = min(f-max(from, n-to), most.Changed)
	w.Ignored = most.Ignored // trimmed numbers stay at the ends, whichever seats are left out
	return w
}
