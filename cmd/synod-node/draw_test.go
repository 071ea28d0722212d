package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Members agree on a roster that draws committees, beacons prove a run's draw, and everybody checks it. No node plays
// by such a roster yet.
func TestRosterDraw(t *testing.T) {
	c := newChanging(t)
	members := c.seven()
	at := func(name string) string { return filepath.Join(c.dir, name) }
	text := "council: large\nprotocol: {name: rotating-leader}\nf: 2\npace: {think: 2s, within: 2s}\n" +
		"models: {d: {provider: simulated, ability: 1}}\nseats: [{id: a, model: d, count: 7}]\n"
	if err := os.WriteFile(at("council.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	path := at("large.roster")
	made := []string{"roster", "new", "-c", at("council.yaml"), "--committee", "4", "--committee-f", "1", "--beacon",
		"a6,a2", "-o", path}
	for _, o := range members {
		made = append(made, "--member", fmt.Sprintf("%s=%x@%s", o.seat, o.secret.PublicKey(), o.address))
	}
	c.command(made...)
	key := func(i int) string { return at(members[i-1].name + ".key") }
	for i := range members {
		c.command("roster", "sign", path, "--yes", "--key", key(i+1))
	}
	if out := c.command("roster", "show", path); !strings.Contains(out, "committee: 4 of 7 members, of whom F = 1 may "+
		"be Byzantine, drawn for each run by a2, a6") {
		t.Error(out)
	}
	c.command("roster", "verify", path)
	draw := func(more ...string) (string, error) {
		return c.try(append([]string{"roster", "draw", at("run.draw"), "--roster", path}, more...)...)
	}
	refused := func(what string, more ...string) {
		t.Helper()
		if out, err := draw(more...); err == nil || !strings.Contains(out, what) {
			t.Errorf("%v: %v %s", more, err, out)
		}
	}
	refused("--question and --run make the file", "--key", key(2))
	if out, err := draw("--question", "What is 17 + 25?", "--run", "r1", "--key", key(6)); err != nil ||
		!strings.Contains(out, "proofs that are missing: a2") {
		t.Fatal(err, out)
	}
	refused("no beacon of the roster has the key", "--key", key(1))
	refused("another question or run", "--run", "r2", "--key", key(2))
	first, err := draw("--key", key(2))
	again, _ := draw()
	if err != nil || len(strings.Fields(first)) != 4 || first != again {
		t.Errorf("%v: %q and then %q", err, first, again)
	}
	if b, err := os.ReadFile(at("run.draw")); err != nil || os.WriteFile(at("run.draw"),
		[]byte(strings.Replace(string(b), `"run": "r1"`, `"run": "r2"`, 1)), 0o600) != nil {
		t.Fatal(err)
	}
	refused("the proof of the random function is not valid")
	if out, err := c.try("node", "run", "--roster", path, "--key", key(1), "--dir", at("a1")); err == nil ||
		!strings.Contains(out, "nodes do not play on one yet") {
		t.Error(err, out)
	}
}
