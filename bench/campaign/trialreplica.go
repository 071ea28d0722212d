package campaign

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"path/filepath"
	"slices"
	"time"

	"synod.dev/synod/internal/reference"
	"synod.dev/synod/record/ledger"
)

// asksWithin asks a log for entries that it has and for those that it does not have.
func asksWithin(t *ClaimTried, l *ledger.Log) {
	size := l.Size()
	for _, index := range []uint64{0, size - 1, size, size + 1, math.MaxUint64, t.Rand.Uint64N(2 * size)} {
		e, err := l.Entry(index)
		t.Check((err == nil) == (index < size), "entry %d of %d: %v", index, size, err)
		if err == nil {
			t.Check(e.Instance == fmt.Sprint("run-", index+1), "entry %d is of %s", index, e.Instance)
		}
		p, err := l.Prove(index)
		t.Check((err == nil) == (index < size) && (err != nil || p.Index == index), "the proof of entry %d of %d: %v",
			index, size, err)
	}
}

// replica is one replica of a group, whose consensus is the order in which it is called, and what it was asked for.
type replica struct {
	*ledger.StateMachine
	dir    string
	rules  ledger.Rules
	came   []reference.Held
	bodies [][]byte
}

func drawGroup(t *ClaimTried, least int) *ledger.Replicas {
	g := &ledger.Replicas{Name: "campaign", Least: least}
	for i := range 3 + t.Rand.IntN(3) {
		g.Keys, g.Names = append(g.Keys, logKeys[i].PublicKey()), append(g.Names, fmt.Sprint("r", i))
	}
	return g
}

// signedEntry returns an entry that a replica has signed, and its encoding. size is the length of its record in bytes.
func signedEntry(t *ClaimTried, g *ledger.Replicas, by, answer, size int) (*ledger.Entry, []byte) {
	e := diskEntry("run-1")
	e.Parts = append(e.Parts, ledger.NewPart("answer", fmt.Append(nil, answer), false),
		ledger.NewPart("record", make([]byte, size), true))
	if !t.Need(e.Sign(g.Names[by], logKeys[by])) {
		return nil, nil
	}
	b, err := e.Encode()
	t.Need(err)
	return e, b
}

// decided has a replica decide entries, and compares what it says of them with the log of a slow reference, also after
// the replica was opened again.
func decided(t *ClaimTried) {
	dir, ok := t.folder()
	if !ok {
		return
	}
	defer t.remove(dir)
	r := &replica{dir: dir, rules: ledger.Rules{Group: *drawGroup(t, t.Rand.IntN(4)), MaxEntry: 600 + t.Rand.IntN(40)}}
	var err error
	if r.StateMachine, err = ledger.OpenStateMachine(dir, r.rules, 0, nil); !t.Need(err) {
		return
	}
	for range 2 + t.Rand.IntN(8) {
		decides(t, r)
		if t.Rand.IntN(4) == 0 && !opensAgain(t, r) {
			return
		}
		if t.Rand.IntN(3) == 0 {
			signsHead(t, r)
		}
	}
	t.Need(r.Close())
}

// decides has a replica decide one entry. At times the caller leaves before the entry is committed.
func decides(t *ClaimTried, r *replica) {
	g := &r.rules.Group
	by, answer := t.Rand.IntN(len(g.Names)), t.Rand.IntN(3)
	e, b := signedEntry(t, g, by, answer, 220+t.Rand.IntN(2)*len(r.bodies))
	fits := len(b) <= r.rules.MaxEntry
	err := r.Allow(b)
	t.Check((err == nil) == fits, "an entry of %d bytes, of %d that are allowed: %v", len(b), r.rules.MaxEntry, err)
	if !fits {
		return
	}
	before := indexIn(t, r, b)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	leaves, asked := before < 0 && t.Rand.IntN(3) == 0, 0
	submit := func(body []byte) error {
		if asked++; leaves || asked > 3 { // it is handed in every second until it is decided
			defer cancel()
		}
		if asked > 1 { // it is applied already
			return nil
		}
		size, root, err := r.After([][]byte{body})
		err = errors.Join(err, r.Apply([][]byte{body}))
		own, err2 := r.RootOf(size)
		t.Check(err == nil && err2 == nil && size == r.Size() && bytes.Equal(root, own), "a log of %d entries is to "+
			"have %d: %v, %v", r.Size(), size, err, err2)
		if !leaves {
			r.Commit()
		}
		return err
	}
	if before < 0 {
		r.came, r.bodies = append(r.came, reference.Held{Record: fmt.Sprint(answer), By: g.Names[by]}),
			append(r.bodies, b)
	}
	at, err := r.Decide(ctx, e, submit)
	if leaves {
		_, again := r.Decide(ctx, e, submit)
		t.Check(err != nil && again != nil && asked == 2, "an entry that is not committed is decided: %v, %v", err,
			again)
		r.Commit()
		return
	}
	now := indexIn(t, r, b)
	t.Check(err == nil && now == int(at) || errors.Is(err, ledger.ErrWaits) && now < 0, "an entry is said to be "+
		"number %d, and it is %d: %v", at, now, err)
	t.Check((asked == 0) == (before >= 0), "entry %d was handed in %d times", before, asked)
	matchesLog(t, r)
}

