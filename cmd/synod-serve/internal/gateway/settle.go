package gateway

import (
	"context"
	"log/slog"
	"time"

	"synod.dev/synod/cmd/synod-serve/internal/store"
)

// settle records how a request ended. If the store fails, the reservation stands and the attempt is repeated.
func (g *Gateway) settle(grant store.Grant, r store.Result, j *job, answer string) {
	if err := g.o.Store.Settle(grant, r); err != nil {
		g.o.Log.Error("a request could not be settled; what it reserved counts as spent until that works",
			"request", grant.ID, "error", err.Error())
		g.running.Add(1)
		go g.settleLater(grant, r)
	}
	if j != nil {
		j.settled.Store(true)
	}
	took := time.Since(grant.Begun)
	attrs := append(make([]slog.Attr, 0, 13), slog.String("request", grant.ID), slog.String("api", grant.API),
		slog.String("model", grant.Model), slog.String("status", r.Status), slog.Int("http", r.HTTP),
		slog.Int("calls", r.Calls), slog.Int("prompt_tokens", r.Prompt), slog.Int("completion_tokens", r.Completion),
		slog.Float64("usd", r.Spent.USD()), slog.Float64("seconds", took.Seconds()))
	if grant.Key != nil {
		attrs = append(attrs, slog.String("key", grant.Key.Name))
	}
	if g.o.Settings.Content && j != nil && j.question.Text != "" {
		attrs = append(attrs, slog.String("question", j.question.Text), slog.String("answer", answer))
	}
	g.o.Log.LogAttrs(context.Background(), slog.LevelInfo, "request", attrs...)
	if g.o.Observe != nil {
		g.o.Observe(observed(grant, r, took, j, answer))
	}
}

func (g *Gateway) settleLater(grant store.Grant, r store.Result) {
	defer g.running.Done()
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, 10*time.Second) {
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-g.life.Done():
			t.Stop()
			return
		}
		if g.o.Store.Settle(grant, r) == nil {
			return
		}
	}
}

// observed is what metrics and traces are told about a request that has ended.
func observed(grant store.Grant, r store.Result, took time.Duration, j *job, answer string) Observed {
	o := Observed{ID: grant.ID, API: grant.API, Model: grant.Model, Status: r.Status, HTTP: r.HTTP, Begun: grant.Begun,
		Took: took, Result: r}
	if grant.Key != nil {
		o.Key = grant.Key.Name
	}
	if j != nil {
		o.Members = j.members
		o.Parent, o.Calls, o.Council, o.Question, o.Answer = j.parent, j.calls, j.served.Council != nil,
			j.question.Text, answer
	}
	return o
}
