package council_test

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/council"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/internal/llmtest"
)

var rewrite = flag.Bool("rewrite", false, "write the measured table anew")

// thinking is how long the model of a member takes that works.
var thinking = flag.Duration("think", 30*time.Millisecond, "with TestSlowMembers, the time of a call that works")

// slowCouncil is a council in which the last seats have trouble.
type slowCouncil struct {
	protocol string
	n, f     int
	roles    []string
	form     synod.Form
	serial   bool // it asks other members in place of those that do not answer, one after another
}

var slowCouncils = []slowCouncil{
	{protocol: "sac", n: 7, f: 3},
	{protocol: "sac", n: 3},
	{protocol: "majority", n: 7, f: 3},
	{protocol: "majority", n: 3},
	{protocol: "cascade", n: 7, f: 3, serial: true},
	{protocol: "weighted-majority", n: 7, f: 3},
	{protocol: "debate", n: 7, f: 3},
	{protocol: "debate", n: 3},
	{protocol: "cp-wbft", n: 7, f: 2},
	{protocol: "w-msr", n: 7, f: 3},
	{protocol: "fixed-leader", n: 7, f: 3},
	{protocol: "rotating-leader", n: 7, f: 2},
	{protocol: "decentllms", n: 7, f: 1,
		roles: []string{"worker", "worker", "worker", "evaluator", "evaluator", "evaluator", "evaluator"}},
	{protocol: "panel", n: 7, f: 2, form: synod.Prose},
	{protocol: "panel, lenient: true", n: 3, form: synod.Prose},
	{protocol: "game", n: 7, f: 2},
}

// troubles is what may be wrong with a member.
var troubles = []string{"hangs", "no server", "slow", "bad key"}

// A member that hangs, is slow, has no server or refuses its key costs at most half of the time again and a second,
// in every protocol and without any setting, and the answer is the same. So do F of them. A cascade promises less: it
// asks other members in their place, one after another. With -rewrite the table of docs/operate/performance.md is
// renewed.
func TestSlowMembers(t *testing.T) {
	var table strings.Builder
	table.WriteString("| protocol, members, F | without | ")
	for _, bad := range []string{"one ", "F "} {
		for _, what := range troubles {
			fmt.Fprintf(&table, "%s%s | ", bad, what)
		}
	}
	table.WriteString("the answers |\n|---|---|" + strings.Repeat("---|", 2*len(troubles)+1) + "\n")
	for _, c := range slowCouncils {
		name := fmt.Sprintf("%s, %d, %d", c.protocol, c.n, c.f)
		t.Run(name, func(t *testing.T) {
			base, want := c.ask(t, 0, "")
			fmt.Fprintf(&table, "| %s | %.2f s |", name, base.Seconds())
			for _, bad := range []int{1, c.f} {
				for k, what := range troubles {
					if bad == 0 || k > 1 && !*rewrite { // hanging and dead ones are enough between two measurements
						table.WriteString(" |")
						continue
					}
					fmt.Fprintf(&table, " %.1f |", c.compare(t, bad, what, base, &want))
				}
			}
			table.WriteString(" equal |\n")
		})
	}
	if *rewrite && !t.Failed() {
		renewTable(t, "../docs/operate/performance.md", "slow members", table.String())
	}
}

// compare asks with some members in trouble. It returns the time divided by that without them.
func (c slowCouncil) compare(t *testing.T, bad int, what string, base time.Duration, want *outcome.Outcome) float64 {
	t.Helper()
	most := base + base/2 + time.Second
	if c.serial {
		most += time.Duration(bad) * (base + base/2)
	}
	var took time.Duration
	for range 3 { // the machine may be busy
		var o outcome.Outcome
		if took, o = c.ask(t, bad, what); o.Decision != want.Decision || o.Status != want.Status {
			t.Fatalf("%d %s: %s %s", bad, what, o.Status, o.Reason)
		}
		if late := len(o.Late) > 0; late != (what == "hangs" || what == "slow") && !c.serial {
			t.Errorf("%d %s: late are %v", bad, what, o.Late)
		}
		if took <= most {
			return took.Seconds() / base.Seconds()
		}
	}
	t.Errorf("%d %s: it took %v, and %v without; at most %v are promised", bad, what, took, base, most)
	return 0
}

