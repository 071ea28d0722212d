package batch

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"synod.dev/synod/llm/engine/internal/llama"
)

var negInf = math.Inf(-1)

var small = Config{Seqs: 4, Branches: 3, Context: 60, Cells: 150, Batch: 24, Chunk: 7}

// run decodes waves of jobs to the end and returns the outcomes by id.
func run(t *testing.T, m *toy, cfg Config, waves ...[]Job) map[uint64]Outcome {
	t.Helper()
	out := map[uint64]Outcome{}
	r := New(m, cfg, func(o Outcome) { out[o.ID] = o })
	for _, w := range waves {
		r.Submit(w...)
		r.Step()
	}
	finish(t, r)
	if m.err != nil {
		t.Fatal(m.err)
	}
	if r.cells.inUse != m.inUse() {
		t.Fatalf("%d cells counted, the model uses %d", r.cells.inUse, m.inUse())
	}
	return out
}

func finish(t *testing.T, r *Runner) {
	t.Helper()
	for n := 0; r.Busy(); n++ {
		if n > 10_000 {
			t.Fatal("the jobs did not end after 10,000 steps")
		}
		r.Step()
	}
}

// The prompt of seven seats is decoded once; only its last token is decoded for each.
func TestSharedPrompt(t *testing.T) {
	cfg := Config{Seqs: 8, Branches: 2, Context: 100, Cells: 400, Batch: 64, Chunk: 16}
	p := make([]llama.Token, 60)
	for i := range p {
		p[i] = llama.Token(1 + i%30)
	}
	var wave []Job
	for i := range 7 {
		wave = append(wave, Job{ID: uint64(i), Prompt: p, MaxTokens: 1,
			Sampling: Sampling{Temperature: 1, Seed: uint64(i)}})
	}
	m := newToy(cfg.Cells)
	out := run(t, m, cfg, wave)
	if m.decoded() != 60+6 {
		t.Errorf("%d tokens decoded, want 66", m.decoded())
	}
	if out[0].Shared != 0 || out[6].Shared != 59 {
		t.Errorf("shared %d and %d", out[0].Shared, out[6].Shared)
	}
	if m.inUse() != 66 {
		t.Errorf("%d cells in use, want 66", m.inUse())
	}
	for _, b := range m.batches {
		if len(b) > cfg.Chunk {
			t.Errorf("a batch of %d prompt tokens, want at most %d", len(b), cfg.Chunk)
		}
	}
}

// The order of jobs in a wave does not change the batches.
func TestOrderInWave(t *testing.T) {
	wave := []Job{}
	r := rand.New(rand.NewPCG(1, 2))
	closed := 0
	for i := range 6 {
		j := randomJob(r, uint64(i), &closed)
		j.Grammar = nil
		wave = append(wave, j)
	}
	a, b := newToy(small.Cells), newToy(small.Cells)
	run(t, a, small, wave)
	slices.Reverse(wave)
	run(t, b, small, wave)
	if !reflect.DeepEqual(a.batches, b.batches) {
		t.Error("the batches differ")
	}
}

func TestImpossibleJobs(t *testing.T) {
	long := make([]llama.Token, 100)
	for name, j := range map[string]Job{
		"no prompt":          {MaxTokens: 1},
		"no tokens":          {Prompt: long[:3]},
		"long prompt":        {Prompt: long, MaxTokens: 1},
		"too many tokens":    {Prompt: long[:10], MaxTokens: 51},
		"empty continuation": {Prompt: long[:1], Continuations: [][]llama.Token{{}}},
		"long continuation":  {Prompt: long[:1], Continuations: [][]llama.Token{long[:22]}},
	} {
		closed := 0
		j.Grammar = &evens{closed: &closed}
		out := run(t, newToy(10), small, []Job{j})
		if !errors.Is(out[0].Err, ErrJob) || closed != 1 {
			t.Errorf("%s: %v, %d grammars closed", name, out[0].Err, closed)
		}
	}
}

