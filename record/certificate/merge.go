package certificate

import (
	"bytes"
	"errors"
	"fmt"

	"synod.dev/synod/internal/canonical"
	"synod.dev/synod/internal/compiled"
	"synod.dev/synod/llm/structured"
)

// DomainMerged begins a statement about a JSON value that was merged field by field.
const DomainMerged = "synod/certificate/2"

// Merge has what a value was merged from. The members have signed the hashes of their answers; the texts themselves
// are here, because only with them the merge can be computed again.
type Merge struct {
	_      struct{} `cbor:",toarray"`
	Schema []byte   // the JSON schema of the question
	Last   bool     // the last answers were merged, which members gave after they had heard others; else the first
	Values [][]byte // by seat: the answer that was merged, in full; empty: none
}

// mergedStatement is the encoding of a statement with a Merge.
type mergedStatement struct {
	_         struct{} `cbor:",toarray"`
	Statement *Statement
	Merge     *Merge
}

// checkedStatement is the encoding of a statement of version 3 that names checks.
type checkedStatement struct {
	_         struct{} `cbor:",toarray"`
	Domain    string   // domainChecks
	Statement []byte   // its encoding without them
	Checks    []Checked
}

const (
	domainChecks = "synod/checks/1"
	beginChecked = 0x83 // an array of 3
)

func decodeChecked(b []byte) (*Statement, error) {
	var c checkedStatement
	if err := canonical.Decode(b, MaxSize, &c); err != nil {
		return nil, err
	}
	if c.Domain != domainChecks || len(c.Checks) == 0 || bytes.HasPrefix(c.Statement, []byte{beginChecked}) {
		return nil, errors.New("it has the form of a statement with checks, and is none")
	}
	s, err := decodeStatement(c.Statement)
	if err == nil {
		s.Checks = c.Checks
	}
	return s, err
}

// encoded returns the encoding of a statement.
func (s *Statement) encoded() []byte {
	if len(s.Checks) == 0 {
		return s.encodedAlone()
	}
	return canonical.Encode(checkedStatement{Domain: domainChecks, Statement: s.encodedAlone(), Checks: s.Checks})
}

// encodedAlone is encoded without the checks.
func (s *Statement) encodedAlone() []byte {
	if s.drawn != nil {
		return canonical.Encode(drawnDecision{decision: s.decision(), Draw: s.drawn.proofs})
	}
	if s.terms != nil {
		return canonical.Encode(s.decision())
	}
	if s.three() || s.Merge != nil {
		return canonical.Encode(mergedStatement{Statement: s, Merge: s.Merge})
	}
	return canonical.Encode(s)
}

// pair is the first byte of a CBOR array of two, with which the encoding of a mergedStatement begins.
const pair = 0x82

func decodeStatement(b []byte) (s *Statement, err error) {
	if len(b) > 0 && b[0] == beginDecision {
		return decodeDecision(b)
	}
	if len(b) > 0 && b[0] == beginChecked {
		return decodeChecked(b)
	}
	if len(b) > 0 && b[0] == beginDrawn {
		return decodeDrawn(b)
	}
	if len(b) == 0 || b[0] != pair {
		s = new(Statement)
		return s, canonical.Decode(b, MaxSize, s)
	}
	var m mergedStatement
	if err := canonical.Decode(b, MaxSize, &m); err != nil {
		return nil, err
	}
	if m.Statement == nil || m.Merge == nil && !m.Statement.three() {
		return nil, errors.New("the statement or its merge is null")
	}
	m.Statement.Merge = m.Merge
	return m.Statement, nil
}

// checkMerge returns an error for a merge that no statement can have.
func (s *Statement) checkMerge() error {
	switch m := s.Merge; {
	case !s.three() && (m == nil) != (s.Domain == Domain):
		return fmt.Errorf("certificate: it begins with %s, which does not fit what it holds", s.Domain)
	case m == nil:
		return nil
	case s.Form != "json" || s.Rule.Name == "protocol":
		return errors.New("certificate: only JSON values are merged, and not by the rule protocol")
	case s.Rule.Support > uint64(len(s.Members)): // a merge counts up to it
		return fmt.Errorf("certificate: the rule asks for a support of %d, and there are %d members", s.Rule.Support,
			len(s.Members))
	case len(m.Values) != len(s.Members):
		return fmt.Errorf("certificate: it has %d values to merge, and %d members", len(m.Values), len(s.Members))
	case len(m.Schema) == 0 || len(m.Schema) > structured.MaxBytes:
		return fmt.Errorf("certificate: the schema has %d bytes; it must have between 1 and %d", len(m.Schema),
			structured.MaxBytes)
	}
	return nil
}

// Merged merges the members' answers again. It returns an error unless their texts have the hashes that the members
// signed, and the merge gives the certified value.
func (s *Statement) Merged() (structured.Merged, error) { return s.merged(false) }

