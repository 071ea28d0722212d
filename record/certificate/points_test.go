package certificate_test

import (
	"crypto/sha256"
	"crypto/sha512"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/internal/forge"
)

// signature changes one signature of a genuine certificate, in ways in which implementations of Ed25519 differ.
func (m *maker) signature() []byte {
	made := m.genuine()
	if len(made.Signatures) == 0 {
		return nil
	}
	at := m.r.IntN(len(made.Signatures))
	s := &made.Signatures[at]
	s.Signature, s.Key = slices.Clone(s.Signature), slices.Clone(s.Key)
	switch m.r.IntN(10) {
	case 0: // S and S + L are the same number
		copy(s.Signature[32:], little(new(big.Int).Add(number(s.Signature[32:]), order)))
	case 1:
		copy(s.Signature[32:], little(new(big.Int).Sub(order, number(s.Signature[32:]))))
	case 2:
		s.Signature[m.r.IntN(64)] ^= 1 << m.r.IntN(8)
	case 3:
		s.Signature[31] ^= 0x80 // the sign of R
	case 4:
		s.Signature = make([]byte, 64)
		s.Signature[0] = byte(m.r.IntN(2))
	case 5: // a weak key
		s.Key = slices.Clone(smallPoints[m.r.IntN(len(smallPoints))])
		s.Signature = make([]byte, 64)
		copy(s.Signature, smallPoints[m.r.IntN(len(smallPoints))])
	case 6:
		made.Signatures = append(made.Signatures, *s)
	case 7:
		made.Signatures = slices.Delete(made.Signatures, at, at+1)
	case 8:
		other := m.r.IntN(len(made.Signatures))
		made.Signatures[at], made.Signatures[other] = made.Signatures[other], made.Signatures[at]
	case 9:
		return m.mixed()
	}
	return m.fileOf(made)
}

// mixed is a certificate of a member whose key has a part of small order, which verifiers with and without a cofactor
// judge differently.
func (m *maker) mixed() []byte {
	at := m.r.IntN(len(m.c.Secrets))
	var seed [32]byte
	for i := range seed {
		seed[i] = byte(m.r.Uint32())
	}
	key := newTorsion(m.r, seed[:])
	council, roster := *m.c, *m.c.Roster
	council.Secrets, council.Roster = slices.Clone(council.Secrets), &roster
	roster.Members = slices.Clone(roster.Members)
	council.Secrets[at], roster.Members[at].Key = key, key.PublicKey()
	own := &maker{m.t, m.r, &council, m.s}
	s, err := council.Statement(forge.Answer(0))
	if err != nil {
		m.t.Fatal(err)
	}
	own.s = s
	return own.fileOf(own.genuine())
}

// The curve of Ed25519, slowly (RFC 8032, 5.1).
var (
	prime = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 255), big.NewInt(19))
	order = func() *big.Int {
		low, _ := new(big.Int).SetString("27742317777372353535851937790883648493", 10)
		return low.Add(low, new(big.Int).Lsh(big.NewInt(1), 252))
	}()
	curveD      = mod(new(big.Int).Mul(big.NewInt(-121665), new(big.Int).ModInverse(big.NewInt(121666), prime)))
	basePoint   = decodePoint(append([]byte{0x58}, []byte(strings.Repeat("\x66", 31))...))
	smallPoints = func() (all [][]byte) {
		for _, y := range []*big.Int{big.NewInt(0), big.NewInt(1), new(big.Int).Sub(prime, big.NewInt(1)), prime,
			new(big.Int).Add(prime, big.NewInt(1))} {
			for _, sign := range []byte{0, 0x80} {
				b := little(y)
				b[31] |= sign
				all = append(all, b)
			}
		}
		return all
	}()
)

type point struct{ x, y *big.Int }

func mod(a *big.Int) *big.Int { return a.Mod(a, prime) }

func mul(a, b *big.Int) *big.Int { return mod(new(big.Int).Mul(a, b)) }

