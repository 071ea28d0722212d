package node

import (
	"crypto/sha256"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/network/link"
	"synod.dev/synod/network/node/call"
	"synod.dev/synod/network/roster"
)

// comparing returns a run of a node of seat 0 among n seats, linked with seat 1.
func comparing(n int) audit {
	node := &Node{roster: &roster.Roster{Members: make([]roster.Member, n)}, links: map[synod.NodeID]*peer{}}
	node.links[1] = &peer{node: node, id: 1}
	return audit{&run{node: node, key: runKey{1}, receipts: map[slotOf][]call.Receipt{}, compared: newComparison()}}
}

// A neighbour can make a node pull, and answer, a bounded number of times in a run, and a node reads no digests that it
// has not asked for.
func TestPullsAreBounded(t *testing.T) {
	const n = 4
	r := comparing(n)
	p := r.node.links[1]
	list := []call.Receipt{{From: 2, Slot: "a", Sum: make([]byte, 32)}}
	r.receipts[slotOf{2, synod.Slot{Name: "a"}}] = list
	r.compared.digests = call.Digests(list, n)
	other := call.Digests([]call.Receipt{{From: 2, Slot: "a", Sum: []byte{1}}}, n)
	if err := r.hearDigests(1, &frame{Body: other}); err != nil || len(p.control) > 0 {
		t.Errorf("digests that were not asked for are used: %v", err)
	}
	for range 100 {
		root := sha256.Sum256(other)
		if err := r.hearSummary(1, &frame{Body: root[:]}); err != nil {
			t.Fatal(err)
		}
	}
	if len(p.control) != maxPulls {
		t.Errorf("after 100 summaries it has pulled %d times", len(p.control))
	}
	if err := r.hearDigests(1, &frame{Body: other}); err != nil || len(p.control) != maxPulls+1 {
		t.Errorf("of digests that differ no receipts are pulled: %v", err)
	}
	p.control = nil
	for _, set := range [][]byte{nil, {0xff}} {
		for range 100 {
			if err := r.answerPull(1, &frame{Body: set}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(p.control) != 2*maxPulls {
		t.Errorf("200 pulls had %d answers", len(p.control))
	}
	for name, bad := range map[string]error{
		"a long set":        r.answerPull(1, &frame{Body: make([]byte, n)}),
		"few digests":       r.hearDigests(1, &frame{Body: other[1:]}),
		"a short hash":      r.hearSummary(1, &frame{Body: []byte{1}}),
		"many votes":        r.hearSummary(1, &frame{Body: make([]byte, 32), Receipts: make([]call.Receipt, 2)}),
		"an unknown member": r.compareReceipts(1, []call.Receipt{{From: n, Sum: make([]byte, 32)}}),
	} {
		if bad == nil {
			t.Errorf("%s is read", name)
		}
	}
}

// Who speaks another version is told so in words.
func TestOtherVersion(t *testing.T) {
	net := new(link.Memory)
	here := net.Join([]byte("node"), func([]byte) bool { return true })
	defer here.Close()
	n := newNode(Config{Roster: &roster.Signed{Roster: &roster.Roster{}}})
	go func() {
		if s, key, err := here.Accept(); err == nil {
			n.context = t.Context()
			(service{n}).serve(link.NewConn(s), key)
		}
	}()
	s, err := net.Dialer([]byte("old")).Dial(t.Context(), []byte("node"), nil)
	if err != nil {
		t.Fatal(err)
	}
	conn := link.NewConn(s)
	defer conn.Close()
	var w call.Welcome
	if err := conn.Send(call.Hello{Version: "synod/node/1", Purpose: call.ToLink}, helloTime); err != nil {
		t.Fatal(err)
	}
	if err := conn.Receive(call.MaxWelcome, &w, helloTime); err != nil || !strings.Contains(w.Refused, "version") {
		t.Errorf("%q, %v", w.Refused, err)
	}
}
