package sign

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"strings"
	"testing"

	"synod.dev/synod"
)

var kinds = map[string]func(seed uint64, n int) *Derived{"ed25519": Derive, "symbolic": DeriveSymbolic}

// [BB-7] A signature holds for its signer, data, run and committee, and nothing
// else: any other of the four, and any changed bit, is refused.
func TestSignatureIsBound(t *testing.T) {
	for kind, derive := range kinds {
		keys := derive(1, 4)
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
		check("by a third party", true, keys.Verifier("run"), 2, data, sig)
		check("the same keys derived again", true, derive(1, 4).Signer(3, "run"), 2, data, sig)
		check("the first seat", true, keys.Signer(3, "run"), 0, data, keys.Signer(0, "run").Sign(data))
		check("the last seat", true, peer, 3, data, keys.Signer(3, "run").Sign(data))
		check("another signer", false, peer, 1, data, sig)
		check("a seat that does not exist", false, peer, 4, data, sig)
		check("a negative seat", false, peer, -1, data, sig)
		check("another run", false, keys.Signer(0, "ruN"), 2, data, sig)
		check("another committee", false, derive(1, 5).Signer(0, "run"), 2, data, sig)
		check("another seed", false, derive(2, 4).Signer(0, "run"), 2, data, sig)
		check("no signature", false, peer, 2, data, nil)
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
	keys := Derive(1, 3)
	var raw [][]byte
	for _, k := range keys.Committee() {
		raw = append(raw, k)
	}
	c, err := NewCommittee(raw)
	if err != nil || c.Digest() != keys.Committee().Digest() {
		t.Fatal(err)
	}
	sig := keys.Signer(1, "run").Sign([]byte("x"))
	if !c.Verifier("run").Verify(1, []byte("x"), sig) || c.Verifier("run").Verify(0, []byte("x"), sig) {
		t.Error("the public keys do not tell the signatures of two seats apart")
	}
	if _, err := NewCommittee([][]byte{raw[0], raw[1], raw[0]}); err == nil {
		t.Error("two seats have one key")
	}
	if _, err := NewCommittee([][]byte{raw[0][:31]}); err == nil {
		t.Error("a short key is accepted")
	}
}

// Nodes that have generated their secrets themselves know one another by their
// public keys, and sign and verify in one run only.
func TestGeneratedIdentities(t *testing.T) {
	const n = 3
	var secrets [n]Secret
	var public [][]byte
	for i := range secrets {
		s, err := Generate(strings.NewReader(strings.Repeat(string(rune('a'+i)), 32)))
		if err != nil {
			t.Fatal(err)
		}
		secrets[i], public = s, append(public, s.PublicKey())
	}
	committee, err := NewCommittee(public)
	if err != nil {
		t.Fatal(err)
	}
	of := func(seat synod.NodeID, in Instance) Identity {
		id, err := secrets[seat].Identity(seat, committee, in)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	sig := of(1, "run").Signer.Sign([]byte("x"))
	if !of(0, "run").Signer.Verify(1, []byte("x"), sig) {
		t.Error("a peer's signature is refused")
	}
	if of(0, "run 2").Signer.Verify(1, []byte("x"), sig) || of(0, "run").Signer.Verify(2, []byte("x"), sig) {
		t.Error("a signature of another run or seat is accepted")
	}
	seeds := map[uint64]bool{of(0, "run").Seed: true, of(0, "run 2").Seed: true, of(1, "run").Seed: true}
	if len(seeds) != 3 || seeds[0] {
		t.Errorf("seeds of two seats and two runs: %v", seeds)
	}
	if _, err := secrets[0].Identity(1, committee, "run"); err == nil {
		t.Error("a seat is taken with the secret of another")
	}
	if _, err := secrets[0].Identity(3, committee, "run"); err == nil {
		t.Error("a seat outside the committee is taken")
	}
	if _, err := Generate(strings.NewReader("too short")); err == nil {
		t.Error("a secret is made of too little randomness")
	}
}

// A secret is stored as text, and shown only where that is asked for.
func TestSecretText(t *testing.T) {
	s, err := Generate(strings.NewReader(strings.Repeat("s", 32)))
	if err != nil {
		t.Fatal(err)
	}
	text := s.Reveal()
	if back, err := ParseSecret(text + "\n"); err != nil || back.Reveal() != text {
		t.Errorf("read back: %v", err)
	}
	for _, bad := range []string{"", text[1:], text[:len(text)-1], text + "00", strings.Replace(text, "7", "x", 1)} {
		if _, err := ParseSecret(bad); err == nil || !strings.Contains(err.Error(), "64 hexadecimal digits") ||
			bad != "" && strings.Contains(err.Error(), bad) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	holder, shown := struct{ secret Secret }{s}, ""
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d", "%x"} {
		for _, what := range []any{s, &s, holder, &holder, []Secret{s}} {
			shown += fmt.Sprintf(verb+"\n", what)
		}
	}
	key := strings.Trim(fmt.Sprint(s.LinkKey()[:3]), "[]")
	for _, digits := range []string{"115 115", "7373", "0x73, 0x73", "ssss", key} {
		if strings.Contains(shown, digits) {
			t.Errorf("printed with %q: %s", digits, shown)
		}
	}
}

// Nothing that one seat of a simulation is given holds the master secret, the seed,
// or a secret of another seat. The secrets hang together only by SHA-256 of the
// master secret, so they cannot be computed from it either.
func TestIdentityHoldsNothingOfOthers(t *testing.T) {
	const seed, n = 0xfeedfacecafef00d, 3
	keys, master := Derive(seed, n), masterOf(seed)
	id := keys.Identity(1, "run")
	own, ok := id.Signer.(*signer)
	if !ok {
		t.Fatalf("signer is %T", id.Signer)
	}
	holds := fmt.Appendf(nil, "%d", id.Seed)
	holds = append(holds, own.key...)
	holds = append(holds, own.scope[:]...)
	for _, k := range own.committee {
		holds = append(holds, k...)
	}
	private := map[string][]byte{"the master secret": master[:], "the seed": {0xfe, 0xed, 0xfa, 0xce, 0xca, 0xfe, 0xf0,
		0x0d}}
	for i := range keys.roots {
		private[fmt.Sprint("the secret of seat ", i)] = keys.roots[i][:]
		if i != 1 {
			private[fmt.Sprint("the key of seat ", i)] = keys.keys[i].Seed()
			private[fmt.Sprint("the seed of seat ", i)] = fmt.Append(nil, keys.Identity(synod.NodeID(i), "run").Seed)
		}
	}
	for what, secret := range private {
		if bytes.Contains(holds, secret) {
			t.Errorf("an identity holds %s", what)
		}
	}
	for i, r := range keys.roots {
		if want := root(hash("synod/secret/2", master[:], []byte{0, 0, 0, byte(i)})); r != want {
			t.Errorf("the secret of seat %d is not the hash of the master secret and the seat", i)
		}
		if !ed25519.PublicKey(newSecret(r).PublicKey()).Equal(keys.committee[i]) {
			t.Errorf("the key of seat %d is not the one of its secret", i)
		}
	}
}

// Both kinds of signatures have the same seeds, whatever the run is, and another
// seed or seat gives other ones.
func TestDerivedSeeds(t *testing.T) {
	seen := map[uint64]bool{}
	for seed := range uint64(20) {
		for seat := range synod.NodeID(5) {
			id := Derive(seed, 5).Identity(seat, "run")
			if symbolic := DeriveSymbolic(seed, 5).Identity(seat, "another"); symbolic.Seed != id.Seed ||
				symbolic.Seat != seat {
				t.Errorf("seed %d, seat %d: %d with keys, %d with symbols", seed, seat, id.Seed, symbolic.Seed)
			}
			seen[id.Seed] = true
		}
	}
	if len(seen) != 100 || seen[0] {
		t.Errorf("%d different seeds of 100", len(seen))
	}
}

// The salt of a seat is another one in each run and for each seat, is derived again from the same secret, and is no
// function of the seed, of which others see parts.
func TestSalts(t *testing.T) {
	seen := map[synod.Salt]bool{}
	secret := func(fill string) Secret {
		s, err := Generate(strings.NewReader(strings.Repeat(fill, 32)))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	a, b := secret("a"), secret("b")
	committee, err := NewCommittee([][]byte{a.PublicKey(), b.PublicKey()})
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range []Instance{"one", "two"} {
		for seat, s := range []Secret{a, b} {
			id, err := s.Identity(synod.NodeID(seat), committee, run)
			again, err2 := s.Identity(synod.NodeID(seat), committee, run)
			if err != nil || err2 != nil || id.Salt != again.Salt || id.Run != run {
				t.Fatal(err, err2, id.Run)
			}
			seen[id.Salt] = true
		}
	}
	for seat := range synod.NodeID(3) {
		seen[Derive(7, 3).Identity(seat, "run").Salt] = true
		if Derive(7, 3).Identity(seat, "run").Salt != DeriveUnsigned(7, 3).Identity(seat, "").Salt {
			t.Error("the salts of one seed differ")
		}
	}
	if seen[synod.Salt{}] || len(seen) != 7 {
		t.Errorf("%d different salts of 7", len(seen))
	}
}

// An instance is one plan, question and nonce.
func TestInstance(t *testing.T) {
	q := &synod.Question{ID: "q", Text: "?", Form: synod.Number}
	one := NewInstance([]byte("plan"), q, []byte("nonce"))
	if one != NewInstance([]byte("plan"), &synod.Question{ID: "q", Text: "?", Form: synod.Number}, []byte("nonce")) {
		t.Error("the same run has two instance ids")
	}
	for what, other := range map[string]Instance{
		"plan":     NewInstance([]byte("plam"), q, []byte("nonce")),
		"question": NewInstance([]byte("plan"), &synod.Question{ID: "q", Text: "?", Form: synod.Text}, []byte("nonce")),
		"nonce":    NewInstance([]byte("plan"), q, []byte("n")),
		"border":   NewInstance([]byte("pla"), q, []byte("nnonce")),
	} {
		if other == one {
			t.Errorf("another %s has the same instance id", what)
		}
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

func BenchmarkIdentity(b *testing.B) {
	for b.Loop() {
		keys := DeriveSymbolic(1, 7)
		for i := range synod.NodeID(7) {
			keys.Identity(i, "run")
		}
	}
}
