package certificate_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"

	"synod.dev/synod/internal/forge"
	"synod.dev/synod/record/certificate"
)

// kinds are ways to make a certificate that is almost valid. Whoever makes it has the keys that it needs: all of
// them, those of hostile members, or that of one owner.
var kinds = []struct {
	name string
	make func(m *maker) []byte
}{
	{"a field of statement or terms, signed again by all", (*maker).field},
	{"a field of statement or terms, signed again by hostile members", (*maker).hostileField},
	{"a value at a limit, signed again by all", (*maker).limit},
	{"another spelling of CBOR, signed again by all", (*maker).spelling},
	{"another spelling of JSON, signed again by all", (*maker).json},
	{"a signature", (*maker).signature},
	{"a field of one owner's statement, signed again", (*maker).owned},
	{"a merged value, signed again by all", (*maker).merged},
	{"bytes", (*maker).bytes},
	{"a field of a decision with a draw, signed again by all", (*maker).lots},
	{"the checks that a decision names, signed again by all", (*maker).checked},
}

// maker makes mutants of a certificate.
type maker struct {
	t testing.TB
	r *rand.Rand
	c *forge.Council
	s *certificate.Statement
}

func newMaker(t testing.TB, seed uint64) *maker {
	r := rand.New(rand.NewPCG(seed, 0x57a))
	c, err := forge.New(r)
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.Statement(forge.Answer(0))
	if err != nil {
		t.Fatal(err)
	}
	return &maker{t, r, c, s}
}

// genuine is the certificate of all who may sign. It is not valid if the rule does not lead to the answer.
func (m *maker) genuine() *certificate.Certificate {
	made, err := m.c.Whole(m.s)
	if err != nil {
		m.t.Fatal(err)
	}
	return made
}

func (m *maker) fileOf(c *certificate.Certificate) []byte { return written(c) }

// signers are those who may sign, or some of them, and sometimes one who may not.
func (m *maker) signers() (seats []int) {
	for i := range m.c.Secrets {
		if m.s.MaySign(i) && m.r.IntN(12) > 0 || m.r.IntN(40) == 0 {
			seats = append(seats, i)
		}
	}
	return seats
}

func (m *maker) field() []byte {
	x := treeOf(m.t, m.s)
	x.change(m.r)
	return x.file(m.c, m.signers())
}

// hostileField lets hostile members sign what they like. The signatures of the others are from the genuine certificate.
func (m *maker) hostileField() []byte {
	x := treeOf(m.t, m.s)
	x.honest = func(seat int) bool { return !m.c.Hostile[seat] }
	if m.r.IntN(3) > 0 {
		x.change(m.r)
	}
	var seats []int
	for i := range m.c.Secrets {
		if m.c.Hostile[i] {
			seats = append(seats, i)
		}
	}
	file := x.file(m.c, seats)
	made, err := certificate.Parse(file)
	if err != nil {
		return file
	}
	for _, sig := range m.genuine().Signatures {
		at := slices.IndexFunc(m.c.Secrets, func(k forge.Key) bool { return bytes.Equal(k.PublicKey(), sig.Key) })
		if !m.c.Hostile[at] {
			made.Signatures = append(made.Signatures, sig)
		}
	}
	seat := func(s certificate.Signature) int {
		return slices.IndexFunc(m.c.Secrets, func(k forge.Key) bool { return bytes.Equal(k.PublicKey(), s.Key) })
	}
	slices.SortStableFunc(made.Signatures, func(a, b certificate.Signature) int { return seat(a) - seat(b) })
	return m.fileOf(made)
}

// limit sets one value to what is just allowed, or just not.
func (m *maker) limit() []byte {
	x := treeOf(m.t, m.s)
	if m.r.IntN(4) == 0 {
		m.limitVotes(x)
	} else {
		m.limitTerms(x)
	}
	return x.file(m.c, m.signers())
}

