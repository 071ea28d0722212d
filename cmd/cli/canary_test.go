package cli

import (
	"bytes"
	"context"
	"encoding/base64"
	"io/fs"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/internal/canary"
)

// No command shows a secret, or writes it into a file: neither on success nor in an error, a hint, a log, a report or a
// trace, with servers that repeat what they are sent.
func TestCanaries(t *testing.T) {
	server := httptest.NewServer(canary.Server(false))
	defer server.Close()
	secrets := canary.All()
	for name, value := range canary.Environment(server.URL) {
		t.Setenv(name, value)
	}
	dir := t.TempDir()
	t.Chdir(dir)
	input := map[string]bool{}
	write := func(name, text string) {
		input[name] = true
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("q.jsonl", `{"id":"q0","question":"What is 20 + 22?","answer":"42"}`+"\n")
	worked := map[string]int{} // by command: how often it succeeded
	run := func(args ...string) {
		var out, errs bytes.Buffer
		args = append([]string{"--home", "home"}, args...)
		code := Run(context.Background(), args, strings.NewReader(""), &out, &errs)
		if code == app.ExitOK {
			worked[args[2]]++
		}
		for name, text := range map[string][]byte{"stdout": out.Bytes(), "stderr": errs.Bytes()} {
			for _, place := range secrets.In(text) {
				t.Errorf("synod %s (exit %d): %s has the secret of %s:\n%s", strings.Join(args, " "), code, name,
					place, text)
			}
		}
	}
	for _, c := range canary.Councils(server.URL) {
		name, file := c.Name, c.Name+".yaml"
		write(file, c.Text)
		for _, args := range [][]string{
			{"config", "show"}, {"config", "show", "--origin"}, {"doctor"},
			{"ask", "--dry-run", "What is 17 + 25?"}, {"ask", "--dry-run", "--json", "What is 17 + 25?"},
			{"ask", "-v", "--journal", name + ".jsonl", "--record", name + ".trace", "What is 17 + 25?"},
			{"ask", "--json", "--no-preflight", "--show", "rounds,models,reasoning", "What is 17 + 25?"},
			{"ask", "--allow-escalation", "What is 17 + 25?"},
			{"bench", "run", "q.jsonl", "-o", name + ".run"},
			{"calibrate", "q.jsonl", "--out", name + ".calibrated"},
			{"attack", "q.jsonl", "-n", "1", "-o", name + ".attack"},
		} {
			run(append(args, "-c", file)...)
		}
		for _, format := range []string{"text", "json", "csv", "md", "html"} {
			run("bench", "report", name+".run", "--format", format, "-o", name+"."+format)
			run("bench", "report", name+".run", "--format", format)
		}
		run("bench", "export", name+".run", "--inspect", "-o", name+".inspect")
		run("replay", name+".jsonl")
		run("verify", name+".jsonl")
		run("journals", "show", name+".jsonl")
		run("ask", "--resume", name+".jsonl")
	}
	write("study.yaml", `{experiment: study, base: {task: q.jsonl, protocol: {name: majority}, models: {m: {`+
		`provider: openai, url: "`+server.URL+`/v1?token=c4nary-query", key_env: MY_KEY, model: m}}, seats: [{id: a, `+
		`model: m, count: 3}]}, axes: {seed: [1, 2]}}`)
	write("axis.yaml", `{experiment: axis, base: {task: q.jsonl, models: {m: {provider: openai, model: m}}, `+
		`seats: [{id: a, model: m, count: 3}]}, axes: {models.m.url: ["`+server.URL+`/v1?token=c4nary-query", "`+
		server.URL+`/v1"]}}`)
	for _, args := range [][]string{{"bench", "run", "axis.yaml", "-o", "axis.run"},
		{"bench", "run", "study.yaml", "-o", "study.run"}, {"bench", "report", "study.run"},
		{"bench", "run", "study.yaml", "-o", "study.run"}, {"journals", "list"}, {"cache", "show"},
		{"doctor"},
		{"environment"}, {"init"}, {"init", "--force"}, {"models", "list"},
		{"ask", "--model", "openai:m", "What is 17 + 25?"},
		{"ask", "--model", "anthropic:m", "What is 17 + 25?"}, {"ask", "--model", "openai:m@3", "--json", "1 + 1?"},
	} {
		run(args...)
	}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || input[path] {
			return err
		}
		text, err := os.ReadFile(path)
		for _, place := range secrets.In(text) {
			t.Errorf("the file %s has the secret of %s", path, place)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"ask", "bench", "config", "doctor", "replay", "journals", "init", "calibrate",
		"attack"} {
		if worked[command] == 0 {
			t.Errorf("synod %s never succeeded, so this test says little of it", command)
		}
	}
	for _, seen := range []string{"a c4nary-query", base64.StdEncoding.EncodeToString([]byte("c4nary-query"))} {
		if len(secrets.In([]byte(seen))) != 1 {
			t.Errorf("this test does not see %q", seen)
		}
	}
}
