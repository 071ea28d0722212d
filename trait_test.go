package synod_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"synod.dev/synod"
)

func TestWhere(t *testing.T) {
	w := synod.With(synod.Reasons, synod.Rounds).Or(synod.Bargains)
	if got := w.String(); got != "reasons and rounds, or bargains" {
		t.Errorf("%q", got)
	}
	for _, x := range []struct {
		where  synod.Where
		traits []synod.Trait
		lacks  []synod.Trait
	}{
		{w, []synod.Trait{synod.Bargains}, nil},
		{w, []synod.Trait{synod.Rounds, synod.Reasons, synod.Votes}, nil},
		{w, []synod.Trait{synod.Rounds}, []synod.Trait{synod.Reasons}},
		{w, []synod.Trait{}, []synod.Trait{synod.Bargains}},
		{w, nil, nil}, // the protocol does not say
		{nil, []synod.Trait{}, nil},
		{synod.Anywhere, []synod.Trait{}, nil},
	} {
		if got := x.where.Lacks(x.traits); !slices.Equal(got, x.lacks) || x.where.Admits(x.traits) != (got == nil) {
			t.Errorf("%v lacks %v in %v, want %v", x.where, got, x.traits, x.lacks)
		}
	}
}

// A protocol that gets the traits that are lacking is admitted, and no trait of these is superfluous.
func TestLacksIsEnough(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		some := rapid.SliceOfDistinct(rapid.SampledFrom(synod.Traits()), rapid.ID[synod.Trait])
		w := synod.Where(rapid.SliceOfN(some, 1, 4).Draw(t, "where"))
		has := append([]synod.Trait{}, some.Draw(t, "has")...)
		lacks := w.Lacks(has)
		if !w.Admits(append(slices.Clone(has), lacks...)) {
			t.Fatalf("%v does not admit %v with %v", w, has, lacks)
		}
		for i := range lacks {
			if w.Admits(append(slices.Clone(has), slices.Delete(slices.Clone(lacks), i, i+1)...)) {
				t.Fatalf("%v admits %v without %v", w, has, lacks[i])
			}
		}
	})
}
