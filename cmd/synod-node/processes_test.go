package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	mss "github.com/multiformats/go-multistream"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/keyfile"
	"synod.dev/synod/network/link"
	"synod.dev/synod/network/node"
	"synod.dev/synod/network/node/call"
	"synod.dev/synod/network/node/terms"
	"synod.dev/synod/network/roster"
)

// TestMain runs synod-node itself in the child processes of the tests, and in those of their embedded models.
func TestMain(m *testing.M) {
	if dir := os.Getenv("SYNOD_NODE_LEAK"); dir != "" {
		go leak(dir)
	}
	if os.Getenv("SYNOD_NODE_TEST") == "run" || len(os.Args) > 1 && os.Args[1] == "engine" {
		main()
		return
	}
	os.Exit(m.Run())
}

// processes are the nodes of a council, each a process on a loopback address of its own.
type processes struct {
	t       *testing.T
	dir     string
	secrets []sign.Secret
	signed  *roster.Signed
	plan    *plan.Plan
	hosts   *hosts // nil: loopback addresses
	running []*exec.Cmd
	more    func(seat int) (args, env []string) // nil: none
}

// withRelay follows the kind of links of a roster that permits relays.
const withRelay = "+relay"

// convene makes a council on loopback addresses.
func convene(t *testing.T, text, links string) *processes {
	t.Helper()
	return conveneOn(t, nil, text, links)
}

// conveneOn makes a council whose processes run on hosts.
func conveneOn(t *testing.T, h *hosts, text, links string) *processes {
	t.Helper()
	spec, err := plan.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := plan.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "nodes") // a short path: sockets need one
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	p := &processes{t: t, dir: dir, plan: plan, hosts: h, running: make([]*exec.Cmd, len(plan.Seats()))}
	members, port := map[string]roster.Member{}, 20000+rand.IntN(12000)
	for i, s := range plan.Seats() {
		secret, err := sign.Generate(rand.NewChaCha8([32]byte{byte(i), byte(port), byte(port >> 8)}))
		if err != nil {
			t.Fatal(err)
		}
		p.secrets = append(p.secrets, secret)
		host := fmt.Sprintf("127.0.0.%d", i+1)
		if h != nil {
			host = h.ip[i]
		}
		members[s.ID] = roster.Member{Key: secret.PublicKey(), Addresses: []string{fmt.Sprintf("%s:%d", host, port)}}
		if err := keyfile.Create(p.path(i, "key"), secret, nil); err != nil {
			t.Fatal(err)
		}
	}
	r, err := terms.New(plan, terms.Options{Members: members, Links: strings.TrimSuffix(links, withRelay),
		Relay: strings.HasSuffix(links, withRelay)})
	if err != nil {
		t.Fatal(err)
	}
	p.signed = roster.Unsigned(r)
	for _, s := range p.secrets {
		p.signed.Sign(s)
	}
	if err := os.WriteFile(filepath.Join(dir, "roster"), p.signed.File(), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *processes) path(seat int, name string) string {
	return filepath.Join(p.dir, fmt.Sprint(seat, name))
}

// command is the node of a seat, whose log is a file.
func (p *processes) command(seat int) *exec.Cmd {
	p.t.Helper()
	args := []string{"node", "run", "--roster", filepath.Join(p.dir, "roster"), "--key", p.path(seat, "key"),
		"--dir", p.path(seat, "d")}
	env := append(os.Environ(), "SYNOD_NODE_TEST=run")
	if p.more != nil {
		a, e := p.more(seat)
		args, env = append(args, a...), append(env, e...)
	}
	c := p.hosts.command(seat, os.Args[0], args...)
	c.Env = env
	log, err := os.OpenFile(p.path(seat, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { log.Close() })
	c.Stderr = log
	return c
}

func (p *processes) start(seat int) {
	p.t.Helper()
	c := p.command(seat)
	if err := c.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.running[seat] = c
	p.t.Cleanup(func() { c.Process.Kill(); c.Wait() })
}

// startAll starts all nodes and waits until they have found one another.
func (p *processes) startAll() {
	p.t.Helper()
	for i := range p.running {
		p.start(i)
	}
	p.connected()
}

// connected waits until the nodes have streams to all neighbours.
func (p *processes) connected() {
	p.t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		all := true
		for i := range p.running {
			var s node.Status
			err := request(p.path(i, "d"), "GET", "/status", &s)
			all = all && err == nil
			for _, q := range s.Peers {
				all = all && q.Connected && q.Incoming > 0
			}
		}
		if all {
			return
		}
	}
	for i := range p.running {
		b, _ := os.ReadFile(p.path(i, "log"))
		p.t.Logf("seat %d: %s", i, b)
	}
	p.t.Fatal("the nodes do not find one another")
}

