package certificate

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
)

// Domain begins every statement. It names this format and its version.
const Domain = "synod/certificate/1"

// The kinds of certificates.
const (
	Owner  = "owner"  // one owner runs all members and signs alone
	Roster = "roster" // every member has an owner and a key of its own, in a roster
)

// The models of faults that the bound F is about (reliability.md 2.1).
const (
	Global = "S" // at most F members in all are Byzantine, in synchronous rounds
	Local  = "L" // at most F neighbours of each member are Byzantine, in synchronous rounds
)

// Statement is what the signers of a certificate state. It is encoded in CBOR, core
// deterministic encoding, every struct as an array in the order of its fields.
type Statement struct {
	_          struct{}    `cbor:",toarray"`
	Domain     string      // DomainThree; before: Domain, or DomainMerged with a Merge
	Kind       string      // Owner or Roster
	Council    []byte      // SHA-256: the hash of the roster, or of the plan of the one owner's council
	Owner      []byte      // with Owner: the owner's Ed25519 key; else empty
	Instance   string      // identifies the run; signatures of votes are bound to it
	Question   []byte      // SHA-256 of the question (QuestionHash)
	Form       string      // how answers were read
	Answer     []byte      // SHA-256 of the canonical answer (AnswerHash)
	Protocol   string      // its name
	Parameters string      // of the protocol, as JSON
	Exact      string      // "" or "paper"
	Rule       Rule        //
	Faults     Faults      // that are claimed to be tolerated
	Graph      Graph       //
	Claim      string      // the name of what the protocol guarantees; "none"
	Members    []Member    // by seat
	Support    uint64      // members that gave the answer in round 0, before they heard others
	Withstands *Withstands // nil: the answer does not lead among the first answers, or last answers were merged
	Unsafe     bool        // messages seem to have been later than the model of faults allows
	Journal    []byte      // SHA-256 of the run's events and effects; empty: none was kept
	Ledger     *Head       // of the ledger that has the decision; nil: none
	Merge      *Merge      `cbor:"-"` // what a JSON value was merged from; nil: not merged
	Checks     []Checked   `cbor:"-"` // of version 3: what the answer passes

	terms, rest []byte // of version 3 with Roster: the roster's terms, and the hash of its rest
	drawn       *drawn // nil: all members of the roster take part
}

// Rule is the rule that made final answers a decision.
type Rule struct {
	_       struct{} `cbor:",toarray"`
	Name    string   // plurality, majority, supermajority or protocol
	Support uint64   // the support that it asked for; 0: none
}

// Faults is the claimed bound.
type Faults struct {
	_     struct{} `cbor:",toarray"`
	Model string   // Global or Local
	F     uint64
}

// Graph says who heard whom: undirected edges between seats, each once, lower seat first, ascending.
type Graph struct {
	_     struct{} `cbor:",toarray"`
	Edges [][2]uint64
	R     uint64 // its robustness; a proven lower bound if Exact is false
	Exact bool
}

// Member is one seat and what it answered.
type Member struct {
	_         struct{} `cbor:",toarray"`
	ID        string
	Role      string // "" in a protocol without roles
	Kind      string // of its model: endpoint, embedded, recorded, simulated
	Adversary string // "" unless the experimenter put one there
	Voter     bool   // its final answer counts
	First     []byte // AnswerHash of its answer of round 0, its commitment; empty: none
	Final     []byte // AnswerHash of its last answer; empty: none
	Key       []byte // its Ed25519 key; empty with Owner
	Signature []byte // its own, under VoteBytes; empty: it did not sign, or Owner
}

// Withstands counts the members that the decision does not depend on: the plurality of
// the first answers stays the answer whichever Ignored members are left out, and
// whatever any Changed members say instead.
type Withstands struct {
	_       struct{} `cbor:",toarray"`
	Ignored uint64
	Changed uint64
}

// Head is the head of a ledger.
type Head struct {
	_    struct{} `cbor:",toarray"`
	Log  string   // names the ledger
	Size uint64   // entries
	Root []byte   // SHA-256 of its Merkle tree
}

// Limits of a statement, so that a verifier does bounded work.
const (
	MaxSize    = 1 << 20 // bytes of a certificate
	maxMembers = 1000
	maxText    = 256 // bytes of a name
	maxParams  = 64 << 10
)

// AnswerHash returns the SHA-256 of a canonical answer's bytes; empty for no answer.
func AnswerHash(answer string) []byte {
	if answer == "" {
		return []byte{}
	}
	h := sha256.Sum256([]byte(answer))
	return h[:]
}

// Encode checks the statement and returns its one encoding.
func (s *Statement) Encode() ([]byte, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	return s.encoded(), nil
}

