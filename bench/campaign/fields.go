package campaign

import (
	"bytes"
	"math/rand/v2"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/internal/forge"
	"synod.dev/synod/internal/reference"
	"synod.dev/synod/record/certificate"
)

// fieldSubject makes certificates in which fields are false, and signs them with whatever keys it takes: a verifier
// must see the lie. Honest members are asked to sign them, too.
func fieldSubject() *subject {
	return pieceSubject(fieldName, .2, []string{"valid", "refused", "approved", "not approved", "of one owner",
		"agreement"}, playFields, claimFields, claimApproved)
}

// paper is a statement that is being written.
type paper struct {
	*forge.Council
	s     *certificate.Statement
	shown []reference.Shown
}

func playFields(p *piece) {
	r := rand.New(rand.NewPCG(p.rand.Uint64(), 2))
	shape := forge.Draw(r, 1+p.rand.IntN(6))
	shape.Symbolic = true
	c, err := forge.Make(r, shape)
	if err != nil {
		panic(err)
	}
	w := &paper{Council: c}
	p.terms(w)
	if !p.statement(w) {
		return // it cannot be written
	}
	p.verified(w)
	p.approved(w)
	if p.one(4) {
		p.owned(w)
	}
}

// terms draws what a roster states, not always the truth.
func (p *piece) terms(w *paper) {
	t := w.Roster
	t.Rule.Support = uint64(max(0, p.rand.IntN(5)-2))
	t.Exact = p.one(2)
	switch p.rand.IntN(8) {
	case 0:
		t.R++
	case 1:
		t.R = max(t.R, 1) - 1
	case 2:
		t.Guarantee = certificate.None
	case 3:
		t.Guarantee = "agreement"
	}
	if !p.one(3) {
		t.Guarantee, _ = certificate.ClaimOf(t.Protocol, t.F, t.R)
	}
}

// statement writes a statement about one of the last answers, in which votes are shown in any way.
func (p *piece) statement(w *paper) bool {
	n := len(w.Secrets)
	w.s = &certificate.Statement{Instance: w.Instance, Question: w.Question, Form: "number",
		Answer: w.Final[p.rand.IntN(n)]}
	w.shown = nil
	honest := p.one(2)
	for i := range n {
		m := certificate.Member{First: w.First[i], Final: w.Final[i]}
		v := reference.Shown{Voter: w.Roster.Members[i].Voter, Signed: true, Genuine: true}
		how := 0
		if !honest {
			how = p.rand.IntN(12)
		}
		signs := func() []byte { return w.vote(i, &m) }
		switch how {
		case 1:
			m.First, m.Final, v.Signed = []byte{}, []byte{}, false
		case 2:
			m.Final, v.Signed = []byte{}, false
		case 3:
			v.Signed = false
		case 4:
			m.Signature, v.Genuine = signs(), false
			m.Final = forge.Answer(7)
		case 5:
			m.Signature, v.Genuine = signs(), false
			m.First = forge.Answer(7)
		case 7:
			m.First, v.Signed = []byte{}, false
		case 6: // a hostile member signs other answers than it gave
			m.First, m.Final = forge.Answer(p.rand.IntN(3)), w.s.Answer
		}
		if m.Signature == nil && v.Signed {
			m.Signature = signs()
		}
		if m.Signature == nil {
			m.Signature = []byte{}
		}
		v.First, v.Final = string(m.First), string(m.Final)
		w.s.Members, w.shown = append(w.s.Members, m), append(w.shown, v)
	}
	err := w.s.SetRoster(w.Roster)
	p.Claim(claimFields, err == nil, "a statement cannot be written: %v", err)
	return err == nil
}

// vote signs the answers that are shown of a seat.
func (w *paper) vote(seat int, m *certificate.Member) []byte {
	hash := w.Roster.Hash()
	return w.Secrets[seat].SignRun(w.Roster.Committee(), sign.Instance(w.Instance), certificate.VoteBytes(hash[:],
		w.Question, m.First, m.Final))
}

// verified has some members sign, and compares whether the certificate is valid.
func (p *piece) verified(w *paper) {
	payload, err := w.s.Payload()
	if err != nil {
		p.Fail(claimFields, "a statement has no payload: %v", err)
		return
	}
	made := &certificate.Certificate{Payload: payload}
	var signers []int
	strict, most := !p.one(4), p.rand.Float64()
	for i, secret := range w.Secrets {
		may := w.shown[i].Voter && w.shown[i].Final == string(w.s.Answer)
		if strict && !may || p.rand.Float64() > 2*most {
			continue
		}
		for range 1 + p.rand.IntN(20)/19 { // seldom twice
			signers = append(signers, i)
			made.Signatures = append(made.Signatures, certificate.Signature{Key: secret.PublicKey(),
				Signature: secret.SignEnvelope(certificate.PayloadType, payload)})
		}
	}
	made.Statement = w.s
	file, err := made.File()
	if err == nil {
		made, err = certificate.Parse(file)
	}
	if p.Claim(claimFields, err == nil, "a certificate cannot be read again: %v", err); err != nil {
		return
	}
	want := w.twin(signers)
	p.State("valid", want.Valid())
	p.State("refused", !want.Valid())
	p.State("agreement", want.Agrees && want.Valid())
	_, err = certificate.VerifyBy(w.Keys, made, certificate.CouncilOf(w.Roster))
	p.Claim(claimFields, (err == nil) == want.Valid(), "a certificate is judged %v, and valid by the reference: %v: "+
		"%+v", err, want.Valid(), want)
}

