package engine

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// The benchmarks compare two ways in one run, alternating, so that a busy
// machine slows both. Each iteration is one pair:
//
//	go test -run '^$' -bench . -benchtime 3x ./llm/engine

// all asks every request, together or one after another, and returns the
// tokens made and the time it took.
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

// BenchmarkTokens is one sequence alone: tokens a second, reading and writing.
func BenchmarkTokens(b *testing.B) {
	c := startReal(b, nil)
	var read, written int
	var reading, writing time.Duration
	for i := range b.N {
		begin := time.Now()
		r, err := c.Generate(b.Context(), Request{Prompt: fmt.Sprint(i) + strings.Repeat(" one more word", 80), MaxTokens: 1})
		if err != nil {
			b.Fatal(err)
		}
		read, reading = read+r.PromptTokens-r.Shared, reading+time.Since(begin)
		n, took := all(b, c, []Request{{Prompt: fmt.Sprint("Story ", i, ":"), Temperature: 1, Seed: uint64(i), MaxTokens: 128}}, false)
		written, writing = written+n, writing+took
	}
	b.ReportMetric(float64(read)/reading.Seconds(), "read-tok/s")
	b.ReportMetric(float64(written)/writing.Seconds(), "write-tok/s")
}

// BenchmarkSharedPrefix asks seven short replies about one long text, and about
// seven texts as long that have nothing in common.
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
	b.ReportMetric(without.Seconds()/float64(b.N), "s-not")
}

// BenchmarkSeats asks seven seats the same question, at once and one after another.
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

// BenchmarkChoice scores four choices of a question by likelihood.
func BenchmarkChoice(b *testing.B) {
	c := startReal(b, nil)
	for i := range b.N {
		q := fmt.Sprintf("Question: Of the planets, which is number %d from the sun?\nAnswer:", i)
		if _, _, err := c.Likelihood(b.Context(), q, []string{" Mercury", " the planet Venus", " our own Earth", " Mars"}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkGrammar asks for a small object, held to a schema and not.
func BenchmarkGrammar(b *testing.B) {
	c := startReal(b, nil)
	g, err := Grammar([]byte(`{"type":"object","properties":{"reasoning":{"type":"string","maxLength":120},"answer":{"type":"string","maxLength":20}}}`))
	if err != nil {
		b.Fatal(err)
	}
	var held, free time.Duration
	var nh, nf int
	for i := range b.N {
		r := ask(capital, uint64(i))
		r.MaxTokens = 96
		n, took := all(b, c, []Request{r}, true)
		nf, free = nf+n, free+took
		r.Grammar = g
		n, took = all(b, c, []Request{r}, true)
		nh, held = nh+n, held+took
	}
	b.ReportMetric(float64(nh)/held.Seconds(), "tok/s-held")
	b.ReportMetric(float64(nf)/free.Seconds(), "tok/s-free")
}
