package campaign

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/sign"
)

// signSubject signs with keys of all schemes, and verifies with one thing changed.
func signSubject() *subject {
	return pieceSubject(signName, .1, []string{"real keys", "symbolic keys", "symbols", "valid", "changed"}, playSign,
		claimBound, claimKinds)
}

// scheme is a committee whose keys sign for runs.
type scheme struct {
	name   string
	n      int
	sign   func(seat int, in sign.Instance, data []byte) []byte
	verify func(in sign.Instance) synod.Verifier
}

func playSign(p *piece) {
	s, others := p.scheme()
	p.State(s.name, true)
	seat, in, data := p.rand.IntN(s.n), sign.Instance(fmt.Sprint("run-", p.rand.IntN(3))), p.bytes(p.rand.IntN(40))
	sig := s.sign(seat, in, data)
	p.State("valid", true)
	p.Claim(claimBound, s.verify(in).Verify(synod.NodeID(seat), data, sig), "%s: a signature is not valid", s.name)
	p.State("changed", true)
	refused := func(what string, v synod.Verifier, by int, data, sig []byte) {
		p.Claim(claimBound, !v.Verify(synod.NodeID(by), data, sig), "%s: with %s a signature is valid", s.name, what)
	}
	for by := -1; by <= s.n; by++ {
		if by != seat {
			refused("another signer", s.verify(in), by, data, sig)
		}
	}
	refused("another run", s.verify(in+"0"), seat, data, sig)
	refused("more data", s.verify(in), seat, append(bytes.Clone(data), 0), sig)
	if len(data) > 0 {
		refused("less data", s.verify(in), seat, data[:len(data)-1], sig)
		refused("other data", s.verify(in), seat, p.flipped(data), sig)
	}
	refused("a changed bit", s.verify(in), seat, data, p.flipped(sig))
	refused("less of it", s.verify(in), seat, data, sig[:p.rand.IntN(len(sig))])
	refused("more of it", s.verify(in), seat, data, append(bytes.Clone(sig), 0))
	for what, other := range others {
		refused(what, other.verify(in), seat, data, sig)
	}
	p.separate()
	if p.one(20) {
		p.secrets()
	}
}

// secrets checks what follows from the secret of a seat: each run has a salt and a seed of its own, and a file with a
// changed digit is refused. A key for which everybody can sign is no key.
func (p *piece) secrets() {
	secret, committee := logKeys[0], sign.Committee{logKeys[0].PublicKey()}
	one, err := secret.Identity(0, committee, "run-1")
	two, again := secret.Identity(0, committee, "run-2")
	p.Claim(claimBound, err == nil && again == nil && one.Salt != two.Salt && one.Seed != two.Seed,
		"two runs of a seat have one salt or seed: %v %v", err, again)
	var keys [][]byte
	for _, k := range logKeys[:3+p.rand.IntN(4)] {
		keys = append(keys, k.PublicKey())
	}
	_, distinct := sign.NewCommittee(keys)
	from, to := p.rand.IntN(len(keys)), p.rand.IntN(len(keys))
	keys[to] = keys[from]
	_, again = sign.NewCommittee(keys)
	p.Claim(claimBound, distinct == nil && (again != nil) == (from != to), "a committee with the key of seat %d at "+
		"seat %d is refused: %v; one of different keys: %v", from, to, again, distinct)
	file := []byte(secret.File())
	at := p.rand.IntN(len(file) - 1)
	if c := file[at]; c >= '0' && c <= '8' {
		file[at]++
		_, err := sign.ParseSecret(string(file))
		p.Claim(claimBound, err != nil, "a secret whose byte %d was changed is used", at)
	}
	shown := secret.Reveal()
	for text, whole := range map[string]bool{secret.File(): true, shown: true, " " + shown + "\n": true,
		shown[:len(shown)-2]: false, shown + "00": false, shown[1:]: false, shown[:len(shown)-1] + "g": false} {
		again, err := sign.ParseSecret(text)
		ok := err != nil
		if whole {
			ok = err == nil && bytes.Equal(again.PublicKey(), secret.PublicKey())
		}
		p.Claim(claimBound, ok, "a secret of %d characters, whole: %v: %v", len(text), whole, err)
	}
	weak := make([]byte, 32) // the points of order 1 and 4 and, with the sign of x, their other spellings
	weak[0] = byte(p.rand.IntN(2))
	weak[31] = byte(p.rand.IntN(2)) << 7
	p.Claim(claimBound, !sign.CheckKey(weak), "everybody can sign for the key %x, and it is accepted", weak)
	text := []byte("a note\n")
	p.Claim(claimBound, ed25519.Verify(anybody, text, byAnybody) && !sign.VerifyNote(anybody, text, byAnybody) &&
		!sign.VerifyEnvelope(anybody, "text", text, byAnybody), "a signature counts for whose key everybody can sign")
}

// anybody is the neutral point as a key, and byAnybody is valid for it under every text.
var anybody, byAnybody = append([]byte{1}, make([]byte, 31)...), append([]byte{1}, make([]byte, 63)...)

