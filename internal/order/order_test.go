package order

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

type pair struct{ Key, Place int }

func byKey(a, b pair) int { return cmp.Compare(a.Key, b.Key) }

// Both sort as the standard library does, and Stable keeps the order of equal elements.
func TestSort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list []pair
		for i, k := range rapid.SliceOf(rapid.IntRange(0, 9)).Draw(t, "keys") {
			list = append(list, pair{k, i})
		}
		want := slices.Clone(list)
		slices.SortStableFunc(want, byKey)
		stable := slices.Clone(list)
		if Stable(stable, byKey); !slices.Equal(stable, want) {
			t.Fatalf("%v, want %v", stable, want)
		}
		if Sort(list, byKey); !slices.IsSortedFunc(list, byKey) || len(list) != len(want) {
			t.Fatalf("%v", list)
		}
	})
}
