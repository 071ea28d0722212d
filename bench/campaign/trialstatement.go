package campaign

import (
	"bytes"
	"slices"
	"strings"

	"synod.dev/synod/internal/canonical"
	"synod.dev/synod/record/certificate"
)

// form is a change of a statement of one owner, and whether a statement may be like that.
type form struct {
	name   string
	may    bool
	change func(s *certificate.Statement)
}

// named returns the changes of a text that may have at most some bytes.
func named(name string, most int, text func(s *certificate.Statement) *string) []form {
	set := func(n int) func(s *certificate.Statement) {
		return func(s *certificate.Statement) { *text(s) = strings.Repeat("x", n) }
	}
	return []form{{name + " of most bytes", true, set(most)}, {name + " of a byte more", false, set(most + 1)}}
}

// hashed returns the changes of a hash that may not have another length, or only none.
func hashed(name string, none bool, hash func(s *certificate.Statement) *[]byte) []form {
	set := func(n int) func(s *certificate.Statement) {
		return func(s *certificate.Statement) { *hash(s) = make([]byte, n) }
	}
	return []form{{name + " of 31 bytes", false, set(31)}, {name + " of 33 bytes", false, set(33)},
		{name + " of no bytes", none, set(0)}}
}

// forms are what docs/operate/certificates.md says of statements of version 1, with the limits of rule K1.
var forms = slices.Concat(
	named("a name of an instance", 256, func(s *certificate.Statement) *string { return &s.Instance }),
	named("a form", 256, func(s *certificate.Statement) *string { return &s.Form }),
	named("a protocol", 256, func(s *certificate.Statement) *string { return &s.Protocol }),
	named("a mode", 256, func(s *certificate.Statement) *string { return &s.Exact }),
	named("a rule", 256, func(s *certificate.Statement) *string { return &s.Rule.Name }),
	named("a claim", 256, func(s *certificate.Statement) *string { return &s.Claim }),
	named("parameters", 65536, func(s *certificate.Statement) *string { return &s.Parameters }),
	named("an id", 256, func(s *certificate.Statement) *string { return &s.Members[1].ID }),
	named("a role", 256, func(s *certificate.Statement) *string { return &s.Members[1].Role }),
	named("a kind of model", 256, func(s *certificate.Statement) *string { return &s.Members[1].Kind }),
	named("an adversary", 256, func(s *certificate.Statement) *string { return &s.Members[1].Adversary }),
	named("a ledger", 256, func(s *certificate.Statement) *string { return &headed(s).Log }),
	hashed("a council", false, func(s *certificate.Statement) *[]byte { return &s.Council }),
	hashed("a question", false, func(s *certificate.Statement) *[]byte { return &s.Question }),
	hashed("an answer", false, func(s *certificate.Statement) *[]byte { return &s.Answer }),
	hashed("an owner's key", false, func(s *certificate.Statement) *[]byte { return &s.Owner }),
	hashed("a journal", true, func(s *certificate.Statement) *[]byte { return &s.Journal }),
	hashed("a first answer", true, func(s *certificate.Statement) *[]byte { return &s.Members[1].First }),
	hashed("a last answer", true, func(s *certificate.Statement) *[]byte { return &s.Members[1].Final }),
	hashed("a root", false, func(s *certificate.Statement) *[]byte { return &headed(s).Root }),
	[]form{
		{"nothing", true, func(s *certificate.Statement) {}},
		{"another format", false, func(s *certificate.Statement) { s.Domain = "synod/certificate/0" }},
		{"the format of merges", false, func(s *certificate.Statement) { s.Domain = certificate.DomainMerged }},
		{"a merge", false, func(s *certificate.Statement) { s.Merge = &certificate.Merge{} }},
		{"another kind", false, func(s *certificate.Statement) { s.Kind = "club" }},
		{"the kind of rosters", false, func(s *certificate.Statement) { s.Kind = certificate.Roster }},
		{"a ledger", true, func(s *certificate.Statement) { headed(s) }},
		{"an empty ledger", false, func(s *certificate.Statement) { headed(s).Size = 0 }},
		{"local faults", true, func(s *certificate.Statement) { s.Faults.Model = certificate.Local }},
		{"other faults", false, func(s *certificate.Statement) { s.Faults.Model = "X" }},
		{"an F of all", true, func(s *certificate.Statement) { s.Faults.F = uint64(len(s.Members)) }},
		{"an F of more", false, func(s *certificate.Statement) { s.Faults.F = uint64(len(s.Members)) + 1 }},
		{"no members", false, func(s *certificate.Statement) { s.Members, s.Faults.F = nil, 0 }},
		{"1000 members", true, func(s *certificate.Statement) { members(s, 1000) }},
		{"1001 members", false, func(s *certificate.Statement) { members(s, 1001) }},
		{"a member's key", false, func(s *certificate.Statement) { s.Members[0].Key = make([]byte, 32) }},
		{"a signature", false, func(s *certificate.Statement) { s.Members[0].Signature = make([]byte, 64) }},
		{"two edges", true, func(s *certificate.Statement) { s.Graph.Edges = [][2]uint64{{0, 2}, {1, 2}} }},
		{"an edge of one seat", false, func(s *certificate.Statement) { s.Graph.Edges = [][2]uint64{{1, 1}} }},
		{"an edge back", false, func(s *certificate.Statement) { s.Graph.Edges = [][2]uint64{{2, 1}} }},
		{"an edge twice", false, func(s *certificate.Statement) { s.Graph.Edges = [][2]uint64{{0, 1}, {0, 1}} }},
		{"edges descending", false, func(s *certificate.Statement) { s.Graph.Edges = [][2]uint64{{0, 2}, {0, 1}} }},
		{"rows descending", false, func(s *certificate.Statement) { s.Graph.Edges = [][2]uint64{{1, 2}, {0, 3}} }},
		{"an edge to nobody", false, func(s *certificate.Statement) {
			s.Graph.Edges = [][2]uint64{{0, uint64(len(s.Members))}}
		}},
		{"checks", false, func(s *certificate.Statement) { s.Checks = checks(1, "regex") }},
	})