// renewTable replaces the table between two marks of a page.
func renewTable(t *testing.T, path, name, table string) {
	t.Helper()
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- "+name+" -->\n", "<!-- end of "+name+" -->"
	before, rest, found := strings.Cut(string(page), begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no marks %q and %q", path, begin, end)
	}
	if err := os.WriteFile(path, []byte(before+begin+table+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// ask asks a council of which the last seats have trouble.
func (c slowCouncil) ask(t *testing.T, bad int, what string, sets ...string) (time.Duration, outcome.Outcome) {
	t.Helper()
	s := llmtest.Start(t, obliging, llmtest.Latency(*thinking), llmtest.For("hangs42", llmtest.Hang(10*time.Minute)),
		llmtest.For("bad-key42", llmtest.Unauthorized()), llmtest.For("slow42", slow(40**thinking)))
	closed := closedPort(t)
	var models, seats strings.Builder
	for i := range c.n {
		url, model, role := s.URL, fmt.Sprintf("%c42", 'a'+i), ""
		switch {
		case i < c.n-bad:
		case what == "no server":
			url = closed
		default:
			model = strings.ReplaceAll(what, " ", "-") + "42"
		}
		if c.roles != nil {
			role = ", role: " + c.roles[i]
		}
		fmt.Fprintf(&models, "  m%d: {provider: openai, url: %q, model: %s}\n", i, url, model)
		fmt.Fprintf(&seats, "  - {id: s%d, model: m%d%s}\n", i, i, role)
	}
	text := fmt.Sprintf("council: slow\nprotocol: {name: %s}\nf: %d\nmodels:\n%sseats:\n%s", c.protocol, c.f,
		models.String(), seats.String())
	convened := convene(t, text, sets...)
	start := time.Now()
	o := decide(t, convened, council.Ask{Question: synod.Question{Text: "What is 17 + 25?",
		Form: cmp.Or(c.form, synod.Number)}, Seed: 5})
	return time.Since(start), o
}

// closedPort returns the address of a server that does not run.
func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return "http://" + l.Addr().String() + "/v1"
}

// obliging replies to every prompt of every protocol: in the shape of its schema, with the number in the name of the
// model as the answer, and high scores.
func obliging(c llmtest.Call) string {
	mine := strings.TrimLeft(c.Model, "abcdefghijklmnopqrstuvwxyz-")
	var schema struct {
		Properties map[string]struct {
			Type string `json:"type"`
			Enum []any  `json:"enum"`
		} `json:"properties"`
	}
	if json.Unmarshal(c.Schema, &schema) != nil || len(schema.Properties) == 0 {
		return "Answer: " + mine
	}
	reply := map[string]any{}
	for name, p := range schema.Properties {
		switch {
		case len(p.Enum) > 0:
			reply[name] = p.Enum[0]
		case name == "answer" && p.Type == "string":
			reply[name] = mine
		case name == "score" || name == "confidence":
			reply[name] = 0.9
		case p.Type == "integer" || p.Type == "number":
			reply[name] = 18
		case p.Type == "array":
			reply[name] = []any{}
		case p.Type == "boolean":
			reply[name] = true
		default:
			reply[name] = ""
		}
	}
	b, _ := json.Marshal(reply)
	return string(b)
}

// The control of TestSlowMembers: without patience one member that hangs costs all the time that there is. So it does
// with F of 0 and no answer that the others decide, in a bench, and in a run as in the paper.
func TestPatienceIsWhatHelps(t *testing.T) {
	seven, three := slowCouncil{protocol: "sac", n: 7, f: 3}, slowCouncil{protocol: "sac", n: 3}
	for _, c := range []struct {
		council slowCouncil
		sets    []string
		waits   bool
	}{
		{seven, nil, false}, {seven, []string{"patience.spare=0"}, true}, {seven, []string{"exact=paper"}, true},
		{three, nil, false}, {three, []string{"patience.spare=0"}, true}, {three, []string{"rule.support=3"}, true},
	} {
		_, o := c.council.ask(t, 1, "hangs", append(c.sets, "limits.deadline=3s")...)
		if waits := o.Stopped == outcome.PastTime; waits != c.waits {
			t.Errorf("%s of %d with %v: stopped %s; %s", c.council.protocol, c.council.n, c.sets, o.Stopped, o.Reason)
		}
	}
}

// A seat that is late is no more than a seat whose call fails, whichever of its calls are late and whenever: the
// honest members note the same opinions and the council decides the same in both runs. What the late model replies
// afterwards counts nowhere. So nobody gains by being late what it would not gain by silence, and silence of F seats is
// what the protocols allow.
func TestLateIsNoMoreThanSilent(t *testing.T) {
	kinds := map[string]func(c llmtest.Call, n int) bool{
		"always":      func(llmtest.Call, int) bool { return true },
		"its answer":  func(c llmtest.Call, n int) bool { return n == 1 },
		"its scores":  func(c llmtest.Call, _ int) bool { return c.Scoring() },
		"every other": func(_ llmtest.Call, n int) bool { return n%2 == 0 },
	}
	for _, protocol := range []string{"sac", "debate", "weighted-majority", "cp-wbft", "majority", "w-msr"} {
		for kind, is := range kinds {
			var all []string
			for _, trouble := range []llmtest.Behaviour{slow(5 * time.Second), llmtest.Status(400)} {
				var n atomic.Int64
				s := llmtest.Start(t, obliging, llmtest.Latency(10*time.Millisecond), llmtest.For("bad41",
					func(x *llmtest.Exchange) {
						if is(x.Call, int(n.Add(1))) { // one seat, and its calls of one batch are alike
							trouble(x)
							return
						}
						x.OK()
					}))
				text := strings.Replace(sevenWith(s.URL), "{name: sac}", "{name: "+protocol+"}", 1)
				o := decide(t, convene(t, text), council.Ask{Seed: 3})
				all = append(all, honestOpinions(o))
			}
			if all[0] != all[1] {
				t.Errorf("%s, %s: late\n%s\nand failing\n%s", protocol, kind, all[0], all[1])
			}
		}
	}
}

// sevenWith is a council of seven in which the last member is bad.
func sevenWith(url string) string {
	var models, seats strings.Builder
	for i, name := range []string{"a42", "b42", "c42", "d42", "e41", "f43", "bad41"} {
		fmt.Fprintf(&models, "  m%d: {provider: openai, url: %q, model: %s}\n", i, url, name)
		fmt.Fprintf(&seats, "  - {id: s%d, model: m%d}\n", i, i)
	}
	return "protocol: {name: sac}\nf: 2\nmodels:\n" + models.String() + "seats:\n" + seats.String()
}

// honestOpinions is what members but the last noted, and what was decided.
func honestOpinions(o outcome.Outcome) string {
	var b strings.Builder
	fmt.Fprintln(&b, o.Status, o.Decision)
	for _, m := range o.Members[:6] {
		fmt.Fprintln(&b, m.ID, *m.First, *m.Final)
	}
	return b.String()
}

// The progress says who is awaited.
func TestProgressNamesWhoIsAwaited(t *testing.T) {
	s := llmtest.Start(t, stubborn, llmtest.For("slow42", slow(time.Second)))
	var seen [][]string
	decide(t, convene(t, seven(s.URL, "s42", "s42", "slow42"), "f=0", "patience.spare=0"), council.Ask{
		Progress: func(p council.Progress) { seen = append(seen, p.Awaited) }})
	if !slices.ContainsFunc(seen, func(ids []string) bool { return slices.Equal(ids, []string{"a2"}) }) {
		t.Errorf("nobody was told that a2 is awaited: %v", seen)
	}
	if last := seen[len(seen)-1]; len(last) > 0 {
		t.Errorf("at the end %v are awaited", last)
	}
}
