package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestGraphDocs runs what docs/research/graphs.md shows, in order and in one folder, and
// compares what is printed. "$ cat FILE" makes the file. UPDATE_SCRIPTS=1 writes the
// page anew; read the diff.
func TestGraphDocs(t *testing.T) {
	page, err := filepath.Abs("../../docs/research/graphs.md")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	blocks := regexp.MustCompile("(?s)```console\n.*?```")
	now := blocks.ReplaceAllFunc(text, func(block []byte) []byte {
		body := strings.TrimSuffix(strings.TrimPrefix(string(block), "```console\n"), "```")
		return []byte("```console\n" + playConsole(t, body) + "```")
	})
	drawing, err := os.ReadFile("lab.svg")
	if err != nil {
		t.Fatal(err)
	}
	drawn := filepath.Join(filepath.Dir(page), "lab.svg")
	if os.Getenv("UPDATE_SCRIPTS") != "" {
		if err := errors.Join(os.WriteFile(page, now, 0o644), os.WriteFile(drawn, drawing, 0o644)); err != nil {
			t.Fatal(err)
		}
		return
	}
	if shown, err := os.ReadFile(drawn); err != nil || !bytes.Equal(shown, drawing) {
		t.Errorf("docs/research/lab.svg is not what is drawn (%v); UPDATE_SCRIPTS=1 renews it", err)
	}
	old, fresh := strings.Split(string(text), "\n"), strings.Split(string(now), "\n")
	for i := range min(len(old), len(fresh)) {
		if old[i] != fresh[i] {
			t.Fatalf("docs/research/graphs.md, line %d:\nhas    %s\n  prints %s\nset UPDATE_SCRIPTS=1 to update it",
				i+1, old[i], fresh[i])
		}
	}
	if len(old) != len(fresh) {
		t.Fatalf("docs/research/graphs.md has %d lines and would have %d; UPDATE_SCRIPTS=1 renews it",
			len(old), len(fresh))
	}
}

var seconds = regexp.MustCompile(`"seconds":[-+.0-9e]+`)

// playConsole runs the commands of a block and puts their output below them.
func playConsole(t *testing.T, block string) string {
	var out bytes.Buffer
	for _, part := range strings.Split("\n"+block, "\n$ ")[1:] {
		line, old, _ := strings.Cut(part, "\n")
		out.WriteString("$ " + line + "\n")
		args := strings.Fields(line)
		switch {
		case args[0] == "cat":
			if err := os.WriteFile(args[1], []byte(strings.TrimSuffix(old, "\n")+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			out.WriteString(strings.TrimSuffix(old, "\n") + "\n")
			continue
		case args[0] != "synod":
			t.Fatalf("cannot run %q", line)
		}
		in := strings.NewReader("")
		if n := len(args); args[n-2] == "<" {
			data, err := os.ReadFile(args[n-1])
			if err != nil {
				t.Fatal(err)
			}
			in, args = strings.NewReader(string(data)), args[:n-2]
		}
		var printed bytes.Buffer
		cmd := newRoot()
		cmd.SetArgs(args[1:])
		cmd.SetIn(in)
		cmd.SetOut(&printed)
		cmd.SetErr(&printed)
		if err := cmd.ExecuteContext(t.Context()); err != nil {
			printed.WriteString("synod: " + err.Error() + "\n")
		}
		out.Write(seconds.ReplaceAll(printed.Bytes(), []byte(`"seconds":0.00001`)))
	}
	return out.String()
}
