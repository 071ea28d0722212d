package engine

import (
	"fmt"
	"os"
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
		if _, _, err := likelihood(c, b.Context(), q, []string{" Mercury", " the planet Venus", " our own Earth", " Mars"}); err != nil {
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

// BenchmarkHidden generates, and weighs four choices, on an engine without and on
// one with hidden states: of no request (what every call of such an engine pays),
// of one layer (a probe at work) and of all layers (collecting). The ways alternate
// and no two share a prompt. Time is the child's processor time, which a busy
// machine disturbs less; memory is the child's, at the end.
func BenchmarkHidden(b *testing.B) {
	plain, watched := startReal(b, nil), startReal(b, hidden)
	layers := make([]int, watched.Info().Layers)
	for i := range layers {
		layers[i] = i
	}
	ways := []struct {
		name string
		c    *Client
		want *Capture
	}{
		{"plain", plain, nil}, {"not-asked", watched, nil},
		{"one-layer", watched, &Capture{layers[14:15], []Position{Mean}}}, {"all-layers", watched, &Capture{layers, Positions()}},
	}
	writing, weighing := make([]float64, len(ways)), make([]float64, len(ways))
	for i := range b.N {
		for w, way := range ways {
			before := seconds(b, way.c)
			r, err := way.c.Generate(b.Context(), Request{Prompt: fmt.Sprint(w, " story ", i, ": Once upon a time"), Temperature: 0.7, Seed: uint64(i), MaxTokens: 64, Capture: way.want})
			if err != nil {
				b.Fatal(err)
			}
			between := seconds(b, way.c)
			q := fmt.Sprintf("%d. Question %d: Of the planets, which is number %d from the sun?\nAnswer:", w, i, i)
			if _, _, _, err := way.c.Weigh(b.Context(), q, []string{" Mercury", " the planet Venus", " our own Earth", " Mars"}, way.want); err != nil {
				b.Fatal(err)
			}
			writing[w] += (between - before) / float64(r.CompletionTokens)
			weighing[w] += seconds(b, way.c) - between
		}
	}
	for w, way := range ways[1:] {
		b.ReportMetric(100*(writing[w+1]/writing[0]-1), "%-writing-"+way.name)
		b.ReportMetric(100*(weighing[w+1]/weighing[0]-1), "%-weighing-"+way.name)
	}
	b.ReportMetric(resident(b, plain), "MB-plain")
	b.ReportMetric(resident(b, watched), "MB-hidden")
}

// seconds is the processor time that a child has used.
func seconds(b *testing.B, c *Client) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.Pid()))
	if err != nil {
		b.Skip("this system does not tell a process's time: ", err)
	}
	f := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	var user, system float64
	_, err = fmt.Sscan(f[11]+" "+f[12], &user, &system)
	if err != nil {
		b.Fatal(err)
	}
	return (user + system) / 100
}

// resident is a child's memory in MB.
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
