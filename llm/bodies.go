package llm

import (
	"bytes"
	"context"
	"io"
	"math"
	"net/http"
	"runtime/debug"
	"sync"

	"golang.org/x/sync/semaphore"
)

// Responses of servers are bounded one by one (OpenAIConfig.MaxReply). All together they are bounded too, so that
// hostile servers cannot fill the memory of a process that asks many questions at once.
const (
	smallBody     = 64 << 10  // bytes that a body has without a share of the memory for bodies
	defaultMemory = 512 << 20 // bytes of a process, if the Go runtime has no limit (GOMEMLIMIT, --memory)
	bodiesPart    = 8         // one in so many bytes of the process is for bodies,
	modelsPart    = 4         // and one in so many of those is for one model
)

// bodies is the memory for bodies. Its size is set when the first body needs a share.
type bodies struct {
	once sync.Once
	part int64 // of the limit of the process: one in so many bytes
	most int64 // bytes
	free *semaphore.Weighted
}

// allBodies is the memory for bodies of the process, whose limit it follows.
var allBodies = &bodies{part: bodiesPart}

// acquire waits for the memory of a body. The function returned gives it back.
func (b *bodies) acquire(ctx context.Context, size int64) (release func(), err error) {
	b.once.Do(func() {
		limit := debug.SetMemoryLimit(-1)
		if limit == math.MaxInt64 {
			limit = defaultMemory
		}
		b.most = max(limit/b.part, 1)
		b.free = semaphore.NewWeighted(b.most)
	})
	size = min(size, b.most)
	if err := b.free.Acquire(ctx, size); err != nil {
		return nil, err
	}
	return func() { b.free.Release(size) }, nil
}

// share waits for the memory of a body of the model, and then for that of the process.
func (b *bodies) share(ctx context.Context, size int64) (release func(), err error) {
	own, err := b.acquire(ctx, size)
	if err != nil {
		return nil, err
	}
	all, err := allBodies.acquire(ctx, size)
	if err != nil {
		own()
		return nil, err
	}
	return func() { all(); own() }, nil
}

// read reads a body of the model: at most one byte more than the limit, so that the caller can tell a longer one. A
// body that is not small waits for its share of the memory; release gives it back, when the body is needed no more.
func (b *bodies) read(ctx context.Context, res *http.Response, limit int64) (body []byte, release func(), err error) {
	small := min(limit, smallBody)
	if n := res.ContentLength; n > 0 && n <= small {
		body = make([]byte, n)
		n, err := io.ReadFull(res.Body, body)
		return body[:n], func() {}, err
	}
	var buf bytes.Buffer
	if _, err = buf.ReadFrom(io.LimitReader(res.Body, small+1)); err != nil || int64(buf.Len()) <= small {
		return buf.Bytes(), func() {}, err
	}
	if release, err = b.share(ctx, limit); err != nil {
		return buf.Bytes(), func() {}, err
	}
	if n := res.ContentLength; n > 0 && n <= limit {
		buf.Grow(int(n) + bytes.MinRead)
	}
	_, err = buf.ReadFrom(io.LimitReader(res.Body, limit+1-int64(buf.Len())))
	return buf.Bytes(), release, err
}
