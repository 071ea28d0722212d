package council

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/record/ledger"
)

// A ledger gets the question, the answer and the last opinion of every seat that has one.
func TestLedgerEntry(t *testing.T) {
	p := planOf(t, 3, "protocol: {name: sac, rounds: 1}\n")
	c, err := Open(p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	path := filepath.Join(t.TempDir(), "j")
	q := synod.Question{Text: "What is 17 + 25?", Form: synod.Number}
	var o outcome.Outcome
	for seed := uint64(1); o.Decision == synod.None; seed++ {
		path += "x"
		if o, err = c.Decide(t.Context(), Ask{Question: q, Seed: seed, Journal: path}); err != nil || seed > 20 {
			t.Fatalf("%v, %s", err, o.Reason)
		}
	}
	run, err := journal.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, keep := range []bool{true, false} {
		e, err := outcome.LedgerEntry(p, run, keep)
		if err != nil {
			t.Fatal(err)
		}
		names := []string{}
		for i, part := range e.Parts {
			names = append(names, part.Name)
			if (len(part.Body) > 0) != keep {
				t.Errorf("part %d of an entry with keep = %v has %d bytes", i, keep, len(part.Body))
			}
			if same := ledger.NewPart(part.Name, part.Body, true); keep && !bytes.Equal(same.Sum, part.Sum) {
				t.Errorf("part %d has another hash", i)
			}
		}
		if !slices.Equal(names, []string{"question", "answer", "record a1", "record a2", "record a3"}) {
			t.Errorf("the parts are %v", names)
		}
		var last synod.Opinion
		if keep && (string(e.Parts[0].Body) != q.Text || string(e.Parts[1].Body) != string(o.Decision) ||
			json.Unmarshal(e.Parts[3].Body, &last) != nil || last.Round != 1) {
			t.Errorf("question %s, answer %s, opinion %+v", e.Parts[0].Body, e.Parts[1].Body, last)
		}
		digest, _ := hex.DecodeString(p.Digest())
		if e.Instance != run.Head.Instance || !bytes.Equal(e.Council, digest) || e.Format != ledger.Format {
			t.Errorf("%+v", e)
		}
	}
	// A run without an end and without opinions has no decision.
	empty := &journal.Run{Head: run.Head}
	if _, err := outcome.LedgerEntry(p, empty, true); err == nil || !strings.Contains(err.Error(),
		"no decision to record") {
		t.Errorf("a run without a decision: %v", err)
	}
}