// DecodeStatement reads exactly what Encode returns.
func DecodeStatement(b []byte) (*Statement, error) {
	s, err := decodeStatement(b)
	if err != nil {
		return nil, fmt.Errorf("certificate: the statement is not what versions 1 to 3 encode: %w", err)
	}
	return s, s.check()
}

// check returns an error for the first field that no statement can have. It looks at the
// shape only; Verify checks what the fields say.
func (s *Statement) check() error {
	hash := func(b []byte) bool { return len(b) == sha256.Size }
	switch {
	case s.Domain != Domain && s.Domain != DomainMerged && !s.three():
		return fmt.Errorf("certificate: it begins with %.40q; this program reads %q, %q and %q", s.Domain, DomainThree,
			Domain, DomainMerged)
	case len(s.Checks) > 0 && !s.three():
		return errors.New("certificate: a statement of an earlier version names checks")
	case s.three() && (s.Kind == Roster) != (s.terms != nil):
		return errors.New("certificate: a statement of version 3 has the terms of a roster if, and only if, its " +
			"kind is roster")
	case s.Kind != Owner && s.Kind != Roster:
		return fmt.Errorf("certificate: its kind is %.40q; it must be %s or %s", s.Kind, Owner, Roster)
	case !hash(s.Council) || !hash(s.Question) || !hash(s.Answer):
		return errors.New("certificate: the hash of the council, the question or the answer is not a SHA-256")
	case s.Kind == Owner && len(s.Owner) != 32 || s.Kind == Roster && len(s.Owner) != 0:
		return errors.New("certificate: it must have the owner's key if, and only if, one owner signs")
	case len(s.Journal) != 0 && !hash(s.Journal):
		return errors.New("certificate: the digest of the journal is not a SHA-256")
	case s.Ledger != nil && (!hash(s.Ledger.Root) || s.Ledger.Size == 0):
		return errors.New("certificate: the head of the ledger has no entry or no SHA-256")
	case s.Faults.Model != Global && s.Faults.Model != Local:
		return fmt.Errorf("certificate: the model of faults is %.40q; it must be %s or %s", s.Faults.Model, Global,
			Local)
	case len(s.Members) == 0 || len(s.Members) > maxMembers:
		return fmt.Errorf("certificate: %d members; there must be between 1 and %d", len(s.Members), maxMembers)
	case s.Faults.F > uint64(len(s.Members)):
		return fmt.Errorf("certificate: F is %d with %d members", s.Faults.F, len(s.Members))
	case len(s.Parameters) > maxParams:
		return fmt.Errorf("certificate: the parameters have %d bytes; at most %d are allowed", len(s.Parameters),
			maxParams)
	}
	texts := []string{s.Instance, s.Form, s.Protocol, s.Exact, s.Rule.Name, s.Claim}
	if s.Ledger != nil {
		texts = append(texts, s.Ledger.Log)
	}
	for _, text := range texts {
		if len(text) > maxText {
			return fmt.Errorf("certificate: a name has %d bytes; at most %d are allowed", len(text), maxText)
		}
	}
	for i := range s.Members {
		if err := s.Members[i].check(s.Kind); err != nil {
			return fmt.Errorf("certificate: seat %d: %w", i, err)
		}
	}
	if err := cmp.Or(s.checkMerge(), validChecks(s.Checks, s.Kind == Owner)); err != nil {
		return err
	}
	return s.Graph.check(len(s.Members))
}

func (m *Member) check(kind string) error {
	for _, text := range []string{m.ID, m.Role, m.Kind, m.Adversary} {
		if len(text) > maxText {
			return fmt.Errorf("a name has %d bytes; at most %d are allowed", len(text), maxText)
		}
	}
	for _, h := range [][]byte{m.First, m.Final} {
		if len(h) != 0 && len(h) != sha256.Size {
			return errors.New("the hash of an answer is not a SHA-256")
		}
	}
	switch {
	case kind == Owner && (len(m.Key) != 0 || len(m.Signature) != 0):
		return errors.New("it has a key or a signature, and one owner signs for all")
	case kind == Roster && len(m.Key) != 32:
		return errors.New("it has no Ed25519 key")
	case len(m.Signature) != 0 && len(m.Signature) != 64:
		return errors.New("its signature is not an Ed25519 signature")
	}
	return nil
}

func (g *Graph) check(n int) error {
	last := [2]uint64{}
	for i, e := range g.Edges {
		if e[0] >= e[1] || e[1] >= uint64(n) || i > 0 && (e[0] < last[0] || e[0] == last[0] && e[1] <= last[1]) {
			return errors.New("certificate: the edges of the graph are not each once, between seats, and ascending")
		}
		last = e
	}
	return nil
}
