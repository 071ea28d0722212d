package robustness

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"synod.dev/synod/graph"
)

// nodeSet[large] is compared with a table of flags.
func TestSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, largeSize).Draw(t, "n")
		draw := func(label string) (p nodeSet[large], in []bool) {
			in = rapid.SliceOfN(rapid.Bool(), n, n).Draw(t, label)
			for i, member := range in {
				if member {
					p = p.with(i)
				}
			}
			return p, in
		}
		a, inA := draw("a")
		b, inB := draw("b")
		check := func(what string, got nodeSet[large], want func(i int) bool) {
			var list []int
			for i := range n {
				if got.has(i) != want(i) {
					t.Fatalf("%s: node %d", what, i)
				}
				if want(i) {
					list = append(list, i)
				}
			}
			var walked []int
			for w := got; !w.empty(); w = w.rest() {
				walked = append(walked, w.first())
			}
			if got.count() != len(list) || !slices.Equal(walked, list) ||
				!slices.Equal(graph.AppendBits(nil, got.row()), list) {
				t.Fatalf("%s: walked %v, want %v", what, walked, list)
			}
		}
		check("and", a.and(b), func(i int) bool { return inA[i] && inB[i] })
		check("or", a.or(b), func(i int) bool { return inA[i] || inB[i] })
		check("and not", a.andNot(b), func(i int) bool { return inA[i] && !inB[i] })
		check("all", all[large](n), func(int) bool { return true })
		v := rapid.IntRange(0, n-1).Draw(t, "v")
		check("of", single[large](v), func(i int) bool { return i == v })
		check("without", a.without(v), func(i int) bool { return inA[i] && i != v })
		check("row", fromRow[large](a.row()), func(i int) bool { return inA[i] })
	})
}
