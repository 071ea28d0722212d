package gateway

import (
	"log/slog"
	"net/http"
	"time"
)

// Times bound how long a client may take, so that one that is slow on purpose holds nothing for ever.
type Times struct {
	Header time.Duration // to send the header of a request
	Body   time.Duration // to send a request, header included
	Idle   time.Duration // between two requests on a connection
	Write  time.Duration // to read one piece of a response
}

// DefaultTimes are those of synod serve.
func DefaultTimes() Times {
	return Times{Header: 5 * time.Second, Body: 30 * time.Second, Idle: time.Minute, Write: writeTime}
}

// maxHeader bounds the header of a request in bytes.
const maxHeader = 32 << 10

// Server returns a server with all routes that keeps to the times. Its own complaints about connections go to the log.
func (g *Gateway) Server(t Times) *http.Server {
	routes := g.Handler()
	return &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			p := &pieceWriter{ResponseWriter: w, rc: http.NewResponseController(w), limit: t.Write}
			p.extend()
			routes.ServeHTTP(p, r)
		}),
		ReadHeaderTimeout: t.Header, ReadTimeout: t.Body, IdleTimeout: t.Idle, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(g.o.Log.Handler(), slog.LevelDebug),
	}
}

// pieceWriter gives a client some time for each piece of a response.
type pieceWriter struct {
	http.ResponseWriter
	rc    *http.ResponseController
	limit time.Duration
	began time.Time // of the time that runs
}

// extend starts the time of the next piece, unless it has just begun: a short response is one piece with its headers. A
// connection without deadlines, as in tests of handlers, has none.
func (p *pieceWriter) extend() {
	if now := time.Now(); now.Sub(p.began) > p.limit/64 {
		p.began = now
		_ = p.rc.SetWriteDeadline(now.Add(p.limit))
	}
}

// Write implements http.ResponseWriter.
func (p *pieceWriter) Write(b []byte) (n int, err error) {
	for first := true; first || len(b) > 0 && err == nil; first = false {
		var some int
		p.extend()
		some, err = p.ResponseWriter.Write(b[:min(piece, len(b))])
		n, b = n+some, b[some:]
	}
	return n, err
}

// WriteHeader implements http.ResponseWriter.
func (p *pieceWriter) WriteHeader(status int) {
	p.extend()
	p.ResponseWriter.WriteHeader(status)
}

// Flush implements http.Flusher, for libraries that ask for it.
func (p *pieceWriter) Flush() {
	p.extend()
	_ = p.rc.Flush() // the next write has the error
}

// Unwrap returns the writer of the connection to http.ResponseController.
func (p *pieceWriter) Unwrap() http.ResponseWriter { return p.ResponseWriter }
