package ledger_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"synod.dev/synod/internal/canonical"
	"synod.dev/synod/internal/ledgertest"
	"synod.dev/synod/record/ledger"
)

// The record of two entries is one if run, council, question and answer are; what each seat says is not part of it.
func TestRecord(t *testing.T) {
	_, secrets := ledgertest.Holding(t, 4, 2)
	one := ledgertest.Signed(t, secrets, 0, "run", "42").Record()
	if ledgertest.Signed(t, secrets, 1, "run", "42").Record() != one {
		t.Error("another seat's entry about the same answer has another record")
	}
	if ledgertest.Signed(t, secrets, 1, "run", "43").Record() == one ||
		ledgertest.Signed(t, secrets, 1, "other", "42").Record() == one {
		t.Error("an entry about another run or answer has the same record")
	}
	twice := ledgertest.Entry("run")
	twice.Parts = append(twice.Parts, ledger.NewPart("answer", []byte("43"), false))
	if twice.Record() != ledgertest.Entry("run").Record() {
		t.Error("a second answer in an entry changes what is read as its record")
	}
}

// A ledger whose head was signed before heads were checkpoints opens and verifies, and says that it is old. The next
// entry renews the head. A witness of before counts too, and its next signature is a cosignature.
func TestOldHead(t *testing.T) {
	secret, witness, dir := ledgertest.Secret(t, 1), ledgertest.Secret(t, 2), t.TempDir()
	l, err := ledger.Open(dir, secret)
	if err != nil {
		t.Fatal(err)
	}
	appendRuns(t, l, 0, 3)
	h := l.Head()
	b := canonical.Encode(h.Head)
	h.Operator = secret.SignEnvelope(ledger.HeadType, b)
	h.Witnesses = []ledger.Signature{{Key: witness.PublicKey(), Signature: witness.SignEnvelope(ledger.HeadType, b)}}
	if err := errors.Join(l.Close(), os.WriteFile(filepath.Join(dir, "head.pem"), h.File(), 0o600)); err != nil {
		t.Fatal(err)
	}
	if l, err = ledger.Open(dir, secret); err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if h = l.Head(); !h.Old() || !h.Witnessed(witness.PublicKey()) {
		t.Error("the head is not as it was signed")
	}
	if _, err := h.Checkpoint(); err == nil {
		t.Error("an old head is shown as a checkpoint")
	}
	w := &ledger.Witness{Secret: witness, Log: secret.PublicKey()}
	s, err := w.Sign(h, nil)
	if err == nil {
		err = h.Add(s)
	}
	if err != nil || len(h.Witnesses) != 1 || !bytes.Equal(h.Witnesses[0].Signature, s.Signature) {
		t.Errorf("the witness's signature of before was not renewed: %v", err)
	}
	appendRuns(t, l, 3, 4)
	if h = l.Head(); h.Old() || h.Verify(secret.PublicKey()) != nil {
		t.Error("the next entry has not renewed the head")
	}
}

// Two heads of one size with different roots prove a fork; of two sizes they do not by themselves. Changed heads, heads
// of two logs, and one head twice are no evidence.
func TestForkEvidence(t *testing.T) {
	heads := func(seed uint64, from, to int) *ledger.SignedHead {
		l, err := ledger.Open(t.TempDir(), ledgertest.Secret(t, seed))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		appendRuns(t, l, from, to)
		return l.Head()
	}
	one, fork, longer := heads(1, 0, 3), heads(1, 10, 13), heads(1, 0, 4)
	for _, c := range []struct {
		what           string
		earlier, later *ledger.SignedHead
		valid, proved  bool
	}{{"a fork", one, fork, true, true}, {"two sizes", one, longer, true, false}, {"one head", one, one, false, false},
		{"two logs", one, heads(2, 0, 3), false, false}} {
		f, err := ledger.ParseFork((&ledger.ForkError{Earlier: c.earlier, Later: c.later}).File())
		if (err == nil) != c.valid || err == nil && f.Proved() != c.proved {
			t.Errorf("%s: %v", c.what, err)
		}
	}
	forged := *fork
	forged.Head.Root = make([]byte, 32)
	if _, err := ledger.ParseFork((&ledger.ForkError{Earlier: one, Later: &forged}).File()); err == nil {
		t.Error("a head that nobody signed is evidence")
	}
}
