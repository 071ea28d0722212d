package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"synod.dev/synod"
	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/internal/program"

	"synod.dev/synod/cmd/synod-serve/internal/gateway"
)

// endpoints are the standard variables that name where traces go. Without one of them nothing is traced.
var endpoints = []string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"}

// captures is the standard variable that has questions and answers in the spans.
const captures = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"

// closeTime is how long the last spans may take to their collector.
const closeTime = 5 * time.Second

// tracer sends spans of requests to a collector over OTLP/HTTP, named by OpenTelemetry's conventions for generative
// AI: invoke_workflow for a council's question, invoke_agent for each seat, chat for each call of a model.
type tracer struct {
	trace.Tracer
	content bool
}

// traced returns a tracer if the environment names a collector, else nil. The returned function sends what is left.
func traced(ctx context.Context, log *slog.Logger) (t *tracer, closing func(), err error) {
	if os.Getenv("OTEL_SDK_DISABLED") == "true" || os.Getenv(endpoints[0])+os.Getenv(endpoints[1]) == "" {
		return nil, func() {}, nil
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, nil, err
	}
	// OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME come last, so that they win
	from, err := resource.New(ctx, resource.WithAttributes(attribute.String("service.name", "synod-serve"),
		attribute.String("service.version", app.Version())), resource.WithFromEnv())
	if err != nil {
		return nil, nil, errors.Join(err, exporter.Shutdown(ctx))
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		log.Warn("traces were not sent", "error", shown(err.Error()))
	}))
	p := sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithResource(from))
	log.Info("traces are sent to a collector")
	t = &tracer{p.Tracer("synod.dev/synod/serve"), strings.EqualFold(os.Getenv(captures), "true")}
	return t, func() {
		ctx, cancel := context.WithTimeout(context.Background(), closeTime)
		defer cancel()
		if err := p.Shutdown(ctx); err != nil {
			log.Warn("the last traces were not sent", "error", err.Error())
		}
	}, nil
}

// shown is a name without control characters.
func shown(name string) string { return program.Printable(name) }

// observe sends the spans of a request that has ended, as children of the client's span where it names one.
func (t *tracer) observe(o gateway.Observed) {
	ctx := propagation.TraceContext{}.Extract(context.Background(), propagation.MapCarrier{"traceparent": o.Parent})
	name, ended := "invoke_workflow", o.Begun.Add(o.Took)
	if !o.Council {
		name = "chat"
	}
	ctx, root := t.Start(ctx, name+" "+shown(o.Model), trace.WithTimestamp(o.Begun),
		trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(attribute.String("gen_ai.operation.name", name),
			attribute.String("gen_ai.request.model", shown(o.Model)), attribute.String("synod.request", o.ID),
			attribute.String("synod.api", o.API), attribute.String("synod.status", o.Result.Status),
			attribute.Int("http.response.status_code", o.HTTP), attribute.Int("synod.calls", o.Result.Calls),
			attribute.Float64("synod.usd", o.Result.Spent.USD())))
	if !o.Council { // the sum of a council's is that of its chats
		root.SetAttributes(attribute.String("gen_ai.provider.name", "openai"),
			attribute.Int("gen_ai.usage.input_tokens", o.Result.Prompt),
			attribute.Int("gen_ai.usage.output_tokens", o.Result.Completion))
	}
	if t.content && o.Question != "" {
		root.SetAttributes(attribute.String("gen_ai.input.messages", o.Question),
			attribute.String("gen_ai.output.messages", o.Answer))
	}
	if o.HTTP >= 400 {
		root.SetAttributes(attribute.String("error.type", o.Result.Status))
		root.SetStatus(codes.Error, o.Result.Status)
	}
	t.seats(ctx, o)
	root.End(trace.WithTimestamp(ended))
}

// seats sends a span for each seat, and in it one for each call.
func (t *tracer) seats(ctx context.Context, o gateway.Observed) {
	var order []string
	bySeat := map[string][]gateway.ObservedCall{}
	for _, c := range o.Calls {
		if bySeat[c.Seat] == nil {
			order = append(order, c.Seat)
		}
		bySeat[c.Seat] = append(bySeat[c.Seat], c)
	}
	for _, seat := range order {
		calls := bySeat[seat]
		begun, ended := calls[0].Begun, calls[0].Ended
		for _, c := range calls {
			if c.Begun.Before(begun) {
				begun = c.Begun
			}
			if c.Ended.After(ended) {
				ended = c.Ended
			}
		}
		of, span := t.Start(ctx, "invoke_agent "+shown(seat), trace.WithTimestamp(begun), trace.WithAttributes(
			attribute.String("gen_ai.operation.name", "invoke_agent"), attribute.String("gen_ai.agent.id", shown(seat)),
			attribute.String("synod.seat", shown(seat))))
		for i := range calls {
			t.call(of, &calls[i])
		}
		span.End(trace.WithTimestamp(ended))
	}
}

// call sends the span of a call of a model. What was reused, and what was cancelled because the others had answered,
// is marked, so that nobody counts it as one more call that was paid.
func (t *tracer) call(ctx context.Context, c *gateway.ObservedCall) {
	_, span := t.Start(ctx, "chat "+shown(c.Model), trace.WithTimestamp(c.Begun),
		trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
			attribute.String("gen_ai.operation.name", "chat"), attribute.String("gen_ai.provider.name", c.Provider),
			attribute.String("gen_ai.request.model", shown(c.Model)),
			attribute.String("synod.status", string(c.Status)),
			attribute.Int("synod.requests", c.Requests), attribute.Bool("synod.reused", c.Reused),
			attribute.Bool("synod.late", c.Late)))
	if c.Answered != "" {
		span.SetAttributes(attribute.String("gen_ai.response.model", shown(c.Answered)))
	}
	if !c.Reused {
		span.SetAttributes(attribute.Int("gen_ai.usage.input_tokens", c.Prompt),
			attribute.Int("gen_ai.usage.output_tokens", c.Completion))
	}
	if c.Status != synod.OK {
		span.SetAttributes(attribute.String("error.type", string(c.Status)))
		span.SetStatus(codes.Error, string(c.Status))
	}
	span.End(trace.WithTimestamp(c.Ended))
}
