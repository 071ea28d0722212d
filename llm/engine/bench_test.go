package engine

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// The benchmarks alternate between the variants that they compare, so that other load on the
// machine slows both. Each iteration runs each variant once:
//
//	go test -run '^$' -bench . -benchtime 3x ./llm/engine

// all sends the requests, together or one after another, and returns the number of generated
// tokens and the elapsed time.
func all(b *testing.B, c *Client, reqs []Request, together bool) (tokens int, took time.Duration) {
	b.Helper()
	var mu sync.Mutex
	var wg sync.WaitGroup
	one := func(r Request) {
		res, err := c.Generate(b.Context(), r)
		if err != nil {
			b.Error(err)
		}
		mu.Lock()
		tokens += res.CompletionTokens
		mu.Unlock()
	}
	begin := time.Now()
	for _, r := range reqs {
		if together {
			wg.Go(func() { one(r) })
		} else {
			one(r)
		}
	}
	wg.Wait()
	return tokens, time.Since(begin)
}

// BenchmarkTokens measures tokens per second of a single sequence, for prompts and replies.
func BenchmarkTokens(b *testing.B) {
	c := startReal(b, nil)
	var read, written int
	var reading, writing time.Duration
	for i := range b.N {
		begin := time.Now()
		r, err := c.Generate(b.Context(), Request{Prompt: fmt.Sprint(i) + strings.Repeat(" one more word", 80),
			MaxTokens: 1})
		if err != nil {
			b.Fatal(err)
		}
		read, reading = read+r.PromptTokens-r.Shared, reading+time.Since(begin)
		n, took := all(b, c, []Request{{Prompt: fmt.Sprint("Story ", i, ":"), Temperature: 1, Seed: uint64(i),
			MaxTokens: 128}}, false)
		written, writing = written+n, writing+took
	}
	b.ReportMetric(float64(read)/reading.Seconds(), "read-tok/s")
	b.ReportMetric(float64(written)/writing.Seconds(), "write-tok/s")
}

// BenchmarkSharedPrefix compares seven short replies to prompts with the same long beginning
// and to seven prompts of the same length without a common beginning.
func BenchmarkSharedPrefix(b *testing.B) {
	c := startReal(b, nil)
	text := strings.Repeat(" The council met and could not agree.", 40)
	var with, without time.Duration
	for i := range b.N {
		var same, other []Request
		for k := range 7 {
			tail := fmt.Sprint(" Question ", k, ":")
			same = append(same, Request{Prompt: fmt.Sprint("S", i, text, tail), MaxTokens: 4})
			other = append(other, Request{Prompt: fmt.Sprint(k, "-", i, text, tail), MaxTokens: 4})
		}
		_, took := all(b, c, same, true)
		with += took
		_, took = all(b, c, other, true)
		without += took
	}
	b.ReportMetric(without.Seconds()/with.Seconds(), "x-faster")
	b.ReportMetric(with.Seconds()/float64(b.N), "s-shared")
	b.ReportMetric(without.Seconds()/float64(b.N), "s-not-shared")
}

// BenchmarkSeats sends the question of seven seats at the same time and one after another.
func BenchmarkSeats(b *testing.B) {
	c := startReal(b, nil)
	var together, serial time.Duration
	var nt, ns int
	for i := range b.N {
		var reqs []Request
		for k := range 7 {
			r := ask(capital, uint64(7*i+k))
			r.MaxTokens, r.Temperature = 48, 1.2
			reqs = append(reqs, r)
		}
		n, took := all(b, c, reqs, true)
		nt, together = nt+n, together+took
		n, took = all(b, c, reqs, false)
		ns, serial = ns+n, serial+took
	}
	at, as := float64(nt)/together.Seconds(), float64(ns)/serial.Seconds()
	b.ReportMetric(at/as, "x-faster")
	b.ReportMetric(at, "tok/s-at-once")
	b.ReportMetric(as, "tok/s-serial")
}

