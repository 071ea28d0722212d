package certificate_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"synod.dev/synod/certificate"
	"synod.dev/synod/roster"
)

// rosterOf returns the signed roster of a world, whose certificate names its hash.
func rosterOf(t *testing.T, w *world) *roster.Signed {
	r := &roster.Roster{Format: roster.Format, Name: "panel", F: w.s.Faults.F, R: w.s.Graph.R, Exact: true,
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
	if err := signed.Verify(nil); err != nil {
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
	python := exec.Command("python3", "-c", "import cryptography").Run() == nil
	for name, r := range map[string]*roster.Signed{"own": signed, "other": roster.Unsigned(&other)} {
		again, err := roster.Parse(r.File())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := certificate.Verify(c, certificate.CouncilOf(again.Roster)); (err == nil) != (name == "own") {
			t.Errorf("with the %s roster: %v", name, err)
		}
		if !python {
			t.Log("the Python verifier is not tested: python3 with the package cryptography is missing")
			continue
		}
		out, err := exec.Command("python3", "../examples/verify/verify.py", cert, "--roster",
			write(name, r.File())).CombinedOutput()
		if (err == nil) != (name == "own") || bytes.HasPrefix(out, []byte("VALID")) != (name == "own") {
			t.Errorf("Python with the %s roster: %v\n%s", name, err, out)
		}
	}
}
