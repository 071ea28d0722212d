package ledger

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Keeper records decisions in a ledger that may be away, split or behind: it keeps what was promised in a queue
// on disk, and writes it as soon as the ledger takes it. A ledger that fails is opened again.
type Keeper struct {
	queue  Queue
	open   func(context.Context) (Ledger, error)
	log    *slog.Logger
	wake   chan struct{}
	cancel context.CancelFunc
	done   chan struct{}

	mu      sync.Mutex
	ledger  Ledger // nil: it is not open
	head    *SignedHead
	trouble error // why it is not open, or why nothing is written
}

// KeeperStatus says how a ledger stands.
type KeeperStatus struct {
	Entries uint64 `json:"entries"` // under the last head
	Root    []byte `json:"root,omitempty"`
	Pending int    `json:"pending"` // promised, and not written yet
	Trouble string `json:"trouble,omitempty"`
}

// The times of a Keeper.
const (
	appendTime = 10 * time.Second // for one entry, before the others get their turn
	retryLeast = 100 * time.Millisecond
	retryMost  = 5 * time.Second
	atOnce     = 16 // entries that are appended at the same time
)

// Failing is implemented by ledgers that may have to be opened again.
type Failing interface {
	Failed() error // nil: it works
}

// Keep starts a Keeper whose queue is in a folder. open opens the ledger, and is called again after a failure.
func Keep(dir string, open func(context.Context) (Ledger, error), log *slog.Logger) *Keeper {
	ctx, cancel := context.WithCancel(context.Background())
	k := &Keeper{queue: Queue(filepath.Join(dir, pendingDir)), open: open, log: log, wake: make(chan struct{}, 1),
		cancel: cancel, done: make(chan struct{})}
	go k.run(ctx)
	return k
}

// Record promises that an entry will be in the ledger: it is on disk in the queue when Record returns.
func (k *Keeper) Record(e *Entry) error {
	if err := k.queue.Put(e); err != nil {
		return err
	}
	select {
	case k.wake <- struct{}{}:
	default:
	}
	return nil
}

// current returns the open ledger; nil if it is not open.
func (k *Keeper) current() Ledger {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.ledger
}

// Head returns the head of the ledger as it was a second ago or later; nil: none is known. It does not wait for the
// ledger.
func (k *Keeper) Head() *SignedHead {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.head
}

// Status returns how the ledger stands.
func (k *Keeper) Status() KeeperStatus {
	names, err := k.queue.names()
	k.mu.Lock()
	h, trouble := k.head, k.trouble
	k.mu.Unlock()
	s := KeeperStatus{Pending: len(names)}
	if h != nil {
		s.Entries, s.Root = h.Head.Size, h.Head.Root
	}
	if err = errors.Join(trouble, err); err != nil {
		s.Trouble = err.Error()
	}
	return s
}

// Close ends the Keeper and closes the ledger. What is in the queue is written by the next one.
func (k *Keeper) Close() error {
	k.cancel()
	<-k.done
	return k.close()
}

func (k *Keeper) close() error {
	k.mu.Lock()
	l := k.ledger
	k.ledger = nil
	k.mu.Unlock()
	if l == nil {
		return nil
	}
	return l.Close()
}

func (k *Keeper) run(ctx context.Context) {
	defer close(k.done)
	retry := retryLeast
	for ctx.Err() == nil {
		left, err := k.step(ctx)
		var head *SignedHead
		if l := k.current(); l != nil {
			head = l.Head()
		}
		k.mu.Lock()
		if head != nil {
			k.head = head
		}
		k.trouble = err
		k.mu.Unlock()
		var again <-chan time.Time
		switch {
		case err != nil && ctx.Err() == nil:
			k.log.Warn("the ledger takes nothing now; what was promised waits", "error", err, "pending", left)
			again, retry = time.After(retry), min(2*retry, retryMost)
		default:
			again, retry = time.After(time.Second), retryLeast // a ledger may fail while nothing is written
		}
		select {
		case <-k.wake:
			if err != nil { // a ledger that takes nothing is not asked more often because decisions come
				select {
				case <-again:
				case <-ctx.Done():
				}
			}
		case <-again:
		case <-ctx.Done():
		}
	}
}

// step opens the ledger, if it is not open, and writes what waits. left is how much still waits.
func (k *Keeper) step(ctx context.Context) (left int, err error) {
	names, err := k.queue.names()
	if err != nil {
		return 0, err
	}
	l := k.current()
	if f, ok := l.(Failing); ok && f.Failed() != nil {
		k.log.Error("the ledger has failed and is opened again", "error", f.Failed())
		if err := k.close(); err != nil {
			k.log.Warn("the ledger was not closed well", "error", err)
		}
		l = nil
	}
	if l == nil {
		if l, err = k.open(ctx); err != nil {
			return len(names), err
		}
		k.mu.Lock()
		k.ledger = l
		k.mu.Unlock()
	}
	return k.drain(ctx, l, names)
}

// drain writes entries of the queue, some at the same time.
func (k *Keeper) drain(ctx context.Context, l Ledger, names []string) (left int, err error) {
	var all sync.WaitGroup
	var mu sync.Mutex
	places := make(chan struct{}, atOnce)
	for _, name := range names {
		places <- struct{}{}
		mu.Lock()
		stop := err != nil || ctx.Err() != nil
		mu.Unlock()
		if stop {
			break
		}
		all.Go(func() {
			defer func() { <-places }()
			within, cancel := context.WithTimeout(ctx, appendTime)
			defer cancel()
			failed := k.queue.write(within, l, name)
			mu.Lock()
			defer mu.Unlock()
			if failed != nil && !errors.Is(failed, os.ErrNotExist) {
				err = failed
			}
		})
	}
	all.Wait()
	if names, more := k.queue.names(); more == nil {
		left = len(names)
	}
	return left, err
}
