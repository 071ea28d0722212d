package node_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/internal/canonical"
	"synod.dev/synod/network/link"
	"synod.dev/synod/network/node"
	"synod.dev/synod/network/node/call"
	"synod.dev/synod/network/node/terms"
	"synod.dev/synod/network/roster"
)

// overlapping is four hosts that play two rosters of the same members.
type overlapping struct {
	net     *link.Memory
	hosts   []*hosting
	dirs    []string
	rosters []*roster.Signed
	keys    []sign.Secret
	caller  sign.Secret
	change  func(seat int, c *node.HostConfig)
}

func overlap(t *testing.T, change func(seat int, c *node.HostConfig)) *overlapping {
	t.Helper()
	members, keys := members4(t)
	o := terms.Options{Callers: []roster.Caller{{Name: "caller", Key: keys[7].PublicKey()}}}
	first := rosterWith(t, nil, council4, o, members, keys[:4]...)
	x := &overlapping{net: new(link.Memory), keys: keys, caller: keys[7], change: change,
		rosters: []*roster.Signed{first, rosterWith(t, first, council4, o, members, keys[:4]...)}}
	for i := range members {
		x.dirs = append(x.dirs, t.TempDir())
		x.hosts = append(x.hosts, nil)
		x.start(t, i)
		if err := x.hosts[i].Take(x.rosters[1], time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	for serial := range x.rosters {
		waitUntil(t, "all on both rosters", func() bool {
			return !slices.ContainsFunc(x.hosts, func(h *hosting) bool { return !h.on(uint64(serial)) })
		})
	}
	return x
}

func (x *overlapping) start(t *testing.T, seat int) {
	t.Helper()
	change := func(c *node.HostConfig) { x.change(seat, c) }
	h, err := hostWith(t, x.net, x.rosters[0], x.keys[seat], x.dirs[seat], change)
	if err != nil {
		t.Fatal(err)
	}
	x.hosts[seat] = h
}

// greeted opens a stream to a seat for a purpose, under a roster.
func (x *overlapping) greeted(t *testing.T, seat, under int, version, purpose string) (*link.Conn, call.Welcome) {
	t.Helper()
	s, err := x.net.Dialer(x.caller.PublicKey()).Dial(t.Context(), x.keys[seat].PublicKey(), nil)
	if err != nil {
		t.Fatal(err)
	}
	conn := link.NewConn(s)
	t.Cleanup(func() { conn.Close() })
	hash := x.rosters[under].Hash()
	var w call.Welcome
	err = conn.Send(call.Hello{Version: version, Purpose: purpose, Roster: hash[:]}, time.Minute)
	if err == nil {
		err = conn.Receive(call.MaxWelcome, &w, time.Minute)
	}
	if err != nil {
		t.Fatal(err)
	}
	return conn, w
}

// put puts a run to a seat, under a roster, and returns why it is refused; "": it is not.
func (x *overlapping) put(t *testing.T, seat, under int, s *call.Start) string {
	t.Helper()
	conn, _ := x.greeted(t, seat, under, call.Version, call.ToAsk)
	var reply call.RunReply
	err := conn.Send(s, time.Minute)
	if err == nil {
		err = conn.Receive(call.MaxRecord, &reply, time.Minute)
	}
	if err != nil {
		t.Fatal(err)
	}
	return reply.Refused
}

// client returns a client of a roster.
func (x *overlapping) client(under int) *call.Client {
	return &call.Client{Roster: x.rosters[under].Roster, Lead: 50 * time.Millisecond, Secret: &x.caller,
		Transport: x.net.Dialer(x.caller.PublicKey())}
}

// played returns how the run of a result began, from the folder of the first host.
func (x *overlapping) played(t *testing.T, res *call.Result, err error) (s call.Start) {
	t.Helper()
	if err != nil || len(res.Missing) > 0 {
		t.Fatalf("%v, missing %v", err, res.Missing)
	}
	b, err := os.ReadFile(filepath.Join(x.dirs[0], "records", string(res.Instance)+".cbor"))
	var k call.Kept
	if err == nil {
		err = canonical.Decode(b, call.MaxKept, &k)
	}
	if err == nil {
		err = canonical.Decode(k.Start, call.MaxStart, &s)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// prune makes the first host remove old runs, as its owner does.
func (x *overlapping) prune(t *testing.T, query string) (p node.Pruned, failed string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "s") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	socket := filepath.Join(dir, "s")
	if err := x.hosts[0].Control(ctx, socket, func() {}); err != nil {
		t.Fatal(err)
	}
	c := http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}}
	resp, err := c.Post("http://node/prune?"+query, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		return p, string(b)
	}
	if err == nil {
		err = json.Unmarshal(b, &p)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p, ""
}

// A host removes the runs of all its rosters and no roster. As long as a run plays under one of them, nothing behind
// which the horizon would reach it is removed. A run that begins at the horizon or before is refused under every
// roster, also one that was never played, and after a restart.
func TestPruneUnderTwoRosters(t *testing.T) {
	t.Parallel()
	var ahead atomic.Int64
	x := overlap(t, func(seat int, c *node.HostConfig) {
		if seat == 0 {
			c.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
		}
	})
	var starts []call.Start
	for under := range x.rosters {
		res, err := x.client(under).Ask(t.Context(), sum)
		starts = append(starts, x.played(t, res, err))
	}
	type asked struct {
		res *call.Result
		err error
	}
	late, reply := x.client(0), make(chan asked, 1)
	late.Lead = 10 * time.Second
	go func() {
		res, err := late.Ask(t.Context(), sum)
		reply <- asked{res, err}
	}()
	waitUntil(t, "three runs", func() bool { return len(x.hosts[0].Status().Runs) == 3 })
	ahead.Store(int64(node.DefaultKeep + time.Hour))
	if p, failed := x.prune(t, ""); failed != "" || p.Runs != 0 || p.Left != 3 {
		t.Errorf("while a run plays under the old roster: %+v, %s", p, failed)
	}
	ahead.Store(0)
	a := <-reply
	starts = append(starts, x.played(t, a.res, a.err))
	ahead.Store(int64(node.DefaultKeep + time.Hour))
	if _, failed := x.prune(t, "keep=1h"); failed == "" {
		t.Error("runs of the last two hours may be removed")
	}
	before := files(t, x.dirs[0], "rosters")
	if p, failed := x.prune(t, ""); failed != "" || p.Runs != 3 || p.Left != 0 {
		t.Errorf("after all runs: %+v, %s", p, failed)
	}
	if after := files(t, x.dirs[0], "rosters"); len(before) != 3 || !slices.Equal(before, after) {
		t.Errorf("the rosters before %v and after %v", before, after)
	}
	if left := append(files(t, x.dirs[0], "records"), files(t, x.dirs[0], "runs")...); len(left) > 0 {
		t.Errorf("these files are left: %v", left)
	}
	ahead.Store(0)
	x.hosts[0].stop()
	x.start(t, 0)
	if got := x.hosts[0].serials(); !slices.Equal(got, []uint64{0, 1}) {
		t.Errorf("after a restart the rosters %v are played", got)
	}
	x.removed(t, starts)
}

// removed checks that the first host refuses runs that it has removed, and others which begin when these did.
func (x *overlapping) removed(t *testing.T, starts []call.Start) {
	t.Helper()
	for i, under := range []int{0, 1, 0} {
		if why := x.put(t, 0, under, &starts[i]); !strings.Contains(why, "removed") {
			t.Errorf("run %d, which was removed: %q", i, why)
		}
		if why := x.put(t, 1, under, &starts[i]); why != "" {
			t.Errorf("run %d, at a host that has it: %s", i, why)
		}
		other := starts[i]
		other.Nonce = bytes.Repeat([]byte{byte(i + 1)}, len(other.Nonce))
		for under := range x.rosters {
			if why := x.put(t, 0, under, &other); !strings.Contains(why, "removed") {
				t.Errorf("a new run that begins with run %d, under roster %d: %q", i, under, why)
			}
		}
	}
	if older := x.hosts[0].Status().Older; len(older) > 0 {
		t.Error("the folder seems to be older than what the key has signed:", older)
	}
}

func files(t *testing.T, dir, folder string) (names []string) {
	t.Helper()
	all, err := os.ReadDir(filepath.Join(dir, folder))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		names = append(names, f.Name())
	}
	return names
}

// A member that its callers cannot reach answers and signs through others under both rosters that it plays, and under
// the new one when the old one has ended. A request that was signed for one roster is not passed on under another.
func TestForwardUnderTwoRosters(t *testing.T) {
	t.Parallel()
	const hidden = 3
	x := overlap(t, func(seat int, c *node.HostConfig) {
		if seat != hidden {
			return
		}
		listen, members := c.Listen, c.Roster
		c.Listen = func(r *roster.Roster, g *node.Gate) (link.Transport, error) {
			own, err := listen(r, g)
			return &behind{own, func(key []byte) bool { _, ok := members.Seat(key); return ok }}, err
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	ask := func(under int) (*call.Client, *call.Result) {
		c := x.client(under)
		c.Transport = &unreachable{c.Transport, x.keys[hidden].PublicKey(), false}
		res, err := c.Ask(ctx, sum)
		if err != nil {
			t.Fatal(err)
		}
		return c, res
	}
	answered := func(under int) {
		c, res := ask(under)
		if len(res.Missing) > 0 {
			t.Errorf("under roster %d these are missing: %v", under, res.Missing)
		}
		certified(ctx, t, c, res)
	}
	answered(0)
	answered(1)
	old := x.rosters[0].Hash()
	f := call.Forward{Roster: old[:], Seat: hidden, Purpose: call.ToCompare, Request: []byte{0x82, 0x60, 0x40},
		Caller: x.caller.PublicKey()}
	f.Sign(x.caller)
	for under, refused := range []bool{false, true} {
		conn, _ := x.greeted(t, 0, under, call.Version, call.ToForward)
		var reply call.Forwarded
		err := conn.Send(f, time.Minute)
		if err == nil {
			err = conn.Receive(call.MaxRecord, &reply, time.Minute)
		}
		if err != nil || (reply.Refused != "") != refused {
			t.Errorf("a request for the old roster, under roster %d: %q, %v", under, reply.Refused, err)
		}
	}
	for _, h := range x.hosts {
		if _, err := h.EndOld(); err != nil {
			t.Fatal(err)
		}
	}
	waitUntil(t, "the end of the old roster", func() bool {
		return !slices.ContainsFunc(x.hosts, func(h *hosting) bool { return len(h.serials()) > 1 })
	})
	if _, res := ask(0); len(res.Missing) != 4 || !strings.Contains(res.Missing[0], "has been replaced by") {
		t.Errorf("under the old roster these are missing: %v", res.Missing)
	}
	answered(1)
}

// Who speaks another version is told so by a host, under whatever roster.
func TestHostOfOtherVersion(t *testing.T) {
	x := overlap(t, func(int, *node.HostConfig) {})
	stranger := rosterOf(t, nil, []seated{{"x1", x.keys[4]}, {"x2", x.keys[5]}, {"x3", x.keys[6]}, {"x4", x.caller}})
	x.rosters = append(x.rosters, stranger)
	for under := range x.rosters {
		if _, w := x.greeted(t, 0, under, "synod/node/1", call.ToAsk); !strings.Contains(w.Refused, "version") {
			t.Errorf("under roster %d: %q", under, w.Refused)
		}
	}
}
