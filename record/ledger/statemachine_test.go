package ledger_test

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"synod.dev/synod/internal/ledgertest"
	"synod.dev/synod/record/ledger"
)

// solo opens a replica that takes every entry at once, as if the others had agreed, and returns how it does so.
func solo(t *testing.T, dir string, r ledger.Rules, size uint64, held [][]byte) (*ledger.StateMachine,
	func([]byte) error) {
	t.Helper()
	m, err := ledger.OpenStateMachine(dir, r, size, held)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m, func(body []byte) error {
		size, root, err := m.After([][]byte{body})
		if err == nil {
			err = m.Apply([][]byte{body})
		}
		if err != nil {
			return err
		}
		if own, err := m.RootOf(m.Size()); err != nil || m.Size() != size || !bytes.Equal(own, root) {
			t.Errorf("After says %d entries and the root %x; it has %d and %x, %v", size, root, m.Size(), own, err)
		}
		m.Commit()
		return nil
	}
}

// An entry is appended once, waits for a second holder where the group says so, and is under the head when a quorum has
// signed that. What waits is known again when the replica is opened again.
func TestStateMachine(t *testing.T) {
	g, secrets := ledgertest.Holding(t, 4, 2)
	dir, rules := t.TempDir(), ledger.Rules{Group: g, MaxEntry: 1 << 20}
	m, submit := solo(t, dir, rules, 0, nil)
	if at, err := m.Decide(t.Context(), ledgertest.Signed(t, secrets, 0, "run", "42"), submit); err != ledger.ErrWaits {
		t.Errorf("the first holder's entry: %d, %v", at, err)
	}
	held := m.Held()
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	m, submit = solo(t, dir, rules, 0, held)
	second := ledgertest.Signed(t, secrets, 1, "run", "42")
	for range 2 {
		if at, err := m.Decide(t.Context(), second, submit); at != 1 || err != nil {
			t.Errorf("the second holder's entry: %d, %v", at, err)
		}
	}
	root, err := m.RootOf(2)
	if err != nil {
		t.Fatal(err)
	}
	other := bytes.Repeat([]byte{7}, len(root))
	for i := range g.Quorum() {
		if size := m.Head().Head.Size; size != 0 {
			t.Errorf("%d signatures set a head of %d entries", i, size)
		}
		liar := g.Sign(secrets[3], 2, other)
		if err := errors.Join(m.AddSignature(2, other, liar), m.AddSignature(2, root, g.Sign(secrets[i], 2, root)),
			m.AddSignature(2, root, g.Sign(secrets[i], 2, root))); err != nil {
			t.Error(err)
		}
	}
	if head := m.Head(); head.Head.Size != 2 || head.VerifyGroup(&g) != nil {
		t.Errorf("the head has %d entries, %v", head.Head.Size, head.VerifyGroup(&g))
	}
	if m.AddSignature(2, root, ledger.Signature{}) != nil {
		t.Error("a signature under an old head is looked at")
	}
}

// What may not be appended is not submitted, and a replica that has failed or does not decide says so.
func TestStateMachineRefuses(t *testing.T) {
	g, _ := ledgertest.Group(t, 4)
	rules := ledger.Rules{Group: g, MaxEntry: 1 << 10, Check: func(e *ledger.Entry) error {
		if e.Instance == "refused" {
			return errors.New("refused")
		}
		return nil
	}}
	m, _ := solo(t, t.TempDir(), rules, 0, nil)
	big := ledgertest.Entry("big")
	big.Parts[0] = ledger.NewPart("question", make([]byte, rules.MaxEntry), true)
	for _, e := range []*ledger.Entry{big, ledgertest.Entry("refused")} {
		_, err := m.Decide(t.Context(), e, func([]byte) error { t.Error("it is submitted"); return nil })
		if err == nil {
			t.Errorf("%s is taken", e.Instance)
		}
	}
	if m.Stalled() != 0 {
		t.Error("it is stalled, and nothing waits")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := m.Decide(ctx, ledgertest.Entry("lost"), func([]byte) error { return nil }); err == nil {
		t.Error("an entry that nobody takes is decided")
	}
	if m.Stalled() < 20*time.Millisecond {
		t.Errorf("an entry has waited for %v", m.Stalled())
	}
	m.Fail(errors.New("the first"))
	m.Fail(errors.New("the second"))
	_, err := m.Decide(t.Context(), ledgertest.Entry("next"), func([]byte) error { return m.Failed() })
	if err == nil || err.Error() != "the first" {
		t.Errorf("a replica that has failed: %v", err)
	}
}
