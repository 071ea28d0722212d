package synod

// Verifier checks what members have signed.
type Verifier interface {
	// Verify reports that sig is what by signed for data, and for nothing else.
	Verify(by NodeID, data, sig []byte) bool
}

// Signer signs in the name of one seat and checks what others have signed. A
// signature is bound to the run and the committee by whoever makes the Signer; a
// protocol binds the rest (itself, its version, instance and round) in data.
type Signer interface {
	Verifier
	// Sign is a function of data: asked again it gives the same bytes, so a
	// journal can be played again. It has at most MaxSignature bytes.
	Sign(data []byte) []byte
}

// MaxSignature is the longest signature, in bytes.
const MaxSignature = 64
