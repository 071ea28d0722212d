package certificate_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/record/certificate"
)

var mergeSchema = []byte(`{"type":"object","properties":{"total":{"type":"number"},"vendor":{"type":"string"},` +
	`"note":{"type":"string"}},"required":["total","vendor"]}`)

// mergedWorld is a statement about a value that was merged from the answers of seven members.
func mergedWorld(t testing.TB, kind string, last bool) *world {
	t.Helper()
	r := rand.New(rand.NewPCG(9, 0x3e7))
	answers := []string{`{"total":12.5,"vendor":"Acme"}`, `{"total":12.5,"vendor":"Acme"}`,
		`{"note":"x","total":13,"vendor":"Acme"}`, `{"total":12.5,"vendor":"Acme"}`, `{"total":12,"vendor":"Acme"}`,
		`{"total":1e9,"vendor":"Mallory"}`, ""}
	var edges [][2]uint64
	for a := range uint64(len(answers)) {
		for b := a + 1; b < uint64(len(answers)); b++ {
			edges = append(edges, [2]uint64{a, b})
		}
	}
	w := &world{s: certificate.Statement{Domain: certificate.DomainMerged, Kind: kind,
		Council: certificate.AnswerHash("council"), Instance: "run", Question: certificate.AnswerHash("question"),
		Form: "json", Answer: certificate.AnswerHash(`{"total":12.5,"vendor":"Acme"}`), Protocol: "majority",
		Parameters: `{}`, Rule: certificate.Rule{Name: "majority"}, Claim: certificate.None,
		Faults: certificate.Faults{Model: certificate.Global, F: 1},
		Graph:  certificate.Graph{R: 4, Exact: true, Edges: edges},
		Merge:  &certificate.Merge{Schema: mergeSchema, Last: last},
	}}
	for i, a := range answers {
		h := certificate.AnswerHash(a)
		w.s.Members = append(w.s.Members, certificate.Member{ID: "m" + string(rune('1'+i)), Kind: "endpoint",
			Voter: true, First: h, Final: h})
		w.s.Merge.Values = append(w.s.Merge.Values, []byte(a))
	}
	secret := func() sign.Secret {
		var b [32]byte
		binary.BigEndian.PutUint64(b[:], r.Uint64())
		s, err := sign.Generate(bytes.NewReader(b[:]))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if w.owner = secret(); kind == certificate.Owner {
		w.s.Owner = w.owner.PublicKey()
	} else {
		for i := range w.s.Members {
			w.members = append(w.members, secret())
			w.s.Members[i].Key = w.members[i].PublicKey()
		}
		w.sign(t)
	}
	w.s.Fill()
	return w
}

// A certificate of a merged value has the members' answers, so everybody can merge them again.
func TestMerged(t *testing.T) {
	all := verifiers(t)
	for _, kind := range []string{certificate.Owner, certificate.Roster} {
		for _, last := range []bool{false, true} {
			w := mergedWorld(t, kind, last)
			file := w.file(t)
			for _, v := range all {
				if err := v.judge(file); err != nil {
					t.Errorf("%s, %s: %v", v.name, kind, err)
				}
			}
			c, err := certificate.Parse(file)
			if err != nil {
				t.Fatal(err)
			}
			r, err := certificate.Verify(c, nil)
			if err != nil || r.Merged == nil || r.Merged.Value.String() != `{"total":12.5,"vendor":"Acme"}` {
				t.Fatalf("%s: %+v %v", kind, r.Merged, err)
			}
			claims := strings.Join(r.Claims, "\n")
			for _, want := range []string{`/total is 12.5: median of 6`, `/vendor is "Acme": vote of 5`,
				`/note is absent`} {
				if !strings.Contains(claims, want) {
					t.Errorf("%q is missing in:\n%s", want, claims)
				}
			}
			if independent := strings.Contains(claims, "stays the same whichever"); independent == last {
				t.Errorf("last answers: %v, and the claims are:\n%s", last, claims)
			}
		}
	}
}

// Every lie about a merge is found, although all keys have signed it; the second verifier, which does not merge, finds
// those about the answers.
func TestMergedLies(t *testing.T) {
	all := verifiers(t)
	for _, c := range []struct {
		name, want string
		second     bool // the second verifier finds it too
		lie        func(w *world)
	}{
		{"another value", "another value", false, func(w *world) {
			w.s.Answer, w.s.Support = certificate.AnswerHash(`{"total":12,"vendor":"Acme"}`), 1
		}},
		{"an answer changed", "not the answer whose hash", true, func(w *world) {
			w.s.Merge.Values[0] = []byte(`{"total":13,"vendor":"Acme"}`)
		}},
		{"an answer left out", "not the answer whose hash", true, func(w *world) { w.s.Merge.Values[0] = nil }},
		{"a schema", "another value", false, func(w *world) {
			w.s.Merge.Schema = bytes.Replace(mergeSchema, []byte(`"number"`), []byte(`"number","x-merge":"trimmed-mean"`), 1)
		}},
		{"no schema", "schema", false, func(w *world) { w.s.Merge.Schema = []byte(`{"type":7}`) }},
		{"a bound", "no value", false, func(w *world) { w.s.Faults.F = 3 }},
		{"withstands", "withstand", false, func(w *world) { w.s.Withstands.Changed++ }},
	} {
		w := mergedWorld(t, certificate.Roster, false)
		c.lie(w)
		file := w.file(t)
		for _, v := range all {
			err := v.judge(file)
			if v.name == "Go" && (err == nil || !strings.Contains(err.Error(), c.want)) || c.second && err == nil {
				t.Errorf("%s, %s: %v, want %q", v.name, c.name, err, c.want)
			}
		}
	}
}

// A member signs a merge only if it gave one of the answers, and a flipped bit of the file is found.
func TestMergedSigners(t *testing.T) {
	w := mergedWorld(t, certificate.Roster, false)
	if w.s.MaySign(6) || !w.s.MaySign(5) {
		t.Error("a member without an answer may sign, or one with another answer may not")
	}
	file := w.file(t)
	step := 1
	if testing.Short() {
		step = 97
	}
	for i := 0; i < 8*len(file); i += 31 * step {
		bad := bytes.Clone(file)
		bad[i/8] ^= 1 << (i % 8)
		if judge(bad) == nil {
			t.Fatalf("a flip of bit %d is accepted", i)
		}
	}
}

// A rule that asks for the support of more members than there are is refused before a merge counts up to it: with
// 2^44 a verifier would count for days, and a node that is asked to sign.
func TestSupportOfNobody(t *testing.T) {
	for _, kind := range []string{certificate.Owner, certificate.Roster} {
		for _, support := range []uint64{8, 1 << 44, 1 << 63, 1<<64 - 1} {
			w := mergedWorld(t, kind, false)
			w.s.Rule.Support = support
			if _, err := w.s.Encode(); err == nil {
				t.Errorf("%s: a support of %d with %d members is accepted", kind, support, len(w.s.Members))
			}
		}
	}
}

// Since version 3 nobody can certify a combination of parts that F members alone gave, as the rule of earlier versions
// allowed: each part has a majority, and one member, who may be Byzantine, gave all of them.
func TestCombinationOfLiars(t *testing.T) {
	for domain, valid := range map[string]bool{certificate.DomainMerged: true, certificate.DomainThree: false} {
		w := mergedWorld(t, certificate.Owner, true)
		w.s.Domain = domain
		for i := range w.s.Members {
			text := `{"note":"q","total":1,"vendor":"x"}`
			switch {
			case i == 3:
				text = `{"note":"p","total":1,"vendor":"x"}`
			case i > 3:
				text = `{"note":"p","total":1,"vendor":"y"}`
			}
			hash := certificate.AnswerHash(text)
			w.s.Members[i].First, w.s.Members[i].Final, w.s.Merge.Values[i] = hash, hash, []byte(text)
		}
		w.s.Answer, w.s.Support = certificate.AnswerHash(`{"note":"p","total":1,"vendor":"x"}`), 1
		err := judge(w.file(t))
		if (err == nil) != valid || err != nil && !strings.Contains(err.Error(), "gave them together") {
			t.Errorf("%s: %v", domain, err)
		}
	}
}
