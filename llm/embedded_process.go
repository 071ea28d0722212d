package llm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/llm/engine"
	"synod.dev/synod/llm/probe"
)

// engineProcess is a running engine.
type engineProcess interface {
	completer
	Info() engine.Info
	Done() <-chan struct{} // closed when the process has ended
	Close() error
}

// sharedEngine is one engine process for all members of one model file, in any council. It starts
// with the first call and ends when its last member is closed.
//
// A process that dies is started again with the next call, after a back-off that
// doubles while it keeps dying within a minute. It is given up only if it dies
// maxCrashes times in a row before it has answered a call, because another start would not remove
// the reason.
type sharedEngine struct {
	key   engineKey
	cfg   engine.Config
	start func(context.Context, engine.Config) (engineProcess, error)
	users int // under engines.mu

	mu       sync.Mutex
	now      engineProcess // nil: none runs
	since    time.Time     // when it was ready
	answered bool          // it has answered a call
	starting chan struct{} // closed when the start under way has ended; nil: none is
	stop     func()        // ends the start under way
	startErr error         // why the last start failed
	crashes  int           // in a row without an answered call
	wait     time.Duration // the back-off after the last crash
	next     time.Time     // no start before
	failure  error         // why it is never started again
}

type engineKey struct {
	lib, model             string
	context, threads, seqs int
	hidden                 bool
}

const (
	maxCrashes   = 5
	firstBackOff = 250 * time.Millisecond
	maxBackOff   = 30 * time.Second
	stableAfter  = time.Minute      // a process that lived as long starts the back-off anew
	startTimeout = 10 * time.Minute // to load the model
)

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
		e = &sharedEngine{key: key, cfg: cfg, start: startEngine}
		engines.open[key] = e
	}
	e.users++
	return e
}

// completer returns an engine that starts with the first call.
func (e *sharedEngine) completer() completer { return e.remembering(started{e}) }

func (e *sharedEngine) grammar(schema []byte) (string, error) { return engine.Grammar(schema) }

// identify starts the engine and describes it.
func (e *sharedEngine) identify(ctx context.Context, s *probe.Subject) error {
	c, err := e.client(ctx)
	if err != nil {
		return err
	}
	i := c.Info()
	release, _, _ := strings.Cut(i.Library, "-") // builds may have names such as 0.5.0-dev
	s.Engine, s.Layers, s.Width = "llama.cpp "+release, i.Layers, i.Width
	return nil
}

func startEngine(ctx context.Context, cfg engine.Config) (engineProcess, error) {
	c, err := engine.Start(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// release ends the process if this was its last member.
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
	e.failure = engine.ErrClosed
	starting := e.starting
	if starting != nil {
		e.stop()
	}
	e.mu.Unlock()
	if starting != nil {
		<-starting
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.now == nil {
		return nil
	}
	return e.now.Close()
}

// client returns the running process and starts it if need be. It fails at once
// with a Retryable failure during the back-off after a crash.
func (e *sharedEngine) client(ctx context.Context) (engineProcess, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for {
		e.reap()
		switch {
		case e.failure != nil:
			return nil, e.failure
		case e.now != nil:
			return e.now, nil
		case e.starting == nil:
			if wait := time.Until(e.next); wait > 0 {
				return nil, &Failure{Status: synod.Unavailable, Retryable: true, RetryAfter: wait,
					Err: fmt.Errorf("the model process crashed and is started again in %v",
						wait.Round(time.Millisecond))}
			}
			e.launch()
		}
		starting := e.starting
		e.mu.Unlock()
		select {
		case <-starting:
		case <-ctx.Done():
		}
		e.mu.Lock()
		switch {
		case ctx.Err() != nil:
			return nil, ended(ctx, "waiting for the model process to start")
		case e.now == nil && e.failure == nil && e.startErr != nil:
			return nil, &Failure{Status: synod.Unavailable, Retryable: true, RetryAfter: e.wait, Err: e.startErr}
		}
	}
}

// launch starts the process in the background, so that a call that is cancelled
// does not stop a start that others wait for.
func (e *sharedEngine) launch() {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	done := make(chan struct{})
	e.starting, e.stop, e.startErr = done, cancel, nil
	go func() {
		defer cancel()
		p, err := e.start(ctx, e.cfg)
		e.mu.Lock()
		defer e.mu.Unlock()
		e.starting = nil
		close(done)
		switch {
		case err == nil:
			e.now, e.since, e.answered = p, time.Now(), false
		case e.failure != nil: // closed meanwhile
		case errors.Is(err, engine.ErrModel), errors.Is(err, engine.ErrLibrary):
			e.failure = err // the same files fail the same way
		default:
			e.startErr = err
			e.crashed(err)
		}
	}()
}

// reap releases a process that has died.
func (e *sharedEngine) reap() {
	if e.now == nil {
		return
	}
	select {
	case <-e.now.Done():
	default:
		return
	}
	_ = e.now.Close() // why it died was returned to the calls under way
	e.now = nil
	if time.Since(e.since) >= stableAfter {
		e.wait = 0
	}
	if e.answered {
		e.crashes = -1 // this crash was none of those in a row
	}
	e.crashed(nil)
}

// crashed sets the back-off, or gives up. err is why a start failed, or nil.
func (e *sharedEngine) crashed(err error) {
	e.wait = min(max(2*e.wait, firstBackOff), maxBackOff)
	e.next = time.Now().Add(e.wait)
	if e.crashes++; e.crashes == maxCrashes {
		e.failure = fmt.Errorf("the model process crashed %d times in a row before it answered a call, "+
			"and is not started again", maxCrashes)
		if err != nil {
			e.failure = fmt.Errorf("%w; the last time: %w", e.failure, err)
		}
	}
}

// started is the engine as a completer that starts the process with the first call: a member whose likelihoods are all
// remembered needs none.
type started struct{ engine *sharedEngine }

// Generate starts the process if need be and generates a text.
func (s started) Generate(ctx context.Context, r engine.Request) (out engine.Result, err error) {
	client, err := s.engine.client(ctx)
	if err != nil {
		return out, AsFailure(err)
	}
	if out, err = client.Generate(ctx, r); err == nil {
		s.engine.works(client)
	}
	return out, err
}

// Weigh starts the process if need be and weighs continuations.
func (s started) Weigh(ctx context.Context, prefix string, list []string, want *engine.Capture,
) (scores []engine.LogProb, states []*engine.States, usage engine.Usage, err error) {
	client, err := s.engine.client(ctx)
	if err != nil {
		return nil, nil, usage, AsFailure(err)
	}
	if scores, states, usage, err = client.Weigh(ctx, prefix, list, want); err == nil {
		s.engine.works(client)
	}
	return scores, states, usage, err
}

// works records that a process has answered a call.
func (e *sharedEngine) works(p engineProcess) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.now == p {
		e.answered = true
	}
}
