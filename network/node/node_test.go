package node_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/nodetest"
	"synod.dev/synod/network/link"
	"synod.dev/synod/network/node"
	"synod.dev/synod/network/node/call"
	"synod.dev/synod/network/node/terms"
	"synod.dev/synod/network/roster"
)

// secretsOf returns n secrets that follow from a seed.
func secretsOf(t testing.TB, seed byte, n int) (all []sign.Secret) {
	t.Helper()
	random := rand.NewChaCha8([32]byte{seed})
	for range n {
		s, err := sign.Generate(random)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

// network is the nodes of one council in this process.
type network struct {
	t       testing.TB
	secrets []sign.Secret
	caller  sign.Secret
	signed  *roster.Signed
	plan    *plan.Plan
	memory  *link.Memory
	dirs    []string
	nodes   []*node.Node
	stop    []func()
	change  func(seat int, c *node.Config)
	asked   synod.Question
}

// convene makes a council of nodes from the text of a council file.
func convene(t testing.TB, text string, seed byte) *network {
	t.Helper()
	return conveneAt(t, text, seed, func(int, *roster.Member) {})
}

// conveneAt is convene for members that change says more about, such as their addresses.
func conveneAt(t testing.TB, text string, seed byte, change func(seat int, m *roster.Member)) *network {
	t.Helper()
	spec, err := plan.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	n := len(p.Seats())
	net := &network{t: t, secrets: secretsOf(t, seed, n), caller: secretsOf(t, seed+100, 1)[0],
		memory: new(link.Memory)}
	members := map[string]roster.Member{}
	for i, s := range p.Seats() {
		m := roster.Member{Key: net.secrets[i].PublicKey(), Addresses: []string{"localhost:1"}}
		change(i, &m)
		members[s.ID] = m
	}
	r, err := terms.New(p, terms.Options{Members: members,
		Callers: []roster.Caller{{Name: "caller", Key: net.caller.PublicKey()}}})
	if err != nil {
		t.Fatal(err)
	}
	net.signed = roster.Unsigned(r)
	for _, s := range net.secrets {
		net.signed.Sign(s)
	}
	if net.plan, err = terms.Plan(r); err != nil {
		t.Fatal(err)
	}
	net.nodes, net.stop, net.dirs = make([]*node.Node, n), make([]func(), n), make([]string, n)
	for i := range n {
		net.dirs[i] = t.TempDir()
	}
	return net
}

// start starts the node of a seat.
func (net *network) start(seat int) {
	net.t.Helper()
	r := net.signed.Roster
	c := node.Config{Roster: net.signed, Secret: net.secrets[seat], Dir: net.dirs[seat], Program: "test"}
	if os.Getenv("NODE_LOG") != "" {
		c.Log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug})).With("seat",
			seat)
	}
	if net.change != nil {
		net.change(seat, &c)
	}
	if c.Transport == nil {
		c.Transport = net.memory.Join(c.Secret.PublicKey(), r.MayAsk)
	}
	n, err := node.Open(c)
	if err != nil {
		net.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := n.Run(ctx); err != nil {
			net.t.Error(err)
		}
	}()
	net.nodes[seat] = n
	net.stop[seat] = sync.OnceFunc(func() { cancel(); <-done })
	net.t.Cleanup(net.stop[seat])
}

func (net *network) startAll() {
	net.t.Helper()
	for i := range net.nodes {
		net.start(i)
	}
	net.connected()
}

// connected waits until all neighbours have streams.
func (net *network) connected() {
	net.t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		all := true
		for _, n := range net.nodes {
			for _, p := range n.Status().Peers {
				all = all && p.Connected && p.Incoming > 0
			}
		}
		if all {
			return
		}
	}
	net.t.Fatal("the nodes do not find one another")
}

func (net *network) client() *call.Client {
	return &call.Client{Roster: net.signed.Roster, Lead: 50 * time.Millisecond,
		Transport: net.memory.Join(net.caller.PublicKey(), func([]byte) bool { return false })}
}

// ask puts a question and judges.
func (net *network) ask(q synod.Question) (*call.Result, outcome.Outcome) {
	net.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	res, err := net.client().Ask(ctx, q)
	if err != nil {
		net.t.Fatal(err)
	}
	return res, res.Judge(net.signed.Roster, net.plan, q)
}

// simulate plays the same run under package sim, with the same identities.
func (net *network) simulate(q synod.Question, in sign.Instance, absent ...int) (digests []string,
	records []outcome.Record) {
	net.t.Helper()
	return nodetest.Simulate(net.t, nodetest.PlayedRun{Plan: net.plan, Secrets: net.secrets, Question: q, Instance: in,
		Absent: absent})
}

var sum = synod.Question{Text: "What is 17 + 25?", Form: synod.Number}

