package campaign

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/internal/faultdisk"
	"synod.dev/synod/internal/reference"
	"synod.dev/synod/record/ledger"
)

// logSubject compares logs with a slow Merkle tree, heads of replicas with a slow count, and entries that replicas want
// recorded with a slow reference.
func logSubject() *subject {
	return pieceSubject(logName, .1, []string{"appended twice", "an older checkpoint", "a quorum", "no quorum",
		"entries that wait", "a fork", "another log"}, playLog, claimTree, claimHeads, claimEnter)
}

func playLog(p *piece) {
	switch p.rand.IntN(4) {
	case 0:
		p.grown()
	case 1:
		p.replicated()
	default:
		p.entered()
	}
}

var logKeys = func() (all []sign.Secret) {
	for i := range 9 {
		all = append(all, mustSecret(uint64(100+i)))
	}
	return all
}()

// grown appends entries to a log, and compares everything that it proves.
func (p *piece) grown() {
	own := logKeys[0]
	l, err := ledger.OpenOn(folders(), ledgerDir, own)
	if err != nil {
		p.Fail(claimTree, "a new log cannot be opened: %v", err)
		return
	}
	defer l.Close()
	var tree reference.Tree
	heads, kept := []ledger.SignedHead{*l.Head()}, 0
	for range 1 + p.rand.IntN(9) {
		e := diskEntry(fmt.Sprint("run-", p.rand.IntN(8)))
		b, _ := e.Encode()
		at := slices.IndexFunc(tree, func(old []byte) bool { return bytes.Equal(old, b) })
		p.State("appended twice", at >= 0)
		if at < 0 {
			at, tree = len(tree), append(tree, b)
		}
		got, err := l.Append(context.Background(), e)
		p.Claim(claimTree, err == nil && int(got) == at, "an entry is number %d, and should be %d: %v", got, at, err)
		if h := l.Head(); int(h.Head.Size) > len(heads)-1 {
			heads = append(heads, *h)
		}
		p.Claim(claimTree, int(l.Head().Head.Size) == len(tree) && bytes.Equal(l.Head().Head.Root, tree.Root()),
			"the head of %d entries is %+v", len(tree), l.Head().Head)
		kept = max(kept, p.checkpoint(l, heads, kept))
	}
	p.proved(l, own, tree, heads)
}

// checkpoint keeps the checkpoint of one of the heads. It returns the size of the newest one that was kept.
func (p *piece) checkpoint(l *ledger.Log, heads []ledger.SignedHead, kept int) int {
	h := &heads[p.rand.IntN(len(heads))]
	size := int(h.Head.Size)
	if size == 0 {
		return kept
	}
	text, err := h.Checkpoint()
	if err == nil {
		err = l.KeepCheckpoint(text)
	}
	p.State("an older checkpoint", size < kept)
	newest := max(kept, size)
	stored, again := l.CosignedCheckpoint()
	want, _ := heads[newest].Checkpoint()
	p.Claim(claimHeads, err == nil && again == nil && bytes.Equal(stored, want),
		"after the checkpoints of %d and %d entries the log keeps %q: %v %v", kept, size, stored, err, again)
	return newest
}

// proved compares inclusion and consistency with those of the slow tree, and has a witness look at heads.
func (p *piece) proved(l *ledger.Log, own sign.Secret, tree reference.Tree, heads []ledger.SignedHead) {
	at := p.rand.IntN(len(tree))
	proof, err := l.Prove(uint64(at))
	if err == nil {
		_, err = proof.Verify(own.PublicKey())
	}
	if err == nil {
		entry, refused := proof.Check()
		p.Claim(claimTree, refused == nil && entry != nil, "the proof of entry %d is not its own: %v", at, refused)
	}
	p.Claim(claimTree, err == nil && slices.EqualFunc(proof.Path, tree.Inclusion(at), bytes.Equal),
		"the proof of entry %d of %d: %v", at, len(tree), err)
	if err == nil {
		p.falseProofs(proof, own)
	}
	m := 1 + p.rand.IntN(len(tree))
	path, err := l.Consistency(uint64(m))
	p.Claim(claimTree, err == nil && slices.EqualFunc(path, tree.Consistency(m), bytes.Equal),
		"the proof from %d to %d entries: %v", m, len(tree), err)
	earlier, later := heads[m].Head, heads[len(tree)].Head
	p.Claim(claimHeads, ledger.Extends(&earlier, &later, path) == nil, "%d entries do not extend %d", len(tree), m)
	other := later
	other.Log = logKeys[1].PublicKey()
	p.State("another log", true)
	p.Claim(claimHeads, ledger.Extends(&earlier, &other, path) != nil, "the head of another log extends one of this")
	w := &ledger.Witness{Secret: witnessKey, Log: own.PublicKey(), Now: witnessed}
	signature, err := w.Sign(&heads[len(tree)], nil)
	if err != nil {
		p.Fail(claimHeads, "a witness refuses the first head that it sees: %v", err)
		return
	}
	p.forked(own, heads[1:], signature)
	head := heads[len(tree)]
	signature.Signature = bytes.Clone(signature.Signature)
	signature.Signature[p.rand.IntN(8)]++ // in the time of the signature
	p.Claim(claimHeads, head.Add(signature) != nil, "the time under a signature of a witness can be changed")
	if m < len(tree) {
		_, err := w.Sign(&heads[m], nil)
		fork := new(ledger.ForkError)
		p.State("a fork", true)
		p.Claim(claimHeads, errors.As(err, &fork), "a witness of %d entries signs a copy with %d: %v", len(tree), m,
			err)
	}
}

