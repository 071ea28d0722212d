package certificate_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/internal/forge"
	"synod.dev/synod/network/roster"
	"synod.dev/synod/record/certificate"
)

// tree is a decision whose fields can be anything: what the encoder of package certificate would not write.
type tree struct {
	fields []any // of a decision; terms are in terms
	terms  []any
	checks any                            // that the decision names; nil: none
	honest func(seat int) bool            // who does not sign its vote again; nil: nobody
	spell  func(v any, terms bool) []byte // encodes terms or decision; nil: encode
}

func (x *tree) encoded(v any, terms bool) []byte {
	if x.spell != nil {
		return x.spell(v, terms)
	}
	return encode(v)
}

// The places of fields in a decision and in terms.
const (
	atTerms, atRest, atInstance, atQuestion, atForm, atAnswer, atVotes, atMerge = 2, 3, 4, 5, 6, 7, 8, 9

	termsName, termsMembers, termsEdges, termsF, termsR, termsGuarantee = 0, 3, 4, 5, 6, 8
	termsProtocol, termsParameters, termsRule                           = 10, 11, 12
	memberKey, memberVoter                                              = 2, 3
)

func treeOf(t testing.TB, s *certificate.Statement) *tree {
	t.Helper()
	b, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	x := &tree{fields: decoded(t, b)}
	x.terms = decoded(t, x.fields[atTerms].([]byte))
	return x
}

// decoded is the fields of a structure.
func decoded(t testing.TB, b []byte) (fields []any) {
	if err := cbor.Unmarshal(b, &fields); err != nil {
		t.Fatal(err)
	}
	return fields
}

var core, _ = cbor.CoreDetEncOptions().EncMode()

func encode(v any) []byte {
	b, err := core.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// file encodes the tree, has all members sign their votes again, and seats sign the envelope. Whoever has all keys
// could write it: only rules about the content can refuse it.
func (x *tree) file(c *forge.Council, seats []int) []byte {
	if len(x.fields) <= atMerge || len(x.terms) == 0 {
		x.fields = append(x.fields, make([]any, 10)...)[:max(len(x.fields), atMerge+1)]
	}
	terms := x.encoded(x.terms, true)
	x.fields[atTerms] = terms
	rest, _ := x.fields[atRest].([]byte)
	council := roster.HashOf(terms, rest)
	x.sign(c, council[:])
	text := func(at int) []byte { b, _ := x.fields[at].([]byte); return b }
	instance, _ := x.fields[atInstance].(string)
	encoded := x.encoded(x.fields, false)
	if x.checks != nil {
		encoded = encode([]any{"synod/checks/1", encoded, x.checks})
	}
	payload := payloadOf(council[:], text(atQuestion), text(atAnswer), instance, encoded)
	made := &certificate.Certificate{Payload: payload}
	for _, i := range seats {
		made.Signatures = append(made.Signatures, certificate.Signature{Key: c.Secrets[i].PublicKey(),
			Signature: c.Secrets[i].SignEnvelope(certificate.PayloadType, payload)})
	}
	return written(made)
}

// written is the file of a certificate, of any size.
func written(c *certificate.Certificate) []byte {
	base := base64.StdEncoding.EncodeToString
	var signatures []string
	for _, s := range c.Signatures {
		signatures = append(signatures, fmt.Sprintf(`{"keyid":"ed25519:%x","sig":"%s"}`, s.Key, base(s.Signature)))
	}
	return fmt.Appendf(nil, `{"payloadType":"%s","payload":"%s","signatures":[%s]}`+"\n", certificate.PayloadType,
		base(c.Payload), strings.Join(signatures, ","))
}

// sign has the members sign their votes, as far as there are members, keys and votes.
func (x *tree) sign(c *forge.Council, council []byte) {
	if len(x.terms) == 0 {
		return
	}
	members, _ := x.terms[min(termsMembers, len(x.terms)-1)].([]any)
	votes, _ := x.fields[atVotes].([]any)
	var keys [][]byte
	for _, m := range members {
		m, _ := m.([]any)
		if len(m) <= memberKey {
			return
		}
		key, _ := m[memberKey].([]byte)
		keys = append(keys, key)
	}
	committee, err := sign.NewCommittee(keys)
	instance, _ := x.fields[atInstance].(string)
	question, _ := x.fields[atQuestion].([]byte)
	if err != nil {
		return
	}
	for i, v := range votes {
		v, _ := v.([]any)
		if len(v) != 3 || i >= len(c.Secrets) || i >= len(keys) || x.honest != nil && x.honest(i) ||
			!bytes.Equal(keys[i], c.Secrets[i].PublicKey()) {
			continue
		}
		first, ok1 := v[0].([]byte)
		final, ok2 := v[1].([]byte)
		if sig, ok3 := v[2].([]byte); !ok1 || !ok2 || !ok3 || len(sig) == 0 {
			continue
		}
		v[2] = c.Secrets[i].SignRun(committee, sign.Instance(instance), certificate.VoteBytes(council, question, first,
			final))
	}
}

// change changes one or two places of the tree, and returns what was changed.
func (x *tree) change(r *rand.Rand) {
	for range 1 + r.IntN(2) {
		if in := &x.terms; r.IntN(2) == 0 {
			*in = changed(r, *in).([]any)
		} else {
			at := (atTerms + 1 + r.IntN(len(x.fields)-1)) % len(x.fields) // not the terms, which are in x.terms
			x.fields[at] = changed(r, x.fields[at])
		}
	}
}

// changed returns a value with a change at a random place in it. A list stays a list.
func changed(r *rand.Rand, v any) any {
	switch v := v.(type) {
	case []any:
		if len(v) > 0 && r.IntN(8) > 0 {
			out := append([]any{}, v...)
			at := r.IntN(len(v))
			out[at] = changed(r, v[at])
			return out
		}
		return changedList(r, v)
	case []byte:
		switch b := bytes.Clone(v); {
		case len(b) == 0 || r.IntN(4) == 0:
			return append(b, byte(r.Uint32()))
		case r.IntN(4) == 0:
			return b[:r.IntN(len(b))]
		case r.IntN(4) == 0:
			return make([]byte, len(b))
		default:
			b[r.IntN(len(b))] ^= 1 << r.IntN(8)
			return b
		}
	case string:
		return []any{"", v + "x", string(bytes.Repeat([]byte("x"), 255+r.IntN(4))), []byte(v), "plurality", "protocol",
			"majority", "supermajority", "agreement", "none", "S", "L", "sac", "json", "owner", "\xff", "ü"}[r.IntN(17)]
	case uint64:
		return []any{v + 1, v - 1, uint64(0), uint64(1) << r.IntN(64), "1", nil, -1}[r.IntN(7)]
	case bool:
		return []any{!v, !v, nil, uint64(1)}[r.IntN(4)]
	}
	return []any{nil, uint64(0), []any{}, []byte{}, []any{[]byte("{}"), true, []any{}}}[r.IntN(5)]
}

// changedList drops, repeats, swaps or empties elements.
func changedList(r *rand.Rand, v []any) []any {
	out := append([]any{}, v...)
	if len(out) == 0 {
		return append(out, uint64(0))
	}
	i, j := r.IntN(len(out)), r.IntN(len(out))
	switch r.IntN(4) {
	case 0:
		return append(out[:i], out[i+1:]...)
	case 1:
		return append(out, out[i])
	case 2:
		out[i], out[j] = out[j], out[i]
	case 3:
		return out[:0]
	}
	return out
}
