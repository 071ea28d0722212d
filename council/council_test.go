package council_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/council"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/llmtest"
	"synod.dev/synod/llm"
)

func TestMain(m *testing.M) {
	llmtest.ServeFast()
	goleak.VerifyTestMain(m)
}

// sum is the question of most tests; its answer is 42.
var sum = synod.Question{Text: "What is 17 + 25?", Form: synod.Number}

// stubborn answers and refines with the number in its model's name (s42 answers 42),
// scores that 0.9 and others 0.2.
func stubborn(c llmtest.Call) string {
	mine := strings.TrimLeft(c.Model, "abcdefghijklmnopqrstuvwxyz")
	json := c.Format == "json_schema"
	switch {
	case c.Scoring():
		score := "0.2"
		if strings.Contains(c.User[strings.LastIndex(c.User, "roposed answer:"):], mine) {
			score = "0.9"
		}
		if json {
			return `{"reasoning":"","score":` + score + `}`
		}
		return score
	case json:
		return `{"reasoning":"","answer":"` + mine + `"}`
	}
	return "Answer: " + mine
}

// seven is a council file of seven seats at a stub server, which count as voices though models of one name are one.
func seven(url string, names ...string) string {
	var b strings.Builder
	b.WriteString("council: seven\nvoices: seats\n")
	b.WriteString("protocol: {name: sac, rounds: 6}\ngraph: {family: complete}\nf: 3\nmodels:\n")
	for i, name := range names {
		fmt.Fprintf(&b, "  m%d: {provider: openai, url: %q, model: %s, timeout: 2m}\n", i, url, name)
	}
	b.WriteString("seats:\n")
	for i := range names {
		fmt.Fprintf(&b, "  - {id: a%d, model: m%d}\n", i, i)
	}
	return b.String()
}

var fiveToTwo = []string{"s42", "s42", "s42", "s42", "s42", "s41", "s41"}

