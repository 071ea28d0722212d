package cascade

import (
	"math/rand/v2"
	"testing"

	"synod.dev/synod"
)

// What a decision withstands is what leaving out and changing seats gives: the answer must keep the most weight and
// more than F independent supporters, where seats that err together are one.
func TestWithstandsExhaustively(t *testing.T) {
	known := 0
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 7))
		p, n := New(), 3+r.IntN(4)
		f := r.IntN((n-1)/2 + 1)
		for range r.IntN(3) {
			p.Together = append(p.Together, [2]synod.NodeID{synod.NodeID(r.IntN(n)), synod.NodeID(r.IntN(n))})
		}
		v := p.tally(&synod.Question{Text: "?", Form: synod.Text}, n, f)
		for i := range n {
			v.asked = append(v.asked, synod.NodeID(i))
			v.answers[i] = []synod.Answer{"a", "a", "a", "b", synod.None}[r.IntN(5)]
		}
		w, _ := v.withstands("a")
		if w == nil {
			continue
		}
		known++
		ignored, changed := losing(v, synod.None)-1, min(losing(v, "b"), losing(v, "c"), losing(v, synod.None))-1
		if w.Ignored != max(0, ignored) || w.Changed != max(0, changed) {
			t.Fatalf("seed %d: F=%d, %q, groups %v: it withstands %+v, and by trying all sets %d and %d", seed, f,
				v.answers, v.group, *w, ignored, changed)
		}
	}
	if known < 1000 {
		t.Errorf("only %d decisions", known)
	}
}

// losing returns the fewest seats that all say something else so that "a" is no decision; one more than there are seats
// if it always is.
func losing(v *tally, instead synod.Answer) int {
	fewest := len(v.answers) + 1
	for set := range 1 << len(v.answers) {
		var own []synod.NodeID
		weight, size := map[synod.Answer]int64{}, 0
		for i, a := range v.answers {
			if set>>i&1 == 1 {
				a, size = instead, size+1
			}
			if a == "a" {
				own = append(own, synod.NodeID(i))
			}
			weight[a] += v.weights[i]
		}
		if v.voices(own) <= v.f || weight["a"] <= weight["b"] || weight["a"] <= weight["c"] {
			fewest = min(fewest, size)
		}
	}
	return fewest
}
