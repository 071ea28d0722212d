package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"synod.dev/synod/network/node"
	"synod.dev/synod/network/node/form"
	"synod.dev/synod/network/roster"
)

// owners are people who form a council, each in a folder of an own, with the commands that they type.
type owners struct {
	t        *testing.T
	dir      string
	synod    string // the program of callers
	port     int
	commands []string
}

func newOwners(t *testing.T) *owners {
	t.Helper()
	dir, err := os.MkdirTemp("", "own") // a short path: sockets need one
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return &owners{t: t, dir: dir, port: 20000 + rand.IntN(12000)}
}

// folder returns the folder of an owner.
func (o *owners) folder(owner int) string {
	path := filepath.Join(o.dir, fmt.Sprint("owner", owner))
	if err := os.MkdirAll(path, 0o700); err != nil {
		o.t.Fatal(err)
	}
	return path
}

func (o *owners) address(owner int) string { return fmt.Sprintf("127.0.0.%d:%d", owner, o.port) }

// prepare makes a command of an owner, and counts it. The programs synod and synod-node are one command to them.
func (o *owners) prepare(owner int, args ...string) *exec.Cmd {
	o.commands = append(o.commands, fmt.Sprintf("owner %d: synod %s", owner, strings.Join(args, " ")))
	program := os.Args[0]
	if args[0] != "node" && args[0] != "roster" {
		program = o.synod
	}
	c := exec.Command(program, args...)
	c.Dir, c.Env = o.folder(owner), append(os.Environ(), "SYNOD_NODE_TEST=run", "HOME="+o.dir)
	return c
}

// run runs a command that ends by itself.
func (o *owners) run(owner int, args ...string) string {
	o.t.Helper()
	out, err := o.prepare(owner, args...).CombinedOutput()
	if err != nil {
		o.t.Fatalf("owner %d: synod %s: %v\n%s", owner, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// begin runs a command that goes on, and returns what it prints to stdout.
func (o *owners) begin(owner int, args ...string) (c *exec.Cmd, stdout io.Reader) {
	o.t.Helper()
	c = o.prepare(owner, args...)
	log, err := os.OpenFile(filepath.Join(o.folder(owner), "stderr"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		o.t.Fatal(err)
	}
	defer log.Close()
	c.Stderr = log
	if stdout, err = c.StdoutPipe(); err == nil {
		err = c.Start()
	}
	if err != nil {
		o.t.Fatal(err)
	}
	o.t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	return c, stdout
}

// link reads the link that the founder's command prints.
func (o *owners) link(stdout io.Reader) string {
	o.t.Helper()
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		b, _ := os.ReadFile(filepath.Join(o.folder(1), "stderr"))
		o.t.Fatalf("the founder's command printed no link: %v\n%s", err, b)
	}
	return strings.TrimSpace(line)
}

// waitFor waits for something that comes true.
func (o *owners) waitFor(what string, holds func() bool) {
	o.t.Helper()
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if holds() {
			return
		}
	}
	for i := 1; i <= 7; i++ {
		b, _ := os.ReadFile(filepath.Join(o.folder(i), "stderr"))
		o.t.Logf("owner %d: %s", i, b)
	}
	o.t.Fatalf("it did not come: %s", what)
}

// connected waits until the nodes of all owners have streams to all others.
func (o *owners) connected() {
	o.t.Helper()
	o.waitFor("seven nodes that have found one another", func() bool {
		for i := 1; i <= 7; i++ {
			dirs, _ := filepath.Glob(filepath.Join(o.folder(i), "node-*"))
			var s node.Status
			if len(dirs) != 1 || request(dirs[0], http.MethodGet, "/status", &s) != nil || len(s.Peers) != 6 {
				return false
			}
			for _, p := range s.Peers {
				if !p.Connected || p.Incoming == 0 {
					return false
				}
			}
		}
		return true
	})
}

// council writes the council file of the founder.
func (o *owners) council() {
	o.t.Helper()
	text := "council: seven\nprotocol: {name: sac, rounds: 2}\nf: 2\npace: {think: 2s, within: 2s}\n" +
		"models: {d: {provider: simulated, ability: 1, skill: 1, primacy: 0, shared: 0}}\n" +
		"seats: [{id: a, model: d, count: 7}]\n"
	if err := os.WriteFile(filepath.Join(o.folder(1), "council.yaml"), []byte(text), 0o600); err != nil {
		o.t.Fatal(err)
	}
}

// status returns what "synod roster status" says of the seats.
func (o *owners) status() (seats []form.SeatState) {
	c := exec.Command(os.Args[0], "roster", "status", "--json", "--dir", filepath.Join(o.folder(1), "node-a1"))
	c.Env = append(os.Environ(), "SYNOD_NODE_TEST=run")
	b, err := c.Output()
	if err != nil || json.Unmarshal(b, &seats) != nil {
		return nil
	}
	return seats
}

// Seven owners who have not met come from a council file to a certificate that verifies. The commands that they type
// are counted, and those that get the programs (git clone and make build) too.
func TestSevenOwners(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds synod and starts seven processes")
	}
	o := newOwners(t)
	o.synod = filepath.Join(o.dir, "synod")
	build := exec.Command("go", "build", "-C", "../..", "-ldflags", "-s -w", "-o", o.synod, "./cmd/synod")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	o.commands = []string{"git clone", "make build"}
	o.council()
	_, stdout := o.begin(1, "roster", "start", "-c", "council.yaml", "--address", o.address(1), "--run")
	link := o.link(stdout)
	if len(link) > 1024 || strings.ContainsAny(link, " \n") {
		t.Errorf("the link has %d letters, or more than one line: %s", len(link), link)
	}
	for i := 2; i <= 7; i++ {
		o.begin(i, "node", "join", link, "--address", o.address(i), "--yes", "--run")
		if i == 4 {
			o.waitFor("three seats that are taken", func() bool {
				return strings.Count(fmt.Sprint(o.status()), "127.0.0.") == 4
			})
			status := o.run(1, "roster", "status", "--dir", "node-a1")
			if !strings.Contains(status, "4 of 7 seats are taken; free: a") {
				t.Errorf("the status with four members:\n%s", status)
			}
		}
	}
	o.connected()
	said := o.run(1, "ask", "--roster", "node-a1/forming/council.roster", "--key", "node.key", "--certificate",
		"decision.json", "What is 17 + 25?")
	if !strings.Contains(said, "42") {
		t.Errorf("the answer: %s", said)
	}
	verified := o.run(1, "verify", "decision.json", "--roster", "node-a1/forming/council.roster")
	t.Logf("%d commands and one link of %d letters:\n%s\n%s", len(o.commands), len(link), strings.Join(o.commands,
		"\n"),
		verified)
	if len(o.commands) > 12 {
		t.Errorf("%d commands; the aim is 12", len(o.commands))
	}
	o.verifyLater()
}

// verifyLater verifies the certificate with the next roster of the council, which a quorum has signed.
func (o *owners) verifyLater() {
	o.t.Helper()
	first, err := readRoster(filepath.Join(o.folder(1), "node-a1", "forming", "council.roster"))
	if err != nil {
		o.t.Fatal(err)
	}
	next, hash := *first.Roster, first.Hash()
	next.Serial, next.Previous = 1, hash[:]
	path := filepath.Join(o.folder(1), "next.roster")
	if err := os.WriteFile(path, roster.Successor(&next, first).File(), 0o600); err != nil {
		o.t.Fatal(err)
	}
	for i := range 5 {
		o.run(i+1, "roster", "sign", path, "--key", "node.key", "--yes")
	}
	verified := o.run(1, "verify", "decision.json", "--roster", "next.roster")
	if !strings.Contains(verified, "VALID") || !strings.Contains(verified, "with serial 0, which that in the "+
		"file, with "+
		"serial 1, has replaced") {
		o.t.Errorf("with the next roster:\n%s", verified)
	}
}

// A council whose links are go-libp2p is formed with a link too: owners join where callers ask.
func TestFormingOverLibp2p(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts seven processes")
	}
	o := newOwners(t)
	o.council()
	_, stdout := o.begin(1, "roster", "start", "-c", "council.yaml", "--address", o.address(1), "--run", "--links",
		"libp2p")
	link := o.link(stdout)
	for i := 2; i <= 7; i++ {
		o.begin(i, "node", "join", link, "--address", o.address(i), "--yes", "--run")
	}
	o.connected()
}

