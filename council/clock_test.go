package council_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"synod.dev/synod/core/journal"
	"synod.dev/synod/council"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/llmtest"
)

// leaders is a council with a rotating leader, of which the first b of seven are silent.
const leaders = `
protocol: {name: rotating-leader, propose: best}
f: 2
pace: {think: 1s, within: 2s}
models: {m: {provider: simulated, ability: 1}}
`

func led(b string) string {
	if b == "0" {
		return leaders + "seats: [{id: e, model: m, count: 7}]\n"
	}
	return leaders + "seats: [{id: s, model: m, count: " + b + ", adversary: {name: silent}}, " +
		"{id: e, model: m, count: 5}]\n"
}

// By the clock every silent leader costs its time-out, and the same run in virtual time costs none.
func TestClockRunner(t *testing.T) {
	play := func(text, path string) (outcome.Outcome, time.Duration) {
		c := convene(t, text)
		defer c.Close()
		begun := time.Now()
		return decide(t, c, council.Ask{Question: sum, Seed: 1, Journal: path}), time.Since(begun)
	}
	for _, b := range []string{"0", "2"} {
		virtual, path := outcome.Outcome{}, filepath.Join(t.TempDir(), "j")
		var free time.Duration
		synctest.Test(t, func(t *testing.T) { virtual, free = play(led(b), "") })
		if free != 0 {
			t.Errorf("%s silent: virtual time took %v", b, free)
		}
		synctest.Test(t, func(t *testing.T) {
			o, took := play(led(b)+"runner: {name: clock}\n", path)
			if o.Status != virtual.Status || *o.Answer != *virtual.Answer || o.Ticks != virtual.Ticks {
				t.Errorf("%s silent: by the clock %s after %d ticks, else %s after %d", b, o.Status, o.Ticks,
					virtual.Status, virtual.Ticks)
			}
			if took != time.Duration(o.Ticks)*time.Millisecond || b == "2" && took < 2*time.Second {
				t.Errorf("%s silent: it took %v, and the outcome says %d ms", b, took, o.Ticks)
			}
		})
		run, err := journal.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := council.Replay(run); err != nil {
			t.Errorf("%s silent: %v", b, err)
		}
		p, err := plan.Of(run)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range outcome.RecordsOf(p, run) {
			last := len(r.Opinions) - 1
			if last >= 0 && r.Elapsed != max(1, int(r.Opinions[last].Tick)) {
				t.Errorf("%s silent: seat %d has %d ms of its last opinion, in tick %d", b, r.Seat, r.Elapsed,
					r.Opinions[last].Tick)
			}
		}
	}
}

// A model that takes longer than pace.think is one that has not answered, and its call ends.
func TestClockEndsSlowCalls(t *testing.T) {
	s := llmtest.Start(t, llmtest.Fixed("42", 0.9), llmtest.Latency(time.Minute))
	c := convene(t, "runner: {name: clock}\npace: {think: 50ms, within: 50ms}\nprotocol: {name: majority}\n"+
		"models: {m: {provider: openai, url: "+s.URL+", model: m}}\nseats: [{id: a, model: m, count: 3}]\n")
	defer c.Close()
	begun := time.Now()
	o, err := c.Decide(context.Background(), council.Ask{Question: sum})
	if took := time.Since(begun); err != nil || took > 20*time.Second || o.Status != outcome.Degraded {
		t.Fatalf("%s after %v: %v", o.Status, took, err)
	}
	if want := "took longer than pace.think"; !strings.Contains(o.Members[0].Trouble, want) {
		t.Errorf("trouble is %q, want %q", o.Members[0].Trouble, want)
	}
}

// A run by the clock is not resumed, because nobody knows how long it took.
func TestClockIsNotResumed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	c := convene(t, led("0")+"runner: {name: clock}\n")
	defer c.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	o, err := c.Decide(ctx, council.Ask{Question: sum, Journal: path})
	if err != nil || o.Stopped != outcome.Interrupted {
		t.Fatalf("%s: %v", o.Stopped, err)
	}
	run, err := journal.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Decide(context.Background(), council.Ask{Question: sum, Journal: path, Resume: run})
	if err == nil || !strings.Contains(err.Error(), "by the clock") {
		t.Errorf("resumed: %v", err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}
