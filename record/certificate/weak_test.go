package certificate_test

import (
	"bytes"
	"encoding/base64"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The control of TestThreeVerifiersAgree: a verifier that lacks one of its checks is found by the mutants.
func TestMutantsFindWeakVerifiers(t *testing.T) {
	if exec.Command("node", "--version").Run() != nil {
		t.Skip("node, which runs verify.js, is missing")
	}
	text, err := os.ReadFile("../../examples/verify/verify.js")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	rule := regexp.MustCompile(`^ +need\(.*// [DEGKMQSTV][0-9]\n$`)
	names, files, want := []string{}, [][]byte{}, []error{}
	for seed := range uint64(25) {
		more, list := mutantsOf(t, seed)
		names, files = append(names, more...), append(files, list...)
	}
	for _, file := range files {
		want = append(want, judge(file))
	}
	tried := 0
	for i, line := range lines {
		if !rule.MatchString(line) {
			continue
		}
		tried++
		weak := strings.Join(lines[:i], "") + strings.Replace(line, "need(", "void(", 1) + strings.Join(lines[i+1:], "")
		found := ""
		for k, verdict := range verdictsOf(t, weak, files) {
			if want[k] != nil && !aboutMerge(want[k]) && !strings.HasPrefix(verdict, "INVALID") {
				found = names[k]
				break
			}
		}
		if found == "" {
			t.Errorf("%d files do not find a verifier without: %s", len(files), strings.TrimSpace(line))
		}
	}
	if tried < 9 {
		t.Errorf("verify.js has %d checks of one line with the name of a rule", tried)
	}
	t.Logf("%d files find each of %d verifiers that lack one check", len(files), tried)
}

// verdictsOf are the lines that a text of verify.js prints about files. It may end before the last one: then it throws
// what a verifier must not throw.
func verdictsOf(t *testing.T, program string, files [][]byte) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "weak.js")
	if err := os.WriteFile(path, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	var in bytes.Buffer
	for _, file := range files {
		in.WriteString(base64.StdEncoding.EncodeToString(file) + "\n")
	}
	cmd := exec.Command("node", path, "--batch")
	cmd.Stdin = &in
	out, err := cmd.Output()
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if err == nil && len(lines) != len(files) {
		t.Fatalf("%d lines about %d files", len(lines), len(files))
	}
	if err != nil && len(lines) < len(files) {
		lines = append(lines, "it throws")
	}
	return lines
}
