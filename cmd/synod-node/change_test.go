package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/keyfile"
	"synod.dev/synod/internal/nightly"
	"synod.dev/synod/network/link"
	"synod.dev/synod/network/node"
	"synod.dev/synod/network/node/call"
	"synod.dev/synod/network/node/terms"
	"synod.dev/synod/network/roster"
)

var changeQuestions = flag.Int("change-questions", 120, "questions that TestChangeUnderLoad asks")

// owner is a member of a council that changes: a process with a key, an address and a folder.
type owner struct {
	t       *testing.T
	name    string // of its files; a member whose key is rotated has two owners, one after the other
	seat    string
	secret  sign.Secret
	address string
	dir     string
	program string // "": this test
	process *exec.Cmd
}

// changing is a council of processes whose roster changes while callers ask it.
type changing struct {
	t       *testing.T
	dir     string
	links   string // "": TLS
	port    int
	caller  sign.Secret
	current atomic.Pointer[roster.Signed] // with which callers ask
}

func newChanging(t *testing.T) *changing {
	t.Helper()
	dir, err := os.MkdirTemp("", "change") // a short path: sockets need one
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return &changing{t: t, dir: dir, port: 20000 + rand.IntN(12000), caller: newSecret(t)}
}

func newSecret(t *testing.T) sign.Secret {
	t.Helper()
	var seed [32]byte
	for i := range seed {
		seed[i] = byte(rand.Uint32())
	}
	s, err := sign.Generate(rand.NewChaCha8(seed))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// owner makes an owner of a seat with a key and an address of its own.
func (c *changing) owner(seat, name string, place int) *owner {
	c.t.Helper()
	o := &owner{t: c.t, name: name, seat: seat, secret: newSecret(c.t), dir: filepath.Join(c.dir, name),
		address: fmt.Sprintf("127.0.0.%d:%d", place, c.port)}
	if err := keyfile.Create(filepath.Join(c.dir, name+".key"), o.secret, nil); err != nil {
		c.t.Fatal(err)
	}
	return o
}

// seven makes the owners of the seats a1 to a7.
func (c *changing) seven() (a []*owner) {
	c.t.Helper()
	for i := range 7 {
		seat := fmt.Sprint("a", i+1)
		a = append(a, c.owner(seat, seat, i+1))
	}
	return a
}

// roster makes the roster of owners that replaces another one; nil: the first.
func (c *changing) roster(before *roster.Signed, of ...*owner) *roster.Signed {
	c.t.Helper()
	text := "protocol: {name: sac, rounds: 2}\nf: 2\npace: {think: 2s, within: 2s}\n" +
		"models: {d: {provider: simulated, ability: 1, skill: 1, primacy: 0, shared: 0}}\nseats:\n"
	o := terms.Options{Members: map[string]roster.Member{}, Links: c.links,
		Callers: []roster.Caller{{Name: "caller", Key: c.caller.PublicKey()}}}
	for _, x := range of {
		text += fmt.Sprintf("  - {id: %s, model: d}\n", x.seat)
		o.Members[x.seat] = roster.Member{Key: x.secret.PublicKey(), Addresses: []string{x.address}}
	}
	spec, err := plan.Parse([]byte(text))
	if err != nil {
		c.t.Fatal(err)
	}
	plan, err := plan.New(spec)
	if err != nil {
		c.t.Fatal(err)
	}
	if before != nil {
		o.Previous = before.Roster
	}
	r, err := terms.New(plan, o)
	if err != nil {
		c.t.Fatal(err)
	}
	return roster.Successor(r, before)
}

// sign signs a roster with the command, and returns the path of its file.
func (c *changing) sign(s *roster.Signed, by ...*owner) (signed *roster.Signed, path string) {
	c.t.Helper()
	path = filepath.Join(c.dir, fmt.Sprintf("%d-%.8s.roster", s.Serial, s.HexHash()))
	if err := os.WriteFile(path, s.File(), 0o600); err != nil {
		c.t.Fatal(err)
	}
	for _, o := range by {
		c.command("roster", "sign", path, "--yes", "--key", filepath.Join(c.dir, o.name+".key"))
	}
	signed, err := readRoster(path)
	if err == nil {
		err = signed.Verify()
	}
	if err != nil {
		c.t.Fatal(err)
	}
	return signed, path
}

// command runs a command that must succeed.
func (c *changing) command(args ...string) string {
	c.t.Helper()
	out, err := c.try(args...)
	if err != nil {
		c.t.Fatalf("synod %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func (c *changing) try(args ...string) (string, error) {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "SYNOD_NODE_TEST=run")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// start starts the process of an owner with a roster file.
func (o *owner) start(c *changing, path string) {
	o.t.Helper()
	program := o.program
	if program == "" {
		program = os.Args[0]
	}
	o.process = exec.Command(program, "node", "run", "--roster", path, "--key", filepath.Join(c.dir, o.name+".key"),
		"--dir", o.dir, "--at-once", "64")
	o.process.Env = append(os.Environ(), "SYNOD_NODE_TEST=run")
	log, err := os.OpenFile(o.dir+".log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		o.t.Fatal(err)
	}
	defer log.Close()
	o.process.Stderr = log
	if err := o.process.Start(); err != nil {
		o.t.Fatal(err)
	}
	process := o.process
	o.t.Cleanup(func() { process.Process.Kill(); process.Wait() })
}

func (o *owner) status() (s node.Status) {
	if err := request(o.dir, http.MethodGet, "/status", &s); err != nil {
		s.Rosters = nil
	}
	return s
}

// drain makes the process end when its runs have ended, and waits for its end.
func (o *owner) drain(c *changing) {
	o.t.Helper()
	c.command("node", "drain", "--dir", o.dir)
	o.process.Wait()
}

// waitFor waits for something that comes true, and reports what the nodes say if it does not.
func (c *changing) waitFor(what string, of []*owner, holds func() bool) {
	c.t.Helper()
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if holds() {
			return
		}
	}
	for _, o := range of {
		b, _ := os.ReadFile(o.dir + ".log")
		c.t.Logf("%s: %s", o.name, b)
	}
	c.t.Fatalf("it did not come: %s", what)
}

// connectedOn waits until all owners have streams to and from all others under a roster.
func (c *changing) connectedOn(s *roster.Signed, of ...*owner) {
	c.t.Helper()
	c.waitFor(fmt.Sprintf("all nodes on serial %d", s.Serial), of, func() bool {
		for _, o := range of {
			on := 0
			for _, p := range o.status().Peers {
				if slices.Contains(p.Serials, s.Serial) {
					on++
				}
			}
			if on < len(of)-1 {
				return false
			}
		}
		return true
	})
}

// load is callers that ask a changing council until they have asked enough.
type load struct {
	c     *changing
	most  int
	pause time.Duration // of a caller after each question, so that the last ones come after the last change
	over  atomic.Bool   // the last change has been made: no pause any more
	asked atomic.Int64
	wait  sync.WaitGroup

	mu      sync.Mutex
	lost    []string       // questions without a decision, or with a wrong one
	missing map[string]int // records that did not come, by reason
	decided map[uint64]int // by serial
	slowest time.Duration
}

func (c *changing) load(most, callers int) *load {
	l := &load{c: c, most: most, pause: 300 * time.Second / time.Duration(most), missing: map[string]int{},
		decided: map[uint64]int{}}
	for i := range callers {
		l.wait.Go(func() { l.ask(i) })
	}
	return l
}

// until waits until a number of questions was asked.
func (l *load) until(n int) {
	for l.asked.Load() < int64(min(n, l.most)) {
		time.Sleep(10 * time.Millisecond)
	}
}

func (l *load) ask(caller int) {
	transport, err := link.NewTLS(l.c.caller.LinkKey())
	if err != nil {
		l.c.t.Error(err)
		return
	}
	var client *call.Client
	var plan *plan.Plan
	for {
		n := l.asked.Add(1)
		if n > int64(l.most) {
			break
		}
		r := l.c.current.Load().Roster
		if client == nil || client.Roster != r {
			if client != nil {
				client.Close()
			}
			client = &call.Client{Roster: r, Transport: transport}
			if plan, err = terms.Plan(r); err != nil {
				l.c.t.Error(err)
				return
			}
		}
		l.one(client, plan, int(n))
		if !l.over.Load() {
			time.Sleep(l.pause)
		}
	}
	client.Close()
}

// one asks one question. Every tenth one needs a certificate too.
func (l *load) one(client *call.Client, plan *plan.Plan, n int) {
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	defer cancel()
	begun := time.Now()
	q := synod.Question{Text: fmt.Sprintf("What is %d + 25?", n), Form: synod.Number}
	res, err := client.Ask(ctx, q)
	problem := ""
	var o outcome.Outcome
	if err != nil {
		problem = err.Error()
	} else if o = res.Judge(client.Roster, plan, q); o.Answer == nil || string(*o.Answer) != fmt.Sprint(n+25) {
		problem = fmt.Sprintf("%s: %s, missing %v", o.Status, o.Reason, res.Missing)
	}
	if problem == "" && n%10 == 0 {
		problem = certify(ctx, client, plan, res, q, &o)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.slowest = max(l.slowest, time.Since(begun))
	if problem != "" {
		l.lost = append(l.lost, fmt.Sprintf("question %d under serial %d: %s", n, client.Roster.Serial, problem))
		return
	}
	l.decided[client.Roster.Serial]++
	for seat, why := range res.Missing {
		l.missing[client.Roster.Members[seat].ID+": "+why]++
	}
}

func certify(ctx context.Context, client *call.Client, plan *plan.Plan, res *call.Result, q synod.Question,
	o *outcome.Outcome) string {
	s, err := res.Statement(client.Roster, plan, q, o)
	if err == nil {
		_, err = client.Certify(ctx, &s)
	}
	if err != nil {
		return "no certificate: " + err.Error()
	}
	return ""
}

// While callers ask a council of seven processes, a member's key is rotated while the member is away, a member is
// added, one is removed, and one goes over to a release in which a word of a prompt differs. Every question is decided.
// With the overlap switched off, which is how a council changed before, questions are lost (in "make change").
func TestChangeUnderLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("it asks many questions of seven processes")
	}
	reworded := released(t, "weighing what others think", "weighing all that others think")
	t.Run("overlap", func(t *testing.T) {
		l := changeUnderLoad(t, *changeQuestions, reworded, false)
		if len(l.lost) > 0 {
			t.Errorf("%d of %d questions are lost: %s", len(l.lost), l.most, strings.Join(l.lost, "; "))
		}
		if len(l.decided) < 4 {
			t.Errorf("questions were decided under %d rosters, want 4: %v", len(l.decided), l.decided)
		}
	})
	t.Run("no overlap", func(t *testing.T) {
		nightly.Only(t)
		l := changeUnderLoad(t, min(*changeQuestions, 120), reworded, true)
		if len(l.lost) == 0 {
			t.Error("no question is lost although nodes play one roster at a time, so this test shows nothing")
		}
	})
}

func changeUnderLoad(t *testing.T, questions int, reworded string, oneAtATime bool) *load {
	c := newChanging(t)
	a := c.seven()
	first, path := c.sign(c.roster(nil, a...), a...)
	for _, o := range a {
		o.start(c, path)
	}
	c.connectedOn(first, a...)
	c.current.Store(first)
	l := c.load(questions, 3)
	part := questions / 6
	goOver := c.goOver
	if oneAtATime {
		goOver = c.restart
	}

	l.until(part) // a7 is away and its key is lost: five others and the new key sign
	a[6].process.Process.Kill()
	a[6].process.Wait()
	rotated := c.owner("a7", "a7-new", 17)
	members := append(slices.Clone(a[:6]), rotated)
	second, path := c.sign(c.roster(first, members...), append(slices.Clone(a[:5]), rotated)...)
	rotated.start(c, path)
	goOver(l, second, path, "1h", a[:6], members)

	l.until(2 * part) // a8 comes
	added := c.owner("a8", "a8", 8)
	members = append(members, added)
	third, path := c.sign(c.roster(second, members...), append(slices.Clone(members[1:6]), added)...)
	added.start(c, path)
	goOver(l, third, path, time.Now().Add(20*time.Second).Format(time.RFC3339), members[:7], members)

	l.until(3 * part) // a1 leaves
	fourth, path := c.sign(c.roster(third, members[1:]...), members[1:7]...)
	goOver(l, fourth, path, "1h", members, members[1:])

	l.until(4 * part) // a3 goes over to another release; its roster is the same
	members[2].drain(c)
	members[2].program = reworded
	members[2].start(c, path)
	c.connectedOn(fourth, members[1:]...)
	l.end()
	return l
}

// end lets the callers ask the rest, and reports.
func (l *load) end() {
	t := l.c.t
	if l.asked.Load() >= int64(l.most) {
		t.Error("all questions were asked before the last change")
	}
	l.over.Store(true)
	l.wait.Wait()
	t.Logf("%d questions; decided by serial %v; %d lost; slowest %v; records that did not come:", l.most, l.decided,
		len(l.lost), l.slowest.Round(time.Millisecond))
	for _, why := range slices.Sorted(maps.Keys(l.missing)) {
		t.Logf("  %d × %s", l.missing[why], why)
	}
}

// goOver gives the members of a roster the next one, then makes the callers go over, and then ends the old one or
// waits for its end.
func (c *changing) goOver(l *load, next *roster.Signed, path, until string, old, members []*owner) {
	c.t.Helper()
	for _, o := range old {
		c.command("node", "roster", path, "--dir", o.dir, "--until", until)
	}
	c.connectedOn(next, members...)
	status := c.command("node", "status", "--dir", members[1].dir)
	for _, want := range []string{fmt.Sprintf("serial %d: in force", next.Serial),
		fmt.Sprintf("serial %d: replaced, takes questions until", next.Serial-1),
		fmt.Sprintf(", on roster %d and %d", next.Serial-1, next.Serial)} {
		if !strings.Contains(status, want) {
			c.t.Errorf("the status does not say %q:\n%s", want, status)
		}
	}
	c.current.Store(next)
	if until == "1h" {
		l.until(int(l.asked.Load()) + 5) // some callers have questions under the old one still
		for _, o := range old {
			c.command("node", "roster", "--end-old", "--dir", o.dir)
		}
	}
	c.waitFor("the end of the old roster", old, func() bool {
		return !slices.ContainsFunc(old, func(o *owner) bool { return len(o.status().Rosters) > 1 })
	})
}

// restart is a change without overlap: all nodes end and are started with the next roster, and the callers go over.
func (c *changing) restart(_ *load, next *roster.Signed, path, _ string, old, members []*owner) {
	c.t.Helper()
	var wait sync.WaitGroup
	for _, o := range old {
		wait.Go(func() { o.drain(c) })
	}
	wait.Wait()
	for _, o := range members {
		if slices.Contains(old, o) {
			o.start(c, path)
		}
	}
	c.connectedOn(next, members...)
	c.current.Store(next)
}

// Over go-libp2p, too, nodes go over to a roster with a rotated key and a member that is added, and callers after them.
func TestChangeOverLibp2p(t *testing.T) {
	c := newChanging(t)
	c.links = roster.Libp2p
	a := c.seven()
	first, path := c.sign(c.roster(nil, a...), a...)
	for _, o := range a {
		o.start(c, path)
	}
	c.connectedOn(first, a...)
	rotated, added := c.owner("a7", "a7-new", 17), c.owner("a8", "a8", 8)
	members := append(slices.Clone(a[:6]), rotated, added)
	second, path := c.sign(c.roster(first, members...), append(slices.Clone(a[:5]), rotated, added)...)
	rotated.start(c, path)
	added.start(c, path)
	for _, o := range a {
		c.command("node", "roster", path, "--dir", o.dir)
	}
	c.connectedOn(second, members...)
	c.connectedOn(first, a...)
	for _, s := range []*roster.Signed{first, second} {
		c.current.Store(s)
		l := c.load(3, 1)
		l.over.Store(true)
		l.wait.Wait()
		if len(l.lost) > 0 || l.decided[s.Serial] != 3 || len(l.missing) > 0 {
			t.Errorf("serial %d: %d decided, lost %v, missing %v", s.Serial, l.decided[s.Serial], l.lost, l.missing)
		}
	}
	for _, o := range a {
		c.command("node", "roster", "--end-old", "--dir", o.dir)
	}
	a[6].process.Wait() // the key is in no roster any more
	if state := a[6].process.ProcessState; state == nil || !state.Success() {
		t.Errorf("the node with the key that was rotated ends with %v", state)
	}
}

// released builds this program with another text in a prompt of SAC.
func released(t *testing.T, old, new string) (program string) {
	t.Helper()
	file, err := filepath.Abs("../../protocol/sac/prompts/refine.tmpl")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil || strings.Count(string(text), old) != 1 {
		t.Fatalf("%s does not have %q once: %v", file, old, err)
	}
	dir := t.TempDir()
	changed, program := filepath.Join(dir, "refine.tmpl"), filepath.Join(dir, "synod-node")
	if err := os.WriteFile(changed, []byte(strings.Replace(string(text), old, new, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {file: changed}})
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-ldflags", "-s -w", "-overlay", filepath.Join(dir, "overlay.json"),
		"-o", program, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}
