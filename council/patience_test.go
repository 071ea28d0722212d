package council_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/council"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/llmtest"
)

// With patience the slowest members are cut off, count as late and use up F; the
// others decide as they do without them. The journal replays, and Judge makes the same
// outcome of it.
func TestPatience(t *testing.T) {
	s := llmtest.Start(t, stubborn, llmtest.For("slow42", llmtest.Hang(time.Minute)),
		llmtest.For("s42", slow(20*time.Millisecond)))
	text := seven(s.URL, "s42", "s42", "s42", "s42", "s42", "slow42", "slow42")
	path := filepath.Join(t.TempDir(), "j")
	start := time.Now()
	o := decide(t, convene(t, text, "protocol.rounds=1", "patience={spare: 2, after: 50x}"),
		council.Ask{Seed: 7, Journal: path})
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("it took %v", took)
	}
	if o.Status != outcome.Agreed || *o.Answer != "42" || !strings.HasSuffix(fmt.Sprint(o.Late), "a5 a6]") ||
		o.Members[5].Final != nil || o.Members[5].Calls.Of(synod.Timeout) == 0 {
		t.Errorf("%s %s, late %v, %+v", o.Status, o.Reason, o.Late, o.Members[5])
	}
	if !strings.Contains(o.Bound.Note, "(a5, a6) used up 2 of F=3, so it holds with at most 1 Byzantine") ||
		o.Bound.Guarantee != "4.3" {
		t.Errorf("%+v", o.Bound)
	}
	sameFromJournal(t, o, path)
}

// sameFromJournal checks that a journal replays, and that Judge makes the outcome of it.
func sameFromJournal(t *testing.T, o outcome.Outcome, path string) {
	t.Helper()
	run, err := journal.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if digest, err := council.Replay(run); err != nil || digest != o.Digest {
		t.Errorf("replay gives %s, %v; the run's digest is %s", digest, err, o.Digest)
	}
	p, err := plan.Of(run)
	if err != nil {
		t.Fatal(err)
	}
	judged := outcome.Judge(p, plan.Instance{Question: run.Head.Question, Seed: o.Seed},
		outcome.RecordsOf(p, run))
	if fmt.Sprint(judged.Late, judged.Bound, judged.Votes) != fmt.Sprint(o.Late, o.Bound, o.Votes) {
		t.Errorf("the journal is judged as late %v, %+v; the outcome has %v, %+v", judged.Late, judged.Bound, o.Late,
			o.Bound)
	}
}

// A run does not play on for a member that is late in every round, and such a member
// gains nothing by it: the decision and the others' answers are those of a run that
// plays all rounds. If the decision depends on the late member's vote, the run plays on.
func TestPatienceEndsEarly(t *testing.T) {
	late := func(is func(llmtest.Call) bool) llmtest.Option {
		return llmtest.With(func(x *llmtest.Exchange) {
			if strings.HasPrefix(x.Call.Model, "slow") && is(x.Call) {
				llmtest.Hang(time.Minute)(x)
				return
			}
			slow(30 * time.Millisecond)(x) // so that 40 times the median is long, also for a busy machine
		})
	}
	scoring := llmtest.Call.Scoring
	everything := func(llmtest.Call) bool { return true }
	for _, c := range []struct {
		name    string
		models  []string
		late    func(llmtest.Call) bool
		stopped string
	}{
		{"late scores", []string{"s42", "s42", "s42", "s42", "s42", "s41", "slow41"}, scoring, outcome.Early},
		{"no reply at all", []string{"s42", "s42", "s42", "s42", "s41", "s41", "slow41"}, everything, outcome.Early},
		{"decisive vote", []string{"s42", "s42", "s42", "s41", "s41", "s41", "slow42"}, scoring, "rounds"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := llmtest.Start(t, stubborn, late(c.late))
			path, sets := filepath.Join(t.TempDir(), "j"),
				[]string{"protocol.rounds=4", "patience={spare: 3, after: 40x}"}
			early := decide(t, convene(t, seven(s.URL, c.models...), sets...), council.Ask{Seed: 7, Journal: path})
			// Random loss, even one that never happens, keeps a run from ending early.
			whole := decide(t, convene(t, seven(s.URL, c.models...), append(sets, "faults={loss: 1e-300}")...),
				council.Ask{Seed: 7})
			if early.Stopped != c.stopped || whole.Stopped != "rounds" || fmt.Sprint(early.Late) != "[a6]" {
				t.Errorf("stopped: %s and %s; late %v", early.Stopped, whole.Stopped, early.Late)
			}
			if c.stopped == outcome.Early && early.Rounds.Len() != 2 {
				t.Errorf("it ended after round %d", early.Rounds.Len()-1)
			}
			if early.Status != outcome.Agreed || whole.Status != early.Status || *early.Answer != *whole.Answer {
				t.Errorf("%s: %s; with all rounds: %s", early.Status, early.Reason, whole.Reason)
			}
			for i := range early.Members[:6] {
				if *early.Members[i].Final != *whole.Members[i].Final {
					t.Errorf("a%d ends on %s, and with all rounds on %s", i, *early.Members[i].Final,
						*whole.Members[i].Final)
				}
			}
			sameFromJournal(t, early, path)
		})
	}
}