// forked reads two heads of a log as the proof of a fork: they must differ, in more than who has signed them, and prove
// it alone if they have one size. cosigned is a signature under the last head.
func (p *piece) forked(own sign.Secret, heads []ledger.SignedHead, cosigned ledger.Signature) {
	i, k := p.rand.IntN(len(heads)), p.rand.IntN(len(heads))
	one, two := heads[i], heads[k]
	if k == len(heads)-1 {
		p.Claim(claimHeads, two.Add(cosigned) == nil, "a signature of a witness is refused")
	}
	differ, proved := i != k, false
	if p.one(4) {
		l, err := ledger.OpenOn(folders(), ledgerDir, own)
		if err == nil {
			_, err = l.Append(context.Background(), diskEntry("another run"))
		}
		if err != nil {
			p.Fail(claimHeads, "another copy of a log cannot be begun: %v", err)
			return
		}
		two, differ, proved = *l.Head(), true, i == 0
		p.Claim(claimHeads, l.Close() == nil, "another copy of a log cannot be closed")
	}
	f, err := ledger.ParseFork((&ledger.ForkError{Earlier: &one, Later: &two}).File())
	p.Claim(claimHeads, (err == nil) == differ && (err != nil || f.Proved() == proved), "%+v and %+v are taken for "+
		"a fork: %v, %v; they differ: %v, and prove it alone: %v", one, two, f, err, differ, proved)
}

// folders returns a disk with the folder in which ledgers and segments lie.
func folders() *faultdisk.Disk {
	d := faultdisk.New()
	if err := d.Mkdir("/data", 0o700); err != nil {
		panic(err)
	}
	return d
}

// replicated has replicas, and strangers, sign a head, and compares whether they are a quorum.
func (p *piece) replicated() {
	n := 1 + p.rand.IntN(7)
	g := &ledger.Replicas{Name: "campaign", Least: p.rand.IntN(2)}
	for i := range n {
		g.Keys, g.Names = append(g.Keys, logKeys[i].PublicKey()), append(g.Names, fmt.Sprint("r", i))
	}
	root := hash32(p.bytes(8))
	h := &ledger.SignedHead{Head: ledger.Head{Log: g.Log(), Size: 3, Root: root}, Operator: []byte{}}
	signed := 0
	for i, secret := range logKeys {
		if p.one(3) {
			continue
		}
		s := g.Sign(secret, 3, root)
		forged := p.one(12)
		if forged {
			s.Signature = bytes.Clone(s.Signature)
			s.Signature[p.rand.IntN(len(s.Signature))] ^= 1
		}
		err := h.Add(s)
		p.Claim(claimHeads, (err == nil) != forged, "a signature under a head, changed %v: %v", forged, err)
		if i < n && !forged {
			signed++
		}
	}
	want := signed >= reference.Quorum(n)
	p.State("a quorum", want)
	p.State("no quorum", !want)
	err := h.VerifyGroup(g)
	p.Claim(claimHeads, (err == nil) == want, "%d of %d replicas and %d strangers signed a head: %v", signed, n,
		len(h.Witnesses)-signed, err)
	if k := len(h.Witnesses); k > 0 {
		twice := *h
		twice.Witnesses = slices.Insert(slices.Clone(h.Witnesses), k-1, h.Witnesses[k-1])
		p.Claim(claimHeads, twice.VerifyGroup(g) != nil, "a head is valid that one key has signed twice")
	}
	other := *g
	other.Name = "another"
	p.Claim(claimHeads, h.VerifyGroup(&other) != nil, "a head of another group is valid")
}

