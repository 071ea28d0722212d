package committee

import (
	"bytes"
	"cmp"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"synod.dev/synod/network/roster"
)

// Run is a run of a council whose roster draws a committee for each run (roster.Draw).
type Run struct {
	Terms    *roster.Terms // of the roster, with a Draw
	Council  []byte        // hash of the roster
	Question []byte        // SHA-256 of the question
	Instance string        // identifies the run
}

// Input returns what beacons compute their random functions on. It binds roster, question and run.
func (r *Run) Input() []byte {
	run := sha256.Sum256([]byte(r.Instance))
	return slices.Concat([]byte("synod/draw/2\x00"), r.Council, r.Question, run[:])
}

// Prove returns a beacon's proof for the draw of the run.
func (r *Run) Prove(key ed25519.PrivateKey) ([]byte, error) {
	_, proof, err := Prove(key, r.Input())
	return proof, err
}

// Check fails unless a proof is that of the beacon with a place in the Draw.
func (r *Run) Check(beacon int, proof []byte) error {
	_, err := outputs(r.Input(), r.beacons()[beacon:beacon+1], [][]byte{proof})
	return err
}

// Seats checks the proofs, which are by beacon, and returns the seats of the committee, ascending. One run has one
// committee: the output of a random function is unique, and no beacon's may be left out.
func (r *Run) Seats(proofs [][]byte) ([]int, error) {
	if r.Terms.Draw == nil {
		return nil, errors.New("committee: the roster draws no committees")
	}
	if have, need := len(proofs), len(r.Terms.Draw.Beacons); have != need {
		return nil, fmt.Errorf("committee: the draw has %d proofs; the roster has %d beacons", have, need)
	}
	seed, err := outputs(r.Input(), r.beacons(), proofs)
	if err != nil {
		return nil, err
	}
	keys := make([][]byte, len(r.Terms.Members))
	for i := range keys {
		keys[i] = r.Terms.Members[i].Key
	}
	return smallest(seed, keys, int(r.Terms.Draw.Size)), nil
}

// beacons returns the members that draw.
func (r *Run) beacons() (all []Candidate) {
	for _, seat := range r.Terms.Draw.Beacons {
		m := &r.Terms.Members[seat]
		all = append(all, Candidate{ID: m.ID, Key: m.Key})
	}
	return all
}

// outputs checks the proofs of beacons for an input, and returns the seed: the hash of their outputs.
func outputs(input []byte, beacons []Candidate, proofs [][]byte) ([]byte, error) {
	seed := sha256.New()
	seed.Write([]byte("synod/seed/1\x00"))
	for i, b := range beacons {
		output, err := Verify(b.Key, input, proofs[i])
		if err != nil {
			return nil, fmt.Errorf("%w: that of the beacon %.80q", err, b.ID)
		}
		seed.Write(output)
	}
	return seed.Sum(nil), nil
}

// smallest returns the places, ascending, of the keys with the smallest hashes of seed and key.
func smallest(seed []byte, keys [][]byte, size int) []int {
	type ticket struct {
		hash  [sha256.Size]byte
		place int
	}
	all := make([]ticket, len(keys))
	for i, key := range keys {
		all[i] = ticket{sha256.Sum256(slices.Concat([]byte("synod/ticket/1\x00"), seed, key)), i}
	}
	slices.SortFunc(all, func(a, b ticket) int {
		return cmp.Or(bytes.Compare(a.hash[:], b.hash[:]), cmp.Compare(a.place, b.place))
	})
	places := []int{}
	for _, t := range all[:size] {
		places = append(places, t.place)
	}
	slices.Sort(places)
	return places
}
