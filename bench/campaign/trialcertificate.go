package campaign

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/council"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/llm"
	"synod.dev/synod/record/certificate"
)

var certificateTrials = []ClaimTrial{
	{Claim: claimOf("CE-1"), try: changedCertificates},
	{Claim: claimOf("CE-2"), try: falseStatements},
	{Claim: claimOf("CE-10"), try: shaped},
}

// run is a run of a council of simulated members that was drawn for a trial.
type run struct {
	council *council.Council
	ask     council.Ask
	outcome outcome.Outcome
}

// play has a council of simulated members decide a question. With a path it keeps a journal.
func (t *ClaimTried) play(path string) (r run, ok bool) {
	protocol := t.protocol()
	r.council, ok = t.convene(protocol, 4+t.Rand.IntN(3), "provider: simulated, ability: 0.9",
		"rule: {name: plurality}", llm.Env{})
	if !ok {
		return r, false
	}
	a, b := t.Rand.IntN(100), t.Rand.IntN(100)
	r.ask = council.Ask{Question: synod.Question{Text: fmt.Sprintf("What is %d + %d?", a, b), Form: synod.Number},
		Seed: t.Rand.Uint64(), Journal: path, Program: "claims"}
	var err error
	r.outcome, err = r.council.Decide(context.Background(), r.ask)
	return r, t.Need(err)
}

// secret draws a key.
func (t *ClaimTried) secret() (sign.Secret, bool) {
	b := sha256.Sum256(binary.BigEndian.AppendUint64(nil, t.Rand.Uint64()))
	s, err := sign.Generate(bytes.NewReader(b[:]))
	return s, t.Need(err)
}

// certify returns the statement of a decision and the key of the council's owner; false if there is no decision.
func (t *ClaimTried) certify() (s certificate.Statement, owner sign.Secret, ok bool) {
	folder, done := t.folder()
	if !done {
		return s, owner, false
	}
	defer t.remove(folder)
	r, ok := t.play(folder + "/run.jsonl")
	if r.council != nil {
		defer r.council.Close()
	}
	if !ok || r.outcome.Decision == synod.None {
		return s, owner, false
	}
	kept, err := journal.Load(folder + "/run.jsonl")
	if !t.Need(err) {
		return s, owner, false
	}
	if owner, ok = t.secret(); !ok {
		return s, owner, false
	}
	s, err = outcome.Owned(r.council.Plan(), outcome.InstanceOf(kept), &r.outcome, owner.PublicKey())
	return s, owner, t.Need(err)
}

// judge verifies a file as synod verify does.
func judge(file []byte) error {
	c, err := certificate.Parse(file)
	if err == nil {
		_, err = certificate.Verify(c, nil)
	}
	return err
}

// file returns the certificate of a statement.
func (t *ClaimTried) file(s *certificate.Statement, owner sign.Secret) (b []byte, ok bool) {
	c, err := certificate.Signed(s, owner)
	if t.Need(err) {
		b, err = c.File()
	}
	return b, t.Need(err)
}

func changedCertificates(t *ClaimTried) {
	s, owner, ok := t.certify()
	if !ok {
		return
	}
	file, ok := t.file(&s, owner)
	if !ok {
		return
	}
	err := judge(file)
	t.Check(err == nil, "a genuine certificate is refused: %v", err)
	for range 200 {
		bad, bit := bytes.Clone(file), t.Rand.IntN(8*len(file))
		bad[bit/8] ^= 1 << (bit % 8)
		t.Check(judge(bad) != nil, "the flip of bit %d is accepted in %q", bit, file)
		cut := t.Rand.IntN(len(file))
		t.Check(judge(file[:cut]) != nil, "the first %d bytes are accepted of %q", cut, file)
	}
	t.Check(judge(append(bytes.Clone(file), byte(t.Rand.Uint32()))) != nil, "a byte more is accepted after %q", file)
	stranger, ok := t.secret()
	if !ok {
		return
	}
	if other, ok := t.file(&s, stranger); ok {
		t.Check(judge(other) != nil, "the signature of a stranger is accepted under %q", file)
	}
}

func falseStatements(t *ClaimTried) {
	s, owner, ok := t.certify()
	if !ok {
		return
	}
	other := certificate.AnswerHash("another answer")
	lies := map[string]func(*certificate.Statement){
		"more support":      func(s *certificate.Statement) { s.Support++ },
		"less support":      func(s *certificate.Statement) { s.Support-- },
		"a better graph":    func(s *certificate.Statement) { s.Graph.R++ },
		"a worse graph":     func(s *certificate.Statement) { s.Graph.R-- },
		"a stronger claim":  func(s *certificate.Statement) { s.Claim = "agreement-and-truth" },
		"another answer":    func(s *certificate.Statement) { s.Answer = other },
		"a rule nobody met": func(s *certificate.Statement) { s.Rule.Support = 50 },
		"no voter": func(s *certificate.Statement) {
			s.Members = slices.Clone(s.Members)
			for i := range s.Members {
				s.Members[i].Voter = false
			}
		},
	}
	for name, lie := range lies {
		changed := s
		lie(&changed)
		c, err := certificate.Signed(&changed, owner)
		if err != nil {
			t.Executions++ // it cannot even be written
			continue
		}
		file, err := c.File()
		t.Check(err != nil || judge(file) != nil, "%s: accepted: %q", name, file)
	}
}
