// Package committee draws a council from a large roster, so that nobody chooses who sits in it and everybody can check
// the draw.
//
// A Pool lists the members, in number up to MaxMembers, who need not know one another, and says how many sit in a
// committee. Some members are beacons. For a period of time (an epoch) each beacon computes the verifiable random
// function of its key (RFC 9381) on the pool, the epoch and the attempt. The hash of all outputs is the seed, and the
// members with the smallest hashes of seed and key are the committee. The beacons' proofs make the Draw checkable from
// the pool alone.
//
// Who asks chooses nothing: neither question nor nonce is an input, the epoch is that of the clock, and no output of
// a beacon can be chosen or computed without its key. If one beacon is honest, nobody knows a committee before the
// beacons say it. What a hostile beacon can do is to withhold its output after it has seen all others: then the next
// attempt is drawn. So hostile beacons get at most Attempts draws in an epoch, and the probability of a bad committee
// is at most Attempts times that of one draw (Captured); for a question, for which Verify takes this epoch or the one
// before, it is twice that. A beacon that withholds is named by the gap.
//
//	d, err := pool.Draw(epoch, attempt, proofs)       // proofs by beacon, from Prove
//	err = d.Verify(pool, now)
//	err = d.Signed(pool, keys)                        // the council of a certificate is the committee
//
// The committee of a Pool is a council like any other: its members sign a roster, and its certificates say nothing of
// the draw.
//
// A roster of up to 1,000 members can have a draw of its own (roster.Draw). Its beacons prove on the roster's hash, the
// question and the run (Run), and the certificate shows their proofs. There is no epoch and no second attempt: without
// all proofs a run has no committee. Who asks can only ask again, with another run, and hostile beacons can only make
// it do so by their silence. So the probability that one of k runs is captured is at most k times that of one draw,
// and k is what the strictest honest beacon proves: each run needs its proof.
//
// The package has rank 3: it uses roster and sign.
package committee

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/internal/canonical"
	"synod.dev/synod/network/roster"
)

// Format is the version of pools and draws.
const Format = "synod/pool/1"

// The limits of a pool.
const (
	MaxMembers  = 100_000
	maxBeacons  = 256
	maxAttempts = 16
	maxName     = 256
)

// Pool is the members from whom committees are drawn. Whoever checks a draw must have it from a source that they trust:
// its hash (Hash) is in what the beacons prove.
type Pool struct {
	Format   string      `json:"format"`   // Format
	Name     string      `json:"name"`     // of the pool
	Size     int         `json:"size"`     // seats of a committee
	Period   int         `json:"period"`   // seconds of an epoch
	Attempts int         `json:"attempts"` // draws that one epoch may have
	Beacons  []int       `json:"beacons"`  // the members whose random functions make the seed, ascending
	Members  []Candidate `json:"members"`
}

// Candidate is somebody who may be drawn.
type Candidate struct {
	_   struct{} `cbor:",toarray"`
	ID  string   `json:"id"`
	Key []byte   `json:"key"` // Ed25519 public key
}

// Draw is a draw with its proofs.
type Draw struct {
	Pool    []byte   `json:"pool"`    // hash of the pool
	Epoch   uint64   `json:"epoch"`   // number of the period since 1970
	Attempt int      `json:"attempt"` // from 0
	Proofs  [][]byte `json:"proofs"`  // by beacon
}

// Validate returns the first thing that is wrong with a pool.
func (p *Pool) Validate() error {
	n := len(p.Members)
	switch {
	case p.Format != Format:
		return fmt.Errorf("committee: the format of the pool is %.40q; this version reads %q", p.Format, Format)
	case n < 1 || n > MaxMembers:
		return fmt.Errorf("committee: the pool has %d members; it must have 1 to %d", n, MaxMembers)
	case p.Size < 1 || p.Size > min(n, roster.MaxMembers):
		return fmt.Errorf("committee: size is %d; it must be 1 to %d", p.Size, min(n, roster.MaxMembers))
	case p.Period < 1 || p.Attempts < 1 || p.Attempts > maxAttempts:
		return fmt.Errorf("committee: period must be at least one second, and attempts 1 to %d", maxAttempts)
	case len(p.Beacons) < 1 || len(p.Beacons) > min(n, maxBeacons):
		return fmt.Errorf("committee: the pool has %d beacons; it must have 1 to %d", len(p.Beacons),
			min(n, maxBeacons))
	}
	for i, b := range p.Beacons {
		if b < 0 || b >= n || i > 0 && p.Beacons[i-1] >= b {
			return errors.New("committee: the beacons are not members in ascending order")
		}
	}
	ids, keys := map[string]bool{}, map[string]bool{}
	for _, m := range p.Members {
		if m.ID == "" || len(m.ID) > maxName || !sign.CheckKey(m.Key) || ids[m.ID] || keys[string(m.Key)] {
			return fmt.Errorf("committee: member %.80q has no name or key of its own", m.ID)
		}
		ids[m.ID], keys[string(m.Key)] = true, true
	}
	return nil
}

