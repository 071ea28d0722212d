package committee_test

import (
	"crypto/ed25519"
	"fmt"
	"math"
	"slices"
	"testing"

	"synod.dev/synod/network/committee"
	"synod.dev/synod/network/roster"
)

// runOf is a run of a council of n members that draws size of them by two beacons, with the beacons' proofs.
func runOf(t *testing.T, n, size, instance int) (*committee.Run, [][]byte) {
	t.Helper()
	terms := &roster.Terms{Draw: &roster.Draw{Size: uint64(size), F: 4, Beacons: []uint64{3, 8}}}
	for i := range n {
		terms.Members = append(terms.Members, roster.Seat{ID: fmt.Sprint("m", i),
			Key: keyOf(i).Public().(ed25519.PublicKey)})
	}
	run := &committee.Run{Terms: terms, Council: make([]byte, 32), Question: make([]byte, 32),
		Instance: fmt.Sprint(instance)}
	return run, proofsOf(t, run)
}

func proofsOf(t *testing.T, run *committee.Run) (proofs [][]byte) {
	t.Helper()
	for _, b := range run.Terms.Draw.Beacons {
		proof, err := run.Prove(keyOf(int(b)))
		if err != nil {
			t.Fatal(err)
		}
		proofs = append(proofs, proof)
	}
	return proofs
}

// The draw of a run is bound to roster, question and run: proofs for one are none for another, and another committee
// follows. It needs every beacon.
func TestRunDraws(t *testing.T) {
	run, proofs := runOf(t, 300, 13, 1)
	seats, err := run.Seats(proofs)
	if err != nil || len(seats) != 13 || !slices.IsSorted(seats) {
		t.Fatal(seats, err)
	}
	for what, change := range map[string]func(r *committee.Run){
		"roster":   func(r *committee.Run) { r.Council = append(make([]byte, 31), 1) },
		"question": func(r *committee.Run) { r.Question = append(make([]byte, 31), 1) },
		"run":      func(r *committee.Run) { r.Instance = "another" },
	} {
		other := *run
		change(&other)
		if _, err := other.Seats(proofs); err == nil {
			t.Errorf("the proofs are those of another %s too", what)
		}
		if again, err := other.Seats(proofsOf(t, &other)); err != nil || slices.Equal(again, seats) {
			t.Errorf("another %s has the same committee: %v", what, err)
		}
	}
	for what, bad := range map[string][][]byte{"one": proofs[:1], "none": nil, "three": append(proofs, proofs[0]),
		"one twice": {proofs[0], proofs[0]}, "an empty one": {proofs[0], nil}} {
		if _, err := run.Seats(bad); err == nil {
			t.Errorf("%s: the proofs are accepted", what)
		}
	}
	run.Terms.Draw = nil
	if _, err := run.Seats(proofs); err == nil {
		t.Error("a roster without the rule has a committee")
	}
}

// Of many runs, as many have a captured committee as the exact probability says. So a caller who asks k times, and
// knows nothing before it asks, has at most k times that probability.
func TestRunsAreDrawnEvenly(t *testing.T) {
	bad := 0
	const runs = 400
	for i := range runs {
		run, proofs := runOf(t, 300, 13, i)
		seats, err := run.Seats(proofs)
		if err != nil {
			t.Fatal(err)
		}
		if hostileOf(seats, 90) > 4 {
			bad++
		}
	}
	want, _ := committee.Captured(300, 90, 13, 4).Float64()
	if sd := math.Sqrt(want * (1 - want) / runs); math.Abs(float64(bad)/runs-want) > 5*sd {
		t.Errorf("%d of %d runs have more than 4 hostile members; the probability is %.3f", bad, runs, want)
	}
}
