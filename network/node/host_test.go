package node_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
	"synod.dev/synod/network/link"
	"synod.dev/synod/network/node"
	"synod.dev/synod/network/node/call"
	"synod.dev/synod/network/node/terms"
	"synod.dev/synod/network/roster"
)

// seated is who has a seat in a roster.
type seated struct {
	id     string
	secret sign.Secret
}

// council4 is what the councils of these tests play.
const council4 = "protocol: {name: majority}\nf: 1\n" + pace +
	"models: {d: {provider: simulated, ability: 1, skill: 1, primacy: 0, shared: 0}}\nseats: ["

// rosterOf makes the roster of members that replaces another one; nil: the first. It is signed by owners of keys.
func rosterOf(t testing.TB, before *roster.Signed, members []seated, by ...sign.Secret) *roster.Signed {
	t.Helper()
	return rosterWith(t, before, council4, terms.Options{}, members, by...)
}

func rosterWith(t testing.TB, before *roster.Signed, text string, o terms.Options, members []seated,
	by ...sign.Secret) *roster.Signed {
	t.Helper()
	o.Members = map[string]roster.Member{}
	for i, m := range members {
		if i > 0 {
			text += ", "
		}
		text += "{id: " + m.id + ", model: d}"
		o.Members[m.id] = roster.Member{Key: m.secret.PublicKey(), Addresses: []string{"localhost:1"}}
	}
	spec, err := plan.Parse([]byte(text + "]\n"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	if before != nil {
		o.Previous = before.Roster
	}
	r, err := terms.New(p, o)
	if err != nil {
		t.Fatal(err)
	}
	s := roster.Successor(r, before)
	for _, secret := range by {
		s.Sign(secret)
	}
	return s
}

// members4 returns four members and further keys.
func members4(t testing.TB) (members []seated, all []sign.Secret) {
	all = secretsOf(t, 1, 8)
	for i := range 4 {
		members = append(members, seated{fmt.Sprint("a", i+1), all[i]})
	}
	return members, all
}

// hosting is a Host that runs.
type hosting struct {
	*node.Host
	ended chan error
	stop  func()
}

// host starts a Host. The error is that of OpenHost.
func host(t testing.TB, net *link.Memory, s *roster.Signed, secret sign.Secret, dir string,
	env llm.Env) (*hosting, error) {
	t.Helper()
	return hostWith(t, net, s, secret, dir, func(c *node.HostConfig) { c.Env = env })
}

// hostWith starts a Host whose configuration was changed.
func hostWith(t testing.TB, net *link.Memory, s *roster.Signed, secret sign.Secret, dir string,
	change func(*node.HostConfig)) (*hosting, error) {
	t.Helper()
	c := node.HostConfig{Config: node.Config{Roster: s, Secret: secret, Dir: dir, Program: "test"},
		Listen: func(_ *roster.Roster, gate *node.Gate) (link.Transport, error) {
			return net.Join(secret.PublicKey(), gate.MayAsk), nil
		}}
	change(&c)
	n, err := node.OpenHost(c)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	h := &hosting{Host: n, ended: make(chan error, 1)}
	done := make(chan struct{})
	go func() { defer close(done); h.ended <- n.Run(ctx) }()
	h.stop = sync.OnceFunc(func() { cancel(); <-done })
	t.Cleanup(h.stop)
	return h, nil
}

func mustHost(t testing.TB, net *link.Memory, s *roster.Signed, secret sign.Secret, dir string) *hosting {
	t.Helper()
	h, err := host(t, net, s, secret, dir, llm.Env{})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// serials returns the serials of the rosters that a Host plays.
func (h *hosting) serials() (all []uint64) {
	for _, r := range h.Status().Rosters {
		all = append(all, r.Serial)
	}
	return all
}

// on reports whether a Host has streams to and from all neighbours under a roster.
func (h *hosting) on(serial uint64) bool {
	s := h.Status()
	n := 0
	for _, p := range s.Peers {
		if slices.Contains(p.Serials, serial) {
			n++
		}
	}
	return n >= 3
}

func waitUntil(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if holds() {
			return
		}
	}
	t.Fatalf("it did not come: %s", what)
}

// askUnder asks the members of a roster, and returns the answer, and why records did not come.
func askUnder(t testing.TB, net *link.Memory, s *roster.Signed, caller sign.Secret) (answer string, missing []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := &call.Client{Roster: s.Roster, Lead: 50 * time.Millisecond, Transport: net.Dialer(caller.PublicKey())}
	defer c.Close()
	res, err := c.Ask(ctx, sum)
	if err != nil {
		t.Fatal(err)
	}
	p, err := terms.Plan(s.Roster)
	if err != nil {
		t.Fatal(err)
	}
	for _, why := range res.Missing {
		missing = append(missing, why)
	}
	if o := res.Judge(s.Roster, p, sum); o.Answer != nil {
		answer = string(*o.Answer)
	}
	return answer, missing
}

// A node goes over to the successor of its roster that a quorum has signed, and to nothing else that a member gives
// its owner: a forged roster, one that a member has made with keys that he invented, an older one, or another successor
// of the same roster. It remembers what it has taken.
func TestHostileRosters(t *testing.T) {
	members, keys := members4(t)
	first := rosterOf(t, nil, members, keys[:4]...)
	with := func(id string, key sign.Secret) []seated {
		return append(slices.Clone(members[:3]), seated{id, key})
	}
	good := rosterOf(t, first, with("a4", keys[4]), keys[0], keys[1], keys[2], keys[4])
	fork := rosterOf(t, first, with("b4", keys[5]), keys[1], keys[2], keys[3], keys[5])
	hostile := []seated{{"a1", keys[0]}, {"x1", keys[5]}, {"x2", keys[6]}, {"x3", keys[7]}}
	dir, net := t.TempDir(), new(link.Memory)
	h := mustHost(t, net, first, keys[1], dir)
	refuse := func(what, want string, s *roster.Signed) {
		t.Helper()
		before := h.serials()
		err := h.Take(s, time.Now().Add(time.Hour))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", what, err, want)
		}
		if now := h.serials(); !slices.Equal(now, before) {
			t.Errorf("%s: the node plays %v, and before %v", what, now, before)
		}
	}
	forged := rosterOf(t, first, with("a4", keys[4]), keys[0], keys[1], keys[2], keys[4])
	forged.Signatures[1].Bytes[9] ^= 1
	libp2p := rosterWith(t, first, council4, terms.Options{Links: roster.Libp2p}, members, keys[:4]...)
	ledger := rosterWith(t, first, "ledger: {name: log}\n"+council4, terms.Options{}, members, keys[:4]...)
	refuse("a forged signature", "is not valid", forged)
	refuse("too few signatures", "2 of the 4 members", rosterOf(t, first, with("a4", keys[4]), keys[0], keys[1],
		keys[4]))
	refuse("a member and invented keys", "1 of the 4", rosterOf(t, first, hostile, keys[0], keys[5], keys[6], keys[7]))
	refuse("another council", "serial 0 already", rosterOf(t, nil, hostile, keys[0], keys[5], keys[6], keys[7]))
	refuse("a roster that contradicts its council", "contradicts", contradiction(t, first, members, keys[:4]))
	refuse("other links", "other links", libp2p)
	refuse("a ledger", "one roster at a time", ledger)
	if err := h.Take(good, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := h.Take(good, time.Now()); err != nil || !slices.Equal(h.serials(), []uint64{0, 1}) {
		t.Errorf("the same roster once more: %v, rosters %v", err, h.serials())
	}
	refuse("an older roster", "serial 0 is older", first)
	refuse("another successor", "signed by both: a2, a3", fork)
	h.stop()
	h = rememberedRosters(t, net, dir, first, fork, keys[1])
	refuse("another successor, after a restart", "signed by both: a2, a3", fork)
	h.stop()
	third := rosterOf(t, good, with("a4", keys[4]), keys[0], keys[1], keys[2], keys[4])
	h = mustHost(t, net, third, keys[1], dir) // given at the start, which ends the one before
	if got := h.Status(); got.Serial != 2 || len(got.Rosters) != 3 || !got.Rosters[1].Ended &&
		got.Rosters[1].Until.IsZero() {
		t.Errorf("started with the next roster it plays %+v", got.Rosters)
	}
}

// contradiction returns a successor that all have signed and that says another F than its council file.
func contradiction(t *testing.T, first *roster.Signed, members []seated, by []sign.Secret) *roster.Signed {
	s := rosterOf(t, first, members)
	s.F = 0
	for _, k := range by {
		s.Sign(k)
	}
	return s
}

// rememberedRosters starts a node that has taken the successor of its first roster with the first one, and with
// another successor.
func rememberedRosters(t *testing.T, net *link.Memory, dir string, first, fork *roster.Signed,
	secret sign.Secret) *hosting {
	t.Helper()
	if _, err := host(t, net, fork, secret, dir, llm.Env{}); err == nil ||
		!strings.Contains(err.Error(), "another roster with serial 1 already") {
		t.Errorf("started with another successor: %v", err)
	}
	h := mustHost(t, net, first, secret, dir)
	if got := h.serials(); !slices.Equal(got, []uint64{0, 1}) || h.Status().Serial != 1 {
		t.Errorf("started with the older roster it plays %v, and %d is in force", got, h.Status().Serial)
	}
	return h
}

// Questions are answered under the old roster and the new one while the council goes over, also by a node that is
// started again in between with the old roster. Then the old one ends, and its node with it; a member that has no seat
// any more ends by itself.
func TestOverlap(t *testing.T) {
	members, keys := members4(t)
	first := rosterOf(t, nil, members, keys[:4]...)
	second := rosterOf(t, first, append(slices.Clone(members[1:4]), seated{"a5", keys[4]}), keys[1], keys[2], keys[3],
		keys[4])
	net := new(link.Memory)
	var hosts []*hosting
	dirs := make([]string, 4)
	for i, m := range members {
		dirs[i] = t.TempDir()
		hosts = append(hosts, mustHost(t, net, first, m.secret, dirs[i]))
	}
	all := func(serial uint64, of []*hosting) func() bool {
		return func() bool {
			return !slices.ContainsFunc(of, func(h *hosting) bool { return !h.on(serial) })
		}
	}
	waitUntil(t, "all on the first roster", all(0, hosts))
	added := mustHost(t, net, second, keys[4], t.TempDir())
	for _, h := range hosts {
		if err := h.Take(second, time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	hosts[2].stop()
	hosts[2] = mustHost(t, net, first, members[2].secret, dirs[2])
	newer := append(slices.Clone(hosts[1:]), added)
	waitUntil(t, "all on the second roster", all(1, newer))
	waitUntil(t, "all on the first roster still", all(0, hosts))
	for name, s := range map[string]*roster.Signed{"old": first, "new": second} {
		if answer, missing := askUnder(t, net, s, keys[1]); answer != "42" || len(missing) > 0 {
			t.Errorf("under the %s roster: %q, missing %v", name, answer, missing)
		}
	}
	for _, p := range hosts[1].Status().Peers {
		want := map[string][]uint64{"a1": {0}, "a3": {0, 1}, "a4": {0, 1}, "a5": {1}}[p.ID]
		if !slices.Equal(p.Serials, want) {
			t.Errorf("the neighbour %s is on %v, want %v", p.ID, p.Serials, want)
		}
	}
	theOldOneEnds(t, net, first, second, keys, hosts)
}

// theOldOneEnds makes the first roster end at hosts of which the first one has no seat in the second roster.
func theOldOneEnds(t *testing.T, net *link.Memory, first, second *roster.Signed, keys []sign.Secret, hosts []*hosting) {
	t.Helper()
	for _, h := range hosts {
		if n, err := h.EndOld(); n != 1 || err != nil {
			t.Errorf("%d rosters end, %v", n, err)
		}
	}
	waitUntil(t, "refusals", func() bool {
		_, missing := askUnder(t, net, first, keys[1])
		return len(missing) == 4 && !slices.ContainsFunc(missing, func(why string) bool {
			return !strings.Contains(why, "has been replaced by")
		})
	})
	waitUntil(t, "the end of the old roster", func() bool { return len(hosts[1].serials()) == 1 })
	waitUntil(t, "a caller with the old roster is told by three; the fourth has ended, or is about to", func() bool {
		_, missing := askUnder(t, net, first, keys[1])
		told := 0
		for _, why := range missing {
			if strings.Contains(why, "has been replaced by") {
				told++
			}
		}
		return told >= 3
	})
	if answer, missing := askUnder(t, net, second, keys[2]); answer != "42" || len(missing) > 0 {
		t.Errorf("after the end of the old roster: %q, missing %v", answer, missing)
	}
	select {
	case err := <-hosts[0].ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("the node of the member that was removed goes on")
	}
	if stats := hosts[1].Status().Stats; stats.Runs < 2 {
		t.Errorf("the figures of the old roster are lost: %+v", stats)
	}
}

// A question that was asked before the old roster ends is played to its end under it.
func TestRunsOutliveTheirRoster(t *testing.T) {
	members, keys := members4(t)
	first := rosterOf(t, nil, members, keys[:4]...)
	second := rosterOf(t, first, members, keys[:4]...)
	net := new(link.Memory)
	var hosts []*hosting
	for _, m := range members {
		h, err := host(t, net, first, m.secret, t.TempDir(), llm.Env{})
		if err != nil {
			t.Fatal(err)
		}
		hosts = append(hosts, h)
	}
	waitUntil(t, "all on the first roster", func() bool {
		return !slices.ContainsFunc(hosts, func(h *hosting) bool { return !h.on(0) })
	})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	c := &call.Client{Roster: first.Roster, Lead: 2 * time.Second, Transport: net.Dialer(keys[1].PublicKey())}
	type asked struct {
		res *call.Result
		err error
	}
	reply := make(chan asked, 1)
	go func() {
		res, err := c.Ask(ctx, sum)
		reply <- asked{res, err}
	}()
	waitUntil(t, "four runs", func() bool { // which begin two seconds after they were announced
		return !slices.ContainsFunc(hosts, func(h *hosting) bool { return len(h.Status().Runs) == 0 })
	})
	for _, h := range hosts {
		if err := h.Take(second, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	a := <-reply
	if a.err != nil || len(a.res.Missing) > 0 {
		t.Fatalf("%v, missing %v", a.err, a.res.Missing)
	}
	certified(ctx, t, c, a.res)
}

// certified fails unless a result has the right answer, and its members sign the certificate.
func certified(ctx context.Context, t *testing.T, c *call.Client, res *call.Result) {
	t.Helper()
	p, err := terms.Plan(c.Roster)
	if err != nil {
		t.Fatal(err)
	}
	o := res.Judge(c.Roster, p, sum)
	if o.Answer == nil || *o.Answer != synod.Answer("42") {
		t.Errorf("%s: %s", o.Status, o.Reason)
	}
	s, err := res.Statement(c.Roster, p, sum, &o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Certify(ctx, &s); err != nil { // within the time that the node goes on after its last run
		t.Error(err)
	}
}

// A roster that cannot be written is not taken, and the one in force goes on. Nothing is left of rosters that have
// ended.
func TestRosterThatCannotBeWritten(t *testing.T) {
	members, keys := members4(t)
	before := rosterOf(t, nil, members, keys[:4]...)
	dir := t.TempDir()
	h := mustHost(t, new(link.Memory), before, keys[0], dir)
	next := rosterOf(t, before, members, keys[:4]...)
	folder := filepath.Join(dir, "rosters")
	if err := os.Rename(folder, folder+".away"); err != nil {
		t.Fatal(err)
	}
	err := h.Take(next, time.Now().Add(time.Hour))
	if err == nil || !strings.Contains(err.Error(), "cannot be written") || !slices.Equal(h.serials(), []uint64{0}) {
		t.Errorf("without its folder: %v, rosters %v", err, h.serials())
	}
	if err := os.Rename(folder+".away", folder); err != nil {
		t.Fatal(err)
	}
	waitUntil(t, "tries to reach all neighbours", func() bool { // so that all goroutines of the node have begun
		return !slices.ContainsFunc(h.Status().Peers, func(p node.PeerStatus) bool { return p.Trouble == "" })
	})
	idle := runtime.NumGoroutine()
	for i := range 3 {
		if err := h.Take(next, time.Now()); err != nil {
			t.Fatal(err)
		}
		if i == 2 {
			break
		}
		next = rosterOf(t, next, members, keys[:4]...)
	}
	if err := h.Take(rosterOf(t, next, members, keys[:4]...), time.Now()); err == nil ||
		!strings.Contains(err.Error(), "plays 4 rosters") {
		t.Errorf("a fifth roster at once: %v", err)
	}
	waitUntil(t, "the end of three rosters", func() bool { return slices.Equal(h.serials(), []uint64{3}) })
	waitUntil(t, "the end of their goroutines", func() bool { return runtime.NumGoroutine() <= idle+2 })
}

// A guest who is admitted for the desk gets nothing but the desk: no question is taken, and no frame of a neighbour.
func TestGuestsGetTheDeskOnly(t *testing.T) {
	members, keys := members4(t)
	s := rosterOf(t, nil, members, keys[:4]...)
	net := new(link.Memory)
	h := mustHost(t, net, s, keys[0], t.TempDir())
	guest, hash := keys[7], s.Hash()
	greet := func(purpose string) error {
		stream, err := net.Dialer(guest.PublicKey()).Dial(t.Context(), keys[0].PublicKey(), nil)
		if err != nil {
			return err
		}
		conn := link.NewConn(stream)
		defer conn.Close()
		hello := call.Hello{Version: call.Version, Purpose: purpose, Roster: hash[:]}
		if err := conn.Send(hello, time.Minute); err != nil {
			return err
		}
		_, err = conn.ReceiveBytes(1<<20, time.Minute)
		return err
	}
	if greet(call.ToJoin) == nil {
		t.Error("a key that nobody has admitted gets a stream")
	}
	h.Gate().Admit(guest.PublicKey())
	for _, purpose := range []string{call.ToAsk, call.ToSign, call.ToLink, call.ToLedger, call.ToJoin, ""} {
		if greet(purpose) == nil {
			t.Errorf("a guest is welcome for the purpose %q", purpose)
		}
	}
	h.Desk = func(conn *link.Conn, _ []byte) { conn.SendBytes([]byte("desk"), time.Minute) }
	if err := greet(call.ToJoin); err != nil {
		t.Errorf("the desk: %v", err)
	}
	if greet(call.ToAsk) == nil {
		t.Error("a guest may ask")
	}
}