// merged is Merged, also by parts alone, which was the rule of earlier certificates.
func (s *Statement) merged(parts bool) (structured.Merged, error) {
	var none structured.Merged
	schema, err := compiled.Schema(s.Merge.Schema)
	if err != nil {
		return none, fmt.Errorf("certificate: the schema: %w", err)
	}
	voters, in := 0, []structured.Given{}
	for i := range s.Members {
		m, text := &s.Members[i], s.Merge.Values[i]
		hash := m.First
		if s.Merge.Last {
			hash = m.Final
		}
		if !bytes.Equal(AnswerHash(string(text)), hash) {
			return none, fmt.Errorf("certificate: the value of member %q is not the answer whose hash it has", m.ID)
		}
		if !m.Voter {
			continue
		}
		voters++
		// An answer that does not follow the schema is none: a Byzantine member may sign any text.
		if v, err := structured.Parse(text); err == nil && schema.Validate(v) == nil {
			in = append(in, structured.Given{Seat: i, Value: schema.Canonical(v, false), Weight: 1})
		}
	}
	f := max(int(s.Faults.F), int(s.Rule.Support)-1)
	merged := schema.Merge(in, structured.Rule{F: f, Seats: voters, Need: s.Rule.need, Parts: parts})
	switch {
	case merged.Value == nil:
		return merged, fmt.Errorf("certificate: its members' answers give no value: %s", merged.Reason)
	case !bytes.Equal(AnswerHash(merged.Value.String()), s.Answer):
		return merged, errors.New("certificate: its members' answers give another value than it certifies")
	}
	return merged, nil
}

// need returns how many votes of so many seats a decision needs.
func (r Rule) need(seats int) int {
	switch r.Name {
	case "majority":
		return seats/2 + 1
	case "supermajority":
		return (2*seats + 2) / 3
	}
	return 1
}

// mergeWithstands returns what a merge withstands; nil where the answers were not independent.
func (s *Statement) mergeWithstands(m structured.Merged) *Withstands {
	if s.Merge.Last {
		return nil
	}
	return &Withstands{Ignored: uint64(m.Withstands.Ignored), Changed: uint64(m.Withstands.Changed)}
}

// mergedAsStated merges by the rule of today or, before version 3, by the earlier one, whichever gives what is stated.
func (s *Statement) mergedAsStated() (m structured.Merged, w *Withstands, err error) {
	rules := []bool{true, false}
	if s.three() {
		rules = rules[1:]
	}
	for _, parts := range rules {
		if m, err = s.merged(parts); err != nil {
			continue
		}
		w = s.mergeWithstands(m)
		if (w == nil) == (s.Withstands == nil) && (w == nil || *w == *s.Withstands) {
			return m, w, nil
		}
		err = errors.New("certificate: what the value is said to withstand does not follow from the answers")
	}
	return m, w, err
}

// mergeArithmetic computes the merge again.
func (s *Statement) mergeArithmetic(r *Report) error {
	m, w, err := s.mergedAsStated()
	if err != nil {
		return err
	}
	answers := 0
	for _, v := range s.Merge.Values {
		if len(v) > 0 {
			answers++
		}
	}
	which := "first"
	if s.Merge.Last {
		which = "last"
	}
	r.Merged = &m
	r.Claims = append(r.Claims, fmt.Sprintf("the value follows from the %s answers of %d of %d members, which are in "+
		"the certificate: merged field by field again (rule %s, F = %d)", which, answers, len(s.Members), s.Rule.Name,
		s.Faults.F), "the value is "+m.Value.String())
	for _, f := range m.Fields {
		r.Claims = append(r.Claims, describe(f, w != nil))
	}
	if w != nil {
		r.Claims = append(r.Claims, fmt.Sprintf("the value stays the same whichever %d members are left out, and "+
			"whatever any %d say instead", w.Ignored, w.Changed))
	}
	r.NotProved = append(r.NotProved, "that the parts of the value fit together: perhaps no member gave the whole",
		"that the members without an answer here gave none")
	return nil
}

// describe says how a part of a merged value was decided.
func describe(f structured.Field, independent bool) string {
	at := f.Path
	if at == "" {
		at = "the whole"
	}
	switch {
	case !f.Decided:
		return fmt.Sprintf("%s is left out: %s", at, f.Reason)
	case f.Absent:
		return fmt.Sprintf("%s is absent: %d members left it out", at, f.Support)
	case !independent || f.Withstands == nil:
		return fmt.Sprintf("%s is %s: %s of %d members", at, f.Value, f.How, f.Support)
	}
	return fmt.Sprintf("%s is %s: %s of %d members; withstands %d ignored, %d changed", at, f.Value, f.How, f.Support,
		f.Withstands.Ignored, f.Withstands.Changed)
}

// MaySign reports whether a member may sign the statement: it ended on the answer, or gave one of the answers from
// which the value was merged. Since version 3 only voters sign.
func (s *Statement) MaySign(seat int) bool {
	m := &s.Members[seat]
	switch {
	case s.three() && !m.Voter:
		return false
	case s.Merge != nil:
		return len(s.Merge.Values[seat]) > 0
	}
	return bytes.Equal(m.Final, s.Answer)
}
