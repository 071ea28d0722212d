package call

import (
	"bytes"
	"cmp"
	"compress/flate"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/internal/canonical"
	"synod.dev/synod/internal/order"
)

// Two members that have got different messages from a third have different digests of its messages. So a caller asks
// for receipts only where digests differ.

// ToCompare is the purpose of a stream on which receipts of a run are asked for.
const ToCompare = "compare"

// Pull asks a node for the receipts of some members that it has of a run.
type Pull struct {
	_        struct{} `cbor:",toarray"`
	Instance string
	Seats    []byte // a set
}

// Pulled is the reply to a Pull: at most maxReceipts receipts.
type Pulled struct {
	_        struct{} `cbor:",toarray"`
	Receipts []Receipt
}

// The limits of these frames, in bytes.
const (
	MaxPull   = 64 << 10
	maxPulled = 4 << 20
)

// Compress returns the encoding of a Final for a RunReply.
func Compress(b []byte) []byte {
	var out bytes.Buffer
	w, _ := flate.NewWriter(&out, flate.DefaultCompression) // the level is valid
	w.Write(b)                                              // a buffer takes all
	w.Close()
	return out.Bytes()
}

// expand undoes Compress. It reads no more than MaxRecord bytes.
func expand(b []byte) ([]byte, error) {
	out, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(b)), MaxRecord+1))
	if err == nil && len(out) > MaxRecord {
		err = fmt.Errorf("it has more than %d bytes", MaxRecord)
	}
	return out, err
}

// SortReceipts orders receipts by member, slot, round and hash.
func SortReceipts(list []Receipt) {
	order.Sort(list, func(a, b Receipt) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Slot, b.Slot), cmp.Compare(a.Round, b.Round),
			bytes.Compare(a.Sum, b.Sum))
	})
}

// Digests returns for each of n members a SHA-256 of its messages among ordered receipts, one after the other; zeros
// for a member of whom there are none.
func Digests(ordered []Receipt, n int) []byte {
	all := make([]byte, n*sha256.Size)
	for len(ordered) > 0 {
		from, hash := ordered[0].From, sha256.New()
		for len(ordered) > 0 && ordered[0].From == from {
			c := &ordered[0]
			hash.Write(canonical.Encode([]any{c.Slot, c.Round, c.Sum}))
			ordered = ordered[1:]
		}
		copy(all[from*sha256.Size:], hash.Sum(nil))
	}
	return all
}

// digestOf returns the digest of a member among digests.
func digestOf(digests []byte, seat int) []byte { return digests[seat*sha256.Size:][:sha256.Size] }

// none is the digest of a member of whom there are no messages.
var none = make([]byte, sha256.Size)

// Differ returns the set of the members whose digests differ and are not none; nil if there is no such member.
func Differ(a, b []byte) (set []byte) {
	n := min(len(a), len(b)) / sha256.Size
	for i := range n {
		x, y := digestOf(a, i), digestOf(b, i)
		if !bytes.Equal(x, y) && !bytes.Equal(x, none) && !bytes.Equal(y, none) {
			set = addTo(set, i, n)
		}
	}
	return set
}

// SetSize returns how many bytes a set of n seats has: one bit for each.
func SetSize(n int) int { return (n + 7) / 8 }

// InSet reports whether a set has a seat.
func InSet(set []byte, seat int) bool {
	return seat >= 0 && seat/8 < len(set) && set[seat/8]&(1<<(seat%8)) != 0
}

func addTo(set []byte, seat, n int) []byte {
	if set == nil {
		set = make([]byte, SetSize(n))
	}
	set[seat/8] |= 1 << (seat % 8)
	return set
}

// Proved returns the set of the members, of n, of whom ordered receipts have two messages for one slot; nil: there are
// none.
func Proved(ordered []Receipt, n int) (set []byte) {
	for i := range max(len(ordered)-1, 0) {
		if a, b := &ordered[i], &ordered[i+1]; a.From == b.From && a.Slot == b.Slot && a.Round == b.Round {
			set = addTo(set, int(a.From), n)
		}
	}
	return set
}

// disputed returns for each seat the set of members of whose messages it is asked for receipts: at most F+1 seats for
// each digest of a member of which there are several, so that an honest seat is among them, and as many of those that
// say that they have a proof.
func disputed(finals []*Final, f int) map[int][]byte {
	n, ask := len(finals), map[int][]byte{}
	for of := range n {
		holders := map[string][]int{}
		for seat, x := range finals {
			if x != nil && !bytes.Equal(digestOf(x.Digests, of), none) {
				d := string(digestOf(x.Digests, of))
				holders[d] = append(holders[d], seat)
			}
		}
		for seat, x := range finals {
			if x != nil && InSet(x.Proved, of) {
				holders["proved"] = append(holders["proved"], seat)
			}
		}
		if len(holders) < 2 {
			continue
		}
		for _, seats := range holders {
			for _, seat := range seats[:min(len(seats), f+1)] {
				ask[seat] = addTo(ask[seat], of, n)
			}
		}
	}
	return ask
}

// pullTime is how long receipts are waited for, and pullRest how long once all seats but F have sent theirs. They only
// prove who has equivocated.
const (
	pullTime = 2 * time.Second
	pullRest = 100 * time.Millisecond
)

// pullReceipts asks for the receipts of the members of whom seats have different messages, and puts them into the
// records.
func (c *Client) pullReceipts(ctx context.Context, res *Result) {
	f := int(c.Roster.F)
	ask := disputed(res.Finals, f)
	if len(ask) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, pullTime)
	defer cancel()
	type pulled struct {
		seat int
		list []Receipt
	}
	came := make(chan pulled, len(ask))
	for _, seat := range slices.Sorted(maps.Keys(ask)) {
		go func() {
			list, _ := c.pullFrom(ctx, synod.NodeID(seat), Pull{Instance: string(res.Instance), Seats: ask[seat]})
			came <- pulled{seat, list} // of who sends none, others have the messages
		}()
	}
	var rest <-chan time.Time
	for left := len(ask); left > 0; left-- {
		if left <= f && rest == nil {
			rest = time.After(pullRest)
		}
		select {
		case x := <-came:
			res.Finals[x.seat].Receipts = x.list
		case <-rest:
			return
		case <-ctx.Done():
			return
		}
	}
}

// pullFrom asks one seat for receipts.
func (c *Client) pullFrom(ctx context.Context, seat synod.NodeID, p Pull) ([]Receipt, error) {
	var reply Pulled
	err := c.request(ctx, seat, ToCompare, p, maxPulled, &reply)
	if err == nil && len(reply.Receipts) > maxReceipts {
		err = fmt.Errorf("it sent %d receipts; at most %d are read", len(reply.Receipts), maxReceipts)
	}
	return reply.Receipts, err
}