func convene(t testing.TB, text string, sets ...string) *council.Council {
	t.Helper()
	set, err := plan.Set("test", sets)
	if err != nil {
		t.Fatal(err)
	}
	spec, _, err := plan.Merge(plan.Layer{Name: "file", Text: []byte(text)}, set)
	if err != nil {
		t.Fatal(err)
	}
	c, err := council.Convene(spec, llm.Env{Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func decide(t testing.TB, c *council.Council, ask council.Ask) outcome.Outcome {
	t.Helper()
	if ask.Question.Text == "" {
		ask.Question = sum
	}
	o, err := c.Decide(context.Background(), ask)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// Issue: with exact: paper, n=7, T=6, complete: exactly n + T(2|E| + 2n) = 343
// calls arrive at the server.
func TestExactPaperCalls(t *testing.T) {
	s := llmtest.Start(t, stubborn)
	o := decide(t, convene(t, seven(s.URL, fiveToTwo...), "exact=paper"), council.Ask{})
	if s.Count() != 343 || o.Calls.Made != 343 || o.Calls.Planned != 343 || o.Calls.Reused != 0 {
		t.Errorf("%d calls arrived, outcome says %+v; want 343", s.Count(), o.Calls)
	}
	if o.Status != outcome.Agreed || *o.Answer != "42" || o.Stopped != "rounds" || o.Rounds.Len() != 7 {
		t.Errorf("%s %v, stopped %s, %d rounds", o.Status, o.Answer, o.Stopped, o.Rounds.Len())
	}
	for _, c := range s.Calls() {
		if c.Format != "" || c.Seed == nil || *c.Seed != 1234 || *c.Temperature != 0.1 || *c.TopP != 0.9 ||
			c.MaxTokens != 1000 {
			t.Fatalf("SAC-9 asks for the reference's sampling and free text: %+v", c)
		}
	}
}

// With the paper's adversary, which calls no model, 294 arrive.
func TestExactPaperCallsWithAdversary(t *testing.T) {
	s := llmtest.Start(t, stubborn)
	text := strings.Replace(seven(s.URL, fiveToTwo...), "{id: a6, model: m6}",
		"{id: a6, model: m6, adversary: {name: replay}}", 1)
	o := decide(t, convene(t, text, "exact=paper"), council.Ask{})
	if s.Count() != 294 || *o.Answer != "42" {
		t.Errorf("%d calls arrived, want 294; %s", s.Count(), o.Reason)
	}
}

// By default what is known is not asked again and a run that has settled stops:
// at most 85 calls with seven stubborn members split 5 to 2, and the same
// decision.
func TestReuseAndEarlyStop(t *testing.T) {
	s := llmtest.Start(t, stubborn)
	o := decide(t, convene(t, seven(s.URL, fiveToTwo...)), council.Ask{})
	if s.Count() > 85 || o.Calls.Made != s.Count() {
		t.Errorf("%d calls arrived, outcome says %d; at most 85 are needed", s.Count(), o.Calls.Made)
	}
	if o.Status != outcome.Agreed || *o.Answer != "42" || o.Stopped != outcome.Early {
		t.Errorf("%s %v, stopped %s", o.Status, o.Answer, o.Stopped)
	}
	if o.Calls.Planned != 343 || o.Calls.Reused == 0 {
		t.Errorf("the saved calls must be reported: %+v", o.Calls)
	}
	if v := o.Votes; len(v) != 2 || len(v[0].Seats) != 5 || v[0].Independent != 5 || v[1].Answer != "41" {
		t.Errorf("votes: %+v", v)
	}
}

// Calls of one tick run at once: all seven first answers are under way together.
func TestCallsOfATickRunConcurrently(t *testing.T) {
	const stage = 49 // seven members score seven answers each
	var waiting atomic.Int32
	all := make(chan struct{}) // closed when the whole stage is under way
	s := llmtest.Start(t, func(c llmtest.Call) string {
		if c.Scoring() {
			if waiting.Add(1) == stage {
				close(all)
			}
			select {
			case <-all:
			case <-time.After(30 * time.Second): // calls that wait for one another never get here
			}
		}
		return stubborn(c)
	})
	decide(t, convene(t, seven(s.URL, fiveToTwo...), "protocol.rounds=1", "exact=paper", "limits.deadline=5m"),
		council.Ask{})
	if s.MaxConcurrent() < stage {
		t.Errorf("at most %d calls were under way at once; a scoring stage has %d", s.MaxConcurrent(), stage)
	}
}

// 50 runs of one seed give one digest, however replies arrive.
func TestOneDigest(t *testing.T) {
	s := llmtest.Start(t, func(c llmtest.Call) string {
		time.Sleep(time.Duration(c.N%5) * time.Millisecond)
		return stubborn(c)
	})
	c := convene(t, seven(s.URL, fiveToTwo...))
	dir, first := t.TempDir(), ""
	for i := range 50 {
		o := decide(t, c, council.Ask{Seed: 7, Journal: filepath.Join(dir, fmt.Sprint(i))})
		if first == "" {
			first = o.Digest
		}
		if o.Digest != first || o.Digest == "" {
			t.Fatalf("run %d has digest %s, the first %s", i, o.Digest, first)
		}
	}
}

func TestReplay(t *testing.T) {
	s := llmtest.Start(t, stubborn)
	path := filepath.Join(t.TempDir(), "j")
	o := decide(t, convene(t, seven(s.URL, fiveToTwo...)), council.Ask{Seed: 7, Journal: path})
	calls := s.Count()
	run, err := journal.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if digest, err := council.Replay(run); err != nil || digest != o.Digest {
		t.Errorf("replay gives %s, %v; the run's digest is %s", digest, err, o.Digest)
	}
	if s.Count() != calls {
		t.Error("a replay must ask no model")
	}
}

// A run that was cut off goes on from its journal: it ends as the uninterrupted
// run does, and nothing that had been answered is asked again.
func TestResume(t *testing.T) {
	s := llmtest.Start(t, stubborn)
	c := convene(t, seven(s.URL, fiveToTwo...), "protocol.rounds=2", "exact=paper")
	dir := t.TempDir()
	whole := decide(t, c, council.Ask{Seed: 7, Journal: filepath.Join(dir, "whole")})
	text, _ := os.ReadFile(filepath.Join(dir, "whole"))
	before := s.Count()
	lines := strings.SplitAfter(string(text), "\n")
	for _, cut := range []int{2, 3, 9, len(lines) / 3, len(lines) / 2, len(lines) - 2} {
		torn := strings.Join(lines[:cut], "") + `{"k":"event","t":3,`
		run, err := journal.Read(strings.NewReader(torn))
		if err != nil {
			t.Fatal(err)
		}
		o := decide(t, c, council.Ask{Question: run.Head.Question, Seed: run.Head.Seed, Resume: run,
			Journal: filepath.Join(dir, fmt.Sprint(cut))})
		if o.Digest != whole.Digest {
			t.Errorf("cut after line %d: digest %s, uninterrupted %s", cut, o.Digest, whole.Digest)
		}
		asked := s.Count() - before
		before = s.Count()
		if want := whole.Calls.Made - len(run.Replies); asked != want {
			t.Errorf("cut after line %d: %d calls were asked again, want %d", cut, asked, want)
		}
	}
}

// The journal is written ahead: a reply is on file before its member acts on it.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	s := llmtest.Start(t, func(c llmtest.Call) string {
		if c.N == 20 {
			cancel()
		}
		return stubborn(c)
	})
	c := convene(t, seven(s.URL, fiveToTwo...), "exact=paper")
	path := filepath.Join(t.TempDir(), "j")
	o, err := c.Decide(ctx, council.Ask{Question: sum, Seed: 7, Journal: path})
	if err != nil || o.Stopped != outcome.Interrupted || o.Answer != nil {
		t.Fatalf("%v: stopped %s, answer %v", err, o.Stopped, o.Answer)
	}
	run, err := journal.Load(path)
	if err != nil || !outcome.Unfinished(run) || len(run.Replies) < 7 {
		t.Fatalf("%v: %d replies on file, end %v", err, len(run.Replies), run.End)
	}
	again := decide(t, c, council.Ask{Question: run.Head.Question, Seed: run.Head.Seed, Resume: run})
	if again.Status != outcome.Agreed {
		t.Errorf("resumed: %s", again.Reason)
	}
}

// One or two bad members of seven: the others still agree, the bad ones report the reason,
// and no failure is an answer or a score (SAC-10).
func TestBadMembers(t *testing.T) {
	for _, c := range []struct {
		name   string
		bad    llmtest.Behaviour
		status synod.Status

		timeout string // of one call
	}{
		{"401", llmtest.Unauthorized(), synod.Auth, "30s"},
		{"429", llmtest.RateLimit("3600"), synod.RateLimited, "30s"},
		{"500", llmtest.Status(500), synod.Unavailable, "30s"},
		{"truncated stream", llmtest.CutStream(), synod.Unavailable, "30s"},
		{"HTML", llmtest.HTML(), synod.Unreadable, "30s"},
		{"empty choices", llmtest.EmptyChoices(), synod.Unavailable, "30s"},
		{"50 MB", llmtest.Huge(50 << 20), synod.Unreadable, "30s"},
		{"hangs", llmtest.Hang(time.Minute), synod.Timeout, "300ms"},
		{"refuses", llmtest.Refusal(), synod.Refused, "30s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := llmtest.Start(t, stubborn, llmtest.For("bad42", c.bad))
			text := strings.ReplaceAll(seven(s.URL, "s42", "s42", "s42", "s42", "s42", "bad42", "bad42"),
				"model: bad42, timeout: 2m", "model: bad42, timeout: "+c.timeout)
			// A member that is slow to fail must not be cut off before it fails.
			o := decide(t, convene(t, text, "protocol.rounds=2", "patience={spare: 0}"), council.Ask{})
			if o.Status != outcome.Agreed || *o.Answer != "42" {
				t.Fatalf("%s: %s", o.Status, o.Reason)
			}
			for _, m := range o.Members[5:] {
				if m.Calls.Of(c.status) == 0 || m.Final != nil || m.Trouble == "" {
					t.Errorf("%s ended %v, final %v, because %q; want %s", m.ID, m.Calls, m.Final, m.Trouble, c.status)
				}
			}
		})
	}
}

