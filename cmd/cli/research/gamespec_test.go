package research

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"synod.dev/synod/council/plan"
)

// A game has limits that its players' planned calls, with three tries each, do not exceed.
func TestGamesHaveLimits(t *testing.T) {
	for _, players := range []int{2, 9, 20} {
		spec := gameCouncil{honest: players - 1, byzantine: 1, strategy: "silent",
			model: plan.Params{"provider": "simulated"}, params: plan.Params{"rounds": 7}}.spec()
		if l := spec.Limits; l.Calls != 2*3*7*players || l.Tokens < l.Calls*500 || l.Deadline <= 0 {
			t.Errorf("%d players: %+v", players, l)
		}
	}
}

// A council file may have a model for each player; player is that of the others.
func TestOneModelForEachPlayer(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cast.yaml")
	write := func(text string) {
		if err := os.WriteFile(file, []byte("models:\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("  player: {provider: simulated}\n  p2: {provider: simulated, stubbornness: 1}\n" +
		"  b1: {provider: simulated, seed: 7}\n  p9: {provider: simulated}\n")
	g := gameCouncil{honest: 3, byzantine: 1, strategy: "saboteur", params: plan.Params{}}
	if err := g.players(file); err != nil {
		t.Fatal(err)
	}
	spec := g.spec()
	var got []string
	for _, s := range spec.Seats {
		got = append(got, s.ID+"="+s.Model)
	}
	if s := strings.Join(got, " "); s != "p1=player p2=p2 p3=player b1=b1" || len(spec.Models) != 3 {
		t.Errorf("seats %s, models %v", s, spec.Models)
	}
	if _, err := plan.Read(spec); err != nil {
		t.Error(err)
	}
	write("  p1: {provider: simulated}\n  p2: {provider: simulated}\n")
	g = gameCouncil{honest: 2, params: plan.Params{}}
	if err := g.players(file); err != nil || len(g.spec().Models) != 2 {
		t.Errorf("%v, %v", err, g.spec().Models)
	}
	g = gameCouncil{honest: 3, params: plan.Params{}}
	if err := g.players(file); err == nil || !strings.Contains(err.Error(), `no model "player"`) {
		t.Error(err)
	}
}
