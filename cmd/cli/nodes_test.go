package cli

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/council"
	counciloutcome "synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/keyfile"
	"synod.dev/synod/llm"
	"synod.dev/synod/network/link"
	"synod.dev/synod/network/node"
	"synod.dev/synod/network/node/terms"
	"synod.dev/synod/network/roster"
)

// The council of nodes that the tests ask.
const nodesCouncil = `council: four
protocol: {name: sac, rounds: 2}
f: 1
pace: {think: 300ms, within: 3s}
limits: {deadline: 30s}
models: {own: {provider: simulated, ability: 1}}
seats: [{id: a, model: own, count: 4}]
`

// startNodes starts the nodes of a council file on loopback and writes council.roster and alice.key, which may
// ask, into a folder. The nodes end with the test.
func startNodes(dir, text string, ended func(func())) error {
	spec, err := plan.Parse([]byte(text))
	if err != nil {
		return err
	}
	p, err := plan.New(spec)
	if err != nil {
		return err
	}
	random := rand.NewChaCha8([32]byte{7})
	caller, err := sign.Generate(random)
	if err != nil {
		return err
	}
	members, configs := map[string]roster.Member{}, make([]node.Config, len(p.Seats()))
	admits := &roster.Roster{Callers: []roster.Caller{{Name: "alice", Key: caller.PublicKey()}}}
	for i, s := range p.Seats() {
		c := &configs[i]
		if c.Secret, err = sign.Generate(random); err != nil {
			return err
		}
		admits.Members = append(admits.Members, roster.Member{ID: s.ID, Key: c.Secret.PublicKey()})
		if c.Transport, err = link.Listen("127.0.0.1:0", c.Secret.LinkKey(), admits.MayAsk,
			link.Limits{Streams: 16}); err != nil {
			return err
		}
		c.Dir = filepath.Join(dir, "nodes", s.ID)
		members[s.ID] = roster.Member{Key: c.Secret.PublicKey(), Addresses: []string{c.Transport.Address()}}
	}
	r, err := terms.New(p, terms.Options{Members: members, Callers: admits.Callers})
	if err != nil {
		return err
	}
	signed := roster.Unsigned(r)
	for i := range configs {
		signed.Sign(configs[i].Secret)
	}
	for i := range configs {
		configs[i].Roster = signed
		n, err := node.Open(configs[i])
		if err != nil {
			return err
		}
		ctx, cancel := context.WithCancel(context.Background())
		var wait sync.WaitGroup
		wait.Go(func() { n.Run(ctx) })
		ended(func() { cancel(); wait.Wait() })
	}
	return errors.Join(keyfile.Create(filepath.Join(dir, "alice.key"), caller, nil),
		os.WriteFile(filepath.Join(dir, "council.roster"), signed.File(), 0o600))
}

// TestNodesScripts runs testdata/nodes/*.txt beside the nodes of a council of four on loopback.
func TestNodesScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/nodes",
		Setup: func(e *testscript.Env) error {
			e.Setenv("SYNOD_HOME", filepath.Join(e.WorkDir, "home"))
			return startNodes(e.WorkDir, nodesCouncil, e.Defer)
		},
		Cmds:          map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
	})
}

// A program that keeps one council of nodes open, as a gateway does, may ask it many questions at once, each
// of which is judgedAgain by the records of its own run.
func TestNodesAtOnce(t *testing.T) {
	for name, text := range map[string]string{"sac": nodesCouncil, "decentllms": `council: jury
protocol: {name: decentllms}
f: 1
pace: {think: 300ms, within: 3s}
models: {own: {provider: simulated, ability: 1}}
seats: [{id: w, model: own, count: 3, role: worker}, {id: e, model: own, count: 4, role: evaluator}]
`} {
		t.Run(name, func(t *testing.T) { askAtOnce(t, text) })
	}
}

func askAtOnce(t *testing.T, text string) {
	dir := t.TempDir()
	if err := startNodes(dir, text, t.Cleanup); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "gateway.yaml")
	text = "runner: {name: nodes, roster: council.roster, key: alice.key}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	spec, err := plan.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	c, err := council.Convene(spec, llm.Env{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var wait sync.WaitGroup
	for i := range 6 {
		wait.Go(func() {
			q := synod.Question{Text: fmt.Sprintf("What is %d + 25?", i), Form: synod.Number}
			o, err := c.Decide(t.Context(), council.Ask{Question: q,
				Journal: filepath.Join(dir, fmt.Sprintf("j%d.jsonl", i))})
			if want := synod.Answer(fmt.Sprint(i + 25)); err != nil || o.Answer == nil || *o.Answer != want {
				t.Errorf("%v, %s: %s; want %s", err, o.Status, o.Reason, want)
			}
			again, err := judgedAgain(o.Journal)
			if err != nil || again.Decision != o.Decision || again.Digest != o.Digest || again.Status != o.Status {
				t.Errorf("the journal has %s %v %s: %v", again.Status, again.Decision, again.Digest, err)
			}
		})
	}
	wait.Wait()
}

// judgedAgain returns the outcome of the run in a journal.
func judgedAgain(path string) (o counciloutcome.Outcome, err error) {
	run, err := journal.Load(path)
	if err != nil {
		return o, err
	}
	p, err := plan.Of(run)
	if err != nil {
		return o, err
	}
	o = counciloutcome.Judge(p, counciloutcome.InstanceOf(run), counciloutcome.RecordsOf(p, run))
	o.Digest = run.Digest()
	return o, nil
}
