// Package forge draws councils with rosters, and what a hostile caller and hostile seats make of one of their runs: the
// campaign looks for certificates that contradict each other with it, and tests of the verifiers take their files from
// it. Everything follows from a generator.
//
// The package has rank 4: it uses certificate.
package forge

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"synod.dev/synod"
	"synod.dev/synod/certificate"
	"synod.dev/synod/graph"
	"synod.dev/synod/graph/robustness"
	"synod.dev/synod/roster"
	"synod.dev/synod/sign"
)

// Council is a council with a run in which honest members may have ended on different answers.
type Council struct {
	Roster   *roster.Roster
	Secrets  []sign.Secret
	Hostile  []bool // by seat: at most F voters, and any others
	Instance string
	Question []byte
	First    [][]byte // by seat: hashes of answers
	Final    [][]byte
	rand     *rand.Rand
}

// Shape says what a council is like.
type Shape struct {
	Protocol string
	Rule     string
	Workers  int // members without a vote, which come first
	F        int
	First    []int // by seat: which answers they gave (Answer)
	Final    []int
}

// New draws a council, and what its members answered.
func New(r *rand.Rand) (*Council, error) {
	n := 1 + r.IntN(9)
	protocols := []string{"rotating-leader", "decentllms", "sac", "majority", "debate", "w-msr"}
	rules := []string{"plurality", "majority", "supermajority", "protocol"}
	s := Shape{Protocol: protocols[r.IntN(len(protocols))], Rule: rules[r.IntN(len(rules))], F: r.IntN(n/3 + 1)}
	if s.Protocol == "decentllms" {
		s.Workers = r.IntN(n)
	}
	agree := r.IntN(3) // of three councils, one agrees, and one nearly
	for range n {
		final := 0
		if agree == 2 || agree == 1 && r.IntN(4) == 0 {
			final = r.IntN(3)
		}
		first := final
		if r.IntN(3) == 0 {
			first = r.IntN(3)
		}
		s.First, s.Final = append(s.First, first), append(s.Final, final)
	}
	return Make(r, s)
}

// Make draws a council of a shape: keys, graph, kinds of models, and who is hostile.
func Make(r *rand.Rand, s Shape) (*Council, error) {
	c := &Council{rand: r, Instance: fmt.Sprintf("run-%x", r.Uint64()), Question: sum("question", r.Uint64())}
	c.Roster = &roster.Roster{Format: roster.Format, Name: "forge", F: uint64(s.F), Exact: true,
		Protocol: s.Protocol, Parameters: `{"rounds":4}`, Council: "council: forge\n", Think: 1000,
		Within: 200, Rule: roster.Rule{Name: s.Rule}, Faults: roster.Global, Links: roster.TLS,
		Ledger: roster.Ledger{Kind: roster.NoLedger}}
	if r.IntN(2) == 0 {
		c.Roster.Faults = roster.Local
	}
	for i := range s.Final {
		var seed [32]byte
		for k := range 4 {
			binary.BigEndian.PutUint64(seed[8*k:], r.Uint64())
		}
		secret, err := sign.Generate(rand.NewChaCha8(seed))
		if err != nil {
			return nil, err
		}
		c.Secrets = append(c.Secrets, secret)
		kind := []string{"endpoint", "simulated"}[r.IntN(2)]
		c.Roster.Members = append(c.Roster.Members, roster.Member{ID: fmt.Sprintf("m%d", i+1), Kind: kind,
			Key: secret.PublicKey(), Voter: i >= s.Workers, Addresses: []string{"localhost:7400"}})
		c.First, c.Final = append(c.First, Answer(s.First[i])), append(c.Final, Answer(s.Final[i]))
	}
	return c, c.draw(len(s.Final))
}

// draw adds the graph with its claim, and who is hostile.
func (c *Council) draw(n int) error {
	r := c.rand
	var edges [][2]int
	for a := range n {
		for b := a + 1; b < n; b++ {
			if b == a+1 || r.IntN(5) > 0 {
				edges = append(edges, [2]int{a, b})
				c.Roster.Edges = append(c.Roster.Edges, []uint64{uint64(a), uint64(b)})
			}
		}
	}
	g, err := graph.New(n, false, edges)
	if err != nil {
		return err
	}
	c.Roster.R = uint64(robustness.Find(g, nil).R)
	c.Roster.Guarantee, _ = certificate.ClaimOf(c.Roster.Protocol, c.Roster.F, c.Roster.R)
	c.Hostile = make([]bool, n)
	left := c.Roster.F
	for _, i := range r.Perm(n) {
		if voter := c.Roster.Members[i].Voter; voter && left > 0 || !voter && r.IntN(2) == 0 {
			c.Hostile[i] = true
			if voter {
				left--
			}
		}
	}
	return c.Roster.Validate()
}

// Answer returns the hash of one of a few answers.
func Answer(i int) []byte { return certificate.AnswerHash(fmt.Sprint(42 + i)) }

func sum(what string, x uint64) []byte {
	s := sha256.Sum256(fmt.Append(nil, what, x))
	return s[:]
}

// vote signs the answers of a seat in a run of a roster.
func (c *Council) vote(seat int, of *roster.Roster, instance string, question, first, final []byte) ([]byte, error) {
	secret := c.Secrets[seat]
	own, err := secret.Identity(synod.NodeID(seat), of.Committee(), sign.Instance(instance))
	if err != nil {
		return nil, err
	}
	hash := of.Hash()
	return own.Signer.Sign(certificate.VoteBytes(hash[:], question, first, final)), nil
}

// Statement returns the statement that an honest caller asks to be signed: about an answer, with all votes.
func (c *Council) Statement(answer []byte) (*certificate.Statement, error) {
	return c.About(answer, c.Roster, func(int) Ballot { return Ballot{} })
}

// Ballot is how a hostile caller shows the vote of a seat.
type Ballot struct {
	Hidden bool
	Other  []byte // another last answer than it had; nil: its own
}

// about returns a statement with votes as they are shown. A vote that is not a seat's own is signed only by hostile
// ones.
func (c *Council) About(answer []byte, of *roster.Roster, shown func(seat int) Ballot) (*certificate.Statement, error) {
	s := &certificate.Statement{Instance: c.Instance, Question: c.Question, Form: "number", Answer: answer}
	for i := range c.Secrets {
		b := shown(i)
		m := certificate.Member{First: []byte{}, Final: []byte{}, Signature: []byte{}}
		if !b.Hidden {
			m.First, m.Final = c.First[i], c.Final[i]
			var err error
			if m.Signature, err = c.vote(i, c.Roster, c.Instance, c.Question, m.First, m.Final); err != nil {
				return nil, err
			}
		}
		if b.Other != nil && !b.Hidden {
			m.Final = b.Other
			if c.Hostile[i] {
				var err error
				if m.Signature, err = c.vote(i, of, c.Instance, c.Question, m.First, m.Final); err != nil {
					return nil, err
				}
			}
		}
		s.Members = append(s.Members, m)
	}
	return s, s.SetRoster(of)
}

// Whole returns the certificate that all who may sign a statement have signed.
func (c *Council) Whole(s *certificate.Statement) (*certificate.Certificate, error) {
	payload, err := s.Payload()
	if err != nil {
		return nil, err
	}
	made := &certificate.Certificate{Statement: s, Payload: payload}
	for i, secret := range c.Secrets {
		if s.MaySign(i) {
			made.Signatures = append(made.Signatures, certificate.Signature{Key: secret.PublicKey(),
				Signature: secret.SignEnvelope(certificate.PayloadType, payload)})
		}
	}
	return made, nil
}