// twin is the certificate for the reference.
func (w *paper) twin(signers []int) *reference.Certified {
	t := w.Roster
	c := &reference.Certified{Answer: string(w.s.Answer), F: int(t.F), Agrees: t.Guarantee == "agreement",
		Rule: reference.Rule{Name: t.Rule.Name, Support: int(t.Rule.Support)}, Shown: w.shown, Signers: signers,
		Graph: make(reference.Digraph, len(t.Members)), R: int(t.R), Exact: t.Exact, Claim: t.Guarantee}
	for _, e := range t.Edges {
		c.Graph[e[0]] |= 1 << e[1]
		c.Graph[e[1]] |= 1 << e[0]
	}
	c.Right, _ = certificate.ClaimOf(t.Protocol, t.F, t.R)
	return c
}

// approved asks a member to sign, that has a record of its own: mostly what the statement says.
func (p *piece) approved(w *paper) {
	seat := p.rand.IntN(len(w.Secrets))
	m := certificate.Member{First: w.First[seat], Final: w.Final[seat]}
	hash := w.Roster.Hash()
	own := &certificate.Own{Seat: seat, Council: certificate.CouncilOf(w.Roster), Instance: w.Instance,
		Question: w.Question, Form: "number", Keys: w.Keys, Signature: w.vote(seat, &m),
		Vote: certificate.VoteBytes(hash[:], w.Question, m.First, m.Final)}
	changed := true
	switch p.rand.IntN(8) {
	case 0:
		own.Instance = "another"
	case 1:
		own.Question = forge.Answer(1)
	case 2:
		own.Form = "text"
	default:
		changed = false
	}
	passes := p.checked(w, own)
	shown := w.shown[seat]
	twin := w.twin(nil)
	want := !changed && passes && shown.Signed && shown.First == string(m.First) && shown.Final == string(m.Final) &&
		shown.Voter && shown.Final == twin.Answer && twin.Follows()
	err := own.Approve(w.s)
	p.State("approved", want)
	p.State("not approved", !want)
	p.Claim(claimApproved, (err == nil) == want, "seat %d with the record %+v is asked to sign: %v; by the reference "+
		"%v: %+v", seat, own, err, want, twin)
}

// checked draws the checks that the answer passes by the member's word, and those that the statement names. It reports
// whether the member finds all of these among its own.
func (p *piece) checked(w *paper, own *certificate.Own) bool {
	if p.one(2) {
		return true
	}
	passed := []certificate.Checked{{Name: "short", Kind: "regex", Hash: hash32([]byte{1})},
		{Name: "positive", Kind: "cel", Hash: hash32([]byte{2})}}[:p.rand.IntN(3)]
	own.Checks = func(string) []certificate.Checked { return passed }
	w.s.Checks = slices.Clone(passed)
	if len(passed) == 0 {
		w.s.Checks = append(w.s.Checks, certificate.Checked{Name: "short", Kind: "regex", Hash: hash32([]byte{1})})
		return false
	}
	c := &w.s.Checks[p.rand.IntN(len(passed))]
	switch p.rand.IntN(6) {
	case 0:
		c.Name = "other"
	case 1:
		c.Kind = "schema"
	case 2:
		c.Hash = hash32([]byte{3})
	default:
		return true
	}
	return false
}

// owned has one owner certify, with a number that is mostly right.
func (p *piece) owned(w *paper) {
	p.State("of one owner", true)
	secret := logKeys[0]
	s := *w.s
	o := &certificate.Statement{Domain: certificate.DomainThree, Kind: certificate.Owner, Council: s.Council,
		Owner: secret.PublicKey(), Instance: s.Instance, Question: s.Question, Form: s.Form, Answer: s.Answer,
		Protocol: s.Protocol, Parameters: s.Parameters, Rule: s.Rule, Faults: s.Faults, Graph: s.Graph, Claim: s.Claim,
		Journal: []byte{}}
	var first []synod.Answer
	twin := w.twin(nil)
	for i := range s.Members {
		m := s.Members[i]
		m.Key, m.Signature = []byte{}, []byte{}
		o.Members, first = append(o.Members, m), append(first, synod.Answer(m.First))
		if bytes.Equal(m.First, s.Answer) {
			o.Support++
		}
		twin.Shown[i].Signed, twin.Shown[i].Genuine = true, true
	}
	plurality := reference.Rule{Name: "plurality"}
	if plurality.Wins(first, synod.Answer(s.Answer)) {
		ignored, changed := reference.Withstands(plurality, first, synod.Answer(s.Answer))
		o.Withstands = &certificate.Withstands{Ignored: uint64(ignored), Changed: uint64(changed)}
	}
	want := twin.Follows()
	switch lie := p.rand.IntN(8); {
	case lie == 0:
		o.Support++
		want = false
	case lie == 1 && o.Withstands != nil:
		o.Withstands.Ignored++
		want = false
	case lie == 2 && o.Withstands != nil:
		o.Withstands.Changed++
		want = false
	}
	c, err := certificate.Signed(o, secret)
	if err != nil {
		p.Fail(claimFields, "a statement of one owner cannot be written: %v", err)
		return
	}
	_, err = certificate.Verify(c, nil)
	p.Claim(claimFields, (err == nil) == want, "a certificate of one owner is judged %v, and by the reference %v: %+v "+
		"%+v", err, want, twin, o)
}
