// Package evidence is transferable proof that a member equivocated: two values that it
// signed for one slot of one run. Somebody who was not there can verify it offline, and
// there is none against an honest member, which signs one value a slot (BB-5, SC-20).
//
// There are two kinds. In a broadcast (protocol/broadcast, and proposals of leaders) the
// member signed two values. On signed links (roster.Slip) it signed that it sent two
// different bodies in one slot; a slip has only the body's hash.
//
//	e, err := evidence.OfBroadcast(committee, instance, &proof)
//	text := e.File()
//	…
//	e, err = evidence.Parse(text)
//	report, err := e.Verify(nil)
//
// Silence, lateness and refusals are no evidence: a network can cause them. Outcomes count
// them for each member and do not call them guilt.
//
// The package has rank 3: it uses roster, sign and protocol/broadcast.
package evidence

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"synod.dev/synod"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/internal/canonical"
	"synod.dev/synod/network/roster"
	"synod.dev/synod/protocol/broadcast"
)

// Format is the version of the encoding.
const Format = "synod/evidence/1"

// The kinds of evidence.
const (
	Broadcast = "broadcast" // two values of one broadcast
	Slips     = "slips"     // two messages of one slot on signed links
)

// MaxSize is the largest file of evidence, in bytes.
const MaxSize = 4 << 20

// Evidence is a file of evidence.
type Evidence struct {
	_        struct{} `cbor:",toarray"`
	Format   string   // Format
	Kind     string   // Broadcast or Slips
	Keys     [][]byte // with Broadcast: the committee's keys, by seat; else empty
	Roster   []byte   // with Slips: the roster, as roster.Bytes encodes it; else empty
	Instance string   // the run
	Seat     uint64   // who equivocated
	Group    []byte   // with Broadcast: SHA-256 of what was broadcast by whom to whom; else empty
	A, B     Statement
}

// Statement is what the member signed: a value, or a slip.
type Statement struct {
	_         struct{} `cbor:",toarray"`
	Bytes     []byte
	Signature []byte
}

// OfBroadcast returns the file of evidence from a broadcast. The committee is that of real
// keys: symbolic signatures of a simulation prove nothing outside its process.
func OfBroadcast(committee sign.Committee, in sign.Instance, proof *broadcast.Evidence) (*Evidence, error) {
	e := &Evidence{Format: Format, Kind: Broadcast, Instance: string(in), Seat: uint64(proof.Sender),
		Group: proof.Group[:], A: Statement{Bytes: proof.Values[0], Signature: proof.Signatures[0]},
		B: Statement{Bytes: proof.Values[1], Signature: proof.Signatures[1]}}
	for _, key := range committee {
		e.Keys = append(e.Keys, key)
	}
	_, err := e.Verify(nil)
	return e, err
}

// OfSlips returns the file of evidence from two slips of a member of the roster.
func OfSlips(r *roster.Roster, a, b roster.Slip, sigA, sigB []byte) (*Evidence, error) {
	e := &Evidence{Format: Format, Kind: Slips, Roster: r.Bytes(), Instance: a.Instance, Seat: a.From,
		A: Statement{Bytes: a.Bytes(), Signature: sigA}, B: Statement{Bytes: b.Bytes(), Signature: sigB}}
	_, err := e.Verify(nil)
	return e, err
}

const pemType = "SYNOD EVIDENCE"

// File returns the evidence as text: PEM.
func (e *Evidence) File() []byte {
	return canonical.Text(pemType, canonical.Encode(e))
}

// Parse reads exactly what File returns. It checks no signature.
func Parse(text []byte) (*Evidence, error) {
	if len(text) > MaxSize {
		return nil, fmt.Errorf("evidence: it has more than %d bytes", MaxSize)
	}
	content, ok := canonical.FromText(pemType, text)
	if !ok {
		return nil, fmt.Errorf("evidence: it is not a file of evidence: it must begin with -----BEGIN %s-----, and be "+
			"unchanged", pemType)
	}
	e := new(Evidence)
	if err := canonical.Decode(content, MaxSize, e); err != nil {
		return nil, fmt.Errorf("evidence: %w", err)
	}
	return e, nil
}

