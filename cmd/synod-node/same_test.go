package main

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/nodetest"
	"synod.dev/synod/llm/models"
	"synod.dev/synod/network/node/call"
	"synod.dev/synod/network/roster"
)

const (
	pace     = "pace: {think: 500ms, within: 1500ms}\n"
	members7 = "models: {d: {provider: simulated, ability: 0.6}}\nseats: [{id: a, model: d, count: 7}]\n"
)

// fiveProtocols are the councils that seven processes and the simulator both play.
var fiveProtocols = map[string]string{
	"sac":     "protocol: {name: sac, rounds: 3}\nf: 2\n" + pace + members7,
	"cp-wbft": "protocol: {name: cp-wbft}\nf: 1\n" + pace + members7,
	"decentllms": "protocol: {name: decentllms}\nf: 1\n" + pace + "models: {d: {provider: simulated, ability: 0.7}}\n" +
		"seats: [{id: w, model: d, count: 3, role: worker}, {id: e, model: d, count: 4, role: evaluator}]\n",
	"rotating-leader": "protocol: {name: rotating-leader}\nf: 1\n" + pace + members7,
	"game":            "protocol: {name: game, rounds: 4}\nf: 1\n" + pace + members7,
}

// Seven processes in seven network namespaces play five protocols. Each has the outcome, and every seat the
// journal, of the simulator with the same keys, the same instance and the same replies.
func TestSevenNamespaces(t *testing.T) {
	h := newHosts(t, 7)
	for name, text := range fiveProtocols {
		t.Run(name, func(t *testing.T) {
			p := conveneOn(t, h, text, roster.TLS)
			p.startAll()
			res, o := p.ask(sum, func() {})
			p.same(res, &o)
			t.Logf("%s: %s in %d ticks", o.Status, o.Reason, o.Ticks)
		})
	}
}

// The same with members in the box: three processes with the embedded model each. It is skipped where the
// model is not on this machine.
func TestBoxInNamespaces(t *testing.T) {
	if testing.Short() {
		t.Skip("three processes of the embedded model take a minute")
	}
	if _, err := (models.Store{Dir: models.DefaultDir()}).Resolve(models.Default); err != nil {
		t.Skip("NEEDS THE MODEL: members in the box are not tried; run: synod models pull")
	}
	p := conveneOn(t, newHosts(t, 3), "protocol: {name: sac, rounds: 1}\nf: 0\n"+
		"pace: {think: 3m, within: 10s}\n"+
		"models: {box: {provider: embedded, model: "+models.Default+", temperature: 0.2, threads: 1}}\n"+
		"seats: [{id: a, model: box, count: 3}]\n", roster.TLS)
	p.startAll()
	res, o := p.ask(synod.Question{Text: "What is 2 + 3?", Form: synod.Number}, func() {})
	p.same(res, &o)
	t.Logf("%s: %s, %d calls", o.Status, o.Reason, o.Calls.Made)
	if o.Calls.Made == 0 {
		t.Errorf("no model was called: %s", o.Members[0].Trouble)
	}
}

// same compares what the nodes did with a simulation that has the replies in their journals.
func (p *processes) same(res *call.Result, o *outcome.Outcome) {
	p.t.Helper()
	if len(res.Missing) > 0 {
		p.t.Fatal(res.Missing)
	}
	of := nodetest.PlayedRun{Plan: p.plan, Secrets: p.secrets, Question: res.Question, Instance: res.Instance}
	of.Replies = func(seat int) journal.Replies {
		run, err := journal.Load(filepath.Join(p.path(seat, "d"), "runs", string(res.Instance)+".jsonl"))
		if err != nil {
			p.t.Fatal(err)
		}
		return run.Replies
	}
	digests, records := nodetest.Simulate(p.t, of)
	for i, f := range res.Finals {
		if f.Digest != digests[i] {
			p.t.Errorf("seat %d has the journal %s, and in the simulator %s", i, f.Digest, digests[i])
		}
	}
	want := outcome.Judge(p.plan, plan.Instance{Question: res.Question,
		Check: p.signed.Committee().Verifier(res.Instance)}, records)
	want.Models, o.Models = nil, nil // times of calls differ
	a, _ := json.Marshal(o)
	b, _ := json.Marshal(want)
	if string(a) != string(b) {
		same := 0
		for same < min(len(a), len(b)) && a[same] == b[same] {
			same++
		}
		from := max(0, same-200)
		p.t.Errorf("the outcomes differ, after what is the same:\n%.600s\n%.600s", a[from:], b[from:])
	}
}
