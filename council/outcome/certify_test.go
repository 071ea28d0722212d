package outcome

import (
	"bytes"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/record/certificate"
)

// A statement has what was decided, by whom and under which claim.
func TestStatement(t *testing.T) {
	p, err := plan.New(parsed(t, `protocol: {name: sac, rounds: 2}
graph: {edges: [[2, 0], [0, 1], [3, 1], [2, 1], [3, 2], [0, 3]]}
rule: {name: supermajority, support: 2}
f: 1
models: {d: {provider: simulated}}
seats: [{id: a, model: d, count: 3}, {id: z, model: d, adversary: {name: silent}}]
`))
	if err != nil {
		t.Fatal(err)
	}
	in := plan.Instance{Question: synod.Question{Text: "Which?", Form: synod.Choice,
		Options: []synod.Option{{Label: "A", Text: "x"}, {Label: "B", Text: "y"}}}, Seed: 4}
	o := Judge(p, in, []Record{notes(0, "A", "A"), notes(1, "A", "A"), notes(2, "B", "A")})
	o.Digest = "0102"
	s, err := Owned(p, in, &o, []byte{7})
	if err != nil {
		t.Fatal(err)
	}
	digest, _ := hex.DecodeString(p.Digest())
	if s.Kind != certificate.Owner || !bytes.Equal(s.Owner, []byte{7}) || !bytes.Equal(s.Council, digest) ||
		!bytes.Equal(s.Journal, []byte{1, 2}) || s.Instance != string(p.InstanceID(in)) {
		t.Errorf("who states it: %+v", s)
	}
	if s.Protocol != "sac" || !strings.Contains(s.Parameters, `"rounds":2`) || s.Form != "choice" ||
		s.Rule.Support != 2 ||
		s.Rule.Name != plan.Supermajority || s.Support != 2 || s.Claim != o.Bound.Guarantee || s.Unsafe {
		t.Errorf("what was run: %+v", s)
	}
	if s.Faults != (certificate.Faults{Model: certificate.Local, F: 1}) || s.Graph.R != uint64(o.Bound.R) ||
		!slices.Equal(s.Graph.Edges, [][2]uint64{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}) {
		t.Errorf("the claim: %+v, %+v", s.Faults, s.Graph)
	}
	if !bytes.Equal(s.Answer, certificate.AnswerHash("A")) ||
		!bytes.Equal(s.Question, certificate.AnswerHash("Which?\nA) x\nB) y")) {
		t.Errorf("the hashes of question and answer: %x, %x", s.Question, s.Answer)
	}
	for i, m := range s.Members {
		first, final := certificate.AnswerHash("A"), certificate.AnswerHash("A")
		adversary := ""
		switch i {
		case 2:
			first = certificate.AnswerHash("B")
		case 3:
			first, final, adversary = nil, nil, "silent"
		}
		if m.ID != p.Seats()[i].ID || m.Kind != "simulated" || !m.Voter || m.Adversary != adversary ||
			!bytes.Equal(m.First, first) || !bytes.Equal(m.Final, final) {
			t.Errorf("member %d: %+v", i, m)
		}
	}
	o.Digest = "no digest"
	if _, err := Statement(p, in, &o); err == nil {
		t.Error("a digest that is none is certified")
	}
	none := Judge(p, in, []Record{notes(0, "A"), notes(1, "B")})
	if _, err := Owned(p, in, &none, nil); err == nil || !strings.Contains(err.Error(),
		"no decision to certify: only 2") {
		t.Errorf("no decision: %v", err)
	}
}

// What F bounds depends on the protocol: neighbours where the claim is about the graph.
func TestFaultModels(t *testing.T) {
	for text, want := range map[string]string{
		"protocol: {name: sac}": certificate.Local, "protocol: {name: majority}": certificate.Global,
		"protocol: {name: game}": certificate.Global, "protocol: {name: w-msr}": certificate.Local,
	} {
		if got := plan.FaultModel(planOf(t, 4, text+"\n")); got != want {
			t.Errorf("%s: F bounds %s, want %s", text, got, want)
		}
	}
}
