package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"synod.dev/synod/bench/campaign"
)

// TestListed checks that every bug of the list still applies to the code, and names checks that exist.
func TestListed(t *testing.T) {
	list, err := Load("../..", Listed)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < 40 {
		t.Errorf("there are %d bugs; docs/extend/testing.md promises 40", len(list))
	}
	violated := map[string]bool{}
	for _, b := range list {
		for _, id := range b.Claims {
			violated[id] = true
		}
	}
	for _, id := range campaign.ClaimIDs() {
		if !violated[id] {
			t.Errorf("no bug of the list violates %s, so nobody knows that its check can fail", id)
		}
	}
}

const code = `package small

import "errors"

// Largest returns the largest number and where it is.
func Largest(all []int) (at, largest int, err error) {
	if len(all) == 0 {
		return 0, 0, errors.New("none")
	}
	defer func() { largest = all[at] }()
loop:
	for i, x := range all {
		switch {
		case x > all[at]:
			at = i
		case x < 0:
			break loop
		}
	}
	return at, 0, nil
}

// Reset sets all numbers to 0.
func Reset(all []int) {
	for i := range all {
		all[i] = 0
	}
}

var constant = 3
`

const tests = `package small

import "testing"

func TestLargest(t *testing.T) {
	if at, x, err := Largest([]int{1, 3, 2}); at != 1 || x != 3 || err != nil {
		t.Error(at, x, err)
	}
}

func TestReset(t *testing.T) {
	all := []int{1, 2}
	if Reset(all); all[0] != 0 || all[1] != 0 {
		t.Error(all)
	}
}

func TestBroken(t *testing.T) { t.Error("it fails without a bug") }
`

const seeds = `
- name: smallest
  mistake: it looks for the smallest
  file: small.go
  old: x > all[at]
  new: x < all[at]
  tests: [". TestReset", ". TestLargest"]
- name: last-equal
  mistake: of equal numbers the last one counts
  file: small.go
  old: case x > all[at]
  new: case x >= all[at]
  tests: [". TestLargest"]
- name: not-reset
  mistake: the first number stays
  file: small.go
  old: for i := range all {
  new: for i := range all[1:] {
  tests: [". TestReset"]
`

// small makes the module of these tests.
func small(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module small\n\ngo 1.26\n", "small.go": code,
		"small_test.go": tests} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestPlay seeds three bugs of one package, two of them in one function: those that a test notices are found, and one
// that none notices makes the result red.
func TestPlay(t *testing.T) {
	dir := small(t)
	list, err := Load(dir, []byte(seeds))
	if err != nil {
		t.Fatal(err)
	}
	b, err := build(dir, t.TempDir(), list)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.healthy(); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	err = play(&out, b, list, 3*time.Second)
	if err == nil || !strings.Contains(err.Error(), `["last-equal"]`) {
		t.Errorf("the result is %v", err)
	}
	for _, want := range []string{"smallest                     by . TestLargest\n", "LIVES", "by . TestReset\n",
		"2 of 3 bugs were found; median "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, out.String())
		}
	}
}

// TestSickChecks refuses checks that fail without a bug, because they would find every bug.
func TestSickChecks(t *testing.T) {
	dir := small(t)
	list, err := Load(dir, []byte(strings.ReplaceAll(seeds, "TestReset", "TestBroken")))
	if err != nil {
		t.Fatal(err)
	}
	b, err := build(dir, t.TempDir(), list)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.healthy(); err == nil || !strings.Contains(err.Error(), "fail without a bug") {
		t.Errorf("checks that fail are %v", err)
	}
}

// TestMistakes names what is wrong with an entry of the list.
func TestMistakes(t *testing.T) {
	dir := small(t)
	entry := func(change ...string) string {
		return strings.NewReplacer(change...).Replace(strings.Split(seeds, "\n- ")[1])
	}
	for want, text := range map[string]string{
		"it occurs 0 times":       entry("x > all[at]", "x > all[0]"),
		"it occurs 2 times":       entry("old: x > all[at]", "old: all[at]", "new: x < all[at]", "new: all[0]"),
		"is in no function":       entry("x > all[at]", "constant = 3"),
		"no test TestNone":        entry("TestReset", "TestNone"),
		"no tests in nowhere":     entry(`". TestReset"`, "nowhere"),
		"its name must have":      entry("smallest", "Small_Est"),
		"needs a mistake":         entry("it looks for the smallest", `""`),
		"there is no claim":       entry(`". TestLargest"]`, "\". TestLargest\"]\n  campaign: trials\n  claims: [XY-1]"),
		"claims and no campaign":  entry(`". TestLargest"]`, "\". TestLargest\"]\n  claims: [BB-1]"),
		"no campaign is of":       entry(`". TestLargest"]`, "\". TestLargest\"]\n  campaign: none"),
		"another bug has this na": entry() + "\n- " + entry(),
		"unknown field":           entry("mistake", "slip"),
		"entry 2 is empty":        entry() + "\n-",
	} {
		if _, err := Load(dir, []byte("- "+text+"\n")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
