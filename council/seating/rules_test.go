package seating

import (
	"testing"

	"synod.dev/synod/core/odds"
)

// By hand: four models, of which the last is the cheapest.
func TestPlainRules(t *testing.T) {
	s := &Sample{Models: []string{"a", "b", "c", "d"}, USD: []float64{10, 2, 3, 1}}
	for _, answers := range [][]string{
		{"x", "x", "x", "x"}, // right; the three cheapest agree
		{"x", "x", "y", "y"}, // a tie
		{"x", "x", "y", ""},  // right by two of three, after the dear one was asked
		{"y", "y", "", ""},   // wrong
		{"x", "y", "", ""},   // no two
		{"y", "x", "x", ""},  // right, without the dear one
		{"", "", "", ""},
	} {
		s.Questions = append(s.Questions, odds.Labelled{Answers: answers, Right: "x"})
	}
	all := s.MostFrequent()
	if all != (Played{Right: 3, Wrong: 1, Undecided: 3, USD: 7 * 16}) {
		t.Errorf("%+v", all)
	}
	tiers, ok := s.ByPrice()
	if want := (Played{Right: 3, Wrong: 1, Undecided: 3, USD: 2*6 + 5*16}); !ok || tiers != want {
		t.Errorf("%+v, want %+v", tiers, want)
	}
	s.Models = s.Models[:3]
	if _, ok := s.ByPrice(); ok {
		t.Error("tiers of three models")
	}
}