// No more members become faulty in a round than are spared: with one spare and two slow
// members the council waits for one of them.
func TestPatienceIsBounded(t *testing.T) {
	s := llmtest.Start(t, stubborn, llmtest.For("slow42", slow(700*time.Millisecond)))
	o := decide(t, convene(t, seven(s.URL, "s42", "s42", "s42", "s42", "s42", "slow42", "slow42"), "protocol.rounds=1",
		"patience={spare: 1, after: 1x}"), council.Ask{})
	if strings.Contains(o.Bound.Note, "used up 2") || o.Bound.Guarantee == plan.None || o.Status != outcome.Agreed {
		t.Errorf("late %v: %s; %+v", o.Late, o.Reason, o.Bound)
	}
	if n := o.Members[5].Calls.Of(synod.Timeout) + o.Members[6].Calls.Of(synod.Timeout); n > 0 && len(o.Late) == 0 {
		t.Errorf("%d calls were cut off and no seat is late", n)
	}
}

// With tiers a strong model may take far longer than the cheap ones before it: with the default patience it is waited
// for, because the council cannot decide without it. The control, one stage for all, leaves it out.
func TestPatienceOfTiers(t *testing.T) {
	s := llmtest.Start(t, stubborn, llmtest.For("slow42", slow(1500*time.Millisecond)))
	file := seven(s.URL, "s41", "s42", "s43", "slow42")
	tiers := decide(t, convene(t, file, "protocol={name: cascade, tiers: [[a0, a1, a2], [a3]]}", "f=1",
		"rule={name: protocol}"), council.Ask{})
	if tiers.Decision != "42" || len(tiers.Late) != 0 {
		t.Errorf("tiers: %s %q, late %v: %s", tiers.Status, tiers.Decision, tiers.Late, tiers.Reason)
	}
	once := decide(t, convene(t, file, "protocol={name: majority}", "f=1", "rule={name: plurality}"), council.Ask{})
	if fmt.Sprint(once.Late) != "[a3]" {
		t.Errorf("one stage: %s %q, late %v", once.Status, once.Decision, once.Late)
	}
}

// slow answers well, after some time.
func slow(d time.Duration) llmtest.Behaviour {
	return func(x *llmtest.Exchange) {
		if llmtest.Hang(d)(x); x.R.Context().Err() == nil {
			x.OK()
		}
	}
}

// tail is a lognormal latency with the given median and 99th percentile.
func tail(r *rand.Rand, median, p99 time.Duration) time.Duration {
	sigma := math.Log(float64(p99)/float64(median)) / 2.326
	return time.Duration(float64(median) * math.Exp(sigma*r.NormFloat64()))
}

// BenchmarkLatencyTail is the wall time of a SAC question against a server with a
// heavy latency tail (lognormal, median 100 ms, 99th percentile 2 s), divided by that
// against one with a flat latency of 100 ms, and the calls of a question; medians of 30
// questions. The aim with both is at most 2.0.
func BenchmarkLatencyTail(b *testing.B) {
	const questions, median = 30, 100 * time.Millisecond
	lognormal := func(r *rand.Rand) time.Duration { return tail(r, median, 2*time.Second) }
	for _, rounds := range []string{"protocol.rounds=6", "protocol.rounds=1"} {
		for _, mode := range []struct {
			name string
			sets []string
		}{
			{"neither", nil}, {"hedge", []string{"hedge=p95"}},
			{"patience", []string{"patience={spare: 3, after: 2x}"}},
			{"both", []string{"hedge=p95", "patience={spare: 3, after: 2x}"}},
		} {
			b.Run(rounds+"/"+mode.name, func(b *testing.B) {
				flat, _ := wallTime(b, func(*rand.Rand) time.Duration { return median }, 5, rounds)
				for b.Loop() {
					took, calls := wallTime(b, lognormal, questions, append(mode.sets, rounds)...)
					b.ReportMetric(took.Seconds()/flat.Seconds(), "of-flat")
					b.ReportMetric(calls, "calls")
				}
			})
		}
	}
}

// wallTime returns the median wall time of some questions, and the median number of
// calls. Every answer must be the same.
func wallTime(b *testing.B, latency func(*rand.Rand) time.Duration, questions int, sets ...string) (took time.Duration,
	calls float64) {
	b.Helper()
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(1, 2))
	s := llmtest.Start(b, stubborn, llmtest.Quiet(), llmtest.With(func(x *llmtest.Exchange) {
		mu.Lock()
		d := latency(random)
		mu.Unlock()
		slow(d)(x)
	}))
	c := convene(b, tailCouncil(s.URL), sets...)
	var times []time.Duration
	var counts []int
	for i := range questions + 5 {
		start := time.Now()
		question := synod.Question{ID: fmt.Sprint(i), Text: "What is 17 + 25?", Form: synod.Number}
		o, err := c.Decide(context.Background(), council.Ask{Question: question, Seed: uint64(i)})
		if err != nil || o.Status != outcome.Agreed || *o.Answer != "42" {
			b.Fatalf("%v: %s", err, o.Reason)
		}
		if i >= 5 { // hedging needs to have seen some latencies
			times, counts = append(times, time.Since(start)), append(counts, o.Calls.Made)
		}
	}
	slices.Sort(times)
	slices.Sort(counts)
	return times[len(times)/2], float64(counts[len(counts)/2])
}

// tailCouncil is seven seats of one model.
func tailCouncil(url string) string {
	return fmt.Sprintf(`
protocol: {name: sac}
f: 3
models: {m: {provider: openai, url: %q, model: s42, timeout: 30s, attempts: 1}}
seats: [{id: a, model: m, count: 7}]
limits: {calls: 0, tokens: 0, deadline: 5m}
`, url)
}
