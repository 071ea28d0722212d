package gateway

import (
	"net/http"

	"synod.dev/synod/cmd/synod-serve/internal/wire"
)

// dialect is one of the APIs that clients speak.
type dialect interface {
	name() string
	read(body []byte, rules wire.Rules) (*wire.Request, *wire.Error)
	whole(a *Answer, r *wire.Request) any      // the body of a response
	begin(s *sse, a *Answer, r *wire.Request)  // what a stream says before it is decided; a has no text yet
	decide(s *sse, a *Answer, r *wire.Request) // what a stream says when it is decided, to its end
	fail(s *sse, e *wire.Error)                // the end of a stream that failed
	progress(s *sse, a *Answer, p Progress)
	refuse(w http.ResponseWriter, e *wire.Error) // an error as a response
}
