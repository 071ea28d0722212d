package gateway

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/internal/keyfile"
	"synod.dev/synod/network/link"
	"synod.dev/synod/network/node"
	"synod.dev/synod/network/node/call"
	"synod.dev/synod/network/node/terms"
	"synod.dev/synod/network/roster"
)

const threeNodes = `council: three
protocol: {name: sac, rounds: 1}
pace: {think: 1s, within: 1s}
models: {own: {provider: simulated, ability: 1}}
seats: [{id: a, model: own, count: 3}]
`

// owners are the members of a council of three nodes, and a caller of it.
type owners struct {
	t       *testing.T
	dir     string // of council.roster and caller.key
	plan    *plan.Plan
	secrets []sign.Secret // the last two are those of callers
}

func newOwners(t *testing.T) *owners {
	t.Helper()
	spec, err := plan.Parse([]byte(threeNodes))
	if err != nil {
		t.Fatal(err)
	}
	o := &owners{t: t, dir: t.TempDir()}
	if o.plan, err = plan.New(spec); err != nil {
		t.Fatal(err)
	}
	random := rand.NewChaCha8([32]byte{1})
	for range 5 {
		s, err := sign.Generate(random)
		if err != nil {
			t.Fatal(err)
		}
		o.secrets = append(o.secrets, s)
	}
	if err := keyfile.Create(filepath.Join(o.dir, "caller.key"), o.secrets[3], nil); err != nil {
		t.Fatal(err)
	}
	return o
}

// agree writes a roster that all members have signed.
func (o *owners) agree(previous *roster.Roster, callers ...roster.Caller) *roster.Signed {
	o.t.Helper()
	members := map[string]roster.Member{}
	for i, s := range o.plan.Seats() {
		members[s.ID] = roster.Member{Key: o.secrets[i].PublicKey(), Addresses: []string{"localhost:1"}}
	}
	r, err := terms.New(o.plan, terms.Options{Members: members, Callers: callers, Previous: previous})
	if err != nil {
		o.t.Fatal(err)
	}
	signed := roster.Unsigned(r)
	for _, s := range o.secrets[:3] {
		signed.Sign(s)
	}
	if err := durable.WriteFile(filepath.Join(o.dir, "council.roster"), signed.File()); err != nil {
		o.t.Fatal(err)
	}
	return signed
}

// start starts the nodes over TLS on loopback, and returns where they are reached.
func (o *owners) start(signed *roster.Signed) (via []string) {
	o.t.Helper()
	transports, at := make([]*link.TLS, 3), map[synod.NodeID][]string{}
	for i := range transports {
		var err error
		if transports[i], err = link.Listen("127.0.0.1:0", o.secrets[i].LinkKey(), signed.MayAsk,
			link.Limits{}); err != nil {
			o.t.Fatal(err)
		}
		at[synod.NodeID(i)] = []string{transports[i].Address()}
		via = append(via, o.plan.Seats()[i].ID+"="+transports[i].Address())
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended, all := make(chan error, 3), make([]*node.Node, 3)
	for i := range all {
		var err error
		if all[i], err = node.Open(node.Config{Roster: signed, Secret: o.secrets[i], Dir: o.t.TempDir(),
			Program: "test", Transport: transports[i], Addresses: at}); err != nil {
			o.t.Fatal(err)
		}
		go func() { ended <- all[i].Run(ctx) }()
	}
	o.t.Cleanup(func() {
		cancel()
		for range all {
			if err := <-ended; err != nil {
				o.t.Error(err)
			}
		}
	})
	o.connected(all)
	return via
}

// connected waits until all neighbours have streams.
func (o *owners) connected(all []*node.Node) {
	o.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		missing := 0
		for _, n := range all {
			for _, p := range n.Status().Peers {
				if !p.Connected || p.Incoming == 0 {
					missing++
				}
			}
		}
		if missing == 0 {
			return
		}
	}
	o.t.Fatal("the nodes do not find one another")
}