// Hash returns the SHA-256 of the pool.
func (p *Pool) Hash() [sha256.Size]byte {
	return sha256.Sum256(append([]byte("synod/pool\x00"), canonical.Encode(p)...))
}

// Epoch returns the number of the period in which a time is.
func (p *Pool) Epoch(at time.Time) uint64 { return uint64(max(at.Unix(), 0)) / uint64(p.Period) }

// Input returns what beacons compute their random functions on.
func (p *Pool) Input(epoch uint64, attempt int) []byte {
	hash := p.Hash()
	b := append([]byte("synod/draw/1\x00"), hash[:]...)
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(b, epoch), uint64(attempt))
}

// Prove returns a member's proof for a draw.
func (p *Pool) Prove(key ed25519.PrivateKey, epoch uint64, attempt int) ([]byte, error) {
	_, proof, err := Prove(key, p.Input(epoch, attempt))
	return proof, err
}

// Draw makes a draw of proofs, in the order of the beacons.
func (p *Pool) Draw(epoch uint64, attempt int, proofs [][]byte) (*Draw, error) {
	hash := p.Hash()
	d := &Draw{Pool: hash[:], Epoch: epoch, Attempt: attempt, Proofs: proofs}
	_, err := d.Seats(p)
	return d, err
}

// Seats checks the proofs of a draw and returns the members who are drawn, ascending. It does not look at the time.
func (d *Draw) Seats(p *Pool) ([]int, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	hash := p.Hash()
	switch {
	case !bytes.Equal(d.Pool, hash[:]):
		return nil, fmt.Errorf("committee: the draw is of the pool %x, and not of %x", d.Pool, hash)
	case d.Attempt < 0 || d.Attempt >= p.Attempts:
		return nil, fmt.Errorf("committee: the draw is attempt %d; the pool allows 0 to %d", d.Attempt, p.Attempts-1)
	case len(d.Proofs) != len(p.Beacons):
		return nil, fmt.Errorf("committee: the draw has %d proofs; the pool has %d beacons", len(d.Proofs),
			len(p.Beacons))
	}
	beacons, keys := []Candidate{}, [][]byte{}
	for _, b := range p.Beacons {
		beacons = append(beacons, p.Members[b])
	}
	for _, m := range p.Members {
		keys = append(keys, m.Key)
	}
	seed, err := outputs(p.Input(d.Epoch, d.Attempt), beacons, d.Proofs)
	if err != nil {
		return nil, err
	}
	return smallest(seed, keys, p.Size), nil
}

// Verify checks a draw as Seats does, and that it is of the epoch of a time or of the one before.
func (d *Draw) Verify(p *Pool, at time.Time) error {
	if _, err := d.Seats(p); err != nil {
		return err
	}
	if now := p.Epoch(at); d.Epoch > now || d.Epoch+1 < now {
		return fmt.Errorf("committee: the draw is of the epoch %d; at %s it was %d", d.Epoch,
			at.UTC().Format(time.RFC3339), now)
	}
	return nil
}

// Signed checks that the council with these keys, by seat, is the committee of the draw: the same keys, each once,
// and no other. The caller has verified the certificate that shows the keys.
func (d *Draw) Signed(p *Pool, keys [][]byte) error {
	seats, err := d.Seats(p)
	if err != nil {
		return err
	}
	drawn := map[string]string{}
	for _, s := range seats {
		drawn[string(p.Members[s].Key)] = p.Members[s].ID
	}
	for seat, key := range keys {
		if _, ok := drawn[string(key)]; !ok {
			return fmt.Errorf("committee: who sits at seat %d of the council was not drawn, or sits there twice", seat)
		}
		delete(drawn, string(key))
	}
	for _, id := range drawn {
		return fmt.Errorf("committee: %.80q was drawn and does not sit in the council; %d are missing", id, len(drawn))
	}
	return nil
}