// All members bad: degraded, in bounded time, each with its reason.
func TestAllMembersBad(t *testing.T) {
	s := llmtest.Start(t, stubborn, llmtest.With(llmtest.Unauthorized()))
	o := decide(t, convene(t, seven(s.URL, fiveToTwo...)), council.Ask{})
	if o.Status != outcome.Degraded || o.Answer != nil {
		t.Errorf("%s %v", o.Status, o.Answer)
	}
	for _, m := range o.Members {
		if m.Trouble == "" || m.Calls.Of(synod.Auth) == 0 {
			t.Errorf("%s: %+v", m.ID, m)
		}
	}
	if s.Count() > 14 {
		t.Errorf("%d requests were sent with keys that had been refused", s.Count())
	}
}

func TestUnreachable(t *testing.T) {
	o := decide(t, convene(t, seven("http://127.0.0.1:1", fiveToTwo...)), council.Ask{})
	if o.Status != outcome.Degraded || o.Members[0].Calls.Of(synod.Unavailable) == 0 {
		t.Errorf("%s: %+v", o.Status, o.Members[0])
	}
}

func TestDeadline(t *testing.T) {
	s := llmtest.Start(t, stubborn, llmtest.With(llmtest.Hang(time.Minute)))
	start := time.Now()
	o := decide(t, convene(t, seven(s.URL, fiveToTwo...), "limits.deadline=300ms"), council.Ask{})
	if o.Stopped != outcome.PastTime || o.Status != outcome.Undecided || o.Answer != nil {
		t.Errorf("stopped %s, %s", o.Stopped, o.Status)
	}
	if time.Since(start) > 20*time.Second {
		t.Error("a deadline of 300 ms took", time.Since(start))
	}
}

