package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A key signs one successor of a roster. Another one needs its owner's word that the first was given up; what was
// signed is remembered in a file, of which a torn line counts as not signed.
func TestOneSuccessorIsSigned(t *testing.T) {
	c := newChanging(t)
	a := c.seven()
	first, path := c.sign(c.roster(nil, a...), a...)
	_, other := c.sign(c.roster(nil, append(a[1:6:6], a[0])...), append(a[1:6:6], a[0])...) // another first roster
	key := filepath.Join(c.dir, "a1.key")
	if _, err := os.Stat(key + ".rosters"); err == nil {
		t.Error("a first roster, which replaces nothing, is remembered")
	}
	file := func(name string, of ...*owner) (path, hash string) {
		s := c.roster(first, of...)
		path = filepath.Join(c.dir, name)
		if err := os.WriteFile(path, s.File(), 0o600); err != nil {
			t.Fatal(err)
		}
		return path, s.HexHash()
	}
	here, hash := file("here", a[:6]...)
	there, _ := file("there", a[1:]...)
	sign := func(path string, more ...string) (string, error) {
		return c.try(append([]string{"roster", "sign", path, "--yes", "--key", key}, more...)...)
	}
	if out, err := sign(here); err != nil {
		t.Fatal(out)
	}
	if out, err := sign(here); err != nil {
		t.Errorf("the same once more: %s", out)
	}
	refused := func(what string, more ...string) {
		t.Helper()
		before, _ := os.ReadFile(there)
		out, err := sign(there, more...)
		after, _ := os.ReadFile(there)
		if err == nil || !strings.Contains(out, "has signed another successor") || string(before) != string(after) {
			t.Errorf("%s: %v\n%s", what, err, out)
		}
	}
	refused("another successor")
	refused("another successor, instead of none", "--instead-of", "0011223344556677")
	refused("another successor, instead of any", "--instead-of", "")
	if out, err := sign(there, "--instead-of", hash[:16]); err != nil {
		t.Errorf("after the first was given up: %s", out)
	}
	if out, err := sign(here); err == nil {
		t.Errorf("the first after it was given up:\n%s", out)
	}
	for _, p := range []string{path, other} {
		if out, err := sign(p); err != nil {
			t.Errorf("a first roster: %s", out)
		}
	}
	tornAndBroken(t, key, func() (string, error) { return sign(here) })
}

// tornAndBroken signs once more after the last line of what a key has signed was torn, and after the file was broken.
func tornAndBroken(t *testing.T, key string, sign func() (string, error)) {
	t.Helper()
	b, err := os.ReadFile(key + ".rosters")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(key+".rosters", b[:len(b)-20], 0o600); err != nil { // its second line is torn
		t.Fatal(err)
	}
	if out, err := sign(); err != nil {
		t.Errorf("the line of the other one is torn: %s", out)
	}
	if err := os.WriteFile(key+".rosters", []byte("no hashes\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := sign(); err == nil {
		t.Errorf("a file that cannot be read: %s", out)
	}
}

// A node of a release in which a word of a prompt differs plays the roster of the others (TestChangeUnderLoad). One in
// which a prompt means something else refuses it.
func TestAnotherMeaningIsRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds synod-node")
	}
	c := newChanging(t)
	a := c.seven()
	_, path := c.sign(c.roster(nil, a...), a...)
	program := released(t, `{{define "system"}}You answer`, `{{/* meaning: 2 */}}{{define "system"}}You answer`)
	out, err := exec.Command(program, "node", "run", "--roster", path, "--key", filepath.Join(c.dir, "a1.key"), "--dir",
		a[0].dir).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "mean something else") || !strings.Contains(string(out),
		"sac/refine") {
		t.Errorf("a release with another meaning: %v\n%s", err, out)
	}
	if out := c.command("roster", "verify", path); !strings.HasPrefix(out, "VALID") {
		t.Errorf("this release: %s", out)
	}
}
