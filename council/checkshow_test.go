package council_test

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/council"
	"synod.dev/synod/internal/llmtest"
	"synod.dev/synod/internal/nightly"
)

// cruxReply is what a model once replied to a question about a Python function.
type cruxReply struct {
	ID, Model, Gold, Answer, Reply, Question string
}

// cruxCast are the seats, with the prices of late 2024 in USD for a million tokens of prompts and replies. Those with
// lies are hijacked: they give the most common wrong answer of all recorded models, and stay with it.
var cruxCast = []struct {
	model   string
	in, out float64
	lies    bool
}{{"gpt-4o-mini-2024-07-18", .15, .6, false}, {"claude-3-haiku-20240307", .25, 1.25, true},
	{"gemini-1.5-flash", .075, .3, false}, {"deepseek-v2.5-0908", .14, .28, true},
	{"Qwen2.5-72B-Instruct", 1.2, 1.2, false}}

// tally is how the questions of a council ended.
type tally struct {
	right, wrong, none, calls int
	usd                       float64
}

func (t tally) String() string {
	n := float64(t.right + t.wrong + t.none)
	text := fmt.Sprintf("%.0f %% right, %.0f %% wrong, %.0f %% none, %.2f calls", 100*float64(t.right)/n,
		100*float64(t.wrong)/n, 100*float64(t.none)/n, float64(t.calls)/n)
	if t.usd > 0 {
		text += fmt.Sprintf(", %.2f USD for 1,000", 1000*t.usd/n)
	}
	return text
}

// TestChecksOnCrux plays recorded replies of five models, of which two are hijacked, to questions about Python
// functions, with and without a command that runs the function in the sandbox. Who is asked again says the same again.
func TestChecksOnCrux(t *testing.T) {
	needSandbox(t)
	replies := cruxReplies(t)
	dir := t.TempDir()
	script, err := os.ReadFile("testdata/crux/run.py")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "run.py"), script, 0o644), os.Chmod(dir, 0o755),
		os.Chmod(filepath.Dir(dir), 0o755)); err != nil {
		t.Fatal(err)
	}
	const runs = "\nchecks: [{name: runs, command: [/usr/bin/python3, /check/run.py], mount: %q, seconds: 20}]\n"
	check := fmt.Sprintf(runs, dir)
	for _, c := range []struct{ protocol, f, rule string }{
		{"{name: majority}", "f=2", "rule.name=majority"}, {"{name: majority}", "f=0", "rule.name=plurality"},
		{"{name: cascade, tiers: [[a0, a1], [a2, a3, a4]]}", "f=0", ""},
	} {
		var got []tally
		for _, arm := range []struct{ name, check, reread string }{
			{"without", "", "once"}, {"with", check, "once"}, {"with, never asked again", check, "never"},
		} {
			set := []string{c.f, "reread=" + arm.reread}
			if c.rule != "" {
				set = append(set, c.rule)
			}
			got = append(got, playCrux(t, replies, c.protocol, arm.check, set...))
			t.Logf("%s %s %s, %s: %s", c.protocol, c.f, c.rule, arm.name, got[len(got)-1])
		}
		for _, with := range got[1:] {
			if with.right < got[0].right || with.wrong > 0 {
				t.Errorf("%s: with the check %v, without %v", c.protocol, with, got[0])
			}
		}
	}
}

// playCrux asks a council all questions.
func playCrux(t *testing.T, all map[string]map[string]cruxReply, protocol, more string, set ...string) (sum tally) {
	s := llmtest.Start(t, func(c llmtest.Call) string { return sayCrux(all, c) })
	var names []string
	for _, m := range cruxCast {
		names = append(names, m.model)
	}
	c := convene(t, panelOf(s.URL, protocol, names...)+more, set...)
	for id, byModel := range all {
		any := byModel[cruxCast[0].model]
		o := decide(t, c, council.Ask{Question: synod.Question{ID: id, Text: any.Question, Form: synod.Text}})
		switch {
		case o.Decision == synod.None:
			sum.none++
		case literal(string(o.Decision)) == literal(any.Gold):
			sum.right++
		default:
			sum.wrong++
		}
	}
	for _, call := range s.Calls() {
		sum.calls++
		for _, m := range cruxCast {
			if m.model == call.Model { // about four bytes are a token
				read, wrote := len(call.User)+len(call.System)+len(call.Said), len(sayCrux(all, call))
				sum.usd += (float64(read)*m.in + float64(wrote)*m.out) / 4e6
			}
		}
	}
	return sum
}

// literal is a Python literal without what two spellings of it differ in most often, and what the form text drops.
func literal(s string) string {
	return strings.Trim(strings.NewReplacer(" ", "", `"`, "", "'", "", "\n", "").Replace(strings.ToLower(s)), "()[]{}.,")
}

// sayCrux is what the model of a call says.
func sayCrux(all map[string]map[string]cruxReply, c llmtest.Call) string {
	for _, byModel := range all {
		own := byModel[c.Model]
		if !strings.Contains(c.User, own.Question) && !strings.Contains(string(c.Body), jsonOf(own.Question)) {
			continue
		}
		for _, m := range cruxCast {
			if m.model == c.Model && m.lies {
				return fmt.Sprintf(`{"reasoning":"","answer":%s}`, jsonOf(lieOf(byModel)))
			}
		}
		return own.Reply
	}
	return "?"
}