func (m *maker) pick(all ...any) any { return all[m.r.IntN(len(all))] }

// long is a text of about so many bytes.
func (m *maker) long(near int, of ...any) string {
	unit := m.pick(of...).(string)
	return strings.Repeat(unit, (near-1+m.r.IntN(3))/len(unit))
}

func (m *maker) limitVotes(x *tree) {
	n := len(m.c.Secrets)
	votes := x.fields[atVotes].([]any)
	vote := votes[m.r.IntN(n)].([]any)
	switch m.r.IntN(4) {
	case 0:
		x.fields[m.pick(atInstance, atForm).(int)] = m.long(256, "x", "ü", "€")
	case 1:
		vote[m.r.IntN(2)] = m.pick([]byte{}, make([]byte, 32), make([]byte, 31), forge.Answer(0), forge.Answer(1))
	case 2: // answers without a signature
		vote[2] = []byte{}
	case 3:
		votes[m.r.IntN(n)] = vote
	}
}

func (m *maker) limitTerms(x *tree) {
	n, t := len(m.c.Secrets), x.terms
	member := t[termsMembers].([]any)[m.r.IntN(n)].([]any)
	switch m.r.IntN(10) {
	case 0:
		t[m.pick(termsName, termsGuarantee, termsProtocol).(int)] = m.long(256, "x", "ü")
	case 1:
		t[termsParameters] = m.long(1<<16, "p")
	case 2:
		t[termsF] = uint64(max(0, n-2+m.r.IntN(4)))
	case 3:
		t[termsF] = m.pick(uint64(1)<<63, ^uint64(0), ^uint64(0)-uint64(n), uint64(1)<<32)
	case 4:
		t[termsR] = m.pick(uint64(0), uint64((n+1)/2), uint64((n+3)/2), ^uint64(0))
	case 5:
		t[termsRule] = []any{m.pick("plurality", "majority", "supermajority", "protocol", ""),
			m.pick(uint64(0), uint64(n), uint64(n+1), ^uint64(0))}
	case 6:
		t[termsGuarantee] = m.pick("agreement", "none", "", "4.3", "4.3-strong", "validity", "convergence", "supported")
		t[termsProtocol] = m.pick("sac", "w-msr", "decentllms", "cascade", "fixed-leader", "debate", "game", "toString",
			"__proto__", "constructor")
	case 7:
		member[m.pick(0, 1, 4, 5).(int)] = m.long(256, "x", "ü")
	case 8:
		member[3] = m.r.IntN(2) == 0 // votes
	case 9:
		t[termsEdges] = append(t[termsEdges].([]any), []any{uint64(m.r.IntN(n)), uint64(m.r.IntN(n + 1))})
	}
}

// spelling writes one value of the statement or the terms in another way than the canonical one.
func (m *maker) spelling() []byte {
	x := treeOf(m.t, m.s)
	inTerms := m.r.IntN(2) == 0
	x.spell = func(v any, terms bool) []byte {
		b := encode(v)
		if terms != inTerms {
			return b
		}
		return misspelled(m.r, v)
	}
	return x.file(m.c, m.signers())
}

// json writes the envelope or the statement in another way, and has all sign that.
func (m *maker) json() []byte {
	if m.r.IntN(2) == 0 {
		return otherJSON(m.r, m.fileOf(m.genuine()))
	}
	made := m.genuine()
	made.Payload = otherJSON(m.r, made.Payload)
	made.Signatures = nil
	for _, i := range m.signers() {
		made.Signatures = append(made.Signatures, certificate.Signature{Key: m.c.Secrets[i].PublicKey(),
			Signature: m.c.Secrets[i].SignEnvelope(certificate.PayloadType, made.Payload)})
	}
	return m.fileOf(made)
}

