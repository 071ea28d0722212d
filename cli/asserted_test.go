package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"synod.dev/synod/ledger"
	"synod.dev/synod/sign"
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
