package council_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/council"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/llmtest"
	"synod.dev/synod/llm"
	"synod.dev/synod/protocol/decentllms"
	"synod.dev/synod/protocol/grade"
)

const jury = `
protocol: {name: decentllms}
f: %d
%s
models:
  good: {provider: simulated, ability: 1, noise: 0.2}
seats:
  - {id: w, model: good, count: 3, role: worker}
  - {id: e, model: good, count: %d, role: evaluator}
`

// [I-DL-3] The user accepts on f+1 identical signed replies, by default and no
// sooner: whichever evaluators' replies are forged, unsigned, or signed by another
// or in another run, the answer stands as long as f+1 good ones are left.
func TestIDL3UserAccepts(t *testing.T) {
	for _, size := range [][2]int{{0, 2}, {1, 3}, {1, 4}, {2, 5}, {2, 6}} {
		f, n := size[0], size[1]
		spec, err := plan.Parse(fmt.Appendf(nil, jury, f, "", n))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "j.jsonl")
		o := decide(t, convene(t, fmt.Sprintf(jury, f, "", n)), council.Ask{Question: sum, Seed: 7, Journal: path})
		if o.Status != outcome.Agreed || *o.Answer != "42" || o.Rule.Name != plan.ByProtocol ||
			!strings.Contains(o.Reason, fmt.Sprintf("f+1 = %d identical", f+1)) {
			t.Fatalf("f = %d of %d: %s, %v, %+v", f, n, o.Status, o.Reason, o.Rule)
		}
		run, err := journal.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		p, err := plan.New(spec)
		if err != nil {
			t.Fatal(err)
		}
		accept := func(q *synod.Question, seed uint64, last []synod.Opinion) outcome.Outcome {
			records := make([]outcome.Record, len(last))
			for i := range last {
				records[i] = outcome.Record{Seat: synod.NodeID(i), Opinions: []outcome.Noted{{Opinion: &last[i]}},
					Stopped: "rounds"}
			}
			return outcome.Judge(p, plan.Instance{Question: *q, Seed: seed}, records)
		}
		last := make([]synod.Opinion, 3+n)
		for _, noted := range run.Opinions() {
			last[noted.Node] = noted.Opinion
		}
		for spoilt := range 1 << n {
			for way := range 4 {
				end, good := spoil(last, spoilt, way), n
				for i := range n {
					good -= spoilt >> i & 1
				}
				c := accept(&run.Head.Question, 7, end)
				if (c.Decision == "42") != (good > f) || c.Decision != "42" && c.Decision != synod.None ||
					(c.Status == outcome.Degraded) != (good <= f) {
					t.Errorf("f = %d of %d, %b spoilt in way %d: %s %s", f, n, spoilt, way, c.Status, c.Reason)
				}
			}
		}
		if c := accept(&run.Head.Question, 8, last); c.Decision != synod.None || c.Status != outcome.Degraded {
			t.Errorf("replies of one run are accepted in another: %s %s", c.Status, c.Reason)
		}
	}
}

// spoil takes the signature from the replies of some evaluators in one of four ways.
func spoil(last []synod.Opinion, which, way int) []synod.Opinion {
	end := slices.Clone(last)
	for i := range end[3:] {
		if which>>i&1 == 0 {
			continue
		}
		o := &end[3+i]
		p := *decentllms.RecordOf(o)
		switch o.Record = &p; way {
		case 0: // another answer under the same signature
			o.Answer = "41"
		case 1: // no signature
			p.Signature = nil
		case 2: // no record
			o.Record = nil
		default: // another's signature
			p.Signature = decentllms.RecordOf(&last[3+(i+1)%(len(last)-3)]).Signature
		}
	}
	return end
}

// [DE-1] An answer's independent support is of workers, though they have no vote.
func TestPanelSupport(t *testing.T) {
	for k := range 4 {
		o := decide(t, convene(t, fmt.Sprintf(jury, 1, fmt.Sprintf("rule: {support: %d}", k), 4)),
			council.Ask{Question: sum, Seed: 7})
		if o.Votes[0].Independent != 3 || len(o.Votes[0].Seats) != 4 || o.Status != outcome.Agreed ||
			o.Rule.Name != plan.ByProtocol {
			t.Errorf("support %d: %s, %+v", k, o.Reason, o.Votes)
		}
	}
	_, err := plan.Parse(fmt.Appendf(nil, jury, 1, "rule: {support: 4}", 4))
	if err == nil || !strings.Contains(err.Error(), "that answer independently, 3") {
		t.Errorf("support of more workers than there are: %v", err)
	}
	o := decide(t, convene(t, fmt.Sprintf(jury, 1, "rule: {name: supermajority}", 4)),
		council.Ask{Question: sum, Seed: 7})
	if o.Status != outcome.Agreed || o.Rule.Name != plan.Supermajority ||
		!strings.Contains(o.Reason, "3 needed (supermajority)") {
		t.Errorf("an explicit rule: %s", o.Reason)
	}
}

