package structured

import (
	"fmt"
	"slices"
	"strings"
)

// How a value is decided on as a whole, and members that belong together.
const (
	asWhole    = "whole"
	asTogether = "together"
)

// whole elects a whole object or array: the one with the largest weight, if as many seats as a decision needs gave just
// this value. Whoever gave it meant its parts together, which nobody says of a value that is made of parts. Without one
// it returns nil, and what the absence of such a value withstands.
func (m *merger) whole(in []Given) (*option, Withstands, []option) {
	all := options(in, func(g Given) string { return g.Value.canon })
	best, w, why := m.rule.elect(all)
	if why == "" && (best.value.kind == Object || best.value.kind == Array) {
		return best, w, all[1:]
	}
	most := 0
	for _, o := range all {
		if o.value.kind == Object || o.value.kind == Array {
			most = max(most, len(o.votes))
		}
	}
	return nil, m.rule.noWhole(most, len(in)), nil
}

// elected returns a whole value that has won. Where its parts by themselves give the same value, they are reported, and
// the value stays as long as either way gives it and no other whole value wins.
func (m *merger) elected(best *option, w Withstands, others []option, parts *Value) *Value {
	if parts == nil || parts.canon != best.value.canon || m.graded {
		m.fields, m.least, m.graded = nil, certain, false
		m.decided(Field{Support: m.rule.Count(best.votes), How: asWhole, Value: best.value}, w)
		return best.value
	}
	uneven := slices.ContainsFunc(best.weight, func(w int64) bool { return w != unit })
	second := 0
	for _, o := range others {
		second = max(second, len(o.votes))
		uneven = uneven || slices.ContainsFunc(o.weight, func(w int64) bool { return w != unit })
	}
	if uneven {
		m.least = w
		return best.value
	}
	both := m.least.and(m.rule.unrivalled(len(best.votes), second))
	m.least = Withstands{max(w.Ignored, both.Ignored), max(w.Changed, both.Changed)}
	return best.value
}

// unrivalled returns how many seats may be left out, or may say something else, before another whole value than that of
// first seats may win, or so few seats are left for it that its parts could be a combination of Byzantine seats.
func (r Rule) unrivalled(first, second int) (w Withstands) {
	wins := func(rival, left, ignored int) bool { return rival >= r.least(ignored) && rival >= left }
	for k := 1; first-k > r.F && !wins(second+k, first-k, 0); k++ {
		w.Changed = k
	}
	for k := 1; first-k > r.F && !wins(second, first-k, k); k++ {
		w.Ignored = k
	}
	return w
}

// noWhole returns how many seats may be left out, or may say something else, before a whole value that so many seats of
// n gave may win. It does not look at weights: it may return less than is true.
func (r Rule) noWhole(most, n int) (w Withstands) {
	for w.Changed+most+1 < r.least(0) {
		w.Changed++
	}
	for w.Ignored < n && most < r.least(w.Ignored+1) {
		w.Ignored++
	}
	return w
}

// fits reports how many seats gave a merged value, apart from what is not one seat's vote: numbers that were combined,
// which lie between numbers of honest seats whoever gave them, sets, whose items are decided one by one, texts that
// were chosen by grades, and parts that were left out because they are undecided.
func (m *merger) fits(v *Value, in []Given) (seats int) {
	free := likeness{}
	for _, f := range m.fields {
		switch {
		case !f.Decided && !f.Absent:
			free.open = append(free.open, f.Path)
		case slices.Contains([]string{string(ByMedian), string(ByMean), string(AsSet), string(ByProse)}, f.How):
			free.combined = append(free.combined, f.Path)
		}
	}
	for _, g := range in {
		if free.alike(v, g.Value, "") {
			seats++
		}
	}
	return seats
}

// likeness compares values apart from some paths.
type likeness struct{ combined, open []string }

func (l *likeness) alike(v, w *Value, at string) bool {
	switch {
	case v.kind != w.kind:
		return false
	case slices.Contains(l.combined, at):
		return true
	case v.kind == Array && len(v.items) == len(w.items):
		for i := range v.items {
			if !l.alike(v.items[i], w.items[i], pointer(at, fmt.Sprint(i))) {
				return false
			}
		}
		return true
	case v.kind == Object:
		return l.members(v, w, at)
	}
	return v.canon == w.canon
}

func (l *likeness) members(v, w *Value, at string) bool {
	for _, m := range v.members {
		if other := w.Member(m.Key); other == nil || !l.alike(m.Value, other, pointer(at, m.Key)) {
			return false
		}
	}
	for _, m := range w.members {
		if v.Member(m.Key) == nil && !l.leftOut(pointer(at, m.Key)) {
			return false
		}
	}
	return true
}

// leftOut reports whether a part is absent from the merged value because it, or a part of it, is undecided.
func (l *likeness) leftOut(at string) bool {
	return slices.ContainsFunc(l.open, func(path string) bool { return path == at || strings.HasPrefix(path, at+"/") })
}

// compose checks a value that was made of parts. It is refused if F seats or fewer, and at least one, gave its parts
// together: all of them may be Byzantine, and honest seats may have given each part with others. The second result is
// what the check withstands: a seat that gives the value which nobody gave before changes the result.
func (m *merger) compose(v *Value, in []Given) (why string, w Withstands) {
	if v.kind != Object && v.kind != Array {
		return "", certain
	}
	seats := m.fits(v, in)
	if w = (Withstands{Ignored: len(in)}); seats > m.rule.F {
		spare := seats - m.rule.F - 1
		return "", Withstands{Ignored: spare, Changed: spare}
	}
	if seats > 0 {
		return fmt.Sprintf("its parts have enough supporters each, but %d seats gave them together, and more than "+
			"F = %d are needed: honest members may have given none of these combinations", seats, m.rule.F), w
	}
	return "", w
}