// waiting checks that no entry waits that is in the log.
func (p *piece) waiting(all, entered [][]byte) {
	p.State("entries that wait", len(all) > 0)
	for _, w := range all {
		in := slices.ContainsFunc(entered, func(b []byte) bool { return bytes.Equal(b, w) })
		p.Claim(claimEnter, !in, "an entry that is in the log still waits")
	}
}

// entered has replicas ask for entries, in batches, and compares which are in the log at the end.
func (p *piece) entered() {
	n := 3 + p.rand.IntN(4)
	g := &ledger.Replicas{Name: "campaign", Least: 1 + p.rand.IntN(n)}
	for i := range n {
		g.Keys, g.Names = append(g.Keys, logKeys[i].PublicKey()), append(g.Names, fmt.Sprint("r", i))
	}
	claims := ledger.NewClaims(g)
	var came []reference.Held
	var bodies, block, got [][]byte
	for range 1 + p.rand.IntN(8) {
		by, answer, kept := p.rand.IntN(n), p.rand.IntN(3), p.one(2)
		e := diskEntry("run-1")
		e.Parts = append(e.Parts, ledger.NewPart("answer", fmt.Append(nil, answer), false),
			ledger.NewPart("record", fmt.Append(nil, by), kept))
		key := by
		if p.one(10) {
			key = (by + 1) % n // it is signed by another replica than it says
		}
		if err := e.Sign(g.Names[by], logKeys[key]); err != nil {
			panic(err)
		}
		b, _ := e.Encode()
		if key != by {
			_, err := claims.Take([][]byte{b})
			p.Claim(claimEnter, err != nil, "an entry of another replica than it says is taken")
			continue
		}
		came, bodies = append(came, reference.Held{Record: fmt.Sprint(answer), By: g.Names[by]}), append(bodies, b)
		if block = append(block, b); p.one(2) {
			continue // the next one is in the same block
		}
		entries, err := claims.Take(block)
		if err != nil {
			p.Fail(claimEnter, "an entry of a replica is refused: %v", err)
			return
		}
		block, got = nil, append(got, entries...)
	}
	entries, err := claims.Take(block)
	p.Claim(claimEnter, err == nil, "the last block is refused: %v", err)
	got = append(got, entries...)
	var want [][]byte
	for _, i := range reference.Enter(came, g.Least) {
		want = append(want, bodies[i])
	}
	p.waiting(claims.Waiting(), got)
	slices.SortFunc(got, bytes.Compare)
	slices.SortFunc(want, bytes.Compare)
	p.Claim(claimEnter, slices.EqualFunc(got, want, bytes.Equal), "of %v with at least %d replicas %d entries are in "+
		"the log, and by the reference %d", came, g.Least, len(got), len(want))
}

// falseProofs changes one thing of a proof at a time: then it proves nothing.
func (p *piece) falseProofs(good *ledger.Proof, own sign.Secret) {
	for what, change := range map[string]func(*ledger.Proof){
		"nothing":               func(*ledger.Proof) {},
		"the entry":             func(x *ledger.Proof) { x.Entry = p.flipped(x.Entry) },
		"the root":              func(x *ledger.Proof) { x.Head.Head.Root = p.flipped(x.Head.Head.Root) },
		"the name of the log":   func(x *ledger.Proof) { x.Head.Head.Log = logKeys[1].PublicKey() },
		"the signature":         func(x *ledger.Proof) { x.Head.Operator = p.flipped(x.Head.Operator) },
		"the number of entries": func(x *ledger.Proof) { x.Head.Head.Size++ },
		"the place":             func(x *ledger.Proof) { x.Index++ },
		"the length of the path": func(x *ledger.Proof) {
			x.Path = append(slices.Clone(x.Path), x.Head.Head.Root)
		},
	} {
		x := *good
		change(&x)
		e, err := x.Verify(own.PublicKey())
		ok := (err == nil) == (what == "nothing") && (e != nil) == (err == nil)
		p.Claim(claimTree, ok, "a proof of which %s was changed proves %v: %v", what, e, err)
	}
	e, err := good.Verify(logKeys[2].PublicKey())
	p.Claim(claimTree, e == nil && err != nil, "the proof of one log is accepted for another one")
}