// [DL-7] Whoever has the journal can check a decision: prompt, answers, marks and
// real signatures. What was changed afterwards is found.
func TestLedger(t *testing.T) {
	stub := llmtest.Start(t, func(c llmtest.Call) string {
		if strings.Contains(string(c.Body), grade.Criteria()[0]) {
			return `{"factual_contradiction": 20, "factual_fabrication": 19, "instruction_inconsistency": 18, "context_inconsistency": 17, "logical_inconsistency": 16}`
		}
		return `{"reasoning": "as it is", "answer": "42"}`
	})
	text := strings.Replace(fmt.Sprintf(jury, 1, "", 3), "{provider: simulated, ability: 1, noise: 0.2}",
		fmt.Sprintf("{provider: openai, url: %q, model: m}", stub.URL), 1)
	path := filepath.Join(t.TempDir(), "j.jsonl")
	o := decide(t, convene(t, text), council.Ask{Question: sum, Seed: 7, Journal: path})
	run, err := journal.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := outcome.Verify(run, run.Opinions()); v.Records != 3 || err != nil || o.Status != outcome.Agreed {
		t.Fatalf("%d records hold: %v; %s", v.Records, err, o.Reason)
	}
	if p := o.Presented.Value.(*decentllms.Panel); p.Evaluators[0].Scores["w1"] != (grade.Grades{20, 19, 18, 17, 16}) ||
		*p.Answers[0].Total < 89.9 {
		t.Errorf("panel %+v", p)
	}
	for what, change := range map[string]func(o *synod.Opinion, r *decentllms.Record){
		"the reply":             func(o *synod.Opinion, _ *decentllms.Record) { o.Answer = "41" },
		"an answer":             func(_ *synod.Opinion, r *decentllms.Record) { r.Answers[1].Answer = "41" },
		"a mark":                func(_ *synod.Opinion, r *decentllms.Record) { r.Grades[2].Grades[0][4]++ },
		"a total":               func(_ *synod.Opinion, r *decentllms.Record) { *r.Answers[0].Total++ },
		"what a worker signed":  func(_ *synod.Opinion, r *decentllms.Record) { r.Answers[1].Value[9] ^= 1 },
		"what an evaluator did": func(_ *synod.Opinion, r *decentllms.Record) { r.Grades[0].Value[20] ^= 1 },
		"a worker's signature":  func(_ *synod.Opinion, r *decentllms.Record) { r.Answers[1].Signature[63] ^= 1 },
		"whose signature it is": func(_ *synod.Opinion,
			r *decentllms.Record) {
			r.Answers[1].Signature = r.Answers[0].Signature
		},
		"who is ⊥":               func(_ *synod.Opinion, r *decentllms.Record) { r.Grades[1].Bottom = "silent" },
		"the reply's signature":  func(_ *synod.Opinion, r *decentllms.Record) { r.Signature = nil },
		"that there is no reply": func(_ *synod.Opinion, r *decentllms.Record) { r.Undecided = "tired" },
		"the salt":               func(_ *synod.Opinion, r *decentllms.Record) { r.Salt[0] ^= 1 },
		"a commitment":           func(_ *synod.Opinion, r *decentllms.Record) { r.Grades[1].Committed[0] ^= 1 },
		"who committed":          func(_ *synod.Opinion, r *decentllms.Record) { r.Grades[1].CommitSignature = nil },
	} {
		again, err := journal.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		noted := again.Opinions()
		i := slices.IndexFunc(noted, func(n journal.Noted) bool { return n.Record != nil })
		r := decentllms.RecordOf(&noted[i].Opinion)
		change(&noted[i].Opinion, r)
		noted[i].Record = r
		if v, err := outcome.Verify(again, noted); err == nil || v.Records != 0 {
			t.Errorf("%s was changed, and %d records hold", what, v.Records)
		}
	}
}

// GR-2: where the workers, or more evaluators than f, were never reached, it is not
// the council that came to no decision.
func TestPanelOutOfReach(t *testing.T) {
	const text = `protocol: {name: decentllms}
f: 1
models:
  d: {provider: simulated, ability: 1}
  gone: {provider: openai, url: "http://127.0.0.1:9/v1", model: x, attempts: 1}
seats:
  - {id: w, model: %s, role: worker, count: 2}
  - {id: v, model: %s, role: worker}
  - {id: e, model: %s, role: evaluator, count: 2}
  - {id: g, model: %s, role: evaluator, count: 1}
  - {id: h, model: d, role: evaluator, count: 2}
`
	for models, want := range map[[4]string]string{
		{"gone", "gone", "d", "d"}: "no member that answers could be reached: w1, w2, v",
		{"d", "d", "gone", "d"}:    "e1, e2 could not be reached, and f is 1",
		{"gone", "d", "d", "gone"}: "",
		{"d", "d", "d", "d"}:       "",
	} {
		o := tried(t, fmt.Sprintf(text, models[0], models[1], models[2], models[3]), llm.Env{})
		switch {
		case want == "" && o.Status != outcome.Agreed, want != "" &&
			(o.Status != outcome.Degraded || !strings.HasPrefix(o.Reason, want+"; ")):
			t.Errorf("%v: %s: %s", models, o.Status, o.Reason)
		}
	}
}
