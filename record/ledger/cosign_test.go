package ledger_test

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"

	"synod.dev/synod/internal/ledgertest"
	"synod.dev/synod/internal/witness"
	"synod.dev/synod/record/ledger"
)

func appendRuns(t *testing.T, l *ledger.Log, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		if _, err := l.Append(t.Context(), ledgertest.Entry(fmt.Sprint("run-", i))); err != nil {
			t.Fatal(err)
		}
	}
}

// A public witness, which knows only the standard, cosigns each head of a log; the cosignatures are kept with the log
// and verified. A shorter log and another log under the same key are refused, and nothing is stored for them.
func TestPublicWitness(t *testing.T) {
	secret, dir := ledgertest.Secret(t, 1), t.TempDir()
	l, err := ledger.Open(dir, secret)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	w := ledgertest.NewWitness(t, ledger.VerifierKey(&l.Head().Head, secret.PublicKey()))
	server := httptest.NewServer(w)
	defer server.Close()
	cosigner, err := ledger.ParseCosigner(w.VerifierKey())
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "copy")
	for _, size := range []int{1, 2, 7, 7, 20} {
		appendRuns(t, l, int(l.Size()), size)
		checkpoint, err := ledger.Cosign(t.Context(), server.URL, cosigner, l)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.KeepCheckpoint(checkpoint); err != nil {
			t.Fatal(err)
		}
		stored, err := l.CosignedCheckpoint()
		h, at, failed := ledger.Cosignatures(stored, secret.PublicKey(), cosigner)
		if err = errors.Join(err, failed); err != nil || h.Size != uint64(size) || at[w.Name].Unix() != 1_700_000_000 {
			t.Errorf("%d entries: the cosignature is of %d, at %v: %v", size, h.Size, at, err)
		}
		if size == 7 {
			if err := os.CopyFS(copied, os.DirFS(dir)); err != nil && !errors.Is(err, os.ErrExist) {
				t.Fatal(err)
			}
		}
	}
	older, err := ledger.Open(copied, secret)
	if err != nil {
		t.Fatal(err)
	}
	defer older.Close()
	forked, err := ledger.Open(t.TempDir(), secret)
	if err != nil {
		t.Fatal(err)
	}
	defer forked.Close()
	appendRuns(t, forked, 100, 120)
	for what, other := range map[string]*ledger.Log{"older": older, "forked": forked} {
		var refused *ledger.RefusedError
		if _, err := ledger.Cosign(t.Context(), server.URL, cosigner, other); !errors.As(err, &refused) ||
			refused.Size != 20 || refused.Head.Check() != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	appendRuns(t, forked, 200, 203)
	var refused *ledger.RefusedError
	if _, err := ledger.Cosign(t.Context(), server.URL, cosigner, forked); !errors.As(err, &refused) {
		t.Errorf("a longer fork: %v", err)
	}
	stored, _ := l.CosignedCheckpoint()
	if err := forked.KeepCheckpoint(stored); !errors.Is(err, ledger.ErrDamaged) {
		t.Errorf("the checkpoint of another log is kept: %v", err)
	}
	// Who puts an older copy in the place of the log, and forgets the checkpoint, is found without the witness.
	if err := os.WriteFile(filepath.Join(copied, "checkpoint"), stored, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := older.CosignedCheckpoint(); !errors.Is(err, ledger.ErrDamaged) {
		t.Errorf("an older copy beside a newer checkpoint: %v", err)
	}
}

// No answer of a witness becomes a cosignature that is none: another key, another text, or nonsense.
func TestHostileWitness(t *testing.T) {
	secret := ledgertest.Secret(t, 1)
	l, err := ledger.Open(t.TempDir(), secret)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	appendRuns(t, l, 0, 3)
	w := ledgertest.NewWitness(t, ledger.VerifierKey(&l.Head().Head, secret.PublicKey()))
	server := httptest.NewServer(w)
	defer server.Close()
	cosigner, err := ledger.ParseCosigner(w.VerifierKey())
	if err != nil {
		t.Fatal(err)
	}
	other := &witness.Witness{Name: w.Name}
	other.Key = ed25519.NewKeyFromSeed(make([]byte, 32))
	for what, line := range map[string]string{"another text": w.Cosign("other\n3\nAAAA\n"), "nonsense": "x\n",
		"another key": other.Cosign(l.Head().Head.Text()), "long": strings.Repeat("— a AAAAAAAA\n", 3000)} {
		w.Lies, w.Size = line, 0
		if b, err := ledger.Cosign(t.Context(), server.URL, cosigner, l); err == nil {
			t.Errorf("%s: %s", what, b)
		}
	}
	w.Shouts = "— "
	if b, err := ledger.Cosign(t.Context(), server.URL, cosigner, l); err == nil {
		t.Errorf("%s", b)
	}
	w.Shouts, w.Lies, w.Size = "", "", 0
	good, err := ledger.Cosign(t.Context(), server.URL, cosigner, l)
	if err != nil {
		t.Fatal("the control: ", err)
	}
	for i := range good {
		b := bytes.Clone(good)
		b[i] ^= 1
		h, at, err := ledger.Cosignatures(b, secret.PublicKey(), cosigner)
		if err == nil && len(at) > 0 && (h.Size != 3 || !bytes.Equal(h.Root, l.Head().Head.Root)) {
			t.Errorf("byte %d: another checkpoint is cosigned: %s", i, b)
		}
	}
}

// The head of replicas is a checkpoint that a quorum of them has signed: a witness that knows the key of any of these
// replicas takes it. A log of before keeps its form.
func TestReplicasCheckpoint(t *testing.T) {
	for _, least := range []int{0, 2} {
		g, secrets := ledgertest.Holding(t, 4, least)
		h := &ledger.SignedHead{Head: ledger.Head{Log: g.Log(), Size: 3, Root: make([]byte, 32)}, Operator: []byte{}}
		for _, s := range secrets[:3] {
			if err := h.Add(g.Sign(s, 3, h.Head.Root)); err != nil {
				t.Fatal(err)
			}
		}
		if err := h.VerifyGroup(&g); err != nil {
			t.Error(err)
		}
		checkpoint, err := h.Checkpoint()
		if h.Old() != (least == 0) || (err == nil) != (least > 0) {
			t.Errorf("least %d: old %v, %v", least, h.Old(), err)
		}
		for i := range 3 {
			v, failed := note.NewVerifier(ledger.VerifierKey(&h.Head, g.Keys[i]))
			if failed != nil {
				t.Fatal(failed)
			}
			n, failed := note.Open(checkpoint, note.VerifierList(v))
			if least > 0 && (failed != nil || n.Text != h.Head.Text()) {
				t.Errorf("replica %d: %v", i, failed)
			}
		}
	}
}
