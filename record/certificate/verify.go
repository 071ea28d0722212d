package certificate

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/llm/structured"
)

// Report is what a valid certificate proves and what it does not.
type Report struct {
	Claims    []string           // what follows from the signatures and from arithmetic
	NotProved []string           // what a reader could expect, and does not follow
	Merged    *structured.Merged // the value that was merged again; nil: the decision is no merged value
	Warning   string             // why another certificate should be asked for; "": there is no reason
}

// Council is what a verifier knows of the council from elsewhere, such as a roster.
type Council struct {
	Hash       []byte // SHA-256 of the roster
	Three      bool   // its members sign statements of version 3 only
	IDs        []string
	Keys       [][]byte // by seat
	F          uint64
	Edges      [][2]uint64 // as in Graph
	Protocol   string
	Parameters string
}

// VoteBytes returns what a member of a roster signs about its own answers in a run, with
// the signer of its seat, which binds it to the instance and to all keys. first and final
// are AnswerHash of its answers.
func VoteBytes(council, question, first, final []byte) []byte {
	b := append([]byte("synod/vote/1"), council...)
	b = append(b, question...)
	for _, h := range [][]byte{first, final} {
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(h))), h...)
	}
	return b
}

// Verify checks a certificate as somebody does who knows nothing but the council, or not
// even that (nil). The error is about the first thing that is wrong. The report is complete
// only without an error.
func Verify(c *Certificate, council *Council) (Report, error) {
	return VerifyBy(sign.Ed25519, c, council)
}

// VerifyBy is Verify for simulations, whose keys may be symbolic.
func VerifyBy(keys sign.Keys, c *Certificate, council *Council) (Report, error) {
	s, r := c.Statement, Report{Claims: []string{}, NotProved: []string{}}
	steps := []func(*Report) error{
		func(*Report) error { return s.matches(council) },
		func(r *Report) error { return c.signers(keys, r) },
		func(r *Report) error { return s.votes(keys, r) },
		s.arithmetic, s.graphAndClaim,
	}
	for _, step := range steps {
		if err := step(&r); err != nil {
			return r, err
		}
	}
	s.notProved(&r, council)
	s.aboutDraw(&r)
	s.aboutChecks(&r)
	if !s.three() {
		r.Warning = s.older()
	}
	return r, nil
}

// older says what is wrong with a certificate of version 1 or 2.
func (s *Statement) older() string {
	const all = "it is a certificate of an earlier version: its in-toto subject names the answer and no question"
	if s.Kind == Owner {
		return all
	}
	return all + ", and who votes, roles, kinds of models, the rule, ledger and lateness are the word of who asked " +
		"for it. Two of one run can name different answers. Ask for one of version 3"
}

// matches compares the statement with the roster that the verifier has.
func (s *Statement) matches(c *Council) error {
	switch {
	case c == nil:
		return nil
	case s.Kind != Roster:
		return errors.New("certificate: it is of a council of one owner, which has no roster")
	case !bytes.Equal(s.Council, c.Hash):
		return fmt.Errorf("certificate: it is of the council %s, and the roster has the hash %s", short(s.Council),
			short(c.Hash))
	case c.Three && !s.three():
		return errors.New("certificate: it is of an earlier version, and the members of the roster sign version 3 " +
			"only: some of them have signed what no honest one signs")
	case s.drawn != nil:
		return nil // the hash is that of the terms, which say the rest
	case s.Faults.F != c.F, s.Protocol != c.Protocol, s.Parameters != c.Parameters,
		!slices.Equal(s.Graph.Edges, c.Edges),
		len(s.Members) != len(c.Keys), len(c.IDs) != len(c.Keys):
		return errors.New("certificate: its protocol, parameters, graph, F or number of members are not those of the " +
			"roster")
	}
	for i := range s.Members {
		if !bytes.Equal(s.Members[i].Key, c.Keys[i]) || s.Members[i].ID != c.IDs[i] {
			return fmt.Errorf("certificate: the roster has another name or key for seat %d", i)
		}
	}
	return nil
}

func short(hash []byte) string { return hex.EncodeToString(hash[:min(len(hash), 6)]) + "…" }

