// Package forge draws councils with rosters, and what a hostile caller and hostile seats make of one of their runs: the
// campaign looks for certificates that contradict each other with it (Arena), and tests of the verifiers take their
// files from it. Everything follows from a generator.
//
// The package has rank 5.7: it uses certificate.
package forge

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/graph"
	"synod.dev/synod/graph/robustness"
	"synod.dev/synod/network/roster"
	"synod.dev/synod/record/certificate"
)

// Council is a council with a run in which honest members may have ended on different answers.
type Council struct {
	Roster   *roster.Roster
	Keys     sign.Keys // what checks signatures
	Secrets  []Key     // by seat
	Hostile  []bool    // by seat: at most F voters, and any others
	Instance string
	Question []byte
	First    [][]byte // by seat: hashes of answers
	Final    [][]byte
	rand     *rand.Rand
}

// Key signs for a member: a sign.Secret or a sign.Symbol.
type Key interface {
	PublicKey() []byte
	SignEnvelope(payloadType string, payload []byte) []byte
	SignRun(c sign.Committee, in sign.Instance, data []byte) []byte
}

// Shape says what a council is like.
type Shape struct {
	Symbolic bool // keys are symbolic
	Protocol string
	Rule     string
	Workers  int // members without a vote, which come first
	F        int
	First    []int // by seat: which answers they gave (Answer)
	Final    []int
}

// New draws a council with real keys, and what its members answered.
func New(r *rand.Rand) (*Council, error) { return Make(r, Draw(r, 1+r.IntN(mostMembers))) }

// mostMembers bounds councils that are drawn.
const mostMembers = 9

// Draw draws the shape of a council of n members.
func Draw(r *rand.Rand, n int) Shape {
	protocols := []string{"rotating-leader", "decentllms", "rotating-leader", "sac", "majority", "w-msr"}
	rules := []string{"plurality", "majority", "supermajority", "protocol"}
	s := Shape{Protocol: protocols[r.IntN(len(protocols))], Rule: rules[r.IntN(len(rules))], F: r.IntN(n/3 + 1)}
	if r.IntN(12) == 0 {
		s.F = r.IntN(n + 1) // a bound with which there may be no certificate at all
	}
	if s.Protocol == "decentllms" {
		s.Workers = r.IntN(n)
	}
	s.First, s.Final = answers(r, n)
	return s
}

// answers draws which answers n members gave. Of three councils, one agrees, and one nearly.
func answers(r *rand.Rand, n int) (first, final []int) {
	agree := r.IntN(3)
	for range n {
		last := 0
		if agree == 2 || agree == 1 && r.IntN(4) == 0 {
			last = r.IntN(3)
		}
		before := last
		if r.IntN(3) == 0 {
			before = r.IntN(3)
		}
		first, final = append(first, before), append(final, last)
	}
	return first, final
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
	c.Keys = sign.Ed25519
	if s.Symbolic {
		c.Keys = sign.NewSymbols()
	}
	for i := range s.Final {
		secret, err := c.newKey()
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

// newKey draws a key of the council's kind.
func (c *Council) newKey() (Key, error) {
	var seed [32]byte
	for k := range 4 {
		binary.BigEndian.PutUint64(seed[8*k:], c.rand.Uint64())
	}
	if symbols, ok := c.Keys.(*sign.Symbols); ok {
		return symbols.Key(seed[:]), nil
	}
	return sign.Generate(rand.NewChaCha8(seed))
}

// draw adds the graph with its claim, and who is hostile.
func (c *Council) draw(n int) error {
	r := c.rand
	for a := range n {
		for b := a + 1; b < n; b++ {
			if b == a+1 || r.IntN(5) > 0 {
				c.Roster.Edges = append(c.Roster.Edges, []uint64{uint64(a), uint64(b)})
			}
		}
	}
	c.Roster.R = robustnessOf(c.Roster)
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

// robustnessOf returns the robustness of a roster's graph.
func robustnessOf(r *roster.Roster) uint64 {
	edges := make([][2]int, len(r.Edges))
	for i, e := range r.Edges {
		edges[i] = [2]int{int(e[0]), int(e[1])}
	}
	g, err := graph.New(len(r.Members), false, edges)
	if err != nil {
		panic(err) // edges are drawn between seats
	}
	return uint64(robustness.Find(g, nil).R)
}

// Answer returns the hash of one of a few answers.
func Answer(i int) []byte { return certificate.AnswerHash(fmt.Sprint(42 + i)) }

func sum(what string, x uint64) []byte {
	s := sha256.Sum256(fmt.Append(nil, what, x))
	return s[:]
}

// vote signs the answers of a seat in a run of a roster.
func (c *Council) vote(seat int, of *roster.Roster, instance string, question, first, final []byte) []byte {
	hash := of.Hash()
	return c.Secrets[seat].SignRun(of.Committee(), sign.Instance(instance), certificate.VoteBytes(hash[:], question,
		first, final))
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

// About returns a statement with votes as they are shown. A vote that is not a seat's own is signed only by hostile
// ones.
func (c *Council) About(answer []byte, of *roster.Roster, shown func(seat int) Ballot) (*certificate.Statement, error) {
	s := &certificate.Statement{Instance: c.Instance, Question: c.Question, Form: "number", Answer: answer}
	for i := range c.Secrets {
		b := shown(i)
		m := certificate.Member{First: []byte{}, Final: []byte{}, Signature: []byte{}}
		if !b.Hidden {
			m.First, m.Final = c.First[i], c.Final[i]
			m.Signature = c.vote(i, c.Roster, c.Instance, c.Question, m.First, m.Final)
		}
		if b.Other != nil && !b.Hidden {
			m.Final = b.Other
			if c.Hostile[i] {
				m.Signature = c.vote(i, of, c.Instance, c.Question, m.First, m.Final)
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