func (p point) add(q point) point {
	k := mul(curveD, mul(mul(p.x, q.x), mul(p.y, q.y)))
	one := big.NewInt(1)
	x := new(big.Int).Add(mul(p.x, q.y), mul(p.y, q.x))
	y := new(big.Int).Add(mul(p.y, q.y), mul(p.x, q.x))
	return point{mul(x, new(big.Int).ModInverse(new(big.Int).Add(one, k), prime)),
		mul(y, new(big.Int).ModInverse(mod(new(big.Int).Sub(one, k)), prime))}
}

func (p point) times(k *big.Int) point {
	out := point{big.NewInt(0), big.NewInt(1)}
	for i := k.BitLen() - 1; i >= 0; i-- {
		if out = out.add(out); k.Bit(i) == 1 {
			out = out.add(p)
		}
	}
	return out
}

func (p point) encoded() []byte {
	b := little(p.y)
	b[31] |= byte(p.x.Bit(0)) << 7
	return b
}

func decodePoint(b []byte) point {
	b = slices.Clone(b)
	sign := uint(b[31] >> 7)
	b[31] &= 0x7f
	y := number(b)
	square := mul(y, y)
	u := mod(new(big.Int).Sub(square, big.NewInt(1)))
	v := mod(new(big.Int).Add(mul(curveD, square), big.NewInt(1)))
	x := new(big.Int).ModSqrt(mul(u, new(big.Int).ModInverse(v, prime)), prime)
	if x.Bit(0) != sign {
		x.Sub(prime, x)
	}
	return point{x, y}
}

func number(b []byte) *big.Int {
	b = slices.Clone(b)
	slices.Reverse(b)
	return new(big.Int).SetBytes(b)
}

func little(n *big.Int) []byte {
	b := n.FillBytes(make([]byte, 32))
	slices.Reverse(b)
	return b
}

// torsion is a key whose public key is A + T for a point T of order 8.
type torsion struct {
	r      *rand.Rand
	secret *big.Int
	public []byte
	small  point
}

var pointOfOrder8 = decodePoint([]byte("\x26\xe8\x95\x8f\xc2\xb2\x27\xb0\x45\xc3\xf4\x89\xf2\xef\x98\xf0" +
	"\xd5\xdf\xac\x05\xd3\xc6\x33\x39\xb1\x38\x02\x88\x6d\x53\xfc\x05"))

func newTorsion(r *rand.Rand, seed []byte) *torsion {
	secret := new(big.Int).Mod(number(seed), order)
	t := &torsion{r, secret, nil, pointOfOrder8.times(big.NewInt(1 + r.Int64N(7)))}
	t.public = basePoint.times(secret).add(t.small).encoded()
	return t
}

func (t *torsion) PublicKey() []byte { return t.public }

// sign signs so that the equation holds with a cofactor. Without one it holds in some of the cases.
func (t *torsion) sign(data []byte) []byte {
	for {
		nonce := new(big.Int).SetUint64(t.r.Uint64())
		big := basePoint.times(nonce)
		if t.r.IntN(2) == 0 {
			big = big.add(t.small)
		}
		h := sha512.Sum512(slices.Concat(big.encoded(), t.public, data))
		k := number(h[:])
		if k.Bit(0)+k.Bit(1)+k.Bit(2) != 0 && t.r.IntN(2) == 0 {
			continue // often the part of small order vanishes
		}
		s := k.Mod(k, order)
		s.Mul(s, t.secret).Add(s, nonce).Mod(s, order)
		return slices.Concat(big.encoded(), little(s))
	}
}

func (t *torsion) SignEnvelope(payloadType string, payload []byte) []byte {
	return t.sign(preAuth(payloadType, payload))
}

func (t *torsion) SignRun(c sign.Committee, in sign.Instance, data []byte) []byte {
	return t.sign(runStatement(c, in, data))
}

// preAuth is what a signature under an envelope covers (DSSE).
func preAuth(payloadType string, payload []byte) []byte {
	return fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(payloadType), payloadType, len(payload), payload)
}

// runStatement is what a signature in a run covers (package sign).
func runStatement(c sign.Committee, in sign.Instance, data []byte) []byte {
	run, keys := sha256.Sum256([]byte(in)), c.Digest()
	return slices.Concat([]byte("synod/signature/2"), run[:], keys[:], data)
}