// A budget is not exceeded by more than the calls in flight. A run that hits it has the
// answer that met the rule before.
func TestBudget(t *testing.T) {
	s := llmtest.Start(t, stubborn)
	o := decide(t, convene(t, seven(s.URL, fiveToTwo...), "limits.calls=20", "exact=paper"), council.Ask{})
	if s.Count() > 20 {
		t.Errorf("%d calls arrived; the budget is 20", s.Count())
	}
	if o.Stopped != outcome.OverBudget || o.Decision != "42" || o.Status != outcome.Agreed {
		t.Errorf("stopped %s, %s %v", o.Stopped, o.Status, o.Answer)
	}
	if len(o.Votes) != 2 || len(o.Votes[0].Seats) != 5 {
		t.Errorf("what had been answered must show: %+v", o.Votes)
	}
}

// [RU-3] A limit is one on the question: who goes on with a run has no more to spend
// than was left, and the settings with which it goes on raise the limit.
func TestBudgetOfAllParts(t *testing.T) {
	s := llmtest.Start(t, stubborn)
	path := filepath.Join(t.TempDir(), "the journal.jsonl")
	o := decide(t, convene(t, seven(s.URL, fiveToTwo...), "limits.calls=20", "exact=paper"), council.Ask{Journal: path})
	if !o.Resumable || !slices.Equal(o.Past, []string{"limits.calls=42"}) {
		t.Errorf("it goes on (%v) with %s", o.Resumable, o.Past)
	}
	spent := s.Count()
	for _, limit := range []int{20, 40} {
		run, err := journal.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		o = decide(t, convene(t, seven(s.URL, fiveToTwo...), fmt.Sprintf("limits.calls=%d", limit), "exact=paper"),
			council.Ask{Resume: run})
		if s.Count() > limit || limit == 20 && s.Count() > spent || limit == 40 && s.Count() <= spent ||
			o.Stopped != outcome.OverBudget {
			t.Errorf("stopped by %s; with a limit of %d calls %d have arrived, %d of them before", o.Stopped, limit,
				s.Count(), spent)
		}
	}
}

