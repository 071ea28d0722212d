// Package order sorts slices whose element types are sorted in one place only. slices.SortFunc is compiled again for
// each element type, about 15 kB of a program with its tables; these functions share the one copy in package sort. Use
// slices.SortFunc where a sort is in a hot path, and for strings, numbers and pointers, which share a copy.
package order

import "sort"

// Sort sorts a slice by compare, which returns a negative number if a comes before b. The order of equal elements is
// not kept.
func Sort[E any](s []E, compare func(a, b E) int) {
	sort.Slice(s, func(i, j int) bool { return compare(s[i], s[j]) < 0 })
}

// Stable is Sort that keeps the order of equal elements.
func Stable[E any](s []E, compare func(a, b E) int) {
	sort.SliceStable(s, func(i, j int) bool { return compare(s[i], s[j]) < 0 })
}
