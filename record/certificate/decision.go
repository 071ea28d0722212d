package certificate

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"synod.dev/synod/internal/canonical"
	"synod.dev/synod/network/roster"
)

// DomainThree begins every statement of version 3. In it nothing about the council is the word of who asked: a
// statement of a roster has the roster's terms, which its members have signed, and from them follow voters, roles,
// kinds, rule, graph, F, the quorum and what is simulated.
const DomainThree = "synod/certificate/3"

// decision is the encoding of a statement of version 3 about a council with a roster.
type decision struct {
	_        struct{} `cbor:",toarray"`
	Domain   string   // DomainThree
	Kind     string   // Roster
	Terms    []byte   // encoding of roster.Terms
	Rest     []byte   // SHA-256 of the rest of the roster
	Instance string
	Question []byte
	Form     string
	Answer   []byte
	Votes    []ballot // by seat
	Merge    *Merge   // nil: not merged
}

// ballot is what a member answered, and its signature under VoteBytes.
type ballot struct {
	_         struct{} `cbor:",toarray"`
	First     []byte
	Final     []byte
	Signature []byte
}

// beginDecision is the first byte of the encoding of a decision without a draw: an array of 10.
const beginDecision = 0x8a

// three reports whether the statement is of version 3.
func (s *Statement) three() bool { return s.Domain == DomainThree }

// SetRoster makes the statement one of version 3 about a run of a council with a roster. Whatever it said of the
// council is replaced by what the roster says. Members must have their answers and signatures, by seat.
func (s *Statement) SetRoster(r *roster.Roster) error { return s.setRoster(r, nil) }

func (s *Statement) setRoster(r *roster.Roster, proofs [][]byte) error {
	if r.Format != roster.Format {
		return fmt.Errorf("certificate: the roster has the format %s, which does not say who votes", r.Format)
	}
	terms, rest := r.Parts()
	d := decision{Domain: DomainThree, Kind: Roster, Terms: terms, Rest: rest[:], Instance: s.Instance,
		Question: s.Question, Form: s.Form, Answer: s.Answer, Merge: s.Merge}
	for i := range s.Members {
		m := &s.Members[i]
		d.Votes = append(d.Votes, ballot{First: m.First, Final: m.Final, Signature: m.Signature})
	}
	of, err := d.statement(proofs)
	if err == nil {
		of.Checks = s.Checks
		*s = *of
	}
	return err
}

// decision returns what of the statement is encoded.
func (s *Statement) decision() decision {
	d := decision{Domain: s.Domain, Kind: s.Kind, Terms: s.terms, Rest: s.rest, Instance: s.Instance,
		Question: s.Question, Form: s.Form, Answer: s.Answer, Merge: s.Merge}
	for i := range s.Members {
		m := &s.Members[i]
		d.Votes = append(d.Votes, ballot{First: m.First, Final: m.Final, Signature: m.Signature})
	}
	return d
}

// statement derives everything about the council from the roster's terms and, if these have a draw, from the proofs of
// its beacons.
func (d *decision) statement(proofs [][]byte) (*Statement, error) {
	t, err := roster.DecodeTerms(d.Terms)
	if err != nil {
		return nil, err
	}
	if len(d.Rest) != sha256.Size {
		return nil, errors.New("certificate: it has no SHA-256 of the roster's rest")
	}
	council := roster.HashOf(d.Terms, d.Rest)
	var of *drawn
	if t, of, err = d.draw(t, council[:], proofs); err != nil {
		return nil, err
	}
	if len(d.Votes) != len(t.Members) {
		return nil, fmt.Errorf("certificate: it has votes of %d members, and %d take part", len(d.Votes),
			len(t.Members))
	}
	s := &Statement{Domain: d.Domain, Kind: d.Kind, Council: council[:], Owner: []byte{}, Instance: d.Instance,
		Question: d.Question, Form: d.Form, Answer: d.Answer, Protocol: t.Protocol, Parameters: t.Parameters,
		Rule: Rule{Name: t.Rule.Name, Support: t.Rule.Support}, Faults: Faults{Model: t.Faults, F: t.F},
		Graph: Graph{R: t.R, Exact: t.Exact}, Claim: t.Guarantee, Journal: []byte{}, Merge: d.Merge,
		terms: d.Terms, rest: d.Rest, drawn: of}
	s.add(t, d.Votes)
	if err := s.check(); err != nil {
		return nil, err
	}
	s.Fill()
	return s, nil
}