// indexIn returns where the log has an encoded entry; -1: it does not have it.
func indexIn(t *ClaimTried, r *replica, body []byte) int {
	for i := range r.Size() {
		e, err := r.Entry(i)
		if !t.Need(err) {
			return -1
		}
		if b, err := e.Encode(); t.Need(err) && bytes.Equal(b, body) {
			return int(i)
		}
	}
	return -1
}

// matchesLog compares the log of a replica with that of the slow reference. Where none must be equal, all are in it.
func matchesLog(t *ClaimTried, r *replica) {
	least := r.rules.Group.Least
	if least == 0 {
		t.Check(r.Size() == uint64(len(r.bodies)), "of %d entries %d are in the log", len(r.bodies), r.Size())
		return
	}
	in := reference.Enter(r.came, least)
	for _, i := range in {
		t.Check(indexIn(t, r, r.bodies[i]) >= 0, "entry %d of %v, of which %d must be equal, is not in the log", i,
			r.came, least)
	}
	proves(t, r)
	t.Check(uint64(len(in)) == r.Size(), "of %v, of which %d must be equal, %d entries are in the log, and by the "+
		"reference %d", r.came, least, r.Size(), len(in))
}

// proves compares the proof of an entry with that of a slow tree, of those that the head has.
func proves(t *ClaimTried, r *replica) {
	var tree reference.Tree
	head := int(r.Head().Head.Size)
	for i := range r.Size() {
		e, err := r.Entry(i)
		if !t.Need(err) {
			return
		}
		b, err := e.Encode()
		if t.Need(err) && int(i) < head {
			tree = append(tree, b)
		}
	}
	for i := range int(r.Size()) {
		p, err := r.Prove(uint64(i))
		t.Check((err == nil) == (i < head) && (err != nil || slices.EqualFunc(p.Path, tree.Inclusion(i), bytes.Equal)),
			"the proof of entry %d of %d under a head of %d: %v", i, r.Size(), head, err)
	}
}

// opensAgain opens a replica again, as after a crash.
func opensAgain(t *ClaimTried, r *replica) bool {
	size, held, head := r.Size(), r.Held(), r.Head().Head.Size
	if !t.Need(r.Close()) {
		return false
	}
	var err error
	r.StateMachine, err = ledger.OpenStateMachine(r.dir, r.rules, size, held)
	t.Check(err == nil && r.StateMachine != nil && r.Size() == size && r.Head().Head.Size == head &&
		slices.EqualFunc(r.Held(), held, bytes.Equal), "a replica with %d entries, %d that wait and a head of %d is "+
		"opened again: %v", size, len(held), head, err)
	return err == nil
}

// signsHead has some replicas sign the head of the log, or another one. It is set when enough have signed it.
func signsHead(t *ClaimTried, r *replica) {
	size, before, signed := r.Size(), r.Head().Head.Size, 0
	if size == before {
		return
	}
	root, err := r.RootOf(size)
	if !t.Need(err) {
		return
	}
	g, good := &r.rules.Group, map[int]bool{}
	for _, stranger := range logKeys[len(g.Keys):][:t.Rand.IntN(len(logKeys)-len(g.Keys)+1)] {
		err := r.AddSignature(size, root, g.Sign(stranger, size, root))
		t.Check(err == nil && r.Head().Head.Size == before, "after signatures of strangers the head has %d entries: %v",
			r.Head().Head.Size, err)
	}
	for _, i := range t.Rand.Perm(len(g.Keys))[:t.Rand.IntN(len(g.Keys)+1)] {
		other := bytes.Clone(root)
		if t.Rand.IntN(5) == 0 {
			other[0] ^= 1
		} else {
			signed, good[i] = signed+1, true
		}
		t.Need(r.AddSignature(size, other, g.Sign(logKeys[i], size, other)))
		want := before
		if signed >= reference.Quorum(len(g.Keys)) {
			want = size
		}
		t.Check(r.Head().Head.Size == want, "after %d signatures of %d replicas under %d entries the head has %d",
			signed, len(g.Keys), size, r.Head().Head.Size)
	}
	for i := range g.Keys { // the head is set, so that no signature under it counts for the next try
		if !good[i] {
			t.Need(r.AddSignature(size, root, g.Sign(logKeys[i], size, root)))
		}
	}
	t.Check(r.Head().Head.Size == size, "all replicas have signed %d entries, and the head has %d", size,
		r.Head().Head.Size)
}