// Simulated members are labelled as such.
func TestSimulatedAreLabelled(t *testing.T) {
	c := convene(t, `
models:
  dice: {provider: simulated, ability: 0.9}
seats:
  - {id: a, model: dice, count: 6}
  - {id: m, model: dice, adversary: {name: silent}}
f: 1
`)
	o := decide(t, c, council.Ask{Seed: 3})
	for _, m := range o.Members {
		if m.Kind != llm.Simulated {
			t.Errorf("%s is of kind %q", m.ID, m.Kind)
		}
	}
	if o.Members[6].Adversary == nil || *o.Members[6].Adversary != "silent" || o.Members[6].Final != nil {
		t.Errorf("the adversary must be labelled: %+v", o.Members[6])
	}
	if b, err := json.Marshal(o); err != nil || !strings.Contains(string(b), `"kind":"simulated"`) {
		t.Errorf("%v", err)
	}
}

// When the disk fills up, the run stops, no further call is made, and the run can be
// resumed from what is on disk.
func TestDiskFillsUp(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=12k", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("no small disk can be had here: %v: %s", err, out)
	}
	defer exec.Command("umount", dir).Run()
	s := llmtest.Start(t, stubborn)
	c, path := convene(t, seven(s.URL, fiveToTwo...), "exact=paper"), filepath.Join(dir, "j")
	o, err := c.Decide(context.Background(), council.Ask{Question: sum, Seed: 7, Journal: path})
	var lost *council.JournalError
	if !errors.As(err, &lost) || !lost.Cut || !strings.Contains(err.Error(), "no space left") {
		t.Fatalf("the full disk must be said: %v", err)
	}
	if o.Status != outcome.Undecided || o.Answer != nil || o.Stopped != outcome.Unwritten ||
		!o.Resumable || o.Journal != path {
		t.Errorf("%s, stopped %s, can go on: %v, %s", o.Status, o.Stopped, o.Resumable, o.Journal)
	}
	if out, err := exec.Command("mount", "-o", "remount,size=16m", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	run, err := journal.Load(path)
	if err != nil || len(run.Replies) == 0 {
		t.Fatalf("%v: %d replies are left", err, len(run.Replies))
	}
	if more := s.Count() - len(run.Replies); more > 42 { // every seat scores six answers at once
		t.Errorf("%d calls were made whose replies are not on disk; at most 42 can have been on their way", more)
	}
	before := s.Count()
	again := decide(t, c, council.Ask{Question: sum, Seed: 7, Resume: run, Journal: filepath.Join(dir, "again")})
	if again.Status != outcome.Agreed || s.Count()-before != again.Calls.Made-len(run.Replies) {
		t.Errorf("resumed: %s; %d calls of %d with %d replies", again.Status, s.Count()-before, again.Calls.Made,
			len(run.Replies))
	}
}

