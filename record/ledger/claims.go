package ledger

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"

	"synod.dev/synod/internal/canonical"
)

// ErrWaits means that the replicas have the entry, and that it enters the log when more replicas have signed the same
// record. Nobody needs to append it again.
var ErrWaits = errors.New("ledger: the replicas have the entry; it waits until more of them hold its record")

// Waits is the index of an entry that waits (ErrWaits).
const Waits = ^uint64(0)

// The limits of what waits, for each replica that signs. Its oldest entries are forgotten beyond them.
const (
	maxWaiting      = 256
	maxWaitingBytes = 4 << 20
)

// Record identifies what all honest replicas know of a run: it is a SHA-256 of the run, the council, the question and
// the answer. What the replica's own seat said is not part of it.
func (e *Entry) Record() [sha256.Size]byte {
	sums := map[string][]byte{}
	for _, p := range e.Parts {
		if _, twice := sums[p.Name]; !twice {
			sums[p.Name] = p.Sum
		}
	}
	b := canonical.Encode([]any{e.Instance, e.Council, sums["question"], sums["answer"]})
	return sha256.Sum256(append([]byte("synod/ledger/record/1\x00"), b...))
}

// Holders returns the replicas that have signed the record of each entry of a log, ascending by name. It fails if the
// signature of an entry is not valid.
func (g *Replicas) Holders(entries []*Entry) (map[[sha256.Size]byte][]string, error) {
	all := map[[sha256.Size]byte][]string{}
	for i, e := range entries {
		by, err := e.Author(g.key)
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", i, err)
		}
		record := e.Record()
		if at, known := slices.BinarySearch(all[record], by); !known {
			all[record] = slices.Insert(all[record], at, by)
		}
	}
	return all, nil
}

// key returns the key of a replica by its name.
func (g *Replicas) key(name string) ([]byte, bool) {
	i := slices.Index(g.Names, name)
	if i < 0 || i >= len(g.Keys) {
		return nil, false
	}
	return g.Keys[i], true
}

// Allows returns why an entry may not be appended to the log of the group; nil: it may. Where entries wait for holders,
// a replica of the group must have signed it.
func (g *Replicas) Allows(e *Entry) error {
	if !g.holds() {
		return nil
	}
	_, err := e.Author(g.key)
	return err
}

// Claims decides which signed entries enter the log of a group: an entry waits until Replicas.Holders of them have
// signed the same record. So replicas of which at most Faulty are Byzantine never agree on a run that no honest one has
// played. All honest replicas take the same entries in the same order, and so come to the same log.
type Claims struct {
	group *Replicas

	mu      sync.Mutex
	waiting []claim                        // in the order in which they came
	entered map[[sha256.Size]byte][]string // by record: whose entries are in the log
}

type claim struct {
	record [sha256.Size]byte
	by     string
	body   []byte
}

// NewClaims returns the claims of a group whose log is empty.
func NewClaims(g *Replicas) *Claims {
	return &Claims{group: g, entered: map[[sha256.Size]byte][]string{}}
}

// Restore returns the claims of a group whose log has these entries. waiting is what Waiting has returned.
func Restore(g *Replicas, entries []*Entry, waiting [][]byte) (*Claims, error) {
	c := NewClaims(g)
	if !g.holds() {
		return c, nil
	}
	for _, e := range entries {
		c.entered[e.Record()] = append(c.entered[e.Record()], e.Claimed())
	}
	for _, b := range waiting {
		k, err := c.read(b)
		if err != nil {
			return nil, err
		}
		c.waiting = append(c.waiting, k)
	}
	return c, nil
}

// Waiting returns the encoded entries that wait, in the order in which they came.
func (c *Claims) Waiting() [][]byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := [][]byte{}
	for _, k := range c.waiting {
		all = append(all, k.body)
	}
	return all
}

// Try returns which entries enter the log when these are taken, and changes nothing.
func (c *Claims) Try(bodies [][]byte) ([][]byte, error) {
	next, err := c.after(bodies)
	if err != nil {
		return nil, err
	}
	return next.enter, nil
}

// Take takes encoded entries, and returns those that enter the log, of these and of what waited, in order.
func (c *Claims) Take(bodies [][]byte) ([][]byte, error) {
	next, err := c.after(bodies)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting = next.waiting
	for record, by := range next.fresh {
		c.entered[record] = append(c.entered[record], by...)
	}
	return next.enter, nil
}

// change is what taking entries does to claims.
type change struct {
	waiting []claim
	fresh   map[[sha256.Size]byte][]string
	enter   [][]byte
}

func (c *Claims) after(bodies [][]byte) (*change, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := &change{waiting: slices.Clone(c.waiting), fresh: map[[sha256.Size]byte][]string{}}
	if !c.group.holds() {
		n.enter = bodies
		return n, nil
	}
	for _, b := range bodies {
		k, err := c.read(b)
		if err != nil {
			return nil, err
		}
		c.take(n, k)
	}
	return n, nil
}

func (c *Claims) read(b []byte) (claim, error) {
	e, err := DecodeEntry(b)
	if err != nil {
		return claim{}, err
	}
	by, err := e.Author(c.group.key)
	return claim{e.Record(), by, bytes.Clone(b)}, err
}

// take adds one claim to a change. Only the first entry of a replica about a record counts.
func (c *Claims) take(n *change, k claim) {
	in := slices.Concat(c.entered[k.record], n.fresh[k.record])
	if slices.Contains(in, k.by) {
		return
	}
	if len(in) > 0 {
		n.put(k)
		return
	}
	same := func(o claim) bool { return o.record == k.record }
	together := []claim{}
	for _, o := range n.waiting {
		if same(o) && o.by == k.by {
			return
		}
		if same(o) {
			together = append(together, o)
		}
	}
	if together = append(together, k); len(together) < c.group.Least {
		n.wait(k)
		return
	}
	n.waiting = slices.DeleteFunc(n.waiting, same)
	for _, o := range together {
		n.put(o)
	}
}

func (n *change) put(k claim) {
	n.enter, n.fresh[k.record] = append(n.enter, k.body), append(n.fresh[k.record], k.by)
}

// wait lets a claim wait, and forgets the oldest ones of its replica beyond the limits.
func (n *change) wait(k claim) {
	n.waiting = append(n.waiting, k)
	count, size := 0, 0
	for i := len(n.waiting) - 1; i >= 0; i-- {
		if n.waiting[i].by != k.by {
			continue
		}
		count, size = count+1, size+len(n.waiting[i].body)
		if count > maxWaiting || count > 1 && size > maxWaitingBytes {
			n.waiting = slices.Delete(n.waiting, i, i+1)
		}
	}
}