// signers checks the signatures under the statement.
func (c *Certificate) signers(keys sign.Keys, r *Report) error {
	s, last := c.Statement, -1
	for _, sig := range c.Signatures {
		at := slices.IndexFunc(s.Members, func(m Member) bool { return bytes.Equal(m.Key, sig.Key) })
		if s.Kind == Owner && bytes.Equal(sig.Key, s.Owner) {
			at = 0
		}
		switch {
		case at < 0:
			return fmt.Errorf("certificate: the key %s is not one of the council", short(sig.Key))
		case at <= last:
			return errors.New("certificate: its signers are not each once and in the order of seats")
		case s.Kind == Roster && !s.MaySign(at):
			return fmt.Errorf("certificate: member %q signs an answer that is not its own, or has no vote",
				s.Members[at].ID)
		case !keys.Envelope(sig.Key, PayloadType, c.Payload, sig.Signature):
			return fmt.Errorf("certificate: the signature of the key %s is not valid", short(sig.Key))
		}
		last = at
	}
	signed := uint64(len(c.Signatures))
	if s.terms != nil {
		return s.enough(signed, r)
	}
	switch {
	case s.Kind == Owner && signed != 1:
		return errors.New("certificate: the owner has not signed it")
	case s.Kind == Owner:
		r.Claims = append(r.Claims, "the owner of the key "+hex.EncodeToString(s.Owner)+" states all that follows")
	case signed <= s.Faults.F:
		return fmt.Errorf("certificate: %d members signed it; more than F = %d must", signed, s.Faults.F)
	default:
		r.Claims = append(r.Claims, fmt.Sprintf("%d of %d members signed this answer; more than F = %d are needed, so "+
			"that one of them is not Byzantine", signed, len(s.Members), s.Faults.F))
	}
	return nil
}

// votes checks the members' signatures under their own answers.
func (s *Statement) votes(by sign.Keys, r *Report) error {
	if s.Kind != Roster {
		return nil
	}
	keys := make([][]byte, len(s.Members))
	for i := range s.Members {
		if keys[i] = s.Members[i].Key; !sign.CheckKey(keys[i]) {
			return fmt.Errorf("certificate: everybody can sign for the key of member %q", s.Members[i].ID)
		}
	}
	committee, err := sign.NewCommittee(keys)
	if err != nil {
		return fmt.Errorf("certificate: %w", err)
	}
	check, signed := by.Run(committee, sign.Instance(s.Instance)), 0
	for i := range s.Members {
		m := &s.Members[i]
		switch {
		case len(m.Signature) > 0:
			if !check.Verify(synod.NodeID(i), VoteBytes(s.Council, s.Question, m.First, m.Final), m.Signature) {
				return fmt.Errorf("certificate: member %q has not signed its answers", m.ID)
			}
			signed++
		case len(m.First) > 0 || len(m.Final) > 0:
			return fmt.Errorf("certificate: member %q has answers that it has not signed", m.ID)
		}
	}
	r.Claims = append(r.Claims, fmt.Sprintf("%d of %d members signed their own first and last answers", signed,
		len(s.Members)))
	return nil
}

// arithmetic computes again what follows from the members' answers.
func (s *Statement) arithmetic(r *Report) error {
	if n := s.support(); n != s.Support {
		return fmt.Errorf("certificate: it states a support of %d, and %d members gave the answer first", s.Support, n)
	}
	if s.Merge != nil {
		return s.mergeArithmetic(r)
	}
	w := s.withstands()
	if (w == nil) != (s.Withstands == nil) || w != nil && *w != *s.Withstands {
		return errors.New("certificate: what the answer is said to withstand does not follow from the first answers")
	}
	if s.Support < s.Rule.Support {
		return fmt.Errorf("certificate: the rule asks for a support of %d, and it is %d", s.Rule.Support, s.Support)
	}
	votes, voters, yes, known := s.decided()
	if !yes {
		return fmt.Errorf("certificate: %d of %d voters end on the answer, which is not enough for the rule %.40q",
			votes, voters, s.Rule.Name)
	}
	r.Claims = append(r.Claims, fmt.Sprintf("%d of %d voters ended on the answer (rule %s); %d of %d members gave it "+
		"before they heard others", votes, voters, s.Rule.Name, s.Support, len(s.Members)))
	if _, hidden := s.voters(); s.terms != nil && hidden > 0 {
		r.NotProved = append(r.NotProved, fmt.Sprintf("what %d of %d voters ended on: who asked did not show their "+
			"answers, and under the rule %s they may have led to another", hidden, voters, s.Rule.Name))
	}
	if !known {
		r.NotProved = append(r.NotProved, "that the protocol's own step leads to the answer: only its journal shows "+
			"that")
	}
	if w != nil {
		r.Claims = append(r.Claims, fmt.Sprintf("the answer leads among the first answers whichever %d members are "+
			"left out, and whatever any %d say instead", w.Ignored, w.Changed))
	}
	return nil
}

