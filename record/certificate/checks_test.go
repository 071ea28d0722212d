package certificate_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod/record/certificate"
)

// check is a check as a statement names it.
func check(name, kind string) []any { return []any{name, kind, make([]byte, 32)} }

// checked names checks, most of which a statement may name.
func (m *maker) checked() []byte {
	x := treeOf(m.t, m.s)
	checks := []any{check("small", "cel"), check("shape", "schema"), check("word", "regex")}[:1+m.r.IntN(3)]
	some := checks[m.r.IntN(len(checks))].([]any)
	switch m.r.IntN(9) {
	case 0:
		some[1] = m.pick("command", "CEL", "", "toString")
	case 1:
		some[0] = m.pick("", "x", m.long(256, "x", "ü"))
	case 2:
		some[0] = m.pick("small", "word")
	case 3:
		some[2] = m.pick([]byte{}, make([]byte, 31), make([]byte, 33))
	case 4:
		checks = checks[:0]
	case 5:
		for len(checks) < 63+m.r.IntN(3) {
			checks = append(checks, check(fmt.Sprint("c", len(checks)), "cel"))
		}
	case 6:
		checks, _ = changed(m.r, checks).([]any)
	}
	if x.checks = checks; checks == nil {
		x.checks = []any{}
	}
	return x.file(m.c, m.signers())
}

// withChecks are vectors of statements that name checks, of rosters and of an owner.
func withChecks(t *testing.T, vote scene) (all []vector) {
	add := func(name string, valid bool, file []byte) {
		all = append(all, vector{name, "C1", valid, false, base64.StdEncoding.EncodeToString(file)})
	}
	for _, x := range []struct {
		name   string
		valid  bool
		checks []any
	}{
		{"a decision that names a condition and a schema", true, []any{check("small", "cel"), check("form", "schema")}},
		{"a list of checks that is empty", false, []any{}},
		{"two checks of one name", false, []any{check("small", "cel"), check("small", "regex")}},
		{"a check without a name", false, []any{check("", "cel")}},
		{"a check of another kind", false, []any{check("small", "proof")}},
		{"a command that voters have run", false, []any{check("runs", "command")}},
		{"a check without the hash of its definition", false, []any{[]any{"small", "cel", []byte{}}}},
	} {
		tree := treeOf(t, vote.statement(0, vote.Roster))
		tree.checks = x.checks
		add(x.name, x.valid, tree.file(vote.Council, []int{0, 1, 2, 3, 4}))
	}
	w := ownersWorld(t)
	w.s.Checks = []certificate.Checked{{Name: "runs", Kind: "command", Hash: make([]byte, 32)}}
	c, err := certificate.Signed(&w.s, w.owner)
	if err != nil {
		t.Fatal(err)
	}
	file, err := c.File()
	if err != nil {
		t.Fatal(err)
	}
	add("a command that the owner has run", true, file)
	return all
}

// ownersWorld is a council of one owner, with a certificate of version 3.
func ownersWorld(t *testing.T) *world {
	for seed := uint64(0); ; seed++ {
		if w := newWorld(t, seed); w.s.Kind == certificate.Owner {
			w.s.Domain = certificate.DomainThree
			return w
		}
	}
}

// The report says which checks the answer passes, and by whose word; earlier versions name none.
func TestChecksInReports(t *testing.T) {
	for by, i := range map[string]int{"each signer states": 0, "the owner states": 7} {
		x := withChecks(t, scene{t, fiveAndTwo(t, "majority", 0)})[i]
		file, _ := base64.StdEncoding.DecodeString(x.File)
		c, err := certificate.Parse(file)
		if err != nil {
			t.Fatal(err)
		}
		r, err := certificate.Verify(c, nil)
		claim := by + " that the answer passes the checks in code "
		if said := strings.Join(r.Claims, "\n"); err != nil || !strings.Contains(said, claim+c.Statement.Checks[0].Name+
			" ("+c.Statement.Checks[0].Kind+", 000000000000…)") {
			t.Errorf("%s: %v, %s", x.Name, err, said)
		}
	}
	w := ownersWorld(t)
	w.s.Domain, w.s.Checks = certificate.Domain, []certificate.Checked{{Name: "a", Kind: "cel", Hash: make([]byte, 32)}}
	if _, err := w.s.Encode(); err == nil {
		t.Error("a statement of version 1 names checks")
	}
}

// A member signs only a statement whose checks are those that its own question has, and that its answer passes.
func TestMembersCompareChecks(t *testing.T) {
	vote := scene{t, fiveAndTwo(t, "majority", 0)}
	s := vote.statement(0, vote.Roster)
	hash := func(b byte) []byte { return slices.Repeat([]byte{b}, 32) }
	own := certificate.Own{Seat: 0, Council: certificate.CouncilOf(vote.Roster), Instance: s.Instance,
		Question: s.Question, Form: s.Form, Signature: s.Members[0].Signature, Answer: "held",
		Vote: certificate.VoteBytes(s.Council, s.Question, s.Members[0].First, s.Members[0].Final),
		Checks: func(answer string) []certificate.Checked {
			if answer != "held" {
				return nil
			}
			return []certificate.Checked{{Name: "small", Kind: "cel", Hash: hash(1)}}
		}}
	for _, x := range []struct {
		check certificate.Checked
		signs bool
	}{
		{certificate.Checked{Name: "small", Kind: "cel", Hash: hash(1)}, true},
		{certificate.Checked{Name: "small", Kind: "cel", Hash: hash(2)}, false},
		{certificate.Checked{Name: "small", Kind: "regex", Hash: hash(1)}, false},
		{certificate.Checked{Name: "large", Kind: "cel", Hash: hash(1)}, false},
	} {
		s.Checks = []certificate.Checked{x.check}
		err := own.Approve(s)
		var refused *certificate.Refusal
		if x.signs != (err == nil) || err != nil && (!errors.As(err, &refused) ||
			refused.Reason != certificate.OtherQuestion) {
			t.Errorf("%+v: %v", x.check, err)
		}
	}
	if own.Checks, s.Checks = nil, s.Checks[:1]; own.Approve(s) == nil {
		t.Error("a member without checks signs one")
	}
}
