package sign_test

import (
	"bytes"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/sign"
)

// book is what both kinds of signatures offer.
type book interface {
	Signer(synod.NodeID, string) synod.Signer
}

var kinds = map[string]func(seed uint64, n int) book{
	"ed25519":  func(seed uint64, n int) book { return sign.Derive(seed, n) },
	"symbolic": func(seed uint64, n int) book { return sign.NewSymbolic(seed, n) },
}

// [BB-7] A signature holds for its signer, data, run and committee, and nothing
// else: any other of the four, and any changed bit, is refused.
func TestSignatureIsBound(t *testing.T) {
	for kind, of := range kinds {
		keys := of(1, 4)
		data := []byte("the answer is 42")
		sig := keys.Signer(2, "run").Sign(data)
		check := func(what string, want bool, v synod.Verifier, by synod.NodeID, data, sig []byte) {
			t.Helper()
			if got := v.Verify(by, data, sig); got != want {
				t.Errorf("%s: %s: verified %v", kind, what, got)
			}
		}
		peer := keys.Signer(0, "run")
		check("itself", true, peer, 2, data, sig)
		check("the same keys made again", true, of(1, 4).Signer(3, "run"), 2, data, sig)
		check("another signer", false, peer, 1, data, sig)
		check("nobody", false, peer, 4, data, sig)
		check("less than nobody", false, peer, -1, data, sig)
		check("another run", false, keys.Signer(0, "ruN"), 2, data, sig)
		check("another committee", false, of(1, 5).Signer(0, "run"), 2, data, sig)
		check("another seed", false, of(2, 4).Signer(0, "run"), 2, data, sig)
		check("nothing", false, peer, 2, data, nil)
		check("shorter", false, peer, 2, data, sig[:len(sig)-1])
		check("longer", false, peer, 2, data, append(bytes.Clone(sig), 0))
		for i := range 8 * len(sig) {
			bad := bytes.Clone(sig)
			bad[i/8] ^= 1 << (i % 8)
			check("a changed bit", false, peer, 2, data, bad)
		}
		for i := range 8 * len(data) {
			bad := bytes.Clone(data)
			bad[i/8] ^= 1 << (i % 8)
			check("changed data", false, peer, 2, bad, sig)
		}
		if again := keys.Signer(2, "run").Sign(data); !bytes.Equal(again, sig) || len(sig) > synod.MaxSignature {
			t.Errorf("%s: signed again it is %x, then %x", kind, sig, again)
		}
	}
}

// A third party has the public keys only.
func TestCommittee(t *testing.T) {
	keys := sign.Derive(1, 3)
	var raw [][]byte
	for _, k := range keys.Committee() {
		raw = append(raw, k)
	}
	c, err := sign.NewCommittee(raw)
	if err != nil || c.Digest() != keys.Committee().Digest() {
		t.Fatal(err)
	}
	sig := keys.Signer(1, "run").Sign([]byte("x"))
	if !c.Verifier("run").Verify(1, []byte("x"), sig) || c.Verifier("run").Verify(0, []byte("x"), sig) {
		t.Error("the public keys do not tell a signature from another")
	}
	if _, err := sign.NewCommittee([][]byte{raw[0], raw[1], raw[0]}); err == nil {
		t.Error("one key has two seats")
	}
	if _, err := sign.NewCommittee([][]byte{raw[0][:31]}); err == nil {
		t.Error("a short key is taken")
	}
}

func BenchmarkVerify(b *testing.B) {
	for _, kind := range []string{"ed25519", "symbolic"} {
		b.Run(kind, func(b *testing.B) {
			s := kinds[kind](1, 4).Signer(1, "run")
			data := make([]byte, 90)
			sig := s.Sign(data)
			b.ReportAllocs()
			for b.Loop() {
				if !s.Verify(1, data, sig) {
					b.Fatal("refused")
				}
			}
		})
	}
}
