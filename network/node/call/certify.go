package call

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/network/link"
	"synod.dev/synod/network/roster"
	"synod.dev/synod/record/certificate"
)

// ToSign is the purpose of a stream on which a caller asks for a signature under a certificate.
const ToSign = "sign"

// Sign asks a member to sign the statement of a certificate about a run that it took part in.
type Sign struct {
	_         struct{} `cbor:",toarray"`
	Instance  string
	Statement []byte // encoding of a certificate.Statement
}

// Signed is the reply to a Sign.
type Signed struct {
	_         struct{} `cbor:",toarray"`
	Refused   string   // why the member does not sign; "": Signature is set
	Signature []byte
}

// MaxStatement bounds the encoding of a statement, in bytes.
const MaxStatement = certificate.MaxSize

// Answers returns the hashes of the first and the last answer of a seat, which it signs as its vote.
func Answers(r *outcome.Record) (first, final []byte) {
	first, final = []byte{}, []byte{}
	for _, o := range r.Opinions {
		hash := []byte{}
		if o.Answer != synod.None {
			hash = certificate.AnswerHash(string(o.Answer))
		}
		if o.Round == 0 {
			first = hash
		}
		final = hash
	}
	return first, final
}

// Vote returns what a member signs about its own answers in a run, with the signer of its seat.
func Vote(hash []byte, q *synod.Question, r *outcome.Record) []byte {
	first, final := Answers(r)
	return certificate.VoteBytes(hash, outcome.QuestionHash(q), first, final)
}

// Statement returns what the members certify about an outcome of this result. Of the council it says what the roster
// says.
func (r *Result) Statement(of *roster.Roster, p *plan.Plan, q synod.Question,
	o *outcome.Outcome) (certificate.Statement, error) {
	s, err := outcome.Statement(p, plan.Instance{Question: q}, o)
	if err != nil {
		return s, err
	}
	hash := of.Hash()
	s.Instance = string(r.Instance)
	check := of.Committee().Verifier(r.Instance)
	for i := range s.Members {
		m := &s.Members[i]
		f := r.Finals[i]
		if f == nil {
			m.First, m.Final = []byte{}, []byte{}
			continue
		}
		record, err := f.SeatRecord()
		if err != nil {
			return s, err
		}
		if !check.Verify(synod.NodeID(i), Vote(hash[:], &q, &record), f.Vote) {
			return s, fmt.Errorf("member %s has not signed its answers", m.ID)
		}
		m.First, m.Final = Answers(&record)
		if m.Signature = f.Vote; len(m.First)+len(m.Final) == 0 {
			m.Signature = []byte{}
		}
	}
	return s, s.SetRoster(of)
}

// Certify asks the members that hold the answer to sign a statement, and returns the certificate. It
// fails if no more than F sign.
func (c *Client) Certify(ctx context.Context, s *certificate.Statement) (*certificate.Certificate, error) {
	b, err := s.Encode()
	if err != nil {
		return nil, err
	}
	var wait sync.WaitGroup
	var mu sync.Mutex
	var signatures []certificate.Signature
	var refused error
	for i := range s.Members {
		if !s.MaySign(i) {
			continue
		}
		wait.Go(func() {
			sig, err := c.signature(ctx, synod.NodeID(i), Sign{Instance: s.Instance, Statement: b})
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				refused = errors.Join(refused, fmt.Errorf("%s: %w", s.Members[i].ID, err))
				return
			}
			signatures = append(signatures, certificate.Signature{Key: s.Members[i].Key, Signature: sig})
		})
	}
	wait.Wait()
	made, err := certificate.SignedBy(s, signatures)
	if err != nil {
		return nil, errors.Join(err, refused)
	}
	return made, nil
}

func (c *Client) signature(ctx context.Context, seat synod.NodeID, request Sign) ([]byte, error) {
	var reply Signed
	if err := c.request(ctx, seat, ToSign, request, MaxHello, &reply); err != nil {
		return nil, err
	}
	if reply.Refused != "" {
		return nil, errors.New(reply.Refused)
	}
	return reply.Signature, nil
}

// ReceiveSign reads the request of a caller.
func ReceiveSign(conn *link.Conn, limit time.Duration) (r Sign, s *certificate.Statement, err error) {
	if err = conn.Receive(MaxStatement, &r, limit); err != nil {
		return r, nil, err
	}
	s, err = certificate.DecodeStatement(r.Statement)
	return r, s, err
}

// OwnOf returns what a member knows of a run from its record: what it may sign a statement about.
func OwnOf(r *roster.Roster, seat synod.NodeID, q *synod.Question, f *Final) (*certificate.Own, error) {
	record, err := f.SeatRecord()
	if err != nil {
		return nil, err
	}
	own := &certificate.Own{Seat: int(seat), Council: certificate.CouncilOf(r), Instance: f.Instance,
		Question: outcome.QuestionHash(q), Form: string(q.Form), Schema: outcome.SchemaOf(q),
		Vote: Vote(f.Roster, q, &record), Signature: f.Vote}
	if n := len(record.Opinions); n > 0 {
		own.Answer = string(record.Opinions[n-1].Answer)
	}
	own.Checks = func(answer string) []certificate.Checked {
		return outcome.CertifiedChecks(q, synod.Answer(answer))
	}
	return own, nil
}
