package council_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"synod.dev/synod/core/journal"
	"synod.dev/synod/council"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/llmtest"
	"synod.dev/synod/llm"
)

// fickle answers the number in its model's name and, whenever it refines, changes its
// mind between 41 and 42.
func fickle(c llmtest.Call) string {
	if c.Scoring() {
		return `{"reasoning":"","score":0.5}`
	}
	mine := strings.TrimLeft(c.Model, "abcdefghijklmnopqrstuvwxyz")
	if strings.Contains(c.User, `Your answer so far: "42"`) {
		mine = "41"
	} else if strings.Contains(c.User, `Your answer so far: "41"`) {
		mine = "42"
	}
	return `{"reasoning":"","answer":"` + mine + `"}`
}

// tried is how a council ended on the question, and the requests that it made.
func tried(t *testing.T, text string, env llm.Env) outcome.Outcome {
	t.Helper()
	spec, err := plan.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	c, err := council.Convene(spec, env)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	o, err := c.Decide(context.Background(), council.Ask{Question: sum, Seed: 1,
		Journal: filepath.Join(t.TempDir(), "j.jsonl")})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

const game = `protocol: {name: game, rounds: 20}
models: {d: {provider: simulated, stubbornness: %v, sharpness: 2, noise: 0}}
seats: [{id: p, model: d, count: 6}]
f: 0
breakers: {no_progress: 3, oscillation: 3, quorum: true, equivocation: true}
`

// GR-1: no progress for k rounds. Players that never move trip it after three
// rounds; players that come together do not.
func TestBreakerNoProgress(t *testing.T) {
	o := tried(t, fmt.Sprintf(game, 1.0), llm.Env{})
	if o.Stopped != outcome.Tripped || o.Trip == nil || o.Trip.Breaker != outcome.NoProgress || o.Trip.Round != 3 ||
		o.Status != outcome.Undecided {
		t.Fatalf("stopped %s, %+v, %s", o.Stopped, o.Trip, o.Status)
	}
	if len(o.Votes) < 2 || !o.Resumable || !slices.Equal(o.Past, []string{"breakers.no_progress=0"}) {
		t.Errorf("candidates %v, continue %v with %q", o.Votes, o.Resumable, o.Past)
	}
	if o := tried(t, fmt.Sprintf(game, 0.2), llm.Env{}); o.Trip != nil || o.Stopped != "rounds" {
		t.Errorf("a healthy game: %s, %+v", o.Stopped, o.Trip)
	}
}

// A Byzantine player cannot disable a breaker, whatever it says or does not say: progress is
// judged over all but F seats. Players that come together trip nothing.
func TestBreakersTolerateAdversaries(t *testing.T) {
	const text = `protocol: {name: game, rounds: 20}
models: {d: {provider: simulated, stubbornness: %v, sharpness: 2, noise: 0}}
seats: [{id: p, model: d, count: 6}, {id: b, model: d, adversary: {name: %s}}]
f: %d
breakers: {%s: 3}
`
	for _, adversary := range []string{"oscillator", "silent", "saboteur", "mimic"} {
		o := tried(t, fmt.Sprintf(text, 1.0, adversary, 1, "no_progress"), llm.Env{})
		if o.Stopped != outcome.Tripped || o.Trip.Breaker != outcome.NoProgress || o.Trip.Round > 4 {
			t.Errorf("%s: stopped %s, %+v", adversary, o.Stopped, o.Trip)
		}
		if o := tried(t, fmt.Sprintf(text, 0.2, adversary, 1, "no_progress"), llm.Env{}); o.Trip != nil &&
			o.Trip.Round < 4 {
			t.Errorf("%s: a game with progress: %+v", adversary, o.Trip)
		}
	}
	if o := tried(t, fmt.Sprintf(text, 1.0, "oscillator", 0, "no_progress"), llm.Env{}); o.Trip != nil {
		t.Errorf("with F = 0 every seat counts: %+v", o.Trip)
	}
}

// An oscillation of all but F members trips the breaker beside a member that is never seen to
// return, and not if one of the others holds new answers too.
func TestBreakerOscillationTolerates(t *testing.T) {
	seats := []string{"s41", "s41", "s42", "s42", "s42"}
	var babbler atomic.Int64
	server := llmtest.Start(t, func(c llmtest.Call) string {
		if c.Model != "s77" || c.Scoring() {
			return fickle(c)
		}
		return fmt.Sprintf(`{"reasoning":"","answer":"%d"}`, 1000+babbler.Add(1))
	})
	for f, want := range map[int]bool{0: false, 1: true} {
		text := strings.Replace(seven(server.URL, append(seats, "s77")...), "f: 3", fmt.Sprintf("f: %d", f), 1) +
			"rule: {name: supermajority}\nbreakers: {oscillation: 2}\n"
		o := tried(t, text, llm.Env{})
		if got := o.Trip != nil && o.Trip.Breaker == outcome.Oscillation; got != want {
			t.Errorf("F = %d: stopped %s, %+v", f, o.Stopped, o.Trip)
		}
	}
}

// wander makes members that change their minds whenever they refine, and stay as far apart as
// they were: member i says 100·i, 100·i+1 and so on.
func wander(other func(c llmtest.Call) string) func(llmtest.Call) string {
	var mu sync.Mutex
	said := map[string]int{}
	return func(c llmtest.Call) string {
		switch {
		case c.Scoring():
			return `{"reasoning":"","score":0.5}`
		case !strings.HasPrefix(c.Model, "w"):
			return other(c)
		}
		mu.Lock()
		defer mu.Unlock()
		mine, _ := strconv.Atoi(c.Model[1:])
		said[c.Model]++
		return fmt.Sprintf(`{"reasoning":"","answer":"%d"}`, 100*mine+said[c.Model])
	}
}

// Members that move on and on trip the breaker for drift, whatever one seat beside them says:
// new numbers far away, always the same, the answers of others, or numbers that cross theirs.
// Without an allowance for one such seat the breaker waits for it.
func TestBreakerDrift(t *testing.T) {
	wanderers := []string{"w1", "w2", "w3", "w4", "w5"}
	for name, says := range map[string]func(n int) int{
		"far away": func(n int) int { return 100_000 * n }, "the same": func(int) int { return 7 },
		"an echo": func(n int) int { return 300 + n }, "across": func(n int) int { return 100 * (n % 5) },
		"inwards": func(n int) int { return 300 + 200/n },
	} {
		var n atomic.Int64
		server := llmtest.Start(t, wander(func(llmtest.Call) string {
			return fmt.Sprintf(`{"reasoning":"","answer":"%d"}`, says(int(n.Add(1))))
		}))
		text := strings.Replace(seven(server.URL, append(wanderers, "b")...), "f: 3", "f: 1", 1)
		text = strings.Replace(text, "rounds: 6", "rounds: 12", 1) +
			"breakers: {no_progress: 3, oscillation: 2, drift: 3}\n"
		o := tried(t, text, llm.Env{})
		if o.Trip == nil || o.Trip.Breaker != outcome.Drift || o.Trip.Round > 8 || o.Status != outcome.Undecided {
			t.Errorf("a seat that says %s: stopped %s, %+v", name, o.Stopped, o.Trip)
			continue
		}
		if !strings.Contains(o.Trip.Detail, "without coming closer together, F=1 of them left out") ||
			!slices.Equal(o.Past, []string{"breakers.drift=0"}) {
			t.Errorf("%s; %s", o.Trip.Detail, o.Past)
		}
	}
}

// Players that come together, however slowly, trip nothing, and a decision ends the watch.
func TestBreakerDriftLetsProgressBe(t *testing.T) {
	server := llmtest.Start(t, func(c llmtest.Call) string { // each refinement comes closer to 500
		if c.Scoring() {
			return `{"reasoning":"","score":0.5}`
		}
		mine, _ := strconv.Atoi(c.Model[1:])
		said := 1000 * mine
		if i := strings.Index(c.User, `Your answer so far: "`); i >= 0 {
			text, _, _ := strings.Cut(c.User[i+len(`Your answer so far: "`):], `"`)
			last, _ := strconv.Atoi(text)
			said = last + (500-last)/4
		}
		return fmt.Sprintf(`{"reasoning":"","answer":"%d"}`, said)
	})
	text := strings.Replace(seven(server.URL, "c0", "c1", "c2", "c3", "c4", "c5"), "f: 3", "f: 1", 1)
	if o := tried(t, text+"breakers: {drift: 2}\n", llm.Env{}); o.Trip != nil {
		t.Errorf("numbers that come closer: %+v", o.Trip)
	}
	o := tried(t, strings.NewReplacer("no_progress: 3, oscillation: 3", "drift: 3").Replace(fmt.Sprintf(game, 0.2)),
		llm.Env{})
	if o.Trip != nil {
		t.Errorf("a healthy game: %+v", o.Trip)
	}
}

// ask over the game: the players hold one number at the end, but no vote ended the game, so
// there is no decision. With votes there is.
func TestGameDecidesByVotes(t *testing.T) {
	for decision, want := range map[string]string{"continue": outcome.Undecided, "stop": outcome.Agreed} {
		server := llmtest.Start(t, func(c llmtest.Call) string {
			if strings.Contains(c.User, "Does the game end here?") {
				return fmt.Sprintf(`{"decision": %q}`, decision)
			}
			return `{"internal_strategy": "", "value": 7, "public_reasoning": "seven"}`
		})
		o := tried(t, fmt.Sprintf("protocol: {name: game, rounds: 2}\nf: 0\nmodels: {m: {provider: openai, url: %q, "+
			"model: m}}\nseats: [{id: p, model: m, count: 4}]\n", server.URL), llm.Env{})
		if o.Status != want || (want == outcome.Agreed) != (o.Answer != nil) {
			t.Errorf("votes to %s: %s, %s", decision, o.Status, o.Reason)
		}
		if want == outcome.Undecided && !strings.Contains(o.Reason, "no vote ended the game: 0 of 4 players") {
			t.Errorf("reason %q", o.Reason)
		}
	}
}

// Where a breaker stopped it a run goes on with what it has: nothing is asked twice.
func TestBreakerResumes(t *testing.T) {
	spec, err := plan.Parse([]byte(fmt.Sprintf(game, 1.0)))
	if err != nil {
		t.Fatal(err)
	}
	decide := func(ask council.Ask, spec plan.Spec) outcome.Outcome {
		c, err := council.Convene(spec, llm.Env{})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		ask.Question, ask.Seed = sum, 1
		o, err := c.Decide(context.Background(), ask)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	first := decide(council.Ask{Journal: filepath.Join(t.TempDir(), "a.jsonl")}, spec)
	run, err := journal.Load(first.Journal)
	if err != nil || !outcome.Unfinished(run) {
		t.Fatalf("%v, ended %v", err, run.End)
	}
	spec.Breakers = plan.Breakers{}
	whole := decide(council.Ask{}, spec)
	rest := decide(council.Ask{Resume: run, Journal: filepath.Join(t.TempDir(), "b.jsonl")}, spec)
	if rest.Stopped != whole.Stopped || rest.Rounds.Len() != whole.Rounds.Len() || rest.Calls.Made != whole.Calls.Made {
		t.Errorf("resumed %s, %d rounds, %d calls; unbroken %s, %d, %d", rest.Stopped, rest.Rounds.Len(),
			rest.Calls.Made, whole.Stopped, whole.Rounds.Len(), whole.Calls.Made)
	}
}

// GR-1: oscillation. Members that change their minds to and fro trip it; under a
// rule that is met they do not, for then all is well.
func TestBreakerOscillation(t *testing.T) {
	server := llmtest.Start(t, fickle)
	text := seven(server.URL, "s41", "s41", "s42", "s42", "s42") +
		"rule: {name: supermajority}\nbreakers: {oscillation: 2}\n"
	o := tried(t, text, llm.Env{})
	if o.Stopped != outcome.Tripped || o.Trip.Breaker != outcome.Oscillation || o.Trip.Round != 3 {
		t.Fatalf("stopped %s, %+v", o.Stopped, o.Trip)
	}
	if o := tried(t, strings.Replace(text, "supermajority", "plurality", 1), llm.Env{}); o.Trip != nil {
		t.Errorf("the rule is met in every round: %+v", o.Trip)
	}
}

// GR-1, GR-2: members out of reach are no dissent, but when too many are, nothing
// that the other members give can meet the rule.
func TestBreakerQuorum(t *testing.T) {
	server := llmtest.Start(t, stubborn)
	text := seven(server.URL, "s41", "s42", "s42", "s42", "s42", "s42", "s42") + "breakers: {quorum: true}\n"
	gone := func(n int) string {
		lines := strings.Split(text, "\n")
		for i, line := range lines {
			if k := strings.Index(line, "url: "); k >= 0 && n > 0 {
				lines[i], n = strings.Replace(line, server.URL, "http://127.0.0.1:9", 1), n-1
			}
		}
		return strings.ReplaceAll(strings.Join(lines, "\n"), "timeout: 2m", "timeout: 2m, attempts: 1")
	}
	o := tried(t, gone(4), llm.Env{})
	if o.Stopped != outcome.Tripped || o.Trip.Breaker != outcome.NoQuorum || o.Status != outcome.Degraded {
		t.Errorf("four of seven gone: %s, %+v, %s", o.Stopped, o.Trip, o.Status)
	}
	if o := tried(t, gone(3), llm.Env{}); o.Trip != nil || o.Status != outcome.Agreed {
		t.Errorf("three of seven gone: %+v, %s: %s", o.Trip, o.Status, o.Reason)
	}
}

// RU-3: money is reserved before a call and never exceeded.
func TestBudgetInMoney(t *testing.T) {
	server := llmtest.Start(t, stubborn)
	text := seven(server.URL, "s41", "s42", "s42") + "limits: {usd: 0.007}\n"
	prices := llm.Prices{{Server: "127.0.0.1:*", Model: "s*", Price: llm.Price{Prompt: 1, Completion: 5}}}
	o := tried(t, text, llm.Env{Prices: prices})
	if o.Stopped != outcome.OverBudget || o.Cost == nil || o.Cost.USD > 0.007 || o.Calls.Made == 0 {
		t.Errorf("stopped %s after %d calls, cost %+v", o.Stopped, o.Calls.Made, o.Cost)
	}
	if o := tried(t, strings.Replace(text, "0.007", "10", 1),
		llm.Env{Prices: prices}); o.Stopped == outcome.OverBudget {
		t.Errorf("ten dollars were not enough: %+v", o.Cost)
	}
	spec, err := plan.Parse([]byte(strings.ReplaceAll(text, "model: s42", "model: gpt-42"))) // others are free here
	if err != nil {
		t.Fatal(err)
	}
	if _, err := council.Convene(spec, llm.Env{}); err == nil || !strings.Contains(err.Error(), "gpt-42 at 127.0.0.1") {
		t.Errorf("a limit in money without prices: %v", err)
	}
}

// An escalation comes with the outcome and the command that goes on; a webhook that
// hangs holds nobody up longer than allowed, and one that is not there is said.
func TestEscalation(t *testing.T) {
	got := make(chan council.Escalation, 1)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var e council.Escalation
		if json.NewDecoder(r.Body).Decode(&e) == nil {
			got <- e
		}
	}))
	defer hook.Close()
	release := make(chan struct{})
	hang := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		<-release
	}))
	defer hang.Close()
	defer close(release)
	file := filepath.Join(t.TempDir(), "told.json")
	again := func(o *outcome.Outcome) string { return "go on with " + o.Journal }
	decide := func(escalate string) (outcome.Outcome, error) {
		spec, err := plan.Parse([]byte(strings.Replace(fmt.Sprintf(game, 1.0), "equivocation: true",
			"equivocation: true, escalate: "+escalate, 1)))
		if err != nil {
			t.Fatal(err)
		}
		c, err := council.Convene(spec, llm.Env{})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		return c.Decide(context.Background(), council.Ask{Question: sum, Seed: 1,
			Journal: filepath.Join(t.TempDir(), "j.jsonl"), Again: again})
	}
	o, err := decide(fmt.Sprintf("{webhook: %q, command: [tee, %q]}", hook.URL, file))
	if err != nil {
		t.Fatal(err)
	}
	e := <-got
	if e.Why != outcome.Tripped || e.Outcome.Trip.Breaker != outcome.NoProgress || e.Continue != again(&o) ||
		o.Journal == "" {
		t.Errorf("the webhook got %s, %+v, %q", e.Why, e.Outcome.Trip, e.Continue)
	}
	if b, err := os.ReadFile(file); err != nil || !json.Valid(b) {
		t.Errorf("the command got %q, %v", b, err)
	}
	if b, err := os.ReadFile(o.Journal); err != nil || strings.Contains(string(b), hook.URL) {
		t.Errorf("whom to tell is on record (%v)", err)
	}
	var untold *council.EscalationError
	start := time.Now()
	if o, err = decide(fmt.Sprintf("{webhook: %q, within: 50ms}", hang.URL)); !errors.As(err, &untold) ||
		o.Trip == nil {
		t.Errorf("a webhook that hangs: %v", err)
	}
	if took := time.Since(start); took > 10*time.Second { // it would hang until the test ends
		t.Errorf("it held the run up for %v", took)
	}
	if _, err = decide(`{command: [/nowhere/to/be/found]}`); !errors.As(err, &untold) {
		t.Errorf("a command that is not there: %v", err)
	}
}