func (p *piece) flipped(b []byte) []byte {
	b = bytes.Clone(b)
	b[p.rand.IntN(len(b))] ^= 1 << p.rand.IntN(8)
	return b
}

// scheme draws a committee, and others that have nearly the same keys.
func (p *piece) scheme() (s scheme, others map[string]scheme) {
	n, seed := 2+p.rand.IntN(4), p.rand.Uint64()
	if p.one(3) {
		others = map[string]scheme{"one seat more": derived(seed, n+1), "another seed": derived(seed+1, n)}
		return derived(seed, n), others
	}
	var keys sign.Keys = sign.Ed25519
	var all []signingKey
	name := "real keys"
	if symbols := sign.NewSymbols(); !p.one(8) {
		keys, name = symbols, "symbols"
		for range n + 1 {
			all = append(all, symbols.Key(p.bytes(8)))
		}
	} else {
		for _, secret := range logKeys[:n+1] {
			all = append(all, secret)
		}
	}
	more := all[n]
	of := func(own []signingKey) scheme { return keyed(name, keys, own) }
	swapped, replaced := slices.Clone(all[:n]), slices.Clone(all[:n])
	k := p.rand.IntN(n)
	replaced[k] = more
	swapped[0], swapped[1] = swapped[1], swapped[0]
	return of(all[:n]), map[string]scheme{"a key more": of(all), fmt.Sprint("another key of seat ", k): of(replaced),
		"two keys in another order": of(swapped)}
}

// signingKey is a sign.Secret or a sign.Symbol.
type signingKey interface {
	PublicKey() []byte
	SignRun(c sign.Committee, in sign.Instance, data []byte) []byte
}

func keyed(name string, keys sign.Keys, own []signingKey) scheme {
	var c sign.Committee
	for _, k := range own {
		c = append(c, k.PublicKey())
	}
	return scheme{name, len(own), func(seat int, in sign.Instance, data []byte) []byte {
		return own[seat].SignRun(c, in, data)
	}, func(in sign.Instance) synod.Verifier { return keys.Run(c, in) }}
}

func derived(seed uint64, n int) scheme {
	d := sign.DeriveSymbolic(seed, n)
	return scheme{"symbolic keys", n, func(seat int, in sign.Instance, data []byte) []byte {
		return d.Signer(synod.NodeID(seat), in).Sign(data)
	}, d.Verifier}
}

// separate tries to have a signature of one kind count as another kind: an envelope whose type and payload are divided
// otherwise, and a note that is what an envelope or a run signs.
func (p *piece) separate() {
	symbols := sign.NewSymbols()
	key := symbols.Key(p.bytes(8))
	kind, rest := among(p, "a", "a b", "text"), fmt.Sprint(p.rand.IntN(1000))
	payload := fmt.Sprintf("%d %s", len(rest), rest)
	sig := key.SignEnvelope(kind, []byte(payload))
	p.Claim(claimKinds, symbols.Envelope(key.PublicKey(), kind, []byte(payload), sig), "an envelope is not valid")
	divided := fmt.Sprintf("%s %d", kind, len(payload))
	p.Claim(claimKinds, !symbols.Envelope(key.PublicKey(), divided, []byte(rest), sig), "the signature under a "+
		"payload of type %q counts for %q of type %q", kind, rest, divided)
	if !p.one(20) { // real keys are slow
		return
	}
	secret := logKeys[0]
	text := fmt.Sprintf("DSSEv1 %d %s %d %s\n", len(kind), kind, len(payload)+1, payload)
	enveloped := secret.SignEnvelope(kind, []byte(payload+"\n"))
	p.Claim(claimKinds, sign.VerifyEnvelope(secret.PublicKey(), kind, []byte(payload+"\n"), enveloped) &&
		!sign.VerifyNote(secret.PublicKey(), []byte(text), enveloped), "the signature of an envelope counts as that "+
		"of a note")
	noted := note(secret, text)
	p.Claim(claimKinds, noted == nil || !sign.VerifyEnvelope(secret.PublicKey(), kind, []byte(payload+"\n"), noted),
		"the signature of a note counts as that of an envelope")
	committee := sign.Committee{secret.PublicKey()}
	run, digest := sha256.Sum256([]byte("run")), committee.Digest()
	noted = note(secret, fmt.Sprintf("synod/signature/2%s%s%s\n", run[:], digest[:], payload))
	p.Claim(claimKinds, noted == nil || !committee.Verifier("run").Verify(0, []byte(payload+"\n"), noted),
		"the signature of a note counts in a run")
}

// note signs a note; nil: it is refused.
func note(secret sign.Secret, text string) (sig []byte) {
	defer func() {
		if recover() != nil {
			sig = nil
		}
	}()
	return secret.SignNote([]byte(text))
}

func hash32(b []byte) []byte {
	sum := sha256.Sum256(b)
	return sum[:]
}
