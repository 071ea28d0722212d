package node_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"synod.dev/synod/internal/canonical"
	"synod.dev/synod/network/link"
	"synod.dev/synod/network/node"
	"synod.dev/synod/network/node/call"
)

// again puts a question to a seat once more, as the same run.
func (net *network) again(t *testing.T, seat int, s *call.Start) (reply call.RunReply) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	stream, err := net.client().Transport.Dial(ctx, net.secrets[seat].PublicKey(), nil)
	if err != nil {
		t.Fatal(err)
	}
	conn := link.NewConn(stream)
	defer conn.Close()
	hash := net.signed.Hash()
	var w call.Welcome
	err = conn.Send(call.Hello{Version: call.Version, Purpose: call.ToAsk, Roster: hash[:]}, time.Second)
	if err == nil {
		err = conn.Receive(call.MaxWelcome, &w, 5*time.Second)
	}
	if err == nil {
		err = conn.Send(s, 5*time.Second)
	}
	if err == nil {
		err = conn.Receive(call.MaxRecord, &reply, 20*time.Second)
	}
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

// A run that a node has removed is not played again, not even by a node whose clock was set back to its start. A node
// that has its record returns it.
func TestPrunedRun(t *testing.T) {
	net := convene(t, "protocol: {name: majority}\nf: 1\n"+pace+
		"models: {d: {provider: simulated, ability: 1}}\nseats: [{id: a, model: d, count: 7}]\n", 61)
	var ahead atomic.Int64
	net.change = func(seat int, c *node.Config) {
		if seat == 0 {
			c.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
		}
	}
	net.startAll()
	res, o := net.ask(sum)
	if o.Answer == nil || len(res.Missing) > 0 {
		t.Fatal(o.Reason, res.Missing)
	}
	b, err := os.ReadFile(filepath.Join(net.dirs[0], "records", string(res.Instance)+".cbor"))
	var k call.Kept
	var s call.Start
	if err == nil {
		err = canonical.Decode(b, call.MaxKept, &k)
	}
	if err == nil {
		err = canonical.Decode(k.Start, call.MaxStart, &s)
	}
	if err != nil {
		t.Fatal(err)
	}
	for i := range 70 { // so that the run leaves the memory of the nodes
		if _, o := net.ask(sum); o.Answer == nil && i == 0 {
			t.Log(o.Reason)
		}
	}
	if reply := net.again(t, 0, &s); reply.Refused != "" {
		t.Error("a run that is kept:", reply.Refused)
	}
	ahead.Store(int64(node.DefaultKeep + time.Hour))
	p, err := net.nodes[0].Prune(t.Context(), node.Retention{})
	if err != nil || p.Runs < 60 {
		t.Fatalf("%+v, %v", p, err)
	}
	if left, _ := filepath.Glob(filepath.Join(net.dirs[0], "r*", "*")); len(left) != 2*p.Left {
		t.Errorf("%d files are left of %d runs", len(left), p.Left)
	}
	ahead.Store(int64(time.Until(time.UnixMilli(s.At))))
	for range 2 {
		if reply := net.again(t, 0, &s); !strings.Contains(reply.Refused, "removed") {
			t.Errorf("a run that was removed: %q", reply.Refused)
		}
		net.stop[0]()
		net.start(0)
	}
	if reply := net.again(t, 1, &s); reply.Refused != "" {
		t.Error("a node that has the record:", reply.Refused)
	}
	if older := net.nodes[0].Status().Older; len(older) > 0 {
		t.Error("the folder seems to be older than what the key has signed:", older)
	}
}