func jsonOf(s string) string {
	b, _ := json.Marshal(s)
	return strings.Trim(string(b), "\n")
}

// lieOf is the most common wrong answer of all recorded models; of equals the first by its bytes.
func lieOf(byModel map[string]cruxReply) string {
	count, best := map[string]int{}, "None"
	for _, r := range byModel {
		if r.Answer != "" && literal(r.Answer) != literal(r.Gold) {
			count[r.Answer]++
		}
	}
	for a, n := range count {
		if n > count[best] || n == count[best] && a < best {
			best = a
		}
	}
	return best
}

// cruxReplies reads the recorded replies: by question, then by model.
func cruxReplies(t *testing.T) map[string]map[string]cruxReply {
	t.Helper()
	const folder = "../../shared/data/votes/"
	questions := map[string]string{}
	readLines(t, folder+"crux.jsonl.gz", func(r cruxReply) { questions[r.ID] = r.Question })
	all := map[string]map[string]cruxReply{}
	readLines(t, folder+"crux-replies.jsonl.gz", func(r cruxReply) {
		if all[r.ID] == nil {
			if len(all) == nightly.Size(5, 1000) {
				return
			}
			all[r.ID] = map[string]cruxReply{}
		}
		r.Question = questions[r.ID]
		all[r.ID][r.Model] = r
	})
	return all
}

func readLines(t *testing.T, path string, each func(cruxReply)) {
	t.Helper()
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		t.Skipf("NOT TESTED: there is no %s", path)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for d := json.NewDecoder(z); ; {
		var r cruxReply
		if err := d.Decode(&r); err == io.EOF {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		each(r)
	}
}

// TestChecksOnInvoices plays SIMULATED members that read invoices. Two of five are hijacked and agree on a lie: one
// that does not add up, or one that does. A condition removes the first and cannot tell the second.
func TestChecksOnInvoices(t *testing.T) {
	const seed, check = 7, "\nchecks: [{name: adds-up, cel: self.net + self.vat == self.gross}]\n"
	schema := json.RawMessage(`{"type":"object","required":["net","vat","gross"],"properties":{"net":{"type":"number"},` +
		`"vat":{"type":"number"},"gross":{"type":"number"}}}`)
	for _, lie := range []string{"careless", "careful"} {
		var got [2]tally
		for k, more := range []string{"", check} {
			var mu sync.Mutex
			s := llmtest.Start(t, func(c llmtest.Call) string {
				mu.Lock()
				defer mu.Unlock()
				got[k].calls++
				return sayInvoice(c, seed, lie)
			})
			c := convene(t, panelOf(s.URL, "{name: majority}", "r0", "liar", "r1", "liar", "r2")+more, "f=0",
				"rule.name=plurality", "compose=never")
			for i := range nightly.Size(40, 300) {
				o := decide(t, c, council.Ask{Question: synod.Question{Text: fmt.Sprintf("Read invoice %d.", i),
					Form: synod.JSON, Schema: schema}})
				switch net, gross := 100+i, 119+i; {
				case o.Decision == synod.None:
					got[k].none++
				case string(o.Decision) == fmt.Sprintf(`{"gross":%d,"net":%d,"vat":19}`, gross, net):
					got[k].right++
				default:
					got[k].wrong++
				}
			}
			t.Logf("SIMULATED, %s liars, %-7s %s", lie, []string{"without", "with"}[k], got[k])
		}
		if got[1].right < got[0].right || lie == "careless" && got[1].wrong > 0 {
			t.Errorf("%s: with the check %v, without %v", lie, got[1], got[0])
		}
	}
}

// sayInvoice reads an invoice as a member whose every number is wrong in one of ten cases, or as a liar. When it is
// asked again, it reads again.
func sayInvoice(c llmtest.Call, seed uint64, lie string) string {
	var i int
	at := strings.LastIndex(c.User, "Read invoice ")
	if at < 0 {
		at = strings.LastIndex(string(c.Body), "Read invoice ")
		fmt.Sscanf(string(c.Body[at:]), "Read invoice %d.", &i)
	} else {
		fmt.Sscanf(c.User[at:], "Read invoice %d.", &i)
	}
	net, vat, gross := 100+i, 19, 119+i
	if c.Model == "liar" {
		if gross = 9119 + i; lie == "careful" {
			net = gross - vat
		}
	} else {
		r := rand.New(rand.NewPCG(seed, uint64(i)<<8|uint64(c.Model[1]-'0')<<1|uint64(min(len(c.Said), 1))))
		for _, n := range []*int{&net, &vat, &gross} {
			if r.IntN(10) == 0 {
				*n += 1 + r.IntN(9)
			}
		}
	}
	return fmt.Sprintf(`{"reasoning":"","answer":{"net":%d,"vat":%d,"gross":%d}}`, net, vat, gross)
}
