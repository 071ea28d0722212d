package committee

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha512"
	"crypto/subtle"
	"errors"

	"filippo.io/edwards25519"
)

// The suite ECVRF-EDWARDS25519-SHA512-TAI of RFC 9381, section 5.5: the suite string, and the sizes in bytes of a
// challenge, a proof and an output. No well-kept Go library has this suite; the arithmetic is filippo.io/edwards25519.
const (
	suite         = 3
	challengeSize = 16
	ProofSize     = 80 // bytes of a proof
	outputSize    = 64
)

// Prove returns the output of the verifiable random function of an Ed25519 key for an input, and its proof
// (RFC 9381, section 5.1). There is one output for a key and an input, which only the owner of the key can compute.
//
// The key may be the one with which a member signs. Its nonces are those of Ed25519 signatures of 32 bytes, and the
// member signs nothing of that length.
func Prove(key ed25519.PrivateKey, input []byte) (output, proof []byte, err error) {
	hashed := sha512.Sum512(key.Seed())
	x, err := edwards25519.NewScalar().SetBytesWithClamping(hashed[:32])
	if err != nil {
		return nil, nil, err
	}
	public := key.Public().(ed25519.PublicKey)
	h, err := toCurve(public, input)
	if err != nil {
		return nil, nil, err
	}
	gamma := new(edwards25519.Point).ScalarMult(x, h)
	nonce := sha512.Sum512(append(bytes.Clone(hashed[32:]), h.Bytes()...))
	k, err := edwards25519.NewScalar().SetUniformBytes(nonce[:])
	if err != nil {
		return nil, nil, err
	}
	u := new(edwards25519.Point).ScalarBaseMult(k)
	v := new(edwards25519.Point).ScalarMult(k, h)
	c := challenge(public, h, gamma, u, v)
	s := edwards25519.NewScalar().MultiplyAdd(scalar(c), x, k)
	proof = append(append(gamma.Bytes(), c...), s.Bytes()...)
	return outputOf(gamma), proof, nil
}

// errProof reports a proof that is not valid.
var errProof = errors.New("committee: the proof of the random function is not valid")

// Verify checks a proof that Prove returned, and returns the output (RFC 9381, section 5.3). It refuses keys of small
// order.
func Verify(public, input, proof []byte) (output []byte, err error) {
	if len(proof) != ProofSize || len(public) != ed25519.PublicKeySize {
		return nil, errProof
	}
	y, err := new(edwards25519.Point).SetBytes(public)
	if err != nil || isSmall(y) || !bytes.Equal(y.Bytes(), public) {
		return nil, errProof
	}
	gamma, err := new(edwards25519.Point).SetBytes(proof[:32])
	if err != nil || !bytes.Equal(gamma.Bytes(), proof[:32]) {
		return nil, errProof
	}
	c := proof[32 : 32+challengeSize]
	s, err := edwards25519.NewScalar().SetCanonicalBytes(proof[32+challengeSize:])
	if err != nil {
		return nil, errProof
	}
	h, err := toCurve(public, input)
	if err != nil {
		return nil, err
	}
	minus := edwards25519.NewScalar().Negate(scalar(c))
	u := new(edwards25519.Point).VarTimeDoubleScalarBaseMult(minus, y, s)
	v := new(edwards25519.Point).VarTimeMultiScalarMult([]*edwards25519.Scalar{s, minus},
		[]*edwards25519.Point{h, gamma})
	if subtle.ConstantTimeCompare(c, challenge(public, h, gamma, u, v)) != 1 {
		return nil, errProof
	}
	return outputOf(gamma), nil
}

func isSmall(p *edwards25519.Point) bool {
	return new(edwards25519.Point).MultByCofactor(p).Equal(edwards25519.NewIdentityPoint()) == 1
}

// toCurve hashes an input to a point: try and increment (RFC 9381, section 5.4.1.1).
func toCurve(public, input []byte) (*edwards25519.Point, error) {
	for counter := range 256 {
		text := append([]byte{suite, 1}, public...)
		text = append(append(text, input...), byte(counter), 0)
		hash := sha512.Sum512(text)
		p, err := new(edwards25519.Point).SetBytes(hash[:32])
		if err != nil || !bytes.Equal(p.Bytes(), hash[:32]) {
			continue
		}
		if p.MultByCofactor(p); p.Equal(edwards25519.NewIdentityPoint()) != 1 {
			return p, nil
		}
	}
	return nil, errors.New("committee: the input has no point on the curve") // once in 2^256 inputs
}

// challenge hashes points (RFC 9381, section 5.4.3).
func challenge(public []byte, points ...*edwards25519.Point) []byte {
	text := append([]byte{suite, 2}, public...)
	for _, p := range points {
		text = append(text, p.Bytes()...)
	}
	hash := sha512.Sum512(append(text, 0))
	return hash[:challengeSize]
}

// scalar returns a challenge as a number.
func scalar(c []byte) *edwards25519.Scalar {
	var b [32]byte
	copy(b[:], c)
	s, err := edwards25519.NewScalar().SetCanonicalBytes(b[:])
	if err != nil {
		panic("committee: a challenge of 16 bytes is below the order of the group") // it always is
	}
	return s
}

// outputOf returns the output that belongs to the point of a proof (RFC 9381, section 5.2).
func outputOf(gamma *edwards25519.Point) []byte {
	text := append([]byte{suite, 3}, new(edwards25519.Point).MultByCofactor(gamma).Bytes()...)
	hash := sha512.Sum512(append(text, 0))
	return hash[:outputSize]
}
