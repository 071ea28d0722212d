package cli

import (
	"testing"

	"synod.dev/synod/council"
)

// A game has limits that its players' planned calls, with three tries each, do not exceed.
func TestGamesHaveLimits(t *testing.T) {
	for _, players := range []int{2, 9, 20} {
		spec := gameCouncil{honest: players - 1, byzantine: 1, strategy: "silent",
			model: council.Params{"provider": "simulated"}, params: council.Params{"rounds": 7}}.spec()
		if l := spec.Limits; l.Calls != 2*3*7*players || l.Tokens < l.Calls*500 || l.Deadline <= 0 {
			t.Errorf("%d players: %+v", players, l)
		}
	}
}