// The most that may wait of one replica, by the documentation of Claims.
const (
	mostWait      = 256
	mostWaitBytes = 4 << 20
)

// crowded has a replica enter so many entries that the oldest are forgotten, or so large ones.
func crowded(t *ClaimTried) {
	g := drawGroup(t, 2)
	c := ledger.NewClaims(g)
	n, size := mostWait+t.Rand.IntN(3), 1
	if t.Number%16 > 8 {
		n, size = 4+t.Rand.IntN(3), 1<<20+t.Rand.IntN(2)<<22
	}
	var all, other [][]byte
	for i := range n {
		length := size
		if i == n-1 && size > 1 {
			_, plain := signedEntry(t, g, 0, i, size)
			length = mostWaitBytes - (len(plain) - size) // the last four together are at the limit
			for _, b := range all[i-3:] {
				length -= len(b)
			}
			length = max(1<<17, length+t.Rand.IntN(3)-1)
		}
		_, b := signedEntry(t, g, 0, i, length)
		all = append(all, b)
		if i%100 == 0 {
			_, b = signedEntry(t, g, 1, n+i, 1)
			other = append(other, b)
		}
		_, err := c.Take(append([][]byte{all[i]}, other[max(0, len(other)-1):]...))
		t.Need(err)
	}
	var want [][]byte
	sum := 0
	for _, b := range slices.Backward(all) {
		if sum += len(b); len(want) == mostWait || len(want) > 0 && sum > mostWaitBytes {
			break
		}
		want = append(want, b)
	}
	got := c.Waiting()
	has := func(b []byte) bool { return slices.ContainsFunc(got, func(o []byte) bool { return bytes.Equal(o, b) }) }
	kept := 0
	for _, b := range slices.Concat(want, other) {
		if has(b) {
			kept++
		}
	}
	t.Check(kept == len(want)+len(other) && len(got) == kept, "of %d entries of a replica, the last of %d bytes, and "+
		"%d of another %d wait, %d of them as they should", n, len(all[n-1]), len(other), len(got), kept)
}

// recovered checks one of the ways in which a ledger comes back to what it has acknowledged.
func recovered(t *ClaimTried) {
	switch t.Number % 8 { // each is tried soon
	case 2:
		crowded(t)
	case 3:
		promised(t)
	case 0, 4, 6:
		decided(t)
	default:
		torn(t)
	}
}

// promised has a keeper promise entries, and looks for them in the ledger.
func promised(t *ClaimTried) {
	dir, ok := t.folder()
	if !ok {
		return
	}
	defer t.remove(dir)
	own, ok := t.secret()
	if !ok {
		return
	}
	log := filepath.Join(dir, "log")
	k := ledger.Keep(dir, func(context.Context) (ledger.Ledger, error) { return ledger.Open(log, own) },
		slog.New(slog.DiscardHandler))
	n := 1 + t.Rand.IntN(20)
	for i := range n {
		t.Need(k.Record(entryOf(i)))
	}
	const patience = time.Minute // a busy machine takes seconds
	for end := time.Now().Add(patience); k.Status().Pending > 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	pending := k.Status().Pending
	t.Need(k.Close())
	l, err := ledger.Read(log, own.PublicKey())
	t.Check(err == nil && pending == 0 && l.Size() == uint64(n), "of %d promised entries %d wait: %v", n, pending, err)
	if err != nil {
		return
	}
	defer l.Close()
	for i := range n {
		_, found := l.Find(entryOf(i))
		t.Check(found, "promised entry %d is not in the ledger", i)
	}
}
