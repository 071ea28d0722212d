package main

import (
	"errors"
	"iter"
	"sync"

	"synod.dev/synod/bench"
	"synod.dev/synod/llm"
)

// kept keeps results in the folder of a grid. Journals are on disk in batches: while one is written, the next comes
// together.
type kept struct {
	folder *bench.Writer
	wake   chan struct{}
	ended  chan struct{}

	mu      sync.Mutex
	waiting []func(error) // for the next batch
	closed  bool
}

// openResults opens the folder of a grid. No other process may have it open for writing.
func openResults(g *bench.Grid) (*kept, error) {
	folder, err := g.Write()
	if err != nil {
		return nil, err
	}
	k := &kept{folder: folder, wake: make(chan struct{}, 1), ended: make(chan struct{})}
	go k.flush()
	return k, nil
}

// Left yields the jobs that are not finished.
func (k *kept) Left(r *bench.Run) (iter.Seq[bench.Job], error) { return k.folder.Unfinished(r) }

// Keep keeps a journal, and calls done when it is on disk.
func (k *kept) Keep(r *bench.Run, j bench.Job, journal []byte, seconds float64, done func(error)) {
	if _, err := k.folder.Put(r, j, journal, bench.Attempt{Finished: true, Seconds: seconds}); err != nil {
		done(err)
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		go done(errors.New("the hub ends"))
		return
	}
	k.waiting = append(k.waiting, done)
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// flush writes batches until the folder is closed.
func (k *kept) flush() {
	defer close(k.ended)
	for range k.wake {
		k.mu.Lock()
		batch := k.waiting
		k.waiting = nil
		k.mu.Unlock()
		err := k.folder.Flush()
		for _, done := range batch {
			done(err)
		}
	}
}

// Failed notes an attempt that finished nothing.
func (k *kept) Failed(r *bench.Run, j bench.Job, a bench.Attempt) error {
	return k.folder.Attempted(r, j, a)
}

// Spent returns what the finished jobs have used.
func (k *kept) Spent() (llm.Spent, error) { return k.folder.Spent() }

// Close writes what waits and closes the folder.
func (k *kept) Close() error {
	k.mu.Lock()
	k.closed = true
	k.mu.Unlock()
	close(k.wake)
	<-k.ended
	return k.folder.Close()
}