func (p *processes) ask(q synod.Question, meanwhile func()) (*call.Result, outcome.Outcome) {
	p.t.Helper()
	transport, err := link.NewTLS(p.secrets[0].LinkKey())
	if err != nil {
		p.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute)
	defer cancel()
	done := make(chan struct{})
	go func() { defer close(done); meanwhile() }()
	res, err := (&call.Client{Roster: p.signed.Roster, Transport: transport, Lead: 300 * time.Millisecond}).Ask(ctx, q)
	<-done
	if err != nil {
		p.t.Fatal(err)
	}
	return res, res.Judge(p.signed.Roster, p.plan, q)
}

const council7 = "protocol: {name: sac, rounds: 3}\nf: 2\npace: {think: 2s, within: 2s}\n" +
	"models: {d: {provider: simulated, ability: 1, skill: 1, primacy: 0, shared: 0}}\n" +
	"seats: [{id: a, model: d, count: 7}]\n"

var sum = synod.Question{Text: "What is 17 + 25?", Form: synod.Number}

// Seven processes on seven loopback addresses decide, over both kinds of links. One of them is killed
// with SIGKILL in the middle and started again: it goes on from its journal, and its record replays.
func TestProcesses(t *testing.T) {
	for _, links := range []string{roster.TLS, roster.Libp2p} {
		t.Run(links, func(t *testing.T) {
			p := convene(t, council7, links)
			p.startAll()
			res, o := p.ask(sum, func() {})
			if o.Answer == nil || len(res.Missing) > 0 {
				t.Fatalf("%s: %s, missing %v", o.Status, o.Reason, res.Missing)
			}
			for i := range res.Finals {
				p.replay(i, res)
			}
			const victim = 3
			res, o = p.ask(synod.Question{Text: "What is 3 + 4?", Form: synod.Number}, func() {
				time.Sleep(320 * time.Millisecond) // the run has begun
				p.running[victim].Process.Kill()
				p.running[victim].Wait()
				p.start(victim)
			})
			if o.Answer == nil {
				t.Errorf("after a kill: %s: %s, missing %v", o.Status, o.Reason, res.Missing)
			}
			if len(res.Proofs) > 0 {
				t.Errorf("the node that was killed is said to equivocate: %+v", res.Proofs)
			}
			p.connected()
			for i := range res.Finals {
				p.replay(i, res)
			}
		})
	}
}

// replay plays the journal of a seat again, and compares it with the record that the caller has.
func (p *processes) replay(seat int, res *call.Result) {
	p.t.Helper()
	if res.Finals[seat] == nil {
		return
	}
	run, err := journal.Load(filepath.Join(p.path(seat, "d"), "runs", string(res.Instance)+".jsonl"))
	if err != nil {
		p.t.Errorf("seat %d: %v", seat, err)
		return
	}
	own, err := p.secrets[seat].Identity(synod.NodeID(seat), p.signed.Committee(), res.Instance)
	if err != nil {
		p.t.Fatal(err)
	}
	digest, err := journal.Replay(run, func(synod.NodeID) (synod.Machine, error) {
		return p.plan.Machine(own, &run.Head.Question)
	})
	if err != nil || digest != res.Finals[seat].Digest {
		p.t.Errorf("seat %d: the journal replays to %s, and the record has %s: %v", seat, digest,
			res.Finals[seat].Digest, err)
	}
}