// A failed decode ends the running jobs, not the waiting ones.
func TestFailedDecode(t *testing.T) {
	m := newToy(small.Cells)
	out := map[uint64]Outcome{}
	r := New(m, small, func(o Outcome) { out[o.ID] = o })
	for i := range uint64(6) {
		r.Submit(Job{ID: i, Prompt: []llama.Token{1 + llama.Token(i)}, MaxTokens: 3})
	}
	m.fail = errors.New("compute failed")
	finish(t, r)
	failed := 0
	for _, o := range out {
		if o.Err != nil {
			failed++
		}
	}
	if len(out) != 6 || failed != 4 || m.err != nil {
		t.Errorf("%d outcomes, %d failed, %v", len(out), failed, m.err)
	}
}

// If the cache is full because of fragmentation, idle sequences are evicted and the running
// job continues.
func TestFullCacheEvictsIdleSequences(t *testing.T) {
	m := newToy(small.Cells)
	out := map[uint64]Outcome{}
	r := New(m, small, func(o Outcome) { out[o.ID] = o })
	r.Submit(Job{ID: 1, Prompt: []llama.Token{1, 2, 3}, MaxTokens: 2})
	finish(t, r)
	r.Submit(Job{ID: 2, Prompt: []llama.Token{9, 8, 7}, MaxTokens: 2})
	m.fail = llama.ErrFull
	finish(t, r)
	if out[2].Err != nil || m.err != nil {
		t.Error(out[2].Err, m.err)
	}
}

