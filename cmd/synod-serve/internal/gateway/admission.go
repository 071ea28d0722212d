package gateway

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"synod.dev/synod/llm"

	"synod.dev/synod/cmd/synod-serve/internal/store"
	"synod.dev/synod/cmd/synod-serve/internal/wire"
)

// keyID is the id of a key; "" for none.
func keyID(k *store.Key) string {
	if k == nil {
		return ""
	}
	return k.ID
}

// closing is the error of a request that comes while the gateway shuts down.
func (g *Gateway) closing() *wire.Error {
	if !g.draining.Load() {
		return nil
	}
	return &wire.Error{HTTP: 503, Code: "shutting_down", RetryAfter: 5 * time.Second,
		Message: "the gateway is shutting down and takes no new request"}
}

// admit counts a request of a key, unless there are too many or the gateway is shutting down.
func (g *Gateway) admit(key string) *wire.Error {
	if e := g.closing(); e != nil {
		return e
	}
	ok, own := g.places.take(key, 1)
	if ok {
		return nil
	}
	return full(own, fmt.Sprintf("the gateway answers %d requests at once", g.o.Settings.AtOnce))
}

// leave ends a request that was admitted.
func (g *Gateway) leave(key string) { g.places.give(key, 1) }

// full is the error of a request for which there is no room; own: because of others of its key.
func full(own bool, most string) *wire.Error {
	if own {
		return &wire.Error{HTTP: 429, Code: "rate_limit_exceeded", RetryAfter: 2 * time.Second,
			Message: most + ", and this key has its share of them"}
	}
	return &wire.Error{HTTP: 503, Code: "overloaded", RetryAfter: 2 * time.Second,
		Message: most + ", and has as many now"}
}

func notJSON() *wire.Error {
	return &wire.Error{HTTP: http.StatusUnsupportedMediaType, Code: "unsupported_media_type",
		Message: "the body must be JSON, with the header Content-Type: application/json"}
}

// body reads the body of a request within its limit. Memory is taken as the body arrives, from what all requests
// together may have, in which each key has its share; held is how much.
func (g *Gateway) body(w http.ResponseWriter, r *http.Request, key string) (b []byte, held int64, e *wire.Error) {
	if !isJSON(r.Header.Get("Content-Type")) {
		return nil, 0, notJSON()
	}
	if e := r.Header.Get("Content-Encoding"); e != "" && e != "identity" {
		return nil, 0, &wire.Error{HTTP: http.StatusUnsupportedMediaType, Code: "unsupported_encoding",
			Message: "the body must not be compressed"}
	}
	most := g.o.Settings.Body
	if r.ContentLength > most {
		return nil, 0, tooLong(most)
	}
	in := http.MaxBytesReader(w, r.Body, most)
	first := min(max(int(r.ContentLength)+1, firstPiece), mostFirst)
	for {
		if len(b) == cap(b) {
			more := int64(max(len(b), first))
			if ok, own := g.bodies.take(key, more); !ok {
				return nil, held, full(own, fmt.Sprintf("the gateway holds %d bytes of requests", g.bodies.most))
			}
			held += more
			b = append(make([]byte, 0, held), b...)
		}
		n, err := in.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		switch {
		case err == io.EOF:
			return b, held, nil
		case errors.As(err, new(*http.MaxBytesError)):
			return nil, held, tooLong(most)
		case err != nil:
			return nil, held, &wire.Error{HTTP: 400, Code: "body_cut", Message: "the body ended early"}
		}
	}
}

// How many bytes are held for a body of which nothing has come: as many as it says that it has, between these.
const (
	firstPiece = 512
	mostFirst  = 4 << 10
)

func tooLong(most int64) *wire.Error {
	return &wire.Error{HTTP: http.StatusRequestEntityTooLarge, Code: "body_too_large",
		Message: fmt.Sprintf("the body is longer than %d bytes", most)}
}

func isJSON(contentType string) bool {
	if contentType == "application/json" {
		return true
	}
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && kind == "application/json"
}

// mostHops is how many gateways a request may pass.
const mostHops = 4

// via returns the header that names the gateways which a request has passed, with this one, called own. A council that
// asks itself, directly or through others, would never end.
func via(h http.Header, own string) (string, *wire.Error) {
	passed := h.Get(llm.Via)
	if passed == "" {
		return own, nil
	}
	hops := strings.Split(passed, ",")
	for _, hop := range hops {
		if strings.TrimSpace(hop) == own || len(hops) >= mostHops || len(passed) > 200 {
			return "", &wire.Error{HTTP: http.StatusLoopDetected, Code: "council_loop", Final: true,
				Message: "the request has passed this gateway before, or too many others: a council contains itself"}
		}
	}
	return passed + "," + own, nil
}
