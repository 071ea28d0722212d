package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"synod.dev/synod/council/trust"

	"synod.dev/synod/cmd/synod-serve/internal/store"
)

// The right to label is given and taken like the other rights of a key, and its labels are listed and withdrawn.
func TestLabels(t *testing.T) {
	dir := t.TempDir()
	if code, _, errs := command(t, "serve", "keys", "new", "alice", "--label", "--home", dir); code != 0 ||
		!strings.Contains(errs, "label") {
		t.Fatalf("%d %s", code, errs)
	}
	st, err := store.Open(t.Context(), filepath.Join(dir, "state", "serve", "serve.db"), "")
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	keys, err := st.Keys(t.Context())
	if err != nil || len(keys) != 1 || !keys[0].Labels() {
		t.Fatalf("%+v %v", keys, err)
	}
	for _, l := range []store.Label{{Run: "a", Key: keys[0].ID, Predicted: 0.75, Correct: true},
		{Run: "b", Key: keys[0].ID, Predicted: -1}, {Run: "a", Predicted: -1}} {
		l.Model, l.Mark = "seven", "right"
		if err := st.SetLabel(l); err != nil {
			t.Fatal(err)
		}
	}
	list := func() string {
		code, out, errs := command(t, "serve", "labels", "list", "--home", dir)
		if code != 0 {
			t.Fatal(code, errs)
		}
		return strings.Join(strings.Fields(out), " ")
	}
	if out := list(); !strings.Contains(out, "alice seven 2 1 1 0.8 of 1, and 1 were") ||
		!strings.Contains(out, "owner seven 1 0 1 -") {
		t.Error(out)
	}
	code, out, errs := command(t, "serve", "labels", "export", "seven", "--home", dir)
	path := filepath.Join(dir, "labels.jsonl")
	if err := os.WriteFile(path, []byte(out), 0o600); err != nil {
		t.Fatal(err)
	}
	marks, err := trust.ReadMarks(path)
	if code != 0 || err != nil || len(marks) != 3 || marks[0].Council != "seven" || marks[0].At.IsZero() {
		t.Errorf("%d %s %+v %v", code, errs, marks, err)
	}
	for _, m := range marks {
		if stated := m.Run == "a" && m.Key != ""; m.Right != stated || (m.Probability != nil) != stated {
			t.Errorf("%+v", m)
		}
	}
	if code, out, errs := command(t, "serve", "labels", "export", "six", "--home", dir); code != 2 || out != "" ||
		!strings.Contains(errs, "labels list shows which have") {
		t.Error(code, out, errs)
	}
	if code, _, errs := command(t, "serve", "labels", "withdraw", "alice", "--home", dir); code != 0 ||
		!strings.Contains(errs, "2 labels withdrawn") {
		t.Error(code, errs)
	}
	if out := list(); strings.Contains(out, "alice") || !strings.Contains(out, "owner") {
		t.Error(out)
	}
	if code, _, errs := command(t, "serve", "labels", "withdraw", "owner", "--home", dir); code != 0 ||
		!strings.Contains(errs, "1 label withdrawn") {
		t.Error(code, errs)
	}
	if code, _, _ := command(t, "serve", "keys", "edit", "alice", "--label=false", "--home", dir); code != 0 {
		t.Error(code)
	}
	if keys, err = st.Keys(t.Context()); err != nil || keys[0].Labels() {
		t.Errorf("%+v %v", keys, err)
	}
}
