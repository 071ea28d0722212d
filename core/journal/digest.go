package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"

	"synod.dev/synod"
)

// RunDigest returns the digest of a run, made of the digests of its seats by NodeID.
func RunDigest(seats []string) string {
	h := sha256.New()
	for _, s := range seats {
		fmt.Fprintln(h, s)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// digests computes the digests of one journal while its lines are written or read.
type digests struct {
	seat   *synod.NodeID // as in Head
	seats  []hash.Hash   // by NodeID
	record hash.Hash
}

// add takes an event or effect line of a node. It fails if there is no such node.
func (d *digests) add(node synod.NodeID, line []byte) error {
	if node < 0 || node >= maxSeats {
		return fmt.Errorf("there is no seat %d", node)
	}
	for int(node) >= len(d.seats) {
		d.seats = append(d.seats, nil)
	}
	if d.seats[node] == nil {
		d.seats[node] = sha256.New()
	}
	d.seats[node].Write(line)
	return nil
}

// maxSeats bounds the seats of a journal, so that a line of a damaged file cannot
// take all memory.
const maxSeats = 1 << 17

// note takes a head, asked, reply or report line.
func (d *digests) note(line []byte) {
	if d.record == nil {
		d.record = sha256.New()
	}
	d.record.Write(line)
}

// end returns the digest of the run and of its seats. It leaves the digests as they
// are, so that more lines can follow.
func (d *digests) end() (digest string, seats []string) {
	seats = make([]string, len(d.seats))
	for i, h := range d.seats {
		seats[i] = hexOf(h)
	}
	if d.seat == nil {
		return RunDigest(seats), seats
	}
	if own := int(*d.seat); own >= 0 && own < len(seats) {
		return seats[own], nil
	}
	return hexOf(nil), nil
}

// recordOf returns End.Record for a run's digest. No line that note takes can follow.
func (d *digests) recordOf(digest string) string {
	d.note([]byte(digest))
	return hexOf(d.record)
}

// hexOf returns a digest in hexadecimal. A nil hash is that of no lines.
func hexOf(h hash.Hash) string {
	if h == nil {
		h = sha256.New()
	}
	var buf [sha256.Size]byte
	return hex.EncodeToString(h.Sum(buf[:0]))
}
