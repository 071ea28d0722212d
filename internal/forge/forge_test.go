package forge_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"synod.dev/synod/internal/forge"
	"synod.dev/synod/internal/nightly"
	"synod.dev/synod/record/certificate"
)

// play plays an arena of a seed.
func play(t testing.TB, seed uint64, symbolic bool) *forge.Arena {
	r := rand.New(rand.NewPCG(seed, 0xa3e4a))
	a, err := forge.NewArena(r, 1+r.IntN(9), symbolic)
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if err := a.Step(); err != nil {
			t.Fatal(err)
		}
	}
	a.Judge()
	return a
}

// Hostile callers reach all that a campaign must reach: one in which no certificate is ever valid would show nothing.
// The rarest situation is met once in a hundred arenas.
func TestArenaReaches(t *testing.T) {
	count := map[string]int{}
	for seed := range uint64(nightly.Size(600, 2500)) {
		a := play(t, seed, true)
		for claim, how := range a.Wrong {
			t.Fatalf("seed %d: %s: %s", seed, claim, how)
		}
		for _, what := range a.Met {
			count[what]++
		}
	}
	for _, what := range forge.Situations() {
		if count[what] == 0 {
			t.Errorf("never: %s", what)
		}
	}
	t.Log(count)
}

// Real keys and symbolic ones give the same situations: nothing depends on the kind of keys.
func TestSymbolicAsReal(t *testing.T) {
	for seed := range uint64(20) {
		symbolic, real := play(t, seed, true), play(t, seed, false)
		if !slices.Equal(symbolic.Met, real.Met) || len(real.Wrong) > 0 {
			t.Errorf("seed %d: %q and %q, %v", seed, symbolic.Met, real.Met, real.Wrong)
		}
	}
}

// Honest councils get certificates.
func TestForge(t *testing.T) {
	honest := 0
	for seed := range uint64(200) {
		c, err := forge.New(rand.New(rand.NewPCG(seed, 0xf09e)))
		if err != nil {
			t.Fatal(err)
		}
		s, err := c.Statement(forge.Answer(0))
		if err != nil {
			t.Fatal(err)
		}
		made, err := c.Whole(s)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := certificate.Verify(made, certificate.CouncilOf(c.Roster)); err == nil {
			honest++
		}
	}
	if honest < 60 {
		t.Errorf("%d of 200 certificates of honest councils are valid", honest)
	}
}

func BenchmarkArena(b *testing.B) {
	for name, symbolic := range map[string]bool{"symbolic": true, "ed25519": false} {
		b.Run(name, func(b *testing.B) {
			for seed := uint64(0); b.Loop(); seed++ {
				play(b, seed, symbolic)
			}
		})
	}
}
