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
	rule := regexp.MustCompile(`^ +need\(.*, "(.*)"\); // [CDEGKMQSTV][0-9]\n$`)
	var made []map[string][][]byte // by seed: files by what verify.js says of them
	tried := 0
	for i, line := range lines {
		says := rule.FindStringSubmatch(line)
		if says == nil {
			continue
		}
		tried++
		weak := strings.Join(lines[:i], "") + strings.Replace(line, "need(", "void(", 1) + strings.Join(lines[i+1:], "")
		found := false
		for seed := 0; seed < 25 && !found; seed++ {
			if seed == len(made) {
				made = append(made, refusedFiles(t, string(text), uint64(seed)))
			}
			files := made[seed]["INVALID "+says[1]]
			found = len(files) > 0 && findWeak(t, weak, files)
		}
		if !found {
			t.Errorf("no file finds a verifier without: %s", strings.TrimSpace(line))
		}
	}
	if tried < 9 {
		t.Errorf("verify.js has %d checks of one line with the name of a rule", tried)
	}
	t.Logf("files find each of %d verifiers that lack one check", tried)
}

// refusedFiles are the mutants of a seed by the verdict of a text of verify.js. It names the first check that refuses a
// file, and only without that check could the file be accepted.
func refusedFiles(t *testing.T, program string, seed uint64) map[string][][]byte {
	t.Helper()
	_, files := mutantsOf(t, seed)
	by := map[string][][]byte{}
	for k, verdict := range verdictsOf(t, program, files) {
		by[verdict] = append(by[verdict], files[k])
	}
	return by
}

// findWeak reports whether a text of verify.js accepts, or throws at, a file that the verifier in Go refuses.
func findWeak(t *testing.T, program string, files [][]byte) bool {
	t.Helper()
	for k, verdict := range verdictsOf(t, program, files) {
		if strings.HasPrefix(verdict, "INVALID") {
			continue
		}
		if want := judge(files[k]); want != nil && !aboutMerge(want) {
			return true
		}
	}
	return false
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