// add adds graph and members of terms with the members' votes.
func (s *Statement) add(t *roster.Terms, votes []ballot) {
	for _, e := range t.Edges {
		s.Graph.Edges = append(s.Graph.Edges, [2]uint64{e[0], e[1]})
	}
	for i := range t.Members {
		m, v := &t.Members[i], &votes[i]
		s.Members = append(s.Members, Member{ID: m.ID, Role: m.Role, Kind: m.Kind, Adversary: m.Adversary,
			Voter: m.Voter, First: v.First, Final: v.Final, Key: m.Key, Signature: v.Signature})
	}
}

func decodeDecision(b []byte) (*Statement, error) {
	var d decision
	if err := canonical.Decode(b, MaxSize, &d); err != nil {
		return nil, err
	}
	return d.read(nil)
}

// read is statement for a decision that somebody else encoded.
func (d *decision) read(proofs [][]byte) (*Statement, error) {
	if d.Domain != DomainThree || d.Kind != Roster {
		return nil, errors.New("it has the form of a decision of a roster, and begins otherwise")
	}
	return d.statement(proofs)
}

// subject returns what the in-toto subject of version 3 hashes: it binds council, question, answer and run, so that a
// policy that asks for the subject of one question does not take the same answer to another.
func (s *Statement) subject() [sha256.Size]byte {
	run := sha256.Sum256([]byte(s.Instance))
	b := []byte("synod/decision/3")
	for _, part := range [][]byte{s.Council, s.Question, s.Answer, run[:]} {
		b = append(b, part...)
	}
	return sha256.Sum256(b)
}

// agrees reports whether the protocol guarantees that honest members end on one answer. Its certificate needs a Quorum.
func (s *Statement) agrees() bool { return s.Claim == "agreement" }

// Quorum returns how many of n voters must sign so that any two certificates of a run have a signer in common that is
// not Byzantine, if at most f of the voters are: ⌈(n+f+1)/2⌉. It may be more than n: then there is no certificate.
func Quorum(n, f uint64) uint64 { return (n+f)/2 + 1 }

// voters returns how many members vote, and how many voters' answers the statement does not have.
func (s *Statement) voters() (all, hidden uint64) {
	for i := range s.Members {
		if m := &s.Members[i]; m.Voter {
			all++
			if len(m.Signature) == 0 && s.Kind == Roster {
				hidden++
			}
		}
	}
	return all, hidden
}

// enough checks that so many signatures of voters make a certificate of version 3, and says what follows.
func (s *Statement) enough(signed uint64, r *Report) error {
	voters, _ := s.voters()
	f := s.Faults.F
	what := "that they ended on this answer"
	if s.Merge != nil {
		what = "that this value follows from the answers in the certificate"
	}
	if !s.agrees() {
		if signed <= f {
			return fmt.Errorf("certificate: %d voters signed it; more than F = %d must", signed, f)
		}
		r.Claims = append(r.Claims, fmt.Sprintf("%d of %d voters signed %s; more than F = %d are needed, so that "+
			"one of them is not Byzantine", signed, voters, what, f))
		r.NotProved = append(r.NotProved, fmt.Sprintf("that there is no second certificate of this run with another "+
			"answer: protocol %s does not guarantee agreement", s.Protocol))
		return nil
	}
	need := Quorum(voters, f)
	if signed < need {
		return fmt.Errorf("certificate: %d of %d voters signed it; %d must, so that two certificates of a run share a "+
			"signer that is not one of F = %d Byzantine ones", signed, voters, need, f)
	}
	r.Claims = append(r.Claims, fmt.Sprintf("%d of %d voters signed %s; %d are needed, so that any two certificates "+
		"of this run share a signer that is not Byzantine", signed, voters, what, need),
		fmt.Sprintf("no second certificate of version 3 of this run can name another answer, with at most F = %d "+
			"Byzantine voters, even if messages are late", f))
	return nil
}
