package operate

import (
	"bytes"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"synod.dev/synod/cmd/cli/verification"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/internal/ledgertest"
	"synod.dev/synod/record/ledger"
)

// What one replica has written into a ledger is said to be what it alone asserts (finding 8).
func TestLedgerSaysWhoAsserts(t *testing.T) {
	dir := t.TempDir()
	secret, err := sign.Generate(bytes.NewReader(bytes.Repeat([]byte{7}, 64)))
	if err != nil {
		t.Fatal(err)
	}
	e := &ledger.Entry{Format: ledger.Format, Instance: "run", Council: make([]byte, 32),
		Parts: []ledger.Part{ledger.NewPart("answer", []byte("42"), true)}}
	if err := e.Sign("e1", secret); err != nil {
		t.Fatal(err)
	}
	if err := ledger.Submit(dir, e); err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Drain(t.Context(), dir, secret)
	if err != nil {
		t.Fatal(err)
	}
	p, err := l.Prove(0)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "entry.proof")
	if err := os.WriteFile(file, p.File(), 0o600); err != nil {
		t.Fatal(err)
	}
	l.Close()
	v, err := verifyLedger(file, &verifying{}, nil)
	if text := strings.Join(v.Claims, "\n"); err != nil || !strings.Contains(text, `"e1" alone asserts`) {
		t.Errorf("%s %v", text, err)
	}
	if text := strings.Join(v.NotProved, "\n"); !strings.Contains(text, "that the council decided what the entry "+
		"says") {
		t.Errorf("not proved: %s", text)
	}
	show, out := ledgerShow(nil), new(bytes.Buffer)
	show.SetOut(out)
	if show.SetArgs([]string{dir}); show.Execute() != nil || !strings.Contains(out.String(), "asserted by e1 alone") {
		t.Errorf("show: %s", out)
	}
}

// claimed returns all that a verification says.
func claimed(v verification.Result) string {
	return strings.Join(append(v.Claims, v.NotProved...), "\n")
}

// An entry of a ledger of replicas is proved to be held by more than F of them, from the ledger and from a proof
// alone. One that a quorum has let in although one replica alone holds it is refused; a ledger of before says that
// one asserts.
func TestLedgerSaysWhoHolds(t *testing.T) {
	g, secrets := ledgertest.Holding(t, 4, 2)
	held := []*ledger.Entry{ledgertest.Signed(t, secrets, 0, "run", "42"),
		ledgertest.Signed(t, secrets, 2, "run", "42")}
	invented := ledgertest.Signed(t, secrets, 1, "run", "43")
	good := ledgertest.Filled(t, &g, secrets, held...)
	v, err := verifyLedger(good, &verifying{}, &g)
	const least = "at least 2 of the 4 replicas have signed the question"
	if text := claimed(v); err != nil || !strings.Contains(text, least) ||
		!strings.Contains(text, "its record is held by e1, e3") {
		t.Errorf("%s %v", text, err)
	}
	file := filepath.Join(t.TempDir(), "entry.proof")
	prove := ledgerProve(nil)
	if prove.SetArgs([]string{good, "0", "-o", file}); prove.Execute() != nil {
		t.Fatal("it is not proved")
	}
	v, err = verifyLedger(file, &verifying{}, &g)
	if text := claimed(v); err != nil || !strings.Contains(text, "its record is held by e1, e3") {
		t.Errorf("the proof: %s %v", text, err)
	}
	single, _ := os.ReadFile(file)
	single = single[:bytes.Index(single[1:], []byte("-----BEGIN"))+1]
	if err := os.WriteFile(file, single, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err = verifyLedger(file, &verifying{}, &g); err == nil {
		t.Error("a proof of one holder is valid")
	}
	bad := ledgertest.Filled(t, &g, secrets, append(held, invented)...)
	if v, err = verifyLedger(bad, &verifying{}, &g); err == nil || !strings.Contains(err.Error(), "held by e2 only") {
		t.Errorf("an entry of one holder: %s %v", claimed(v), err)
	}
	old, secrets := ledgertest.Group(t, 4)
	before := ledgertest.Filled(t, &old, secrets, append(held, invented)...)
	v, err = verifyLedger(before, &verifying{}, &old)
	if text := claimed(v); err != nil || !strings.Contains(text, "1 of 2 records are what one replica alone asserts") ||
		!strings.Contains(text, "was signed before heads were checkpoints") {
		t.Errorf("a ledger of before: %s %v", text, err)
	}
	show, out := ledgerShow(nil), new(bytes.Buffer)
	show.SetOut(out)
	if show.SetArgs([]string{bad}); show.Execute() != nil || !strings.Contains(out.String(), "asserted by e2 alone") ||
		!strings.Contains(out.String(), "asserted by e3, held by e1, e3") {
		t.Errorf("show: %s", out)
	}
}

// A public witness over HTTP cosigns a ledger of replicas; the ledger verifies with the witness's key, and not with
// that of another witness. An older copy is refused, and the signed checkpoint is kept.
func TestLedgerHead(t *testing.T) {
	g, secrets := ledgertest.Holding(t, 4, 2)
	entries := []*ledger.Entry{ledgertest.Signed(t, secrets, 0, "run", "42"),
		ledgertest.Signed(t, secrets, 2, "run", "42")}
	older := ledgertest.Filled(t, &g, secrets, entries...)
	dir := ledgertest.Filled(t, &g, secrets, append(entries, ledgertest.Signed(t, secrets, 3, "run", "42"))...)
	w := ledgertest.NewWitness(t, ledger.VerifierKey(&ledger.Head{Log: g.Log()}, g.Keys[1]))
	server := httptest.NewServer(w)
	defer server.Close()
	evidence := filepath.Join(t.TempDir(), "refused")
	run := func(args ...string) (string, error) {
		cmd, out := ledgerHead(nil), new(bytes.Buffer)
		cmd.SetOut(out)
		cmd.SilenceUsage, cmd.SilenceErrors = true, true
		cmd.SetArgs(args)
		err := cmd.Execute()
		return out.String(), err
	}
	for range 2 {
		out, err := run(dir, "--cosign", server.URL, "--witness", w.VerifierKey())
		if err != nil || strings.Count(out, "— ") != g.Quorum()+1 || !strings.Contains(out, "— "+w.Name) {
			t.Errorf("%s %v", out, err)
		}
	}
	if out, err := run(dir); err != nil || !strings.Contains(out, w.Name) {
		t.Errorf("the cosignature is not kept: %s %v", out, err)
	}
	v, err := verifyLedger(dir, &verifying{witnesses: []string{w.VerifierKey()}}, &g)
	if text := claimed(v); err != nil || !strings.Contains(text, w.Name+" cosigned the first 3 of 3 entries") {
		t.Errorf("%s %v", text, err)
	}
	stranger := ledgertest.NewWitness(t, ledger.VerifierKey(&ledger.Head{Log: g.Log()}, g.Keys[1]))
	stranger.Name = "other.example.com"
	if _, err := verifyLedger(dir, &verifying{witnesses: []string{stranger.VerifierKey()}}, &g); err == nil {
		t.Error("a witness that has cosigned nothing is accepted")
	}
	_, err = run(older, "--cosign", server.URL, "--witness", w.VerifierKey(), "--evidence", evidence)
	if text, _ := os.ReadFile(evidence); err == nil || !strings.Contains(err.Error(), "an older copy") ||
		!bytes.HasPrefix(text, []byte((&ledger.Head{Log: g.Log()}).Origin()+"\n2\n")) {
		t.Errorf("an older copy: %v, %s", err, text)
	}
}
