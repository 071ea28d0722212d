package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"os"
	"runtime/debug"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"synod.dev/synod"
	"synod.dev/synod/internal/program"
	"synod.dev/synod/network/node"
)

// endpoints are the standard variables that name where traces go. Without one of them nothing is traced.
var endpoints = []string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"}

// closeTime is how long the last spans may take to their collector when the node ends.
const closeTime = 5 * time.Second

// tracer sends spans of a node's runs to a collector, over OTLP/HTTP. All nodes give the spans of one run the same
// trace, because its id is the beginning of the run's.
type tracer struct{ trace.Tracer }

// traced makes c's node send traces if the environment names a collector. The returned function sends what is left.
func traced(ctx context.Context, c *node.Config, seat string) (closing func(), err error) {
	if os.Getenv("OTEL_SDK_DISABLED") == "true" || os.Getenv(endpoints[0])+os.Getenv(endpoints[1]) == "" {
		return func() {}, nil
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, err
	}
	own := []attribute.KeyValue{attribute.String("service.name", "synod-node"),
		attribute.String("synod.council", c.Roster.Name), attribute.String("synod.roster", c.Roster.HexHash()),
		attribute.String("synod.seat", seat)}
	if b, ok := debug.ReadBuildInfo(); ok {
		own = append(own, attribute.String("service.version", b.Main.Version))
	}
	// OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME come last, so that they win
	from, err := resource.New(ctx, resource.WithAttributes(own...), resource.WithFromEnv())
	if err != nil {
		return nil, errors.Join(err, exporter.Shutdown(ctx))
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { c.Log.Warn("traces were not sent", "error", err) }))
	p := sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithResource(from), sdk.WithIDGenerator(ids{}))
	c.Observer = &tracer{p.Tracer("synod.dev/synod/node")}
	c.Log.Info("traces are sent to a collector")
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), closeTime)
		defer cancel()
		if err := p.Shutdown(ctx); err != nil {
			c.Log.Warn("the last traces were not sent", "error", err)
		}
	}, nil
}

// runKey is the key of a run's id in a context.
type runKey struct{}

// ids makes the ids of traces and spans: a trace is a run.
type ids struct{}

// NewIDs implements sdk.IDGenerator.
func (g ids) NewIDs(ctx context.Context) (t trace.TraceID, s trace.SpanID) {
	run, _ := ctx.Value(runKey{}).(string)
	if b, err := hex.DecodeString(run); err == nil && len(b) > len(t) {
		copy(t[:], b)
	}
	if !t.IsValid() {
		rand.Read(t[:])
	}
	return t, g.NewSpanID(ctx, t)
}

// NewSpanID implements sdk.IDGenerator.
func (ids) NewSpanID(context.Context, trace.TraceID) (s trace.SpanID) {
	for !s.IsValid() {
		rand.Read(s[:])
	}
	return s
}

// Run implements node.Observer.
func (t *tracer) Run(r node.ObservedRun) node.RunObserver {
	ctx := context.WithValue(context.Background(), runKey{}, r.Run)
	ctx, span := t.Start(ctx, "question", trace.WithAttributes(attribute.String("synod.run", r.Run),
		attribute.String("synod.form", string(r.Form)), attribute.Bool("synod.resumed", r.Resumed)))
	return &runTrace{tracer: t.Tracer, ctx: ctx, span: span, since: later(time.Now(), r.Begins), model: r.Model}
}

// Refused implements node.Observer. The span of a refusal has no length.
func (t *tracer) Refused(kind, run, peer string, err error) {
	ctx := context.WithValue(context.Background(), runKey{}, run)
	_, span := t.Start(ctx, "refused "+kind, trace.WithAttributes(attribute.String("synod.run", run),
		attribute.String("synod.peer", peer)))
	span.SetStatus(codes.Error, program.Printable(err.Error()))
	span.End()
}

// runTrace is the span of a run. Round is called by one goroutine at a time.
type runTrace struct {
	tracer trace.Tracer
	ctx    context.Context
	span   trace.Span
	since  time.Time // the end of the round before
	model  string
}

// Round implements node.RunObserver: the span of a round ends when the seat has its opinion.
func (r *runTrace) Round(round int, at synod.Tick) {
	now := time.Now()
	_, span := r.tracer.Start(r.ctx, "round", trace.WithTimestamp(r.since), trace.WithAttributes(
		attribute.Int("synod.round", round), attribute.Int64("synod.tick", int64(at))))
	span.End(trace.WithTimestamp(later(now, r.since)))
	r.since = later(now, r.since)
}

// Call implements node.RunObserver.
func (r *runTrace) Call(id synod.ConsultID, at synod.Tick) func(node.ObservedCall) {
	_, span := r.tracer.Start(r.ctx, "model call", trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
		attribute.Int64("synod.call", int64(id)), attribute.Int64("synod.tick", int64(at)),
		attribute.String("gen_ai.request.model", program.Printable(r.model))))
	return func(c node.ObservedCall) {
		span.SetAttributes(attribute.String("synod.status", string(c.Status)),
			attribute.Int("synod.requests", c.Requests),
			attribute.Int("gen_ai.usage.input_tokens", c.Prompt),
			attribute.Int("gen_ai.usage.output_tokens", c.Completion), attribute.Bool("synod.reused", c.Reused))
		if c.Status != synod.OK {
			span.SetStatus(codes.Error, string(c.Status))
		}
		span.End()
	}
}

// End implements node.RunObserver.
func (r *runTrace) End(stopped string, calls int) {
	r.span.SetAttributes(attribute.String("synod.stopped", stopped), attribute.Int("synod.calls", calls))
	r.span.End()
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
