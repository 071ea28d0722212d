package llm

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/llm/engine"
	"synod.dev/synod/llm/models"
)

// engineChild runs the engine in a process of the test binary.
func engineChild(args []string) int {
	opts, err := engine.ParseArgs(args)
	if err == nil {
		err = engine.Serve(context.Background(), opts, os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// box opens two embedded models that differ in temperature only.
func box(t *testing.T) (cool, warm *embedded) {
	t.Helper()
	if testing.Short() {
		t.Skip("runs the model in the box")
	}
	if _, err := (models.Store{Dir: models.DefaultDir()}).Resolve(models.Default); err != nil {
		t.Skip("NEEDS THE MODEL: synod models pull")
	}
	open := func(temperature float64) *embedded {
		o, err := openEmbedded(Opening{Decode: func(into any) error {
			s := into.(*embeddedConfig)
			s.Model, s.Temperature = models.Default, temperature
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = o.Model.(*embedded).Close() })
		return o.Model.(*embedded)
	}
	return open(0), open(0.6)
}

// Members of one file share one process, which is started again after it was
// killed, as often as it answers in between.
func TestSharedEngine(t *testing.T) {
	cool, warm := box(t)
	if cool.host != warm.host {
		t.Fatal("two engines for one model file")
	}
	r := Request{Templates: boxTemplates(t), Prompt: &synod.Prompt{Template: "box/answer", Purpose: synod.Answering,
		Question: capital, Seed: 1}}
	for start := range 3 {
		for _, m := range []*embedded{cool, warm} {
			if reply, err := retry(retryConfig{})(m).Complete(t.Context(), r); err != nil || reply.Answer != "Paris" {
				t.Fatalf("start %d: %+v, %v", start, reply, err)
			}
		}
		c := cool.host.(*sharedEngine).now.(*engine.Client)
		child, err := os.FindProcess(c.Pid())
		if err != nil || child.Kill() != nil {
			t.Fatal("the engine could not be killed")
		}
		if start == 0 { // a call that is caught by it fails as one that may be made again
			if _, err := c.Generate(t.Context(), engine.Request{Prompt: "x"}); !AsFailure(engineFailure(t.Context(),
				err)).Retryable {
				t.Errorf("a call to a killed engine: %v", err)
			}
		}
		<-c.Done()
	}
}

// mortal is a process that dies after a number of calls, -1: never.
type mortal struct {
	lives int
	done  chan struct{}
}

func (m *mortal) Info() engine.Info     { return engine.Info{} }
func (m *mortal) Done() <-chan struct{} { return m.done }
func (m *mortal) Close() error          { return nil }

func (m *mortal) Generate(context.Context, engine.Request) (engine.Result, error) {
	if m.lives == 0 {
		close(m.done)
		return engine.Result{}, engine.ErrEngineDied
	}
	m.lives--
	return engine.Result{Text: "{}"}, nil
}

func (m *mortal) Weigh(
	context.Context, string, []string, *engine.Capture,
) ([]engine.LogProb, []*engine.States, engine.Usage, error) {
	return nil, nil, engine.Usage{}, engine.ErrEngineDied
}

// fakeEngine returns an engine whose processes each answer a number of calls.
func fakeEngine(t *testing.T, lives int, takes time.Duration) (m *embedded, starts *int) {
	starts = new(int)
	e := share(engine.Config{ModelPath: t.Name()})
	e.start = func(ctx context.Context, _ engine.Config) (engineProcess, error) {
		*starts++
		if !sleep(ctx, takes) {
			return nil, ctx.Err()
		}
		return &mortal{lives, make(chan struct{})}, nil
	}
	c := embeddedDefaults()
	c.Answers = written
	return &embedded{cfg: c.Speech, timeout: c.Timeout, host: e}, starts
}

func wordsOf(t *testing.T) Request {
	return Request{Templates: boxTemplates(t), Prompt: &synod.Prompt{Template: "box/plain", Purpose: synod.Answering,
		Question: capital, Exact: true}}
}

// A process that answers before it crashes is started again every time, ever
// more slowly while it keeps crashing.
func TestEngineRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, starts := fakeEngine(t, 1, time.Second)
		stack := standard(m, testLayers{breaker: breakerConfig{failures: 1000}})
		defer closeModel(t, stack)
		begun := time.Now()
		for i := range 40 {
			if reply, err := stack.Complete(t.Context(), wordsOf(t)); err != nil {
				t.Fatalf("call %d: %+v, %v", i, reply, err)
			}
		}
		if *starts != 40 {
			t.Errorf("%d starts", *starts)
		}
		if took := time.Since(begun); took < 16*time.Minute || took > 25*time.Minute {
			t.Errorf("40 starts took %v; most wait for %v", took, maxBackOff)
		}
		m.host.(*sharedEngine).now.(*mortal).lives = -1
		time.Sleep(stableAfter)
		close(m.host.(*sharedEngine).now.(*mortal).done)
		begun = time.Now()
		if _, err := stack.Complete(t.Context(), wordsOf(t)); err != nil || time.Since(begun) > 2*time.Second {
			t.Errorf("after a stable time the restart took %v: %v", time.Since(begun), err)
		}
	})
}

// A process that always crashes before it answers is given up.
func TestEngineGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, starts := fakeEngine(t, 0, time.Second)
		defer m.Close()
		var last error
		for range 3 {
			_, last = standard(m, testLayers{}).Complete(t.Context(), wordsOf(t))
		}
		if last == nil || !strings.Contains(last.Error(), "crashed 5 times in a row before it answered") ||
			*starts != maxCrashes {
			t.Errorf("%d starts: %v", *starts, last)
		}
	})
}

