package batch

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod/llm/engine/internal/llama"
)

var negInf = math.Inf(-1)

var small = Config{Seqs: 4, Branches: 3, Context: 60, Cells: 150, Batch: 24, Chunk: 7}

// run plays waves of jobs to the end and returns the outcomes by id.
func run(t *testing.T, m *toy, cfg Config, waves ...[]Job) map[uint64]Outcome {
	t.Helper()
	out := map[uint64]Outcome{}
	r := New(m, cfg, func(o Outcome) { out[o.ID] = o })
	for _, w := range waves {
		r.Submit(w...)
		r.Step()
	}
	finish(t, r)
	if m.bad != nil {
		t.Fatal(m.bad)
	}
	if r.pool.inUse != m.inUse() {
		t.Fatalf("the books say %d cells, the model has %d", r.pool.inUse, m.inUse())
	}
	return out
}

func finish(t *testing.T, r *Runner) {
	t.Helper()
	for n := 0; r.Busy(); n++ {
		if n > 10_000 {
			t.Fatal("it never ends")
		}
		r.Step()
	}
}

// Seven seats with one prompt: it is decoded once, and only its last token again.
func TestSharedPrompt(t *testing.T) {
	cfg := Config{Seqs: 8, Branches: 2, Context: 100, Cells: 400, Batch: 64, Chunk: 16}
	p := make([]llama.Token, 60)
	for i := range p {
		p[i] = llama.Token(1 + i%30)
	}
	var wave []Job
	for i := range 7 {
		wave = append(wave, Job{ID: uint64(i), Prompt: p, MaxTokens: 1, Sampling: Sampling{Temperature: 1, Seed: uint64(i)}})
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

// A wave in another order is the same wave.
func TestOrderWithinAWaveIsNothing(t *testing.T) {
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

func TestHopelessJobsAreRefused(t *testing.T) {
	long := make([]llama.Token, 100)
	for name, j := range map[string]Job{
		"no prompt": {MaxTokens: 1}, "nothing wanted": {Prompt: long[:3]}, "too long": {Prompt: long, MaxTokens: 1},
		"too much": {Prompt: long[:10], MaxTokens: 51}, "empty continuation": {Prompt: long[:1], Continuations: [][]llama.Token{{}}},
		"long continuation": {Prompt: long[:1], Continuations: [][]llama.Token{long[:22]}},
	} {
		closed := 0
		j.Grammar = &evens{closed: &closed}
		out := run(t, newToy(10), small, []Job{j})
		if !errors.Is(out[0].Err, ErrJob) || closed != 1 {
			t.Errorf("%s: %v, %d grammars closed", name, out[0].Err, closed)
		}
	}
}

// A failed decode ends those in it and nobody else.
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
	if len(out) != 6 || failed != 4 || m.bad != nil {
		t.Errorf("%d outcomes, %d failed, %v", len(out), failed, m.bad)
	}
}

// A full cache after all (fragmentation) costs the cached, not the living.
func TestFullCacheGivesUpTheIdle(t *testing.T) {
	m := newToy(small.Cells)
	out := map[uint64]Outcome{}
	r := New(m, small, func(o Outcome) { out[o.ID] = o })
	r.Submit(Job{ID: 1, Prompt: []llama.Token{1, 2, 3}, MaxTokens: 2})
	finish(t, r)
	r.Submit(Job{ID: 2, Prompt: []llama.Token{9, 8, 7}, MaxTokens: 2})
	m.fail = llama.ErrFull
	finish(t, r)
	if out[2].Err != nil || m.bad != nil {
		t.Error(out[2].Err, m.bad)
	}
}

// A memory that cannot share still serves.
func TestWithoutSharing(t *testing.T) {
	m := newToy(400)
	m.whole = true
	p := []llama.Token{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	out := run(t, m, small, []Job{{ID: 1, Prompt: p, MaxTokens: 2}, {ID: 2, Prompt: p, MaxTokens: 2, Sampling: Sampling{Seed: 1}}},
		[]Job{{ID: 3, Prompt: p, Continuations: [][]llama.Token{{1}, {2}}}, {ID: 4, Prompt: p, Continuations: [][]llama.Token{{1, 2}}}})
	if out[1].Err != nil || out[2].Err != nil || out[2].Text != out[1].Text || out[2].Shared != 0 || out[3].Err != nil || out[4].Err == nil {
		t.Errorf("%+v", out)
	}
}

func TestStopStringsAndTidyText(t *testing.T) {
	for _, c := range []struct{ text, stop, want string }{
		{"a b c", "b", "a "}, {"a b c", "x", "a b c"}, {"abc", "", "abc"}, {"\nUser: x", "\nUser:", ""},
	} {
		got, _ := stopAt([]byte(c.text), []string{c.stop})
		if string(got) != c.want {
			t.Errorf("%q stopped at %q is %q", c.text, c.stop, got)
		}
	}
	if got, _ := stopAt([]byte("one two"), []string{"two", "one"}); string(got) != "" {
		t.Errorf("%q: the earliest stop counts", got)
	}
	for in, want := range map[string]string{
		"ok": "ok", "": "", "caf\xc3": "caf", "\xf0\x9f\x99": "", "a\xffb": "a\uFFFDb", "é": "é", "x\xe6\xbc\xa2": "x漢", "\x80\x80": "\uFFFD",
	} {
		if got := tidy([]byte(in)); got != want {
			t.Errorf("%q tidied is %q, want %q", in, got, want)
		}
	}
	m := newToy(100)
	all := run(t, m, small, []Job{{ID: 1, Prompt: []llama.Token{5}, MaxTokens: 20}})[1]
	words := strings.Fields(all.Text)
	if len(words) < 2 {
		t.Fatal("the toy fell silent at once: nothing is tried")
	}
	cut := run(t, newToy(100), small, []Job{{ID: 1, Prompt: []llama.Token{5}, MaxTokens: 20, Stop: []string{words[1] + " "}}})[1]
	if cut.Finish != "stop" || !strings.HasPrefix(all.Text, cut.Text) || strings.Contains(cut.Text, words[1]) {
		t.Errorf("%q of %q", cut.Text, all.Text)
	}
}

func ExampleRunner() {
	m := newToy(100)
	r := New(m, Config{Seqs: 2, Context: 50, Cells: 100, Batch: 16, Chunk: 8}, func(o Outcome) { fmt.Println(o.ID, o.Finish, o.Tokens) })
	r.Submit(Job{ID: 1, Prompt: []llama.Token{3, 1, 4}, MaxTokens: 2})
	for r.Busy() {
		r.Step()
	}
	// Output: 1 length 2
}