// After a failed write no call is made: not by another seat, and not as a retry.
func TestNoCallsAfterFailedWrite(t *testing.T) {
	segment, err := journal.OpenSegment(filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	if err := segment.Close(); err != nil { // all writes fail
		t.Fatal(err)
	}
	over := make(chan struct{})
	s := llmtest.Start(t, func(c llmtest.Call) string {
		if c.N > 1 {
			<-over
		}
		return stubborn(c)
	})
	defer close(over)
	o, err := convene(t, seven(s.URL, fiveToTwo...)).Decide(context.Background(),
		council.Ask{Question: sum, Segment: segment, Journal: "q"})
	var lost *council.JournalError
	if !errors.As(err, &lost) || !lost.Cut || o.Stopped != outcome.Unwritten {
		t.Errorf("stopped %s: %v", o.Stopped, err)
	}
	if s.Count() > 7 {
		t.Errorf("%d calls were made", s.Count())
	}
}

// A run is not resumed from the journal of another run, nor from one whose effects do not
// follow from its replies. No call is made.
func TestResumeChecksTheJournal(t *testing.T) {
	s := llmtest.Start(t, stubborn)
	c := convene(t, seven(s.URL, fiveToTwo...), "exact=paper")
	path := filepath.Join(t.TempDir(), "j")
	decide(t, c, council.Ask{Seed: 7, Journal: path})
	calls := s.Count()
	load := func() *journal.Run {
		run, err := journal.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		return run
	}
	question := load().Head.Question
	other := question
	other.Text += " "
	forged := load()
	for k, r := range forged.Replies {
		r.Text = strings.ReplaceAll(r.Text, "42", "43")
		forged.Replies[k] = r
	}
	for name, ask := range map[string]council.Ask{
		"belongs to another run": {Question: question, Seed: 8, Resume: load()},
		"is another":             {Question: other, Seed: 7, Resume: load()},
		"is not the one that":    {Question: question, Seed: 7, Resume: forged},
	} {
		_, err := c.Decide(context.Background(), ask)
		var bad *council.ResumeError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if s.Count() != calls {
		t.Errorf("%d calls were made", s.Count()-calls)
	}
}

// A journal that cannot be begun stops the run before anything is paid for.
func TestDiskFull(t *testing.T) {
	s := llmtest.Start(t, stubborn)
	c := convene(t, seven(s.URL, fiveToTwo...))
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("this system has no /dev/full")
	}
	path := filepath.Join(t.TempDir(), "full")
	if err := os.Symlink("/dev/full", path); err != nil {
		t.Fatal(err)
	}
	_, err := c.Decide(context.Background(), council.Ask{Question: sum, Journal: path})
	if err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("a journal that cannot be begun must stop the run: %v", err)
	}
	if s.Count() > 0 {
		t.Error("no call may be paid for before the journal is known to work")
	}
}

// A first reply that cannot be read is asked for again, not taken from memory: the
// member has nothing else to fall back on.
func TestGarbledFirstReplyIsAskedAgain(t *testing.T) {
	var asked atomic.Int32
	s := llmtest.Start(t, func(c llmtest.Call) string {
		if c.Model == "late42" && !c.Scoring() && asked.Add(1) == 1 {
			return "I would rather not say"
		}
		return stubborn(c)
	})
	o := decide(t, convene(t, seven(s.URL, "s42", "s42", "late42"), "protocol.rounds=2", "f=1", "reread=never"),
		council.Ask{})
	if m := o.Members[2]; m.First != nil || m.Final == nil || *m.Final != "42" || asked.Load() < 2 {
		t.Errorf("asked %d times; first %v, final %v; %+v; stopped %s after %d rounds", asked.Load(), m.First, m.Final,
			m.Calls, o.Stopped, o.Rounds.Len())
	}
}

// A mistake is put down to the layer that came last to the section, not to the file
// that began it.
func TestMistakesHaveTheirLayer(t *testing.T) {
	file := plan.Layer{Name: "file", Text: []byte("protocol: {name: sac, rounds: 2}\nmodels: {d: {provider: " +
		"simulated}}\nseats: [{id: a, model: d, count: 3}]\nf: 0\n")}
	for set, from := range map[string]string{"protocol.ronds=3": "--set", "protocol.rounds=-1": "--set",
		"rule.name=majoriti": "--set", "council=x": ""} {
		l, err := plan.Set("--set", []string{set})
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = plan.Merge(file, l)
		if (err != nil) != (from != "") || err != nil && !strings.HasPrefix(err.Error(), from+": ") {
			t.Errorf("%s: %v", set, err)
		}
	}
}
