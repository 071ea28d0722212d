package outcome

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm/read"
	"synod.dev/synod/protocol"
	"synod.dev/synod/record/certificate"
)

// Statement returns what a certificate of an outcome of this plan states. The caller adds
// who states it: Kind, Council and Owner, or the members' signatures and their roster
// (certificate.Statement.SetRoster), which then replaces all that is said of the council. It fails for an
// outcome without a decision: there is nothing to certify.
func Statement(p *plan.Plan, in plan.Instance, o *Outcome) (certificate.Statement, error) {
	if o.Decision == synod.None {
		return certificate.Statement{}, fmt.Errorf("council: there is no decision to certify: %s", o.Reason)
	}
	checked := in.Question // with the checks of the council file
	if err := cmp.Or(plan.CheckCertified(p, &in.Question), plan.Put(p, &checked)); err != nil {
		return certificate.Statement{}, err
	}
	parameters, err := json.Marshal(p.Protocol())
	if err != nil {
		return certificate.Statement{}, fmt.Errorf("council: encode the parameters of %s: %w", p.Entry().Name, err)
	}
	digest, err := hex.DecodeString(o.Digest)
	if err != nil {
		return certificate.Statement{}, fmt.Errorf("council: the digest of the run: %w", err)
	}
	s := certificate.Statement{
		Domain: certificate.DomainThree, Instance: string(p.InstanceID(in)),
		Question: QuestionHash(&in.Question), Form: string(in.Question.Form),
		Answer:   certificate.AnswerHash(string(o.Decision)),
		Protocol: p.Entry().Name, Parameters: string(parameters), Exact: p.Full().Exact,
		Rule:   certificate.Rule{Name: o.Rule.Name, Support: uint64(o.Rule.Support)},
		Faults: certificate.Faults{Model: plan.FaultModel(p), F: uint64(o.Bound.F)},
		Graph:  certificate.Graph{Edges: plan.CertifiedEdges(p), R: uint64(o.Bound.R), Exact: o.Bound.Exact},
		Claim:  o.Bound.Guarantee, Journal: digest, Checks: CertifiedChecks(&checked, o.Decision),
	}
	if o.Presented != nil {
		if t, ok := o.Presented.Value.(protocol.Timed); ok && t.TimingUnsafe() {
			s.Unsafe = true
		}
	}
	for i := range o.Members {
		m := certificate.Member{ID: p.Seats()[i].ID, Role: string(p.Seats()[i].Role), Kind: string(o.Members[i].Kind),
			Voter: !p.Seats()[i].NonVoting, First: hashOf(o.Members[i].First), Final: hashOf(o.Members[i].Final)}
		if o.Members[i].Adversary != nil {
			m.Adversary = *o.Members[i].Adversary
		}
		s.Members = append(s.Members, m)
	}
	if o.Fields != nil {
		s.Merge = mergeOf(&in.Question, o)
	}
	s.Fill()
	return s, nil
}

// CertifiedChecks returns the checks of a question that an answer passes, as certificates name them. That it passes the
// commands is not tried again.
func CertifiedChecks(q *synod.Question, a synod.Answer) (all []certificate.Checked) {
	if read.Failed(q, a) != nil {
		return nil
	}
	for i := range q.Checks {
		c := &q.Checks[i]
		definition, err := json.Marshal(c)
		if _, applies := read.Checked(q, c, a); !applies || err != nil {
			continue
		}
		hash := sha256.Sum256(definition)
		all = append(all, certificate.Checked{Name: c.Name, Kind: c.Kind(), Hash: hash[:]})
	}
	return all
}

// mergeOf returns what the value of an outcome was merged from.
func mergeOf(q *synod.Question, o *Outcome) *certificate.Merge {
	m := &certificate.Merge{Schema: SchemaOf(q), Last: o.Withstands == nil, Values: make([][]byte, len(o.Members))}
	for i := range o.Members {
		a := o.Members[i].First
		if m.Last {
			a = o.Members[i].Final
		}
		if a != nil {
			m.Values[i] = []byte(*a)
		}
	}
	return m
}

// SchemaOf returns the schema of a JSON question as a certificate has it: as encoding/json writes it, in which a
// question travels. Without a schema it is that which every value follows.
func SchemaOf(q *synod.Question) []byte {
	b, err := json.Marshal(q.Schema)
	if err != nil || len(q.Schema) == 0 { // Accepts refuses a schema that is not JSON
		return []byte("true")
	}
	return b
}

// QuestionHash returns the SHA-256 of a question's text, and of its options, a line "label)
// text" for each. If the question has more than that, a conversation for example, a zero byte and
// the question as JSON follow; its ID and its checks are not part of what was asked. The instance of a run, which
// signatures are bound to, is a hash of the checks too.
func QuestionHash(q *synod.Question) []byte {
	text := strings.Builder{}
	text.WriteString(q.Text)
	for _, o := range q.Options {
		fmt.Fprintf(&text, "\n%s) %s", o.Label, o.Text)
	}
	if q.Plain() {
		return certificate.AnswerHash(text.String())
	}
	all := *q
	all.ID, all.Checks = "", nil
	b, _ := json.Marshal(all) // it fails only for a schema that is not JSON, which Accepts refuses
	text.WriteByte(0)
	text.Write(b)
	return certificate.AnswerHash(text.String())
}

func hashOf(a *synod.Answer) []byte {
	if a == nil {
		return []byte{}
	}
	return certificate.AnswerHash(string(*a))
}

// Owned returns the statement of a council whose members all belong to the owner of a key.
func Owned(p *plan.Plan, in plan.Instance, o *Outcome, key []byte) (certificate.Statement, error) {
	s, err := Statement(p, in, o)
	if err != nil {
		return s, err
	}
	digest, err := hex.DecodeString(p.Digest())
	if err != nil {
		return s, fmt.Errorf("council: the digest of the plan: %w", err)
	}
	s.Kind, s.Council, s.Owner = certificate.Owner, digest, bytes.Clone(key)
	return s, nil
}
