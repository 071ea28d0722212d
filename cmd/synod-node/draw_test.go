package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/network/link"
	"synod.dev/synod/network/node/call"
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
	drawsOfNodes(t, c, members, path)
}

// drawsOfNodes has the beacons' nodes prove: all of them must, no question is played, and a caller gets a bounded
// number of draws.
func drawsOfNodes(t *testing.T, c *changing, members []*owner, path string) {
	t.Helper()
	ask := []string{"roster", "draw", filepath.Join(c.dir, "asked.draw"), "--roster", path, "--question",
		"What is 17 + 25?", "--ask", "--key", filepath.Join(c.dir, "a1.key")}
	members[1].start(c, path)
	if out, err := c.try(ask...); err == nil || !strings.Contains(out, "a6: ") {
		t.Errorf("with one of two beacons: %v %s", err, out)
	}
	members[5].start(c, path)
	c.waitFor("the nodes of the beacons", []*owner{members[1], members[5]}, func() bool {
		return members[1].status().Seat == "a2" && members[5].status().Seat == "a6"
	})
	first := c.command(ask...)
	if len(strings.Fields(first)) != 4 || first != c.command(ask[:5]...) {
		t.Errorf("drawn: %q", first)
	}
	s, err := readRoster(path)
	if err != nil {
		t.Fatal(err)
	}
	transport, err := link.NewTLS(members[0].secret.LinkKey())
	if err != nil {
		t.Fatal(err)
	}
	defer transport.Close()
	client := &call.Client{Roster: s.Roster, Transport: transport}
	defer client.Close()
	q := synod.Question{Text: "What is 17 + 25?", Form: synod.Number}
	draws := 0
	for ; err == nil && draws < 100; draws++ {
		_, _, err = client.Draw(t.Context(), q)
	}
	if err == nil || !strings.Contains(err.Error(), "as many draws for this caller as it does") || draws < 10 {
		t.Errorf("%d draws: %v", draws, err)
	}
	res, err := client.Ask(t.Context(), q)
	if err != nil || !strings.Contains(res.Missing[1], "nodes do not play on one yet") {
		t.Errorf("a question is played: %v, %v", err, res)
	}
}