// Report is what evidence proves and what it does not.
type Report struct {
	Claims    []string
	NotProved []string
}

// Verify checks the evidence. hash is that of the roster that the verifier knows; nil: none.
// The error is about the first thing that is wrong.
func (e *Evidence) Verify(hash []byte) (Report, error) {
	if e.Format != Format {
		return Report{}, fmt.Errorf("evidence: it begins with %.40q; this program reads %q", e.Format, Format)
	}
	switch e.Kind {
	case Broadcast:
		return e.verifyBroadcast(hash)
	case Slips:
		return e.verifySlips(hash)
	}
	return Report{}, fmt.Errorf("evidence: its kind is %.40q; it must be %s or %s", e.Kind, Broadcast, Slips)
}

func (e *Evidence) verifyBroadcast(hash []byte) (Report, error) {
	switch {
	case len(hash) > 0:
		return Report{}, errors.New("evidence: it is from a council in one process, which has no roster")
	case len(e.Group) != sha256.Size || len(e.Roster) > 0 || e.Seat >= uint64(len(e.Keys)):
		return Report{}, errors.New("evidence: its group, its keys or its seat are not those of a broadcast")
	}
	for _, key := range e.Keys {
		if !sign.CheckKey(key) {
			return Report{}, errors.New("evidence: everybody can sign for one of its keys")
		}
	}
	committee, err := sign.NewCommittee(e.Keys)
	if err != nil {
		return Report{}, fmt.Errorf("evidence: %w", err)
	}
	proof := broadcast.Evidence{Group: [sha256.Size]byte(e.Group), Sender: synod.NodeID(e.Seat),
		Values: [2][]byte{e.A.Bytes, e.B.Bytes}, Signatures: [2][]byte{e.A.Signature, e.B.Signature}}
	if !proof.Verify(committee.Verifier(sign.Instance(e.Instance))) {
		return Report{}, errors.New("evidence: the values are one, or a signature under them is not valid")
	}
	return Report{
		Claims: []string{fmt.Sprintf("the key %x of seat %d signed two values for one broadcast of the run %s: "+
			"%s and %s", e.Keys[e.Seat], e.Seat, e.Instance, sum(e.A.Bytes), sum(e.B.Bytes))},
		NotProved: []string{
			"who equivocated: the keys of a council in one process are derived from a seed, so its reader can sign too",
			"that others relied on either value",
		},
	}, nil
}

func (e *Evidence) verifySlips(hash []byte) (Report, error) {
	r, err := roster.Decode(e.Roster)
	if err != nil {
		return Report{}, fmt.Errorf("evidence: %w", err)
	}
	own := r.Hash()
	if len(hash) > 0 && !bytes.Equal(hash, own[:]) {
		return Report{}, fmt.Errorf("evidence: it is about the roster %x", own)
	}
	var a, b roster.Slip
	for _, part := range []struct {
		from Statement
		into *roster.Slip
	}{{e.A, &a}, {e.B, &b}} {
		if err := canonical.Decode(part.from.Bytes, MaxSize, part.into); err != nil {
			return Report{}, fmt.Errorf("evidence: a slip: %w", err)
		}
		if !part.into.Verify(r, part.from.Signature) {
			return Report{}, errors.New("evidence: the signature of a slip is not valid")
		}
	}
	switch {
	case len(e.Keys) > 0 || len(e.Group) > 0 || a.From != e.Seat || a.Instance != e.Instance || !a.SameSlot(&b):
		return Report{}, errors.New("evidence: the slips are not about one slot of the member and the run that it " +
			"names")
	case bytes.Equal(a.Sum, b.Sum):
		return Report{}, errors.New("evidence: the two slips are about one body")
	}
	return Report{
		Claims: []string{fmt.Sprintf("member %q (key %x) of the roster %s signed two bodies for slot %q, "+
			"round %d, of the run %s: %x and %x", r.Members[a.From].ID, r.Members[a.From].Key, r.HexHash(),
			a.Slot, a.Round, a.Instance, a.Sum, b.Sum)},
		NotProved: []string{"that the owner of the key did it: the key may have been stolen",
			"what the two bodies said: a slip has their hashes"},
	}, nil
}

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}
