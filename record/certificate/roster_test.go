package certificate_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/network/roster"
	"synod.dev/synod/record/certificate"
)

// rosterOf returns the signed roster, of the first format, of a world, whose certificate names its hash.
func rosterOf(t *testing.T, w *world) *roster.Signed {
	r := &roster.Roster{Format: roster.FormatOne, Name: "panel", F: w.s.Faults.F, R: w.s.Graph.R, Exact: true,
		Guarantee: w.s.Claim, Protocol: w.s.Protocol, Parameters: w.s.Parameters,
		Council: "council: panel", Think: 1000,
		Within: 1000, Links: roster.TLS, Ledger: roster.Ledger{Kind: "none"}}
	for _, e := range w.s.Graph.Edges {
		r.Edges = append(r.Edges, []uint64{e[0], e[1]})
	}
	for i := range w.s.Members {
		m := &w.s.Members[i]
		r.Members = append(r.Members, roster.Member{ID: m.ID, Key: m.Key, Addresses: []string{"127.0.0.1:7001"}})
	}
	hash := r.Hash()
	w.s.Council = hash[:]
	w.sign(t)
	signed := roster.Unsigned(r)
	for _, secret := range w.members {
		signed.Sign(secret)
	}
	if err := signed.Verify(); err != nil {
		t.Fatal(err)
	}
	return signed
}

// Both verifiers accept a certificate with its own roster, and with no other.
func TestRosterFile(t *testing.T) {
	w := newWorld(t, severalOwners(t))
	signed := rosterOf(t, w)
	file, dir := w.file(t), t.TempDir()
	other := *signed.Roster
	other.Members = append([]roster.Member{}, other.Members...)
	other.Members[0].Key = w.owner.PublicKey()
	c, err := certificate.Parse(file)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	cert := write("a.cert", file)
	for name, r := range map[string]*roster.Signed{"own": signed, "other": roster.Unsigned(&other)} {
		again, err := roster.Parse(r.File())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := certificate.Verify(c, certificate.CouncilOf(again.Roster)); (err == nil) != (name == "own") {
			t.Errorf("with the %s roster: %v", name, err)
		}
		withRoster(t, cert, write(name, r.File()), name == "own")
	}
}

// withRoster has the Python verifier check a certificate with a roster.
func withRoster(t *testing.T, cert, roster string, valid bool) {
	t.Helper()
	if exec.Command("python3", "-c", "import cryptography").Run() != nil {
		t.Log("SKIPPED: 1 verifier: python3 with the package cryptography is missing")
		return
	}
	out, err := exec.Command("python3", "../../examples/verify/verify.py", cert, "--roster", roster).CombinedOutput()
	if (err == nil) != valid || bytes.HasPrefix(out, []byte("VALID")) != valid {
		t.Errorf("Python with the roster %s: %v\n%s", filepath.Base(roster), err, out)
	}
}

// Both verifiers have one rule for who must have signed a roster (finding 7: with F = 0, one signature was enough for
// one of them).
func TestWhoSignedTheRoster(t *testing.T) {
	c := scene{t, fiveAndTwo(t, "majority", 0)}
	dir, first := t.TempDir(), roster.Unsigned(c.changed(func(r *roster.Roster) { r.F = 0 }))
	for _, s := range c.Secrets {
		first.Sign(s.(sign.Secret))
	}
	hash := first.Hash()
	next := c.changed(func(r *roster.Roster) { r.F, r.Serial, r.Previous = 0, 1, hash[:] })
	own := *c.Council
	own.Roster = next
	of := scene{t, &own}
	cert := filepath.Join(dir, "a.cert")
	if err := os.WriteFile(cert, of.signedBy(of.statement(0, next), 0, 1, 2), 0o600); err != nil {
		t.Fatal(err)
	}
	signed := func(before *roster.Signed, seats ...int) *roster.Signed {
		s := roster.Successor(next, before)
		for _, i := range seats {
			s.Sign(c.Secrets[i].(sign.Secret))
		}
		return s
	}
	for name, x := range map[string]struct {
		s     *roster.Signed
		valid bool
	}{
		"all":                 {signed(nil, 0, 1, 2, 3, 4, 5, 6), true},
		"one":                 {signed(nil, 0), false},
		"quorum":              {signed(first, 0, 1, 2, 3), true},
		"quorum-without-past": {signed(nil, 0, 1, 2, 3), false},
		"half":                {signed(first, 0, 1, 2), false},
		"unsigned-past":       {signed(roster.Unsigned(first.Roster), 0, 1, 2, 3), false},
	} {
		if err := x.s.Verify(); (err == nil) != x.valid {
			t.Errorf("%s: %v", name, err)
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, x.s.File(), 0o600); err != nil {
			t.Fatal(err)
		}
		withRoster(t, cert, path, x.valid)
	}
}

// A certificate of an earlier version is refused for a roster whose members sign version 3 only: in it whoever made it
// says who votes.
func TestEarlierVersionOfARoster(t *testing.T) {
	c := scene{t, fiveAndTwo(t, "rotating-leader", 0)}
	three := c.statement(1, c.Roster, 0, 1, 2, 3, 4)
	s := newWorld(t, severalOwners(t)).s
	s.Council, s.Instance, s.Question, s.Answer = three.Council, c.Instance, c.Question, three.Answer
	s.Protocol, s.Parameters, s.Faults, s.Claim = three.Protocol, three.Parameters, three.Faults, three.Claim
	s.Graph, s.Rule, s.Members, s.Ledger = three.Graph, certificate.Rule{Name: "protocol"}, three.Members, nil
	s.Fill()
	file := filepath.Join(t.TempDir(), "a.cert")
	if err := os.WriteFile(file, c.signedBy(&s, 5, 6), 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	made, err := certificate.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := certificate.Verify(made, nil); err != nil || r.Warning == "" {
		t.Errorf("without the roster: %v, warning %q", err, r.Warning)
	}
	if _, err := certificate.Verify(made, certificate.CouncilOf(c.Roster)); err == nil {
		t.Error("Go accepts it with the roster")
	}
	signed := roster.Unsigned(c.Roster)
	for _, s := range c.Secrets {
		signed.Sign(s.(sign.Secret))
	}
	path := filepath.Join(t.TempDir(), "own")
	if err := os.WriteFile(path, signed.File(), 0o600); err != nil {
		t.Fatal(err)
	}
	withRoster(t, file, path, false)
}