// A council file that names the nodes of a roster is served like any other: the nodes decide. Their models
// are their owners', and are not served. A new roster is read without a change of the council file.
func TestCouncilOfNodes(t *testing.T) {
	own := newOwners(t)
	first := roster.Caller{Name: "gateway", Key: own.secrets[3].PublicKey()}
	signed := own.agree(nil, first)
	via := own.start(signed)
	h := open(t, map[string]string{"dice": dice})
	h.file(t, "net", "runner: {name: nodes, roster: "+filepath.Join(own.dir, "council.roster")+", key: "+
		filepath.Join(own.dir, "caller.key")+", via: ['"+strings.Join(via, "', '")+"']}\n")
	if err := h.reg.Reload(); err != nil || len(h.reg.Problems()) > 0 {
		t.Fatal(err, h.reg.Problems())
	}
	if s, served := h.reg.Acquire("solo:own"); served {
		s.Release()
		t.Error("the gateway serves the model of a member of the roster")
	}
	r := h.post(t, "/v1/chat/completions",
		`{"model": "net", "messages": [{"role": "user", "content": "What is 17 + 25?"}]}`)
	var got struct {
		Print string `json:"system_fingerprint"`
		Synod struct {
			Status  string           `json:"status"`
			Members []map[string]any `json:"members"`
		} `json:"synod"`
	}
	if err := json.Unmarshal(r.body, &got); err != nil || r.StatusCode != 200 || got.Synod.Status != "agreed" ||
		len(got.Synod.Members) != 3 || !strings.Contains(string(r.body), `"content":"42"`) {
		t.Fatalf("%d %v %s", r.StatusCode, err, r.body)
	}
	own.agree(signed.Roster, first, roster.Caller{Name: "other", Key: own.secrets[4].PublicKey()})
	if err := h.reg.Reload(); err != nil {
		t.Fatal(err)
	}
	s, served := h.reg.Acquire("net")
	if !served {
		t.Fatal(h.reg.Problems())
	}
	defer s.Release()
	if s.Fingerprint == got.Print {
		t.Error("the council is still that of the old roster")
	}
}

// What a request may spend reaches the nodes, and a proof that a member has equivocated is kept and told.
func TestNodesKeepBudgetsAndProofs(t *testing.T) {
	own := newOwners(t)
	caller := roster.Caller{Name: "gateway", Key: own.secrets[3].PublicKey()}
	signed := own.agree(nil, caller)
	via := own.start(signed)
	h := open(t, map[string]string{"dice": dice}, func(o *Options) { o.Evidence = t.TempDir() })
	h.file(t, "net", "runner: {name: nodes, roster: "+filepath.Join(own.dir, "council.roster")+", key: "+
		filepath.Join(own.dir, "caller.key")+", via: ['"+strings.Join(via, "', '")+"']}\n")
	if err := h.reg.Reload(); err != nil {
		t.Fatal(err)
	}
	var got struct{ Synod Report }
	h.post(t, chats, questionBody("net", sum)).into(t, &got)
	if free := got.Synod.Calls.Made; free < 6 {
		t.Fatalf("%d calls without a budget; want two of each member", free)
	}
	r := h.post(t, chats, questionBody("net", sum, `"synod": {"budget": {"calls": 3}}`))
	if r.into(t, &got); got.Synod.Calls.Made > 3 {
		t.Errorf("%d calls with a budget of 3: %s", got.Synod.Calls.Made, r.body)
	}

	hash := signed.Roster.Hash()
	receipt := func(sum string) call.Receipt {
		slip := roster.Slip{Roster: hash[:], Instance: "run", From: 1, Slot: "s", Sum: []byte(strings.Repeat(sum, 32))}
		return call.Receipt{From: 1, Slot: "s", Sum: slip.Sum, Signature: slip.Sign(own.secrets[1])}
	}
	served, _ := h.reg.Acquire("net")
	defer served.Release()
	proof := &call.Proof{Client: &call.Client{Roster: signed.Roster}, Result: &call.Result{
		Proofs: []call.Equivocation{
			{Roster: hash[:], Instance: "run", A: receipt("a"), B: receipt("b")},
			{Roster: hash[:], Instance: "run", A: receipt("a"), B: receipt("a")}}}} // no proof
	report := &Report{}
	h.accuse(&job{id: "req-x", served: served}, proof.Equivocations(), report)
	files, _ := filepath.Glob(filepath.Join(h.o.Evidence, "*-seat1.pem"))
	if len(report.Evidence) != 1 || report.Evidence[0].ID != "a2" || len(files) != 1 {
		t.Errorf("%+v, files %v\n%s", report.Evidence, files, h.log)
	}
}