const pace = "pace: {think: 150ms, within: 600ms}\n" // nodes wait for a quarter of it, and test machines are busy

// councils are the protocols that a council of nodes is compared with the simulator in.
var councils = map[string]string{
	"sac":     "protocol: {name: sac, rounds: 3}\nf: 2\n" + pace + simulated,
	"cp-wbft": "protocol: {name: cp-wbft}\nf: 1\n" + pace + simulated,
	"decentllms": "protocol: {name: decentllms}\nf: 1\n" + pace + "models: {d: {provider: simulated, ability: 0.7}}\n" +
		"seats: [{id: w, model: d, count: 3, role: worker}, {id: e, model: d, count: 4, role: evaluator}]\n",
	"rotating-leader": "protocol: {name: rotating-leader}\nf: 1\n" + pace + simulated,
	"game":            "protocol: {name: game, rounds: 4}\nf: 1\n" + pace + simulated,
	"cascade":         "protocol: {name: cascade, stop: certain}\nf: 1\n" + pace + simulated,
	"panel":           "form: prose\nprotocol: {name: panel}\nf: 1\n" + pace + simulated,
}

// questionOf returns what a council of the map councils is asked.
func questionOf(name string) synod.Question {
	if name == "panel" {
		return synod.Question{Text: "Explain why the sky is blue.", Form: synod.Prose}
	}
	return sum
}

const simulated = "models: {d: {provider: simulated, ability: 0.6}}\nseats: [{id: a, model: d, count: 7}]\n"

// A council of nodes has the outcome, and every seat the journal, of the simulator with the same keys,
// the same instance and the same replies.
func TestSameAsSimulator(t *testing.T) {
	for name, text := range councils {
		t.Run(name, func(t *testing.T) {
			net := convene(t, text, 1)
			net.startAll()
			differ := net.compare(t, questionOf(name))
			for range 2 { // on a busy machine messages come late; a real difference is there each time
				if len(differ) == 0 {
					return
				}
				t.Log("asked again:", differ)
				differ = net.compare(t, questionOf(name))
			}
			for _, d := range differ {
				t.Error(d)
			}
		})
	}
}

// compare asks nodes a question and plays it in the simulator. It returns what differs.
func (net *network) compare(t *testing.T, q synod.Question) (differ []string) {
	t.Helper()
	res, o := net.ask(q)
	if len(res.Missing) > 0 {
		return []string{fmt.Sprint("missing: ", res.Missing)}
	}
	digests, records := net.simulate(q, res.Instance)
	for i, f := range res.Finals {
		if f.Digest != digests[i] {
			differ = append(differ, fmt.Sprintf("seat %d has the journal %s, and in the simulator %s", i, f.Digest,
				digests[i]))
		}
	}
	want := outcome.Judge(net.plan, plan.Instance{Question: q,
		Check: net.signed.Committee().Verifier(res.Instance)}, records)
	if a, b := asJSON(o), asJSON(want); a != b {
		differ = append(differ, "the outcomes differ: "+firstDifference(a, b))
	}
	t.Logf("%s in %d ticks, %v", o.Status, o.Ticks, time.Since(res.Start))
	return differ
}

// A question that reaches all nodes after its start is asked once more, as another run with a later start. Where it
// is too late again, the refusals are returned.
func TestLateStart(t *testing.T) {
	net := convene(t, "protocol: {name: majority}\nf: 1\n"+pace+simulated, 1)
	net.startAll()
	for behind, want := range map[time.Duration]int{400 * time.Millisecond: 7, 3 * time.Second: 0} {
		t.Run(behind.String(), func(t *testing.T) {
			c := net.client()
			c.Now = func() time.Time { return time.Now().Add(-behind) }
			var before [7]node.Stats
			for i, n := range net.nodes {
				before[i] = n.Status().Stats
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			res, err := c.Ask(ctx, sum)
			if err != nil || len(res.Records) != want || len(res.Missing) != 7-want {
				t.Fatalf("%d records, want %d: %v, %v", len(res.Records), want, res.Missing, err)
			}
			for i, n := range net.nodes {
				now := n.Status().Stats
				runs, declined := int(now.Runs-before[i].Runs), int(now.Declined-before[i].Declined)
				if runs != want/7 || declined != 2-want/7 {
					t.Errorf("seat %d has begun %d runs, and declined %d", i, runs, declined)
				}
			}
		})
	}
}

// firstDifference returns where two texts begin to differ.
func firstDifference(a, b string) string {
	at := 0
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	from := max(at-60, 0)
	return fmt.Sprintf("nodes …%.120s… simulator …%.120s…", a[from:], b[from:])
}

func asJSON(o outcome.Outcome) string {
	b, _ := json.Marshal(o)
	return string(b)
}