// formsOfChecks are what statements of version 3 may say of checks (rule C1).
var formsOfChecks = []form{
	{"nothing", true, func(s *certificate.Statement) {}},
	{"64 checks", true, func(s *certificate.Statement) { s.Checks = checks(64, "regex") }},
	{"65 checks", false, func(s *certificate.Statement) { s.Checks = checks(65, "regex") }},
	{"a command", true, func(s *certificate.Statement) { s.Checks = checks(1, "command") }},
	{"another kind", false, func(s *certificate.Statement) { s.Checks = checks(1, "perl") }},
	{"a long name", true, func(s *certificate.Statement) {
		s.Checks = checks(2, "cel")
		s.Checks[1].Name = strings.Repeat("x", 256)
	}},
	{"a longer name", false, func(s *certificate.Statement) {
		s.Checks = checks(2, "cel")
		s.Checks[1].Name = strings.Repeat("x", 257)
	}},
	{"no name", false, func(s *certificate.Statement) {
		s.Checks = checks(2, "schema")
		s.Checks[1].Name = ""
	}},
	{"a name twice", false, func(s *certificate.Statement) {
		s.Checks = checks(3, "cel")
		s.Checks[2].Name = s.Checks[0].Name
	}},
	{"a hash of 31 bytes", false, func(s *certificate.Statement) {
		s.Checks = checks(2, "cel")
		s.Checks[1].Hash = make([]byte, 31)
	}},
}

// formsOfMerges are what statements of version 2 may say of merged values (rule M1).
var formsOfMerges = []form{
	{"nothing", true, func(s *certificate.Statement) {}},
	{"no merge", false, func(s *certificate.Statement) { s.Merge = nil }},
	{"the format without merges", false, func(s *certificate.Statement) { s.Domain = certificate.Domain }},
	{"the form number", false, func(s *certificate.Statement) { s.Form = "number" }},
	{"the rule protocol", false, func(s *certificate.Statement) { s.Rule.Name = "protocol" }},
	{"a support of all", true, func(s *certificate.Statement) { s.Rule.Support = uint64(len(s.Members)) }},
	{"a support of more", false, func(s *certificate.Statement) { s.Rule.Support = uint64(len(s.Members)) + 1 }},
	{"a value too few", false, func(s *certificate.Statement) { s.Merge.Values = s.Merge.Values[1:] }},
	{"a value too many", false, func(s *certificate.Statement) { s.Merge.Values = append(s.Merge.Values, []byte{}) }},
	{"no schema", false, func(s *certificate.Statement) { s.Merge.Schema = []byte{} }},
	{"a long schema", true, func(s *certificate.Statement) { s.Merge.Schema = make([]byte, 65536) }},
	{"a longer schema", false, func(s *certificate.Statement) { s.Merge.Schema = make([]byte, 65537) }},
	{"checks", false, func(s *certificate.Statement) { s.Checks = checks(1, "regex") }},
}

// merged makes a statement of a merged value, of version 2.
func merged(s *certificate.Statement) {
	s.Domain, s.Form, s.Rule = certificate.DomainMerged, "json", certificate.Rule{Name: "plurality"}
	s.Merge = &certificate.Merge{Schema: []byte("{}")}
	for range s.Members {
		s.Merge.Values = append(s.Merge.Values, []byte{})
	}
}

// headed adds the head of a ledger to a statement and returns it.
func headed(s *certificate.Statement) *certificate.Head {
	s.Ledger = &certificate.Head{Log: "log", Size: 1, Root: make([]byte, 32)}
	return s.Ledger
}

// members makes a statement of so many members, who hear nobody.
func members(s *certificate.Statement, n int) {
	s.Graph = certificate.Graph{Edges: [][2]uint64{}}
	for len(s.Members) < n {
		s.Members = append(s.Members, s.Members[0])
	}
}

// checks makes checks of a kind.
func checks(n int, kind string) (all []certificate.Checked) {
	for i := range n {
		all = append(all, certificate.Checked{Name: "c" + strings.Repeat("i", i), Kind: kind, Hash: make([]byte, 32)})
	}
	return all
}

// shaped writes and reads statements of one owner that may be as they are, and some that may not.
func shaped(t *ClaimTried) {
	s, _, ok := t.certify()
	if !ok {
		return
	}
	all, made := formsOfChecks, func(*certificate.Statement) {}
	switch t.Rand.IntN(3) {
	case 0:
		s.Domain, all = certificate.Domain, forms
	case 1:
		all, made = formsOfMerges, merged
	}
	for _, f := range all {
		changed := s
		changed.Members = slices.Clone(s.Members)
		made(&changed)
		f.change(&changed)
		b, err := changed.Encode()
		t.Check((err == nil) == f.may, "a statement that begins with %s and has %s is written: %v", changed.Domain,
			f.name, err)
		if err == nil {
			again, err := certificate.DecodeStatement(b)
			var second []byte
			if err == nil {
				second, err = again.Encode()
			}
			t.Check(err == nil && bytes.Equal(b, second), "with %s: it is read again as another one: %v", f.name, err)
		} else if s.Domain == certificate.Domain && changed.Merge == nil && changed.Checks == nil {
			_, err := certificate.DecodeStatement(canonical.Encode(&changed))
			t.Check(err != nil, "a statement with %s is read", f.name)
		}
	}
}
