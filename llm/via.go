package llm

import (
	"context"
	"maps"
	"net/http"
)

// Via is the header in which gateways name themselves to the servers that they call, so that a council
// which would ask itself is noticed.
const Via = "Synod-Via"

type viaKey struct{}

// WithVia returns a context in which every request to an endpoint has the header Via with this value.
func WithVia(ctx context.Context, via string) context.Context {
	return context.WithValue(ctx, viaKey{}, via)
}

// viaHeader returns the headers of a request: those of its client, and Via where the context has one.
func viaHeader(ctx context.Context, h http.Header) http.Header {
	via, _ := ctx.Value(viaKey{}).(string)
	if via == "" {
		return h
	}
	h = maps.Clone(h) // the values are shared, and nobody changes them
	h[Via] = []string{via}
	return h
}