// graphAndClaim computes the robustness of the graph again, and what the protocol
// guarantees on it. A certificate may claim less: rounds may have been too short.
func (s *Statement) graphAndClaim(r *Report) error {
	found, ok := s.robustnessOf()
	switch {
	case ok && (found < s.Graph.R || s.Graph.Exact && found != s.Graph.R):
		return fmt.Errorf("certificate: it states r = %d, and its graph has r = %d", s.Graph.R, found)
	case ok:
		r.Claims = append(r.Claims, fmt.Sprintf("the graph has %d edges and robustness r = %d, computed again",
			len(s.Graph.Edges), found))
	default:
		r.NotProved = append(r.NotProved, fmt.Sprintf("the robustness r = %d of the graph: it has more than %d nodes",
			s.Graph.R, exactNodes))
	}
	claim, known := ClaimOf(s.Protocol, s.Faults.F, s.Graph.R)
	switch {
	case s.Claim == None:
		r.NotProved = append(r.NotProved, "any guarantee: none is claimed for this run")
	case !known:
		r.NotProved = append(r.NotProved, fmt.Sprintf("the guarantee %q: this program does not know what protocol %q "+
			"guarantees with these parameters", s.Claim, s.Protocol))
	case claim != s.Claim:
		return fmt.Errorf("certificate: it claims %.40q, and protocol %.40q with F = %d and r = %d guarantees %q",
			s.Claim, s.Protocol, s.Faults.F, s.Graph.R, claim)
	default:
		r.Claims = append(r.Claims, fmt.Sprintf("guarantee %q of %s: at most F = %d Byzantine %s, synchronous rounds",
			s.Claim, s.Protocol, s.Faults.F, map[string]string{Global: "members",
				Local: "neighbours of each member"}[s.Faults.Model]))
	}
	return nil
}

// aboutChecks says which checks the answer passes.
func (s *Statement) aboutChecks(r *Report) {
	if len(s.Checks) == 0 {
		return
	}
	by := map[string]string{Owner: "the owner states", Roster: "each signer states"}[s.Kind]
	r.Claims = append(r.Claims, by+" that the answer passes the checks in code "+listed(s.Checks))
	r.NotProved = append(r.NotProved, "that these checks are what their names say: compare the SHA-256 of their "+
		"definitions")
}

// notProved adds what no certificate proves, and what this one does not.
func (s *Statement) notProved(r *Report, council *Council) {
	add := func(applies bool, format string, args ...any) {
		if applies {
			r.NotProved = append(r.NotProved, fmt.Sprintf(format, args...))
		}
	}
	simulated, adversaries, n := 0, 0, len(s.Members)
	for i := range s.Members {
		if s.Members[i].Kind == "simulated" {
			simulated++
		}
		if s.Members[i].Adversary != "" {
			adversaries++
		}
	}
	add(true, "that the answer is right")
	add(true, "that at most F members are Byzantine, and that no message was later than a round: both are assumptions")
	add(true, "that the named models gave the answers")
	add(s.Kind == Owner, "that the members answered as stated, and that they have separate owners: one owner signs "+
		"for all")
	add(s.Kind == Roster && council == nil, "that the keys belong to those whom you think of, and that they have "+
		"signed this roster: give it with --roster")
	add(simulated > 0, "anything about real models: %d of %d members were simulated", simulated, n)
	add(adversaries > 0, "anything about a council without adversaries: the experimenter put one at %d of %d seats",
		adversaries, n)
	add(s.Unsafe, "that members agree: messages seem to have been later than a round")
	add(s.terms == nil, "that there is no second certificate of this run with another answer")
	add(s.Ledger == nil && s.terms == nil, "that the decision is in a ledger: it names none")
	add(s.terms != nil, "that the decision is in a ledger, and when it was made: no certificate of a roster says so")
	add(s.Ledger != nil, "that the ledger has the decision: check the inclusion proof with synod operate ledger verify")
	add(s.Merge == nil, "that the hashes hide the answers: who guesses a short answer can check the guess")
}
