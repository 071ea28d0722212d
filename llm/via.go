package llm

import (
	"context"
	"maps"
	"net/http"
	"sync/atomic"
)

// Via is the header in which gateways name themselves to the servers that they call, so that a council
// which would ask itself is noticed.
const Via = "Synod-Via"

type viaKey struct{}

// WithVia returns a context in which every request to an endpoint has the header Via with this value.
func WithVia(ctx context.Context, via string) context.Context {
	return context.WithValue(ctx, viaKey{}, via)
}

// viaHeader has the headers of the last request with Via: nearly all requests of a gateway have the same.
type viaHeader struct {
	last atomic.Pointer[namedHeader]
}

// namedHeader are headers with a value of Via. Nobody changes them.
type namedHeader struct {
	via string
	http.Header
}

// header returns the headers of a request: those of its client, and Via where the context has one.
func (v *viaHeader) header(ctx context.Context, h http.Header) http.Header {
	via, _ := ctx.Value(viaKey{}).(string)
	if via == "" {
		return h
	}
	if last := v.last.Load(); last != nil && last.via == via {
		return last.Header
	}
	h = maps.Clone(h) // the values are shared, and nobody changes them
	h[Via] = []string{via}
	v.last.Store(&namedHeader{via, h})
	return h
}