// owned changes a field of the statement of one owner, who signs it again.
func (m *maker) owned() []byte {
	w := newWorld(m.t, m.r.Uint64N(4000))
	for w.s.Kind != certificate.Owner {
		w = newWorld(m.t, m.r.Uint64N(4000))
	}
	w.s.Domain = certificate.DomainThree
	b, err := w.s.Encode()
	if err != nil {
		m.t.Fatal(err)
	}
	var pair []any
	if err := cbor.Unmarshal(b, &pair); err != nil {
		m.t.Fatal(err)
	}
	if m.r.IntN(8) > 0 {
		pair[0] = changed(m.r, pair[0])
	} else {
		pair = changedList(m.r, pair)
	}
	payload := payloadOfPair(pair, encode(pair))
	return m.fileOf(&certificate.Certificate{Payload: payload, Signatures: []certificate.Signature{{
		Key: w.owner.PublicKey(), Signature: w.owner.SignEnvelope(certificate.PayloadType, payload)}}})
}

// payloadOfPair is the in-toto statement of one owner's certificate, as far as it has the fields for it.
func payloadOfPair(pair []any, encoded []byte) []byte {
	field := func(i int) []byte {
		if len(pair) > 0 {
			if s, ok := pair[0].([]any); ok && i < len(s) {
				b, _ := s[i].([]byte)
				return b
			}
		}
		return nil
	}
	instance := ""
	if len(pair) > 0 {
		if s, ok := pair[0].([]any); ok && len(s) > 4 {
			instance, _ = s[4].(string)
		}
	}
	return payloadOf(field(2), field(5), field(7), instance, encoded)
}

// payloadOf is the in-toto statement of a decision.
func payloadOf(council, question, answer []byte, instance string, encoded []byte) []byte {
	run := sha256.Sum256([]byte(instance))
	subject := sha256.Sum256(bytes.Join([][]byte{[]byte("synod/decision/3"), council, question, answer, run[:]}, nil))
	return fmt.Appendf(nil, `{"_type":"https://in-toto.io/Statement/v1","subject":[{"name":"decision","digest":`+
		`{"sha256":"%x"}}],"predicateType":"https://synod.dev/certificate/v3","predicate":{"cbor":"%s"}}`, subject,
		base64.StdEncoding.EncodeToString(encoded))
}

// merged is a certificate of a value that was merged, with a changed field.
func (m *maker) merged() []byte {
	m.c.Roster.Rule.Name = []string{"plurality", "majority"}[m.r.IntN(2)]
	var values [][]byte
	pad := ""
	if m.r.IntN(8) == 0 { // so long that the file has about as many bytes as it may have
		pad = strings.Repeat("x", (certificate.MaxSize-2000)*9/16/len(m.c.Secrets)-1000+m.r.IntN(1500))
	}
	for i := range m.c.Secrets {
		text := fmt.Appendf(nil, `{"a":%d,"b":%d,"c":"%s"}`, m.r.IntN(5)/4, m.r.IntN(5)/4, pad)
		values = append(values, text)
		m.c.First[i] = certificate.AnswerHash(string(text))
		m.c.Final[i] = m.c.First[i]
	}
	s, err := m.c.Statement(forge.Answer(0))
	if err != nil {
		m.t.Fatal(err)
	}
	s.Form, s.Merge = "json", &certificate.Merge{Schema: []byte(`{"type":"object"}`), Last: m.r.IntN(2) == 0,
		Values: values}
	if v, _ := s.Merged(); v.Value != nil {
		s.Answer = certificate.AnswerHash(v.Value.String())
	}
	m.s = s
	x := treeOf(m.t, s)
	if m.r.IntN(3) > 0 {
		if m.r.IntN(2) == 0 {
			x.fields[atMerge] = changed(m.r, x.fields[atMerge])
		} else {
			x.change(m.r)
		}
	}
	return x.file(m.c, m.signers())
}

func (m *maker) bytes() []byte {
	file := m.fileOf(m.genuine())
	_, file = mutateBytes(m.r, file)
	return file
}