// A memory that cannot share cells still decodes single sequences.
func TestWithoutSharing(t *testing.T) {
	m := newToy(400)
	m.noSharing = true
	p := []llama.Token{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	out := run(t, m, small, []Job{
		{ID: 1, Prompt: p, MaxTokens: 2},
		{ID: 2, Prompt: p, MaxTokens: 2, Sampling: Sampling{Seed: 1}},
	}, []Job{
		{ID: 3, Prompt: p, Continuations: [][]llama.Token{{1}, {2}}},
		{ID: 4, Prompt: p, Continuations: [][]llama.Token{{1, 2}}},
	})
	if out[1].Err != nil || out[2].Err != nil || out[2].Text != out[1].Text || out[2].Shared != 0 ||
		out[3].Err != nil || out[4].Err == nil {
		t.Errorf("%+v", out)
	}
}

func TestStopStringsAndValidText(t *testing.T) {
	for _, c := range []struct{ text, stop, want string }{
		{"a b c", "b", "a "}, {"a b c", "x", "a b c"}, {"abc", "", "abc"}, {"\nUser: x", "\nUser:", ""},
	} {
		got, _ := stopAt([]byte(c.text), []string{c.stop})
		if string(got) != c.want {
			t.Errorf("%q stopped at %q is %q", c.text, c.stop, got)
		}
	}
	if got, _ := stopAt([]byte("one two"), []string{"two", "one"}); string(got) != "" {
		t.Errorf("%q: not cut at the earliest stop string", got)
	}
	for in, want := range map[string]string{
		"ok": "ok", "": "", "caf\xc3": "caf", "\xf0\x9f\x99": "", "a\xffb": "a\uFFFDb", "é": "é", "x\xe6\xbc\xa2": "x漢",
		"\x80\x80": "\uFFFD",
	} {
		if got := validText([]byte(in)); got != want {
			t.Errorf("validText(%q) is %q, want %q", in, got, want)
		}
	}
	m := newToy(100)
	all := run(t, m, small, []Job{{ID: 1, Prompt: []llama.Token{5}, MaxTokens: 20}})[1]
	tokens := strings.Fields(all.Text)
	if len(tokens) < 2 {
		t.Fatal("the toy model generated fewer than two tokens: the test needs another prompt")
	}
	withStop := Job{ID: 1, Prompt: []llama.Token{5}, MaxTokens: 20, Stop: []string{tokens[1] + " "}}
	cut := run(t, newToy(100), small, []Job{withStop})[1]
	if cut.Finish != "stop" || !strings.HasPrefix(all.Text, cut.Text) || strings.Contains(cut.Text, tokens[1]) {
		t.Errorf("%q of %q", cut.Text, all.Text)
	}
}

func ExampleRunner() {
	cfg := Config{Seqs: 2, Context: 50, Cells: 100, Batch: 16, Chunk: 8}
	r := New(newToy(100), cfg, func(o Outcome) { fmt.Println(o.ID, o.Finish, o.Tokens) })
	r.Submit(Job{ID: 1, Prompt: []llama.Token{3, 1, 4}, MaxTokens: 2})
	for r.Busy() {
		r.Step()
	}
	// Output: 1 length 2
}

func prompt(r *rand.Rand) []llama.Token {
	head := []llama.Token{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20}
	p := slices.Clone(head[:r.IntN(len(head)+1)])
	for range 1 + r.IntN(12) {
		p = append(p, llama.Token(1+r.IntN(toyVocab-1)))
	}
	return p
}

func randomJob(r *rand.Rand, id uint64, closed *int) Job {
	j := Job{ID: id, Prompt: prompt(r)}
	if r.IntN(2) == 0 {
		j.Capture = Capture{
			Layers: [][]int{{0}, {3, 1}, {0, 1, 2}}[r.IntN(3)],
			Query:  r.IntN(2) == 0, Last: r.IntN(2) == 0, Mean: r.IntN(2) == 0,
		}
	}
	if r.IntN(3) == 0 {
		for range 1 + r.IntN(5) {
			c := make([]llama.Token, 1+r.IntN(6))
			for i := range c {
				c[i] = llama.Token(1 + r.IntN(toyVocab-1))
			}
			j.Continuations = append(j.Continuations, c)
		}
		return j
	}
	j.MaxTokens = 1 + r.IntN(20)
	j.Sampling = Sampling{Temperature: float64(r.IntN(3)) / 2, TopP: []float64{0, 0.8}[r.IntN(2)], Seed: r.Uint64()}
	j.Logprobs = r.IntN(2) == 0
	if r.IntN(3) == 0 {
		j.Stop = []string{strconv.Itoa(r.IntN(10)) + " ", fmt.Sprint(r.IntN(toyVocab), " ", r.IntN(4))}
	}
	if r.IntN(3) == 0 {
		j.Grammar = &evens{closed: closed}
	}
	return j
}

// For random jobs in random waves, some of them cancelled: every job has the same outcome as
// alone on a new model, the number of used cells is correct, and every grammar is closed.
func TestConcurrentJobsDoNotAffectEachOther(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 0))
		n := uint64(1 + r.IntN(14))
		closed, grammars := 0, 0
		var waves [][]Job
		alone := map[uint64]Outcome{}
		for id := range n {
			ignored := 0
			jobSeed := r.Uint64()
			job := func(c *int) Job { return randomJob(rand.New(rand.NewPCG(jobSeed, 7)), id, c) }
			alone[id] = run(t, newToy(small.Cells), small, []Job{job(&ignored)})[id]
			j := job(&closed)
			if j.Grammar != nil {
				grammars++
			}
			if len(waves) == 0 || r.IntN(2) == 0 {
				waves = append(waves, nil)
			}
			waves[len(waves)-1] = append(waves[len(waves)-1], j)
		}
		m := newToy(small.Cells)
		out := map[uint64]Outcome{}
		run := New(m, small, func(o Outcome) { out[o.ID] = o })
		cancelled := map[uint64]bool{}
		submitted := uint64(0)
		for _, w := range waves {
			run.Submit(w...)
			submitted += uint64(len(w))
			for range r.IntN(6) {
				run.Step()
			}
			if id := r.Uint64N(submitted); r.IntN(3) == 0 {
				run.Cancel(id)
				_, done := out[id]
				cancelled[id] = !done
			}
		}
		finish(t, run)
		if m.err != nil || run.cells.inUse != m.inUse() {
			t.Fatalf("seed %d: %v; %d cells counted, %d used", seed, m.err, run.cells.inUse, m.inUse())
		}
		for id, want := range alone {
			got, ok := out[id]
			if !ok && cancelled[id] {
				continue
			}
			want.Shared, got.Shared = 0, 0
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d job %d:\n got %+v\nwant %+v", seed, id, got, want)
			}
		}
		if closed != grammars {
			t.Fatalf("seed %d: %d grammars, %d closed", seed, grammars, closed)
		}
	}
}
