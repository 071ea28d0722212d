package gateway

import (
	"testing"

	"synod.dev/synod/council/outcome"
)

// The log is warned once for ten questions, and only of the model whose replies often cannot be read.
func TestUnreadTally(t *testing.T) {
	var tally unreadTally
	var good, bad outcome.StatusCount
	good[0], bad[5] = 1, 1 // ok, unreadable
	var warned []string
	for n := range 25 {
		first := good
		if n%2 == 0 {
			first = bad
		}
		often, counts := tally.add("team", &outcome.Outcome{Members: []outcome.Member{
			{ID: "a", Model: "m", Calls: first}, {ID: "b", Model: "n", Calls: good},
			{ID: "c", Model: "n", Calls: good}}})
		for i, m := range often {
			if warned = append(warned, m.Model); counts[i] != (unreadCount{10, 10, 5}) {
				t.Errorf("%+v", counts[i])
			}
		}
	}
	if len(warned) != 2 || warned[0] != "m" || warned[1] != "m" {
		t.Errorf("warned of %v; want twice of m", warned)
	}
}