// Ten thousand connections of strangers get no stream and leave the memory of a node under 256 MiB,
// while a decision completes, over both kinds of links.
func TestTenThousandConnections(t *testing.T) {
	if testing.Short() {
		t.Skip("it opens 10,000 connections")
	}
	for _, links := range []string{roster.TLS, roster.Libp2p} {
		t.Run(links, func(t *testing.T) {
			p := convene(t, council7, links)
			p.startAll()
			const victim = 2
			f := flood{t: t, p: p, victim: victim, links: links}
			res, o := p.ask(sum, f.run)
			if o.Answer == nil || res.Finals[victim] == nil {
				t.Errorf("%s: %s, missing %v", o.Status, o.Reason, res.Missing)
			}
			t.Logf("%d connections, %d with a whole handshake; memory of the node that was flooded: %d KiB at most; "+
				"an idle one: %d KiB; a stranger got %d bytes at most, and %d after the handshake", f.connected,
				f.whole, f.memory, memory(t, p.running[5].Process.Pid), f.most, f.beyond)
			if f.connected < 9_000 || f.memory > 256<<10 || f.beyond > 0 || f.most > 4<<10 {
				t.Errorf("%+v", f)
			}
			if links == roster.Libp2p && f.whole == 0 {
				t.Error("no stranger has completed a handshake")
			}
			var s node.Status
			if err := request(p.path(victim, "d"), "GET", "/status", &s); err != nil || s.Stats.Runs != 1 ||
				s.Stats.Strangers > 0 {
				t.Errorf("%+v, %v: a stranger got a stream", s.Stats, err)
			}
		})
	}
}

// flood opens connections to a node, as strangers do.
type flood struct {
	t                *testing.T
	p                *processes
	victim           int
	links            string
	connected, whole int // connections, and those that have completed a handshake of libp2p
	most, beyond     int // bytes that came back: on one connection, and after a handshake in all
	memory           int // of the victim, in KiB
}

func (f *flood) run() {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 99)}, Timeout: time.Second}
	address := f.p.signed.Members[f.victim].Addresses[0]
	var open []net.Conn
	for i := range 10_000 {
		c, err := dialer.Dial("tcp", address)
		if err != nil {
			continue
		}
		f.connected++
		switch {
		case i%100 == 50 && f.links == roster.Libp2p:
			f.handshake(c)
			continue
		case i%3 == 0 && f.links == roster.Libp2p: // some begin a handshake
			io.WriteString(c, "\x13/multistream/1.0.0\n\x07/noise\n")
		case i%3 == 0: // some say something, and the others nothing
			c.Write(bytes.Repeat([]byte{22}, 64))
		}
		if open = append(open, c); len(open) > 500 {
			f.finish(open[0])
			open = open[1:]
		}
		if i%500 == 0 {
			f.memory = max(f.memory, memory(f.t, f.p.running[f.victim].Process.Pid))
		}
	}
	for _, c := range open {
		f.finish(c)
	}
}

// finish reads what came back on a connection, and closes it.
func (f *flood) finish(c net.Conn) {
	b := make([]byte, 16<<10)
	c.SetReadDeadline(time.Now().Add(time.Millisecond))
	n, _ := io.ReadFull(c, b)
	f.most = max(f.most, n)
	c.Close()
}

// handshake completes the handshake of libp2p with a key that the roster does not have, and reads what follows.
func (f *flood) handshake(c net.Conn) {
	defer c.Close()
	c.SetDeadline(time.Now().Add(2 * time.Second))
	private, _, err := crypto.GenerateEd25519Key(rand.NewChaCha8([32]byte{1}))
	if err != nil {
		f.t.Error(err)
		return
	}
	own, err := noise.New(noise.ID, private, nil)
	if err != nil {
		f.t.Error(err)
		return
	}
	if mss.SelectProtoOrFail(protocol.ID(noise.ID), c) != nil {
		return // the node has too many handshakes
	}
	to, err := idOf(f.p.signed.Members[f.victim].Key)
	if err != nil {
		f.t.Error(err)
		return
	}
	ctx, cancel := context.WithTimeout(f.t.Context(), 2*time.Second)
	defer cancel()
	secure, err := own.SecureOutbound(ctx, c, to)
	if err != nil {
		return
	}
	f.whole++
	b := make([]byte, 1<<10)
	n, err := secure.Read(b)
	if f.beyond += n; err == nil {
		f.t.Errorf("a stranger got %q", b[:n])
	}
}

// memory returns the resident memory of a process in KiB.
func memory(t *testing.T, pid int) int {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Skip("this system has no /proc")
	}
	for _, line := range strings.Split(string(b), "\n") {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			n, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(rest), " kB"))
			return n
		}
	}
	return 0
}