func TestBadBreakers(t *testing.T) {
	for text, want := range map[string]string{
		"{no_progress: -1}":                           "between 0 and 1000 rounds",
		"{escalate: {webhook: nowhere}}":              "must be a URL",
		"{escalate: {webhook: 'file:///etc/passwd'}}": "must be a URL",
		"{no_progres: 1}":                             "no_progress",
		"{escalate: {command: ['']}}":                 "begin with a program",
	} {
		_, err := plan.Parse([]byte("breakers: " + text +
			"\nmodels: {d: {provider: simulated}}\nseats: [{id: p, model: d}]\n"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// suspicious is a note in which somebody is caught.
func TestBreakerEquivocation(t *testing.T) {
	names := []string{}
	o := tried(t, strings.NewReplacer("f: 0", "f: 1", "count: 6}]",
		"count: 6}, {id: b, model: d, adversary: {name: equivocator}}]").Replace(fmt.Sprintf(game, 0.5)), llm.Env{})
	for _, r := range o.Rounds.All() {
		for _, m := range r.Members {
			names = append(names, m.Suspects...)
		}
	}
	if o.Trip == nil || o.Trip.Breaker != outcome.Equivocation ||
		o.Trip.Detail != "[b] told different members different things" || !slices.Contains(names, "b") {
		t.Errorf("stopped %s, %+v; suspects %v", o.Stopped, o.Trip, names)
	}
	if o := tried(t, fmt.Sprintf(game, 0.2), llm.Env{}); o.Trip != nil {
		t.Errorf("nobody is Byzantine: %+v", o.Trip)
	}
}

// In DecentLLMs it is known at the end only who equivocated, and it is a breaker's
// business all the same; and so it is that evaluators are out of reach.
func TestBreakersOfAPanel(t *testing.T) {
	text := `protocol: {name: decentllms}
f: 1
models:
  d: {provider: simulated, ability: 0.9}
  gone: {provider: openai, url: "http://127.0.0.1:9/v1", model: x, attempts: 1}
seats:
  - {id: w, model: d, role: worker, count: 3}
  - {id: v, model: d, role: worker}
  - {id: e, model: d, role: evaluator, count: 4}
breakers: {no_progress: 1, oscillation: 1, quorum: true, equivocation: true}
`
	if o := tried(t, text, llm.Env{}); o.Trip != nil || o.Status != outcome.Agreed {
		t.Errorf("all are honest: %+v, %s", o.Trip, o.Status)
	}
	o := tried(t, strings.Replace(text, "{id: v, model: d,", "{id: v, model: d, adversary: {name: equivocator},", 1),
		llm.Env{})
	if o.Trip == nil || o.Trip.Breaker != outcome.Equivocation ||
		o.Trip.Detail != "[v] told different members different things" || o.Status != outcome.Undecided ||
		o.Answer != nil || len(o.Votes) == 0 {
		t.Errorf("a worker equivocates: %+v, %s, votes %v", o.Trip, o.Status, o.Votes)
	}
	if !slices.Equal(o.Past, []string{"breakers.equivocation=false"}) {
		t.Errorf("it goes on with %s", o.Past)
	}
	one := "{id: g, model: gone, role: evaluator}\nbreakers"
	if o := tried(t, strings.Replace(text, "breakers", "  - "+one, 1), llm.Env{}); o.Trip != nil ||
		o.Status != outcome.Agreed {
		t.Errorf("one evaluator of five is gone: %+v, %s: %s", o.Trip, o.Status, o.Reason)
	}
	if o := tried(t, strings.Replace(text, "role: evaluator, count: 4",
		"role: evaluator, count: 2}\n  - {id: g, model: gone, role: evaluator, count: 3", 1),
		llm.Env{}); o.Status != outcome.Degraded && o.Status != outcome.Undecided {
		t.Errorf("three evaluators of five are gone: %+v, %s: %s", o.Trip, o.Status, o.Reason)
	}
}

// BenchmarkBreakers is what all breakers together cost a call of a simulated
// member against the same run without any, one after the other.
func BenchmarkBreakers(b *testing.B) {
	all := "{no_progress: 1000, oscillation: 1000, quorum: true, equivocation: true}"
	var councils [2]*council.Council
	for i, breakers := range []string{"{}", all} {
		councils[i] = convene(b, strings.Replace(fmt.Sprintf(game, 0.9),
			"{no_progress: 3, oscillation: 3, quorum: true, equivocation: true}", breakers, 1))
	}
	var took [2]time.Duration
	calls := 0
	for b.Loop() {
		for i, c := range councils {
			start := time.Now()
			calls = decide(b, c, council.Ask{Seed: 1}).Calls.Made
			took[i] += time.Since(start)
		}
	}
	b.ReportMetric(float64((took[1]-took[0]).Nanoseconds())/float64(b.N*calls), "ns/call-more")
	b.ReportMetric(float64(took[1])/float64(took[0]), "ratio")
}
