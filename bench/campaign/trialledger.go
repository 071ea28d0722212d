package campaign

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/record/ledger"
)

var ledgerTrials = []ClaimTrial{
	{Claim: claimOf("LE-1"), try: consistent},
	{Claim: claimOf("LE-3"), try: tampered},
	{Claim: claimOf("LE-4"), try: recovered},
	{Claim: claimOf("LE-6"), try: rolledBack},
	{Claim: claimOf("LE-11"), try: cosignedInPublic},
}

// folder makes a temporary folder, which remove removes.
func (t *ClaimTried) folder() (string, bool) {
	dir, err := os.MkdirTemp("", "synod-claims-")
	return dir, t.Need(err)
}

func (t *ClaimTried) remove(dir string) { t.Need(os.RemoveAll(dir)) }

// kept is a log with everything that it has shown while it grew.
type kept struct {
	dir   string
	own   sign.Secret
	heads []ledger.SignedHead // by size
	ends  []int               // by size: the length of the file of entries
}

func (k *kept) path() string { return filepath.Join(k.dir, "entries") }

// grow makes a log of n entries in a new folder.
func (t *ClaimTried) grow(n int) (k kept, ok bool) {
	if k.dir, ok = t.folder(); !ok {
		return k, false
	}
	if k.own, ok = t.secret(); !ok {
		return k, false
	}
	l, err := ledger.Open(k.dir, k.own)
	if !t.Need(err) {
		return k, false
	}
	defer func() { t.Need(l.Close()) }()
	for i := range n + 1 {
		if i > 0 {
			if _, err := l.Append(context.Background(), entryOf(i)); !t.Need(err) {
				return k, false
			}
		}
		info, err := os.Stat(k.path())
		if !t.Need(err) {
			return k, false
		}
		k.heads, k.ends = append(k.heads, *l.Head()), append(k.ends, int(info.Size()))
	}
	return k, true
}

func entryOf(i int) *ledger.Entry {
	council := sha256.Sum256([]byte("council"))
	return &ledger.Entry{Format: ledger.Format, Instance: fmt.Sprint("run-", i), Council: council[:],
		Parts: []ledger.Part{ledger.NewPart("question", fmt.Append(nil, "question ", i), i%2 == 0)}}
}

func consistent(t *ClaimTried) {
	k, ok := t.grow(2 + t.Rand.IntN(8))
	defer t.remove(k.dir)
	if !ok {
		return
	}
	l, err := ledger.Read(k.dir, k.own.PublicKey())
	if !t.Need(err) {
		return
	}
	defer l.Close()
	asksWithin(t, l)
	last := len(k.heads) - 1
	for m := 1; m <= last; m++ {
		path, err := l.Consistency(uint64(m))
		if !t.Need(err) {
			return
		}
		earlier, later := k.heads[m].Head, k.heads[last].Head
		err = ledger.Extends(&earlier, &later, path)
		t.Check(err == nil, "from %d to %d entries: %v", m, last, err)
		for i := range 64 {
			bad, forged := slices.Clone(path), later
			switch at := t.Rand.IntN(len(path) + 1); {
			case at < len(path):
				bad[at] = bytes.Clone(bad[at])
				bad[at][t.Rand.IntN(32)] ^= 1 << (i % 8)
			case i%2 == 0:
				bad = append(bad, make([]byte, 32))
			default:
				forged.Root = bytes.Clone(forged.Root)
				forged.Root[t.Rand.IntN(32)] ^= 1 << (i % 8)
			}
			t.Check(ledger.Extends(&earlier, &forged, bad) != nil, "from %d to %d entries: a changed proof is accepted",
				m,
				last)
		}
	}
}

// reopens writes the file of entries and opens the log. It returns the size of the log, or the error of Open.
func (t *ClaimTried) reopens(k *kept, entries []byte) (size uint64, err error) {
	if !t.Need(os.WriteFile(k.path(), entries, 0o600)) {
		return 0, nil
	}
	l, err := ledger.Open(k.dir, k.own)
	if err != nil {
		return 0, err
	}
	size = l.Size()
	t.Need(l.Close())
	return size, nil
}

func tampered(t *ClaimTried) {
	n := 2 + t.Rand.IntN(4)
	k, ok := t.grow(n)
	defer t.remove(k.dir)
	if !ok {
		return
	}
	good, err := os.ReadFile(k.path())
	if !t.Need(err) {
		return
	}
	changes := map[string][]byte{"the last entry removed": good[:k.ends[n-1]],
		"the first entry removed": good[k.ends[1]:],
		"the first entry twice":   slices.Concat(good[:k.ends[1]], good), "two entries swapped": slices.Concat(
			good[k.ends[1]:k.ends[2]], good[:k.ends[1]], good[k.ends[2]:]), "nothing left": {}}
	for range 100 {
		bit := t.Rand.IntN(8 * len(good))
		bad := bytes.Clone(good)
		bad[bit/8] ^= 1 << (bit % 8)
		changes[fmt.Sprintf("bit %d flipped", bit)] = bad
	}
	for what, entries := range changes {
		_, err := t.reopens(&k, entries)
		t.Check(errors.Is(err, ledger.ErrDamaged), "%s of %d entries: %v", what, n, err)
	}
}

func torn(t *ClaimTried) {
	n := 1 + t.Rand.IntN(3)
	k, ok := t.grow(n + 1)
	defer t.remove(k.dir)
	if !ok {
		return
	}
	whole, err := os.ReadFile(k.path())
	if !t.Need(err) {
		return
	}
	head := filepath.Join(k.dir, "head.pem")
	for range 20 {
		cut := k.ends[n] + t.Rand.IntN(k.ends[n+1]-k.ends[n])
		if !t.Need(os.WriteFile(head, k.heads[n].File(), 0o600)) {
			return
		}
		size, err := t.reopens(&k, whole[:cut])
		left, err2 := os.ReadFile(k.path())
		if !t.Need(err2) {
			return
		}
		t.Spare(float64(len(left) - k.ends[n]))
		t.Check(err == nil && size == uint64(n) && bytes.Equal(left, whole[:k.ends[n]]),
			"after %d bytes of a write to a log "+
				"of %d entries it has %d: %v", cut-k.ends[n], n, size, err)
	}
}

func rolledBack(t *ClaimTried) {
	k, ok := t.grow(3 + t.Rand.IntN(4))
	defer t.remove(k.dir)
	if !ok {
		return
	}
	witness, ok := t.secret()
	if !ok {
		return
	}
	last := k.heads[len(k.heads)-1]
	for m := 1; m < len(k.heads)-1; m++ {
		w := &ledger.Witness{Secret: witness, Log: k.own.PublicKey()}
		_, err := w.Sign(&last, nil)
		t.Check(err == nil, "a witness refuses the first head that it sees: %v", err)
		var fork *ledger.ForkError
		_, err = w.Sign(&k.heads[m], nil)
		t.Check(errors.As(err, &fork), "a witness of %d entries signs a copy with %d: %v", len(k.heads)-1, m, err)
		forged := last.Head
		forged.Size, forged.Root = forged.Size+1, bytes.Repeat([]byte{byte(m)}, 32)
		other := ledger.SignedHead{Head: forged}
		_, err = w.Sign(&other, nil)
		t.Check(err != nil, "a witness signs a head that nobody has signed")
	}
}
