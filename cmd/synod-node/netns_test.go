package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/network/roster"
)

// hosts are where processes run: each in a network namespace of its own, joined by a bridge, or on a
// loopback address of its own where the system permits no namespaces.
type hosts struct {
	bridge string   // "": there are no namespaces
	spaces []string // by process
	ip     []string // by process
}

// networks counts the calls of newHosts.
var networks atomic.Int32

// newHosts makes n network namespaces. Without the right to make them it returns loopback addresses and
// says so.
func newHosts(t *testing.T, n int) *hosts {
	t.Helper()
	h := &hosts{}
	for i := range n {
		h.ip = append(h.ip, fmt.Sprintf("127.0.0.%d", i+1))
	}
	// The kernel removes namespaces some time after they are deleted, so no two calls use the same names.
	id := (os.Getpid()*16 + int(networks.Add(1))) % 1_000_000
	bridge, subnet := fmt.Sprintf("sy%d", id), fmt.Sprintf("10.%d.%d", 64+id%64, id/64%256)
	if err := ip("link", "add", bridge, "type", "bridge"); err != nil {
		t.Logf("NO NAMESPACES (%v): %d loopback addresses take their place", err, n)
		return h
	}
	t.Cleanup(func() { ip("link", "del", bridge) })
	if err := h.join(t, bridge, subnet, n); err != nil {
		t.Logf("NO NAMESPACES (%v): %d loopback addresses take their place", err, n)
		h.spaces = nil
		return h
	}
	h.bridge = bridge
	for i := range n {
		h.ip[i] = fmt.Sprintf("%s.%d", subnet, i+1)
	}
	t.Logf("%d network namespaces, joined by a bridge", n)
	return h
}

// join makes the namespaces and connects them. The bridge itself has the address 254, from which the test
// asks.
func (h *hosts) join(t *testing.T, bridge, subnet string, n int) error {
	lines := []string{"addr add " + subnet + ".254/24 dev " + bridge, "link set " + bridge + " up"}
	for i := range n {
		space := fmt.Sprintf("%s-%d", bridge, i+1)
		a, b := fmt.Sprintf("%sa%d", bridge, i+1), fmt.Sprintf("%sb%d", bridge, i+1)
		h.spaces = append(h.spaces, space)
		t.Cleanup(func() { ip("netns", "del", space) })
		lines = append(lines, "netns add "+space, "link add "+a+" type veth peer name "+b,
			"link set "+a+" master "+bridge, "link set "+a+" up", "link set "+b+" netns "+space,
			fmt.Sprintf("-n %s addr add %s.%d/24 dev %s", space, subnet, i+1, b), "-n "+space+" link set "+b+" up",
			"-n "+space+" link set lo up")
	}
	for _, line := range lines {
		if err := ip(strings.Fields(line)...); err != nil {
			return err
		}
	}
	return nil
}

func ip(args ...string) error {
	out, err := exec.Command("ip", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}

// command returns a command that runs in the namespace of a process.
func (h *hosts) command(process int, name string, args ...string) *exec.Cmd {
	if h == nil || h.spaces == nil {
		return exec.Command(name, args...)
	}
	return exec.Command("ip", append([]string{"netns", "exec", h.spaces[process], name}, args...)...)
}

// A host whose network interface goes down in the middle of a run, and comes back, does not change the
// answer of the others; afterwards the council is whole again.
func TestCutNamespace(t *testing.T) {
	const victim = 4
	h := newHosts(t, 7)
	if h.spaces == nil {
		t.Skip("it needs network namespaces")
	}
	p := conveneOn(t, h, council7, roster.TLS)
	p.startAll()
	set := func(state string) {
		device := fmt.Sprintf("%sb%d", h.bridge, victim+1)
		if err := ip("-n", h.spaces[victim], "link", "set", device, state); err != nil {
			t.Error(err)
		}
	}
	res, o := p.ask(synod.Question{Text: "What is 30 + 4?", Form: synod.Number}, func() {
		time.Sleep(310 * time.Millisecond)
		set("down")
		time.Sleep(4 * time.Second)
		set("up")
	})
	if o.Answer == nil || *o.Answer != "34" {
		t.Errorf("%s: %s, missing %v", o.Status, o.Reason, res.Missing)
	}
	if len(res.Proofs) > 0 {
		t.Errorf("somebody is said to equivocate: %+v", res.Proofs)
	}
	for i := range res.Finals {
		p.replay(i, res)
	}
	p.connected()
	if res, o = p.ask(sum, func() {}); o.Answer == nil || len(res.Missing) > 0 {
		t.Errorf("afterwards: %s: %s, missing %v", o.Status, o.Reason, res.Missing)
	}
}
