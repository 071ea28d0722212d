package bench_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"synod.dev/synod/bench"
)

// recordedCouncil is a council whose paths are all relative.
const recordedCouncil = `protocol: {name: sac, rounds: 1}
f: 0
prompts: words
models: {tape: {provider: recorded, path: tape.jsonl, model: m}}
seats: [{id: a, model: tape, count: 3}]
`

// A run can be resumed from any working folder. If a prompt template has changed, it is
// not resumed and the error names the template.
func TestPathsAndPrompts(t *testing.T) {
	here, words := t.TempDir(), "{{define \"system\"}}Judge.{{end}}{{define \"user\"}}{{.Candidate}}{{end}}"
	for name, text := range map[string]string{
		"tape.jsonl": `{"benchmark":"b","item_id":"Sum 0/x","model":"m","trial":0,"response":"The answer is 0"}` +
			"\n",
		"words/score.tmpl": words,
	} {
		path := filepath.Join(here, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(here)
	run := create(t, plan(t, recordedCouncil, 1, 1))
	t.Chdir(t.TempDir())
	again, err := bench.Open(run.Dir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(here, "words", "score.tmpl"), []byte(words+" "), 0o600); err != nil {
		t.Fatal(err)
	}
	var refused *bench.ChangedError
	if _, err := again.Work(context.Background(), bench.Options{}); !errors.As(err, &refused) ||
		len(refused.Changes) != 1 || !strings.Contains(refused.Changes[0], "prompt sac/score: its text was changed") {
		t.Errorf("an edited prompt: %v", err)
	}
	if err := os.WriteFile(filepath.Join(here, "words", "score.tmpl"), []byte(words), 0o600); err != nil {
		t.Fatal(err)
	}
	if p, err := again.Work(context.Background(), bench.Options{}); err != nil || p.Finished != 1 {
		t.Errorf("%+v, %v", p, err)
	}
}
