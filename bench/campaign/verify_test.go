package campaign

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Claims are checked for the time that was given, and those with finitely many cases wholly.
func TestVerify(t *testing.T) {
	parts := 0
	o := VerifyOptions{Time: 3 * time.Second, Seed: 7, Dir: t.TempDir(), Claims: []string{"QU-1", "QU-2", "TX-4",
		"BB-1"},
		Progress: func(string) { parts++ }}
	all, err := Verify(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{"QU-1": true, "QU-2": true, "TX-4": false, "BB-1": false}
	for _, v := range all {
		complete, asked := want[v.ID]
		if delete(want, v.ID); !asked || v.Executions == 0 || v.Violations > 0 || v.Complete != complete {
			t.Errorf("%+v", v)
		}
		if v.ID == "QU-1" && (v.ClaimTally.Margin == nil || *v.ClaimTally.Margin != 0 || v.Executions != 1717) {
			t.Errorf("quorums: %+v", v.ClaimTally) // the sum of ceil(n/3) over n of 1 to 100
		}
	}
	if len(want) > 0 || parts < 4 {
		t.Errorf("%v were not checked; %d reports", want, parts)
	}
	if left, err := os.ReadDir(o.Dir); err != nil || len(left) > 0 {
		t.Errorf("files without a violation: %v, %v", left, err)
	}
	o.Claims = []string{"QU-9"}
	if _, err := Verify(t.Context(), o); err == nil {
		t.Error("an unknown claim is checked")
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	o.Claims = nil
	if all, err := Verify(over, o); err != nil || len(all) > 1 {
		t.Errorf("after an interruption: %+v, %v", all, err)
	}
}

// A violation is counted, kept once as a file, and found again with it; a case that cannot be tried is an error.
func TestVerifyViolation(t *testing.T) {
	broken := ClaimTrial{Claim: Claim{ID: "TX-1", Margin: "what is left"}, Cases: 40, try: func(t *ClaimTried) {
		t.Spare(float64(t.Number))
		t.Check(t.Number%10 != 3, "number %d", t.Number)
	}}
	o := VerifyOptions{Time: time.Second, Dir: filepath.Join(t.TempDir(), "new")}
	v, err := o.tryAll(t.Context(), broken)
	if err != nil || v.Executions != 40 || v.Violations != 4 || !v.Complete || v.Detail == "" ||
		*v.ClaimTally.Margin != 0 {
		t.Fatalf("%+v, %v", v, err)
	}
	saved, err := LoadTrial(v.Replay)
	if err != nil || saved.Claim != "TX-1" || saved.Number%10 != 3 || saved.Detail != v.Detail {
		t.Fatalf("%+v, %v", saved, err)
	}
	if r, err := saved.Replay(); err != nil || r.Violation != "" || r.Executions == 0 { // the real TX-1 holds
		t.Errorf("%+v, %v", r, err)
	}
	if err := os.WriteFile(v.Replay, []byte(`{"version":1,"execution":{}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadTrial(v.Replay); !errors.Is(err, ErrNoTrial) {
		t.Errorf("a saved execution: %v", err)
	}
	full := ClaimTrial{Claim: Claim{ID: "TX-2"}, try: func(t *ClaimTried) { t.Need(errors.New("the disk is full")) }}
	if v, err := o.tryAll(t.Context(), full); err == nil || v.Violations > 0 {
		t.Errorf("%+v, %v", v, err)
	}
}
