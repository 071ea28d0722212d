package llm

import (
	"context"
	"math"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// endless is a server whose replies have no end.
func endless(t *testing.T) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		chunk := []byte(strings.Repeat(" ", 32<<10))
		for r.Context().Err() == nil {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// The bodies of one model hold no more than its part of the memory for all.
func TestBodiesAreBoundedTogether(t *testing.T) {
	all := bodies{part: bodiesPart}
	release, err := all.acquire(t.Context(), DefaultMaxReply)
	if err != nil {
		t.Fatal(err)
	}
	release()
	if limit := debug.SetMemoryLimit(-1); limit == math.MaxInt64 && all.most != defaultMemory/bodiesPart {
		t.Errorf("%d bytes for bodies", all.most)
	}
	own := bodies{part: bodiesPart * modelsPart}
	held := 0
	for {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		_, err := own.acquire(ctx, DefaultMaxReply)
		if cancel(); err != nil {
			break
		}
		held++
	}
	if most := own.most / DefaultMaxReply; int64(held) != most || held*modelsPart*DefaultMaxReply > int(all.most) {
		t.Errorf("%d bodies of one model at once, want %d", held, most)
	}
}

// A hundred calls of servers whose replies never end stay within the memory of the process, and each fails as too
// long. A body that is given up frees its memory. The collector works as it does by default, whatever GOGC says.
func TestEndlessBodies(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	s := endless(t)
	m, err := NewOpenAI(OpenAIConfig{URL: s.URL, Model: "stub", Private: true})
	if err != nil {
		t.Fatal(err)
	}
	var most atomic.Uint64
	done := make(chan struct{})
	go func() {
		for {
			var now runtime.MemStats
			runtime.ReadMemStats(&now)
			most.Store(max(most.Load(), now.HeapAlloc))
			select {
			case <-done:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			if _, err := m.Complete(t.Context(), ask(t, "6 x 7?")); err == nil ||
				!strings.Contains(err.Error(), "a reply of more than 4194304 bytes") {
				t.Errorf("error %v", err)
			}
		})
	}
	wg.Wait()
	close(done)
	// The share of replies is 64 MiB. The heap may have as much garbage again before it is collected, and more where
	// the collector is late. Without the bound it grows by more than 700 MiB.
	if grew := int64(most.Load() - before.HeapAlloc); grew > 320<<20 {
		t.Errorf("the heap grew by %d MiB", grew>>20)
	} else {
		t.Logf("the heap grew by %d MiB at most", grew>>20)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if release, err := m.bodies.share(ctx, m.bodies.most); err != nil {
		t.Errorf("memory is still held: %v", err)
	} else {
		release()
	}
}