// The founder's process and an owner's process are killed in the middle, and the same commands go on. An owner that
// comes with a link that was changed, a seat that is taken, or an acceptance of another council is refused.
func TestFormingGoesOn(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts seven processes")
	}
	o := newOwners(t)
	o.council()
	start := []string{"roster", "start", "-c", "council.yaml", "--address", o.address(1), "--run"}
	founder, stdout := o.begin(1, start...)
	link := o.link(stdout)
	join := func(i int, more ...string) []string {
		return append([]string{"node", "join", link, "--address", o.address(i), "--yes", "--run"}, more...)
	}
	taken := func(n int) func() bool {
		return func() bool { return strings.Count(fmt.Sprint(o.status()), "127.0.0.") == n }
	}
	refused := func(what, want string, args ...string) {
		t.Helper()
		out, err := o.prepare(9, args...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v, want %q:\n%s", what, err, want, out)
		}
	}
	second, _ := o.begin(2, join(2, "--seat", "a5")...)
	o.waitFor("two seats that are taken", taken(2))
	refused("a seat that is taken", "a5 is not free", join(9, "--seat", "a5")...)
	at := len("synod-council:") + 40
	changed := link[:at] + string(link[at]^1) + link[at+1:]
	refused("a changed link", "was changed", "node", "join", changed, "--address", o.address(9), "--yes")
	refused("a link that was cut", "was changed or cut", "node", "join", link[:len(link)-9], "--address", o.address(9),
		"--yes")
	founder.Process.Kill()
	founder.Wait()
	second.Process.Kill()
	second.Wait()
	o.begin(3, join(3)...) // it waits for the founder
	_, stdout = o.begin(1, start...)
	if again := o.link(stdout); again != link {
		t.Errorf("the founder's second process has another link:\n%s\n%s", again, link)
	}
	o.waitFor("three seats that are taken", taken(3))
	o.begin(2, join(2)...) // without --seat: the key has one
	for i := 4; i <= 7; i++ {
		o.begin(i, join(i)...)
	}
	o.connected()
	for _, s := range o.status() {
		if !s.Signed || (s.Seat == "a5") != strings.HasPrefix(fmt.Sprint(s.Addresses), "[127.0.0.2:") {
			t.Errorf("seat %+v", s)
		}
	}
	refused("a council that is complete", "all seats", "node", "join", link, "--address", o.address(9), "--yes")
}
