package llm

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"synod.dev/synod/llm/engine"
)

// sharedEngine is one engine process for all members of one model file. It
// starts with the first call, is started again if it dies, a few times, and ends
// with its last member.
type sharedEngine struct {
	key   engineKey
	cfg   engine.Config
	users int // under engines.mu

	mu      sync.Mutex
	now     *engine.Client
	starts  int
	failure error // why it will not be started again
}

type engineKey struct {
	lib, model             string
	context, threads, seqs int
	hidden                 bool
}

// maxStarts is how often an engine is started for one council: one that keeps
// dying has a reason that another start does not remove.
const maxStarts = 3

var engines = struct {
	mu   sync.Mutex
	open map[engineKey]*sharedEngine
}{open: map[engineKey]*sharedEngine{}}

// share returns the engine for these settings; release gives it back.
func share(cfg engine.Config) *sharedEngine {
	key := engineKey{cfg.LibDir, cfg.ModelPath, cfg.Context, cfg.Threads, cfg.Seqs, cfg.Hidden}
	engines.mu.Lock()
	defer engines.mu.Unlock()
	e := engines.open[key]
	if e == nil {
		e = &sharedEngine{key: key, cfg: cfg}
		engines.open[key] = e
	}
	e.users++
	return e
}

func (e *sharedEngine) release() error {
	engines.mu.Lock()
	e.users--
	last := e.users == 0
	if last {
		delete(engines.open, e.key)
	}
	engines.mu.Unlock()
	if !last {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.failure = engine.ErrClosed
	if e.now == nil {
		return nil
	}
	return e.now.Close()
}

// client is the running engine, started now if need be.
func (e *sharedEngine) client(ctx context.Context) (*engine.Client, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.now != nil {
		select {
		case <-e.now.Done():
			e.now.Close() // it died; what it said last went to whoever was calling
			e.now = nil
		default:
			return e.now, nil
		}
	}
	if e.failure != nil {
		return nil, e.failure
	}
	if e.starts == maxStarts {
		e.failure = fmt.Errorf("the model process died %d times and is not started again", maxStarts)
		return nil, e.failure
	}
	e.starts++
	c, err := engine.Start(ctx, e.cfg)
	if err != nil {
		if errors.Is(err, engine.ErrModel) || errors.Is(err, engine.ErrLibrary) {
			e.failure = err // the same files will fail the same way
		}
		return nil, err
	}
	e.now = c
	return c, nil
}
