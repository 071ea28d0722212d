package llm

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/llm/engine"
	"synod.dev/synod/llm/models"
)

// engineChild makes the test binary the engine that a member starts.
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

// box opens two members of the model in the box, which differ in temperature.
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
			s := into.(*embeddedSettings)
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
// killed, a few times and no more.
func TestSharedEngine(t *testing.T) {
	cool, warm := box(t)
	if cool.engine != warm.engine {
		t.Fatal("two engines for one model file")
	}
	r := Request{Book: boxBook(t), Prompt: &synod.Prompt{Template: "box/answer", Purpose: synod.Answering, Question: capital, Seed: 1}}
	for start := range maxStarts {
		for _, m := range []*embedded{cool, warm} {
			if reply, err := m.Complete(t.Context(), r); err != nil || reply.Answer != "Paris" {
				t.Fatalf("start %d: %+v, %v", start, reply, err)
			}
		}
		c := cool.engine.now
		child, err := os.FindProcess(c.Pid())
		if err != nil || child.Kill() != nil {
			t.Fatal("the engine could not be killed")
		}
		if start == 0 { // a call that is caught by it fails as one that may be made again
			if _, err := c.Generate(t.Context(), engine.Request{Prompt: "x"}); !AsFailure(engineFailure(t.Context(), err)).Retryable {
				t.Errorf("a call to a killed engine: %v", err)
			}
		}
		<-c.Done()
	}
	if _, err := cool.Complete(t.Context(), r); err == nil || !strings.Contains(err.Error(), "died 3 times") {
		t.Errorf("after %d deaths: %v", maxStarts, err)
	}
}

// The settings that an engine is started with tell engines apart, and the last
// member to go takes its engine along.
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
// questions, after the examples and after the bare question: docs/box.md.
func TestLikelihoodSeparates(t *testing.T) {
	cool, _ := box(t)
	client, err := cool.engine.client(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	chat := func(q *synod.Question) string {
		c, err := boxBook(t).Render(&synod.Prompt{Template: "box/weigh", Purpose: synod.Weighing, Question: q})
		if err != nil {
			t.Fatal(err)
		}
		return c.User
	}
	bare := func(q *synod.Question) string { return "Question: " + q.Text + "\nAnswer:" }
	best, pairs, n, all := separated(t, client, chat)
	t.Logf("after the examples: right above every wrong one in %d of %d questions, above %d of %d wrong answers", best, n, pairs, all)
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
