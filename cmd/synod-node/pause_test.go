package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/network/link"
	"synod.dev/synod/network/node"
	"synod.dev/synod/network/node/call"
	"synod.dev/synod/network/roster"
)

// A process that is stopped in the middle of a run, and goes on after the round's end, does not hold the
// others up, signs nothing twice, and can be asked again.
func TestPausedProcess(t *testing.T) {
	const victim = 2
	p := convene(t, council7, roster.TLS)
	p.startAll()
	res, o := p.ask(synod.Question{Text: "What is 5 + 4?", Form: synod.Number}, func() {
		time.Sleep(310 * time.Millisecond) // the run has begun
		if err := p.running[victim].Process.Signal(syscall.SIGSTOP); err != nil {
			t.Error(err)
		}
		time.Sleep(5 * time.Second)
		if err := p.running[victim].Process.Signal(syscall.SIGCONT); err != nil {
			t.Error(err)
		}
	})
	if o.Answer == nil || *o.Answer != "9" {
		t.Errorf("with a paused process: %s: %s", o.Status, o.Reason)
	}
	if len(res.Proofs) > 0 {
		t.Errorf("the paused process is said to equivocate: %+v", res.Proofs)
	}
	for i := range res.Finals {
		p.replay(i, res)
	}
	p.connected()
	if res, o = p.ask(sum, func() {}); o.Answer == nil || len(res.Missing) > 0 {
		t.Errorf("afterwards: %s: %s, missing %v", o.Status, o.Reason, res.Missing)
	}
}

// Two processes with one key and different folders and models, which both get the question, leave a proof
// against that key and against no other.
func TestTwoProcessesWithOneKey(t *testing.T) {
	const victim = 3
	p := convene(t, council7, roster.TLS)
	p.startAll()
	own := p.path(victim, "twin.yaml")
	text := "models: {d: {provider: simulated, ability: 0, seed: 99, study: 5}}\nseats: [{id: a, model: d, count: 7}]\n"
	if err := os.WriteFile(own, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	address := fmt.Sprintf("127.0.0.77:%s", port(p.signed.Members[victim].Addresses[0]))
	c := exec.Command(os.Args[0], "node", "run", "--roster", filepath.Join(p.dir, "roster"), "--key",
		p.path(victim, "key"), "--dir", p.path(victim, "twin"), "--council", own, "--listen", address)
	c.Env = append(os.Environ(), "SYNOD_NODE_TEST=run")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if request(p.path(victim, "twin"), "GET", "/status", new(node.Status)) == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the twin does not start")
		}
	}
	transport, err := link.NewTLS(p.secrets[0].LinkKey())
	if err != nil {
		t.Fatal(err)
	}
	key := p.signed.Members[victim].Key
	client := &call.Client{Roster: p.signed.Roster, Lead: 500 * time.Millisecond,
		Transport: &asksBoth{Transport: transport, key: key, twin: address}}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	res, err := client.Ask(ctx, sum)
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Proofs) != 1 || res.Proofs[0].A.From != victim {
		t.Fatalf("proofs %+v; want one against seat %d", res.Proofs, victim)
	}
	if _, err := res.Proofs[0].Evidence(p.signed.Roster); err != nil {
		t.Error(err)
	}
	var dirs []string
	for i := range p.running {
		dirs = append(dirs, p.path(i, "d"))
	}
	shown := httptest.NewRecorder()
	servePage(shown, dirs)
	if html := shown.Body.String(); !strings.Contains(html, "against "+p.signed.Members[victim].ID) ||
		!strings.Contains(html, "synod operate evidence verify ") {
		t.Errorf("the page does not show the evidence:\n%s", html)
	}
	if o := res.Judge(p.signed.Roster, p.plan, sum); o.Answer == nil || *o.Answer != "42" {
		t.Errorf("%s: %s", o.Status, o.Reason)
	}
}

func port(address string) string {
	at := len(address) - 1
	for address[at] != ':' {
		at--
	}
	return address[at+1:]
}

// asksBoth asks a second process with a key whatever it asks the first.
type asksBoth struct {
	link.Transport
	key  []byte
	twin string
}

func (b *asksBoth) Dial(ctx context.Context, key []byte, addresses []string) (link.Stream, error) {
	s, err := b.Transport.Dial(ctx, key, addresses)
	if err != nil || !bytes.Equal(key, b.key) {
		return s, err
	}
	other, err := b.Transport.Dial(ctx, key, []string{b.twin})
	if err != nil {
		return nil, err
	}
	go io.Copy(io.Discard, other)
	return &copied{s, other}, nil
}

type copied struct {
	link.Stream
	other link.Stream
}

func (c *copied) Write(b []byte) (int, error) {
	c.other.SetWriteDeadline(time.Now().Add(5 * time.Second))
	if _, err := c.other.Write(b); err != nil {
		return 0, err
	}
	return c.Stream.Write(b)
}
