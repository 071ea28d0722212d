package certificate_test

import (
	"encoding/base64"
	"encoding/json"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod/internal/forge"
	"synod.dev/synod/internal/golden"
	"synod.dev/synod/network/roster"
	"synod.dev/synod/record/certificate"
)

// vector is a file that all verifiers of version 3 must judge alike. Rule is the rule of
// docs/operate/certificates.md that it is about.
type vector struct {
	Name   string `json:"name"`
	Rule   string `json:"rule"`
	Valid  bool   `json:"valid"`
	Second bool   `json:"no_second_certificate"` // it says that there is no second certificate of the run
	File   string `json:"file"`                  // in base64
}

const vectorsPath = "testdata/vectors-3.json"

// noSecond is how a report says that two certificates of a run cannot differ.
const noSecond = "no second certificate of version 3 of this run"

// fiveAndTwo returns a council in which five members hold answer 0 and two hold answer 1.
func fiveAndTwo(t *testing.T, protocol string, workers int) *forge.Council {
	t.Helper()
	s := forge.Shape{Protocol: protocol, Rule: "protocol", Workers: workers, F: 1, First: []int{0, 0, 0, 1, 0, 0, 1},
		Final: []int{0, 0, 0, 0, 0, 1, 1}}
	if protocol == "majority" {
		s.Rule = "majority"
	}
	c, err := forge.Make(rand.New(rand.NewPCG(7, 0x7ec)), s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// scene makes files of one council.
type scene struct {
	t *testing.T
	*forge.Council
}

// statement is one that a caller writes, of a roster that the caller may have changed.
func (s scene) statement(answer int, of *roster.Roster, hide ...int) *certificate.Statement {
	s.t.Helper()
	made, err := s.About(forge.Answer(answer), of, func(seat int) forge.Ballot {
		return forge.Ballot{Hidden: slices.Contains(hide, seat)}
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return made
}

// signedBy is the file with signatures of seats, whether they may sign or not.
func (s scene) signedBy(st *certificate.Statement, seats ...int) []byte {
	s.t.Helper()
	payload, err := st.Payload()
	if err != nil {
		s.t.Fatal(err)
	}
	return s.enveloped(payload, seats...)
}

func (s scene) enveloped(payload []byte, seats ...int) []byte {
	c := &certificate.Certificate{Payload: payload}
	for _, i := range seats {
		c.Signatures = append(c.Signatures, certificate.Signature{Key: s.Secrets[i].PublicKey(),
			Signature: s.Secrets[i].SignEnvelope(certificate.PayloadType, payload)})
	}
	file, err := c.File()
	if err != nil {
		s.t.Fatal(err)
	}
	return file
}

// changed returns the council's roster with a change that no member has agreed to.
func (s scene) changed(change func(r *roster.Roster)) *roster.Roster {
	r := *s.Roster
	r.Members = slices.Clone(r.Members)
	change(&r)
	return &r
}

func decisions(t *testing.T) (all []vector) {
	add := func(name, rule string, valid, second bool, file []byte) {
		all = append(all, vector{name, rule, valid, second, base64.StdEncoding.EncodeToString(file)})
	}
	leader := scene{t, fiveAndTwo(t, "rotating-leader", 0)} // 7 voters, F = 1: the quorum is 5
	vote := scene{t, fiveAndTwo(t, "majority", 0)}
	llms := scene{t, fiveAndTwo(t, "decentllms", 3)} // three workers, four voters: the quorum is 3
	add("a quorum of a protocol with agreement", "Q1", true, true,
		leader.signedBy(leader.statement(0, leader.Roster), 0, 1, 2, 3, 4))
	add("one signature less than the quorum", "Q1", false, false,
		leader.signedBy(leader.statement(0, leader.Roster), 0, 1, 2, 3))
	add("the other answer, by all who hold it", "Q1", false, false,
		leader.signedBy(leader.statement(1, leader.Roster), 5, 6))
	add("the other answer, the votes of the five hidden", "Q1", false, false,
		leader.signedBy(leader.statement(1, leader.Roster, 0, 1, 2, 3, 4), 5, 6))
	add("a majority, which does not guarantee agreement", "Q2", true, false,
		vote.signedBy(vote.statement(0, vote.Roster), 0, 1))
	add("a majority with F signatures", "Q2", false, false, vote.signedBy(vote.statement(0, vote.Roster), 0))
	add("a minority under the rule majority", "T2", false, false, vote.signedBy(vote.statement(1, vote.Roster), 5, 6))
	add("a minority under the rule majority, the others hidden", "T2", false, false,
		vote.signedBy(vote.statement(1, vote.Roster, 0, 1, 2, 3, 4), 5, 6))
	only := func(voters ...int) func(r *roster.Roster) {
		return func(r *roster.Roster) {
			for i := range r.Members {
				r.Members[i].Voter = slices.Contains(voters, i)
			}
		}
	}
	add("false voters: only the two of the minority", "D1", false, false,
		vote.signedBy(vote.statement(1, vote.changed(only(5, 6)), 0, 1, 2, 3, 4), 5, 6))
	add("false voters: only the five of the majority", "D1", false, false,
		vote.signedBy(vote.statement(0, vote.changed(only(0, 1, 2, 3, 4))), 0, 1, 2, 3, 4))
	add("workers sign a decision", "S2", false, false, llms.signedBy(llms.statement(0, llms.Roster), 0, 1, 3, 4))
	add("two workers and one evaluator sign the other answer", "S2", false, false,
		llms.signedBy(llms.statement(1, llms.Roster), 0, 1, 5))
	add("voters of DecentLLMs below their quorum", "Q1", false, false, llms.signedBy(llms.statement(0,
		llms.Roster), 3, 4))
	kinds := func(r *roster.Roster) {
		for i := range r.Members {
			r.Members[i].Kind = "endpoint"
		}
	}
	add("invented kinds of models", "D1", false, false,
		leader.signedBy(leader.statement(0, leader.changed(kinds)), 0, 1, 2, 3, 4))
	for _, lie := range []struct {
		name   string
		change func(r *roster.Roster)
	}{
		{"F is 0", func(r *roster.Roster) { r.F = 0 }},
		{"another rule", func(r *roster.Roster) { r.Rule.Name = "plurality" }},
		{"a guarantee that was not agreed", func(r *roster.Roster) { r.Guarantee = "none" }},
		{"another role", func(r *roster.Roster) { r.Members[0].Role = "judge" }},
	} {
		add("the caller writes: "+lie.name, "D1", false, false,
			leader.signedBy(leader.statement(0, leader.changed(lie.change)), 0, 1, 2, 3, 4))
	}
	false_ := leader.changed(func(r *roster.Roster) { r.R++ })
	for i := range leader.Secrets { // they all sign that roster: its terms refute it
		leader.Hostile[i] = true
	}
	own := *leader.Council
	own.Roster = false_
	add("a robustness that the graph does not have, signed by all", "G1", false, false,
		scene{t, &own}.signedBy(scene{t, &own}.statement(0, false_), 0, 1, 2, 3, 4))
	st := leader.statement(0, leader.Roster)
	st.Members[0].Signature = st.Members[1].Signature
	add("the vote of one member shown as that of another", "V1", false, false, leader.signedBy(st, 0, 1, 2, 3, 4))
	st = leader.statement(0, leader.Roster)
	st.Members[5].Final = forge.Answer(0)
	add("another last answer than the member signed", "V1", false, false, leader.signedBy(st, 0, 1, 2, 3, 4))
	st = leader.statement(0, leader.Roster)
	st.Question = certificate.AnswerHash("another question")
	add("another question than the votes are about", "V1", false, false, leader.signedBy(st, 0, 1, 2, 3, 4))
	st = leader.statement(0, leader.Roster)
	st.Instance += "x"
	add("another run than the votes are about", "V1", false, false, leader.signedBy(st, 0, 1, 2, 3, 4))
	payload, err := leader.statement(0, leader.Roster).Payload()
	if err != nil {
		t.Fatal(err)
	}
	subject := strings.Replace(string(payload), `"name":"decision"`, `"name":"answer"`, 1)
	add("the in-toto subject of earlier versions", "E2", false, false, leader.enveloped([]byte(subject), 0, 1, 2, 3, 4))
	return slices.Concat(all, unusual(t, leader, vote), drawn(t), withChecks(t, vote))
}

// unusual are vectors that only those write who have all keys.
func unusual(t *testing.T, leader, vote scene) (all []vector) {
	add := func(name, rule string, valid, second bool, file []byte) {
		all = append(all, vector{name, rule, valid, second, base64.StdEncoding.EncodeToString(file)})
	}
	five := []int{0, 1, 2, 3, 4}
	agreed := func(of scene, change func(r *roster.Roster)) []byte {
		own := *of.Council
		own.Roster = of.changed(change)
		return scene{t, &own}.signedBy(scene{t, &own}.statement(0, own.Roster), five...)
	}
	add("a rule that asks for the support that there is", "T1", true, false,
		agreed(vote, func(r *roster.Roster) { r.Rule.Support = 5 }))
	add("a rule that asks for more support", "T1", false, false,
		agreed(vote, func(r *roster.Roster) { r.Rule.Support = 6 }))
	add("agreement of a protocol that does not guarantee it, signed by all", "G2", false, false,
		agreed(vote, func(r *roster.Roster) { r.Guarantee = "agreement" }))
	for _, x := range []struct {
		name, rule string
		change     func(x *tree)
	}{
		{"a larger F than the council", "K1", func(x *tree) { x.terms[termsF] = uint64(8) }},
		{"a weak key", "K1", func(x *tree) { x.terms[termsMembers].([]any)[6].([]any)[memberKey] = make([]byte, 32) }},
		{"a merge whose rule asks for the support of more members than there are", "M1", func(x *tree) {
			x.fields[atForm], x.terms[termsRule] = "json", []any{"majority", uint64(1) << 44}
			x.fields[atMerge] = []any{[]byte("true"), false, []any{[]byte{}, []byte{}, []byte{}, []byte{},
				[]byte{}, []byte{}, []byte{}}}
		}},
		{"a merge of something that is no JSON value", "M1", func(x *tree) {
			x.fields[atMerge] = []any{[]byte("true"), false, []any{[]byte{}, []byte{}, []byte{}, []byte{},
				[]byte{}, []byte{}, []byte{}}}
		}},
	} {
		tree := treeOf(t, leader.statement(0, leader.Roster))
		x.change(tree)
		add(x.name, x.rule, false, false, tree.file(leader.Council, five))
	}
	whole := leader.signedBy(leader.statement(0, leader.Roster), 0, 1, 2, 3, 4)
	add("signers in another order", "S1", false, false,
		leader.signedBy(leader.statement(0, leader.Roster), 1, 0, 2, 3, 4))
	add("one signer twice", "S1", false, false, leader.signedBy(leader.statement(0, leader.Roster), 0, 0, 1, 2, 3))
	add("a signer with another answer", "S3", false, false,
		leader.signedBy(leader.statement(0, leader.Roster), 0, 1, 2, 3, 4, 5))
	add("white space after the file", "E1", false, false, append(slices.Clone(whole), ' '))
	return all
}

// Every verifier judges the vectors alike. The forgeries are those that honest nodes signed until version 3: voters,
// roles and kinds that the caller wrote (finding 1).
func TestVectors(t *testing.T) {
	all := decisions(t)
	text, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, vectorsPath, string(text)+"\n")
	for _, v := range verifiersOfThree(t) {
		for _, x := range all {
			file, err := base64.StdEncoding.DecodeString(x.File)
			if err != nil {
				t.Fatal(err)
			}
			if err := v.judge(file); (err == nil) != x.Valid {
				t.Errorf("%s: %s: %v; valid must be %v", v.name, x.Name, err, x.Valid)
			}
		}
	}
	for _, x := range all {
		file, _ := base64.StdEncoding.DecodeString(x.File)
		if c, err := certificate.Parse(file); err == nil {
			if r, err := certificate.Verify(c, nil); err == nil &&
				strings.Contains(strings.Join(r.Claims, "\n"), noSecond) != x.Second {
				t.Errorf("%s: it says %q", x.Name, r.Claims)
			}
		}
	}
}

// The vectors are about the rules of the specification: each rule that a file can break has one that breaks it.
func TestVectorsFollowTheSpecification(t *testing.T) {
	page, err := os.ReadFile("../../docs/operate/certificates.md")
	if err != nil {
		t.Fatal(err)
	}
	broken := map[string]bool{}
	for _, x := range decisions(t) {
		if !strings.Contains(string(page), "| "+x.Rule+" |") {
			t.Errorf("the page has no rule %s, of the vector %q", x.Rule, x.Name)
		}
		broken[x.Rule] = broken[x.Rule] || !x.Valid
	}
	for _, line := range strings.Split(string(page), "\n") {
		if cells := strings.Split(line, " | "); strings.HasPrefix(line, "| ") && len(cells) == 3 {
			rule := strings.TrimPrefix(cells[0], "| ")
			if len(rule) == 2 && !broken[rule] {
				t.Errorf("no vector breaks the rule %s", rule)
			}
		}
	}
}