// BenchmarkChoice scores the four choices of a question.
func BenchmarkChoice(b *testing.B) {
	c := startReal(b, nil)
	for i := range b.N {
		q := fmt.Sprintf("Question: Of the planets, which is number %d from the sun?\nAnswer:", i)
		if _, _, err := likelihood(c, b.Context(), q, []string{" Mercury", " the planet Venus", " our own Earth",
			" Mars"}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkGrammar compares generation with and without a grammar.
func BenchmarkGrammar(b *testing.B) {
	c := startReal(b, nil)
	g, err := Grammar([]byte(`{"type":"object","properties":{"reasoning":{"type":"string","maxLength":120},` +
		`"answer":{"type":"string","maxLength":20}}}`))
	if err != nil {
		b.Fatal(err)
	}
	var constrained, free time.Duration
	var nc, nf int
	for i := range b.N {
		r := ask(capital, uint64(i))
		r.MaxTokens = 96
		n, took := all(b, c, []Request{r}, true)
		nf, free = nf+n, free+took
		r.Grammar = g
		n, took = all(b, c, []Request{r}, true)
		nc, constrained = nc+n, constrained+took
	}
	b.ReportMetric(float64(nc)/constrained.Seconds(), "tok/s-grammar")
	b.ReportMetric(float64(nf)/free.Seconds(), "tok/s-no-grammar")
}

// BenchmarkHidden measures generation and the scoring of four choices on an engine without
// hidden states and on one with them: without capture (the cost for all calls), with one
// layer (the use of a probe) and with all layers (collecting). No two variants share a
// prompt. It measures the processor time of the child, which depends less on other load, and
// its memory at the end.
func BenchmarkHidden(b *testing.B) {
	plain, withHidden := startReal(b, nil), startReal(b, hidden)
	layers := make([]int, withHidden.Info().Layers)
	for i := range layers {
		layers[i] = i
	}
	variants := []struct {
		name string
		c    *Client
		want *Capture
	}{
		{"plain", plain, nil}, {"no-capture", withHidden, nil},
		{"one-layer", withHidden, &Capture{layers[14:15], []Position{Mean}}},
		{"all-layers", withHidden, &Capture{layers, Positions()}},
	}
	generating, scoring := make([]float64, len(variants)), make([]float64, len(variants))
	for i := range b.N {
		for w, v := range variants {
			before := seconds(b, v.c)
			r, err := v.c.Generate(b.Context(), Request{Prompt: fmt.Sprint(w, " story ", i, ": Once upon a time"),
				Temperature: 0.7, Seed: uint64(i), MaxTokens: 64, Capture: v.want})
			if err != nil {
				b.Fatal(err)
			}
			between := seconds(b, v.c)
			q := fmt.Sprintf("%d. Question %d: Of the planets, which is number %d from the sun?\nAnswer:", w, i, i)
			if _, _, _, err := v.c.Weigh(b.Context(), q, []string{" Mercury", " the planet Venus", " our own Earth",
				" Mars"}, v.want); err != nil {
				b.Fatal(err)
			}
			generating[w] += (between - before) / float64(r.CompletionTokens)
			scoring[w] += seconds(b, v.c) - between
		}
	}
	for w, v := range variants[1:] {
		b.ReportMetric(100*(generating[w+1]/generating[0]-1), "%-generating-"+v.name)
		b.ReportMetric(100*(scoring[w+1]/scoring[0]-1), "%-scoring-"+v.name)
	}
	b.ReportMetric(resident(b, plain), "MB-plain")
	b.ReportMetric(resident(b, withHidden), "MB-hidden")
}

// seconds returns the processor time that a child has used.
func seconds(b *testing.B, c *Client) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.Pid()))
	if err != nil {
		b.Skip("the processor time of a process is not available: ", err)
	}
	f := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	var user, system float64
	_, err = fmt.Sscan(f[11]+" "+f[12], &user, &system)
	if err != nil {
		b.Fatal(err)
	}
	return (user + system) / 100
}

// resident returns the memory of a child in MB.
func resident(b *testing.B, c *Client) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.Pid()))
	if err != nil {
		b.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "VmRSS:")
	var kB float64
	if _, err := fmt.Sscan(after, &kB); err != nil {
		b.Fatal(err)
	}
	return kB / 1024
}
