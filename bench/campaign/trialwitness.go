package campaign

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"synod.dev/synod/internal/witness"
	"synod.dev/synod/record/ledger"
)

// watchedLog is a ledger that a public witness watches, and the address of that witness.
type watchedLog struct {
	kept
	log      *ledger.Log
	witness  *witness.Witness
	cosigner *ledger.Cosigner
	address  string
}

// cosignedInPublic has a public witness cosign a ledger that grows, and shows it older copies and forks.
func cosignedInPublic(t *ClaimTried) {
	k, ok := t.grow(1 + t.Rand.IntN(3))
	defer t.remove(k.dir)
	if !ok {
		return
	}
	l, err := ledger.Open(k.dir, k.own)
	if !t.Need(err) {
		return
	}
	defer func() { t.Need(l.Close()) }()
	w, err := witness.New("witness", ledger.VerifierKey(&l.Head().Head, k.own.PublicKey()))
	if !t.Need(err) {
		return
	}
	cosigner, err := ledger.ParseCosigner(w.VerifierKey())
	if !t.Need(err) {
		return
	}
	t.serve(w, func(address string) {
		p := &watchedLog{k, l, w, cosigner, "http://" + address}
		var last []byte
		for range 4 {
			for range t.Rand.IntN(4) {
				if _, err := l.Append(context.Background(), entryOf(100+int(l.Size()))); !t.Need(err) {
					return
				}
			}
			if last = t.cosignedOnce(p, last); last == nil {
				return
			}
		}
		t.notCosigned(p)
	})
}

// cosignedOnce has the witness cosign the head, and keeps the checkpoint. before is that of an earlier head, which does
// not take its place.
func (t *ClaimTried) cosignedOnce(p *watchedLog, before []byte) []byte {
	size := p.log.Size()
	checkpoint, err := ledger.Cosign(context.Background(), p.address, p.cosigner, p.log)
	t.Check(err == nil && uint64(p.witness.Size) == size, "a witness of %d entries does not cosign %d: %v",
		p.witness.Size, size, err)
	bare, again := p.log.Head().Checkpoint() // the same head, which nobody has cosigned yet
	if err != nil || !t.Need(errors.Join(again, p.log.KeepCheckpoint(bare), p.log.KeepCheckpoint(checkpoint))) ||
		before != nil && !t.Need(p.log.KeepCheckpoint(before)) {
		return nil
	}
	stored, err := p.log.CosignedCheckpoint()
	if !t.Need(err) {
		return nil
	}
	h, at, err := ledger.Cosignatures(stored, p.own.PublicKey(), p.cosigner)
	t.Check(err == nil && h.Size == size && len(at) == 1 && at[p.witness.Name].Unix() == 1_700_000_000,
		"the checkpoint of %d entries is of %d and cosigned at %v: %v", size, h.Size, at, err)
	own := []byte("\n— " + h.Origin() + " ")
	begins := bytes.Index(stored, own) + 1
	ends := begins + bytes.IndexByte(stored[begins:], '\n') + 1
	_, _, err = ledger.Cosignatures(slices.Delete(bytes.Clone(stored), begins, ends), p.own.PublicKey(), p.cosigner)
	t.Check(begins > 0 && err != nil, "a checkpoint counts that its log has not signed: %q", stored)
	return checkpoint
}

// notCosigned shows the witness a fork: another log of the same key, with fewer, with as many and with more entries.
// Then the witness lies.
func (t *ClaimTried) notCosigned(p *watchedLog) {
	dir, ok := t.folder()
	if !ok {
		return
	}
	defer t.remove(dir)
	fork, err := ledger.Open(dir, p.own)
	if !t.Need(err) {
		return
	}
	defer func() { t.Need(fork.Close()) }()
	for size := p.log.Size(); fork.Size() < size+2; {
		if _, err := fork.Append(context.Background(), entryOf(900+int(fork.Size()))); !t.Need(err) {
			return
		}
		var refused *ledger.RefusedError
		_, err := ledger.Cosign(context.Background(), p.address, p.cosigner, fork)
		t.Check(errors.As(err, &refused) && refused.Head.Head.Size == fork.Size() && refused.Size == size,
			"a witness of %d entries is shown another log of %d: %v", size, fork.Size(), err)
	}
	other, err := witness.New("other", ledger.VerifierKey(&p.log.Head().Head, p.own.PublicKey()))
	if !t.Need(err) {
		return
	}
	text := p.log.Head().Head.Text()
	for _, lie := range []string{"x\n", other.Cosign(text), p.witness.Cosign(fork.Head().Head.Text())} {
		p.witness.Lies = lie
		_, err := ledger.Cosign(context.Background(), p.address, p.cosigner, p.log)
		t.Check(err != nil, "the answer %q of a witness is taken for its cosignature of %q", lie, text)
	}
}