// A start goes on for the others if the call that began it is cancelled, and
// ends with the last member.
func TestEngineStartIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, starts := fakeEngine(t, -1, time.Minute)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		go func() {
			if _, err := m.Complete(ctx, wordsOf(t)); AsFailure(err).Status != synod.Timeout ||
				!strings.Contains(err.Error(), "to start") {
				t.Errorf("the first call: %v", err)
			}
		}()
		begun := time.Now()
		if _, err := m.Complete(t.Context(), wordsOf(t)); err != nil || *starts != 1 ||
			time.Since(begun) != time.Minute {
			t.Errorf("%d starts, %v after %v", *starts, err, time.Since(begun))
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		m, starts = fakeEngine(t, -1, time.Minute)
		go func() { _, _ = m.Complete(t.Context(), wordsOf(t)) }()
		synctest.Wait()
		begun = time.Now()
		if err := m.Close(); err != nil || time.Since(begun) != 0 || *starts != 1 {
			t.Errorf("closing during a start took %v: %v", time.Since(begun), err)
		}
	})
}

// Engines are shared by members with equal settings, and end with the last of them.
func TestShare(t *testing.T) {
	cfg := engine.Config{ModelPath: "some.gguf", Seqs: 4}
	a, b := share(cfg), share(cfg)
	cfg.Seqs = 5
	if c := share(cfg); a != b || a == c {
		t.Error("engines are shared by something else than their settings")
	} else if err := c.release(); err != nil {
		t.Error(err)
	}
	for i, e := range []*sharedEngine{a, b} {
		if err := e.release(); err != nil || (e.failure == engine.ErrClosed) != (i == 1) {
			t.Errorf("release %d: %v, engine closed: %v", i, err, e.failure)
		}
	}
	if engines.open[a.key] != nil {
		t.Error("an engine without members is kept")
	}
}

// TestLikelihoodSeparates weighs right and plausible wrong answers to the easy
// questions, after the examples and after the question alone: docs/use/models.md.
func TestLikelihoodSeparates(t *testing.T) {
	cool, _ := box(t)
	client, err := cool.host.(*sharedEngine).client(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	chat := func(q *synod.Question) string {
		c, err := boxTemplates(t).Render(&synod.Prompt{Template: "box/weigh", Purpose: synod.Weighing, Question: q})
		if err != nil {
			t.Fatal(err)
		}
		return c.User
	}
	bare := func(q *synod.Question) string { return "Question: " + q.Text + "\nAnswer:" }
	best, pairs, n, all := separated(t, client, chat)
	t.Logf("after the examples: right above every wrong one in %d of %d questions, above %d of %d wrong answers", best,
		n, pairs, all)
	plain, plainPairs, _, _ := separated(t, client, bare)
	t.Logf("after the bare question: %d of %d, %d of %d", plain, n, plainPairs, all)
	if best*3 < n*2 || best <= plain {
		t.Error("the likelihood no longer separates, or the examples no longer help")
	}
}

func separated(t *testing.T, c completer, lead func(*synod.Question) string) (best, pairs, n, all int) {
	f, err := os.Open("testdata/easy.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		col := strings.Split(s.Text(), "\t")
		if len(col) != 4 {
			continue
		}
		right, _, _ := strings.Cut(col[2], "|")
		list := []string{" " + right}
		for wrong := range strings.SplitSeq(col[3], "|") {
			list = append(list, " "+wrong)
		}
		scores, _, _, err := c.Weigh(t.Context(), lead(&synod.Question{Text: col[1], Form: synod.Text}), list, nil)
		if err != nil {
			t.Fatal(err)
		}
		below := 0
		for _, w := range scores[1:] {
			if w.Mean < scores[0].Mean {
				below++
			}
		}
		n, all, pairs = n+1, all+len(list)-1, pairs+below
		if below == len(list)-1 {
			best++
		}
	}
	return best, pairs, n, all
}
