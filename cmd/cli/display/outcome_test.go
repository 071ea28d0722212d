package display

import (
	"testing"

	"synod.dev/synod/council/outcome"
)

func TestCallsOf(t *testing.T) {
	for want, calls := range map[string]outcome.Calls{
		"3 calls of 4": {Made: 3, Planned: 4},
		"4 calls of 4, 1 of them begun early and not needed": {Made: 4, Planned: 4, Needless: 1},
		"6 calls (4 planned, 2 more after failures)":         {Made: 6, Planned: 4, Needless: 1},
	} {
		if got := CallsOf(&outcome.Outcome{Calls: calls}); got != want {
			t.Errorf("%+v: %q, want %q", calls, got, want)
		}
	}
}
