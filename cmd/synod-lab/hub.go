package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"synod.dev/synod/bench"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/internal/filelock"
	"synod.dev/synod/llm"
)

// hubOptions are those of a hub.
type hubOptions struct {
	listen  string // address of its own server
	nats    string // URLs of an existing server or cluster in place of it, with commas between them
	access  natsAccess
	queue   string // name
	lease   time.Duration
	every   time.Duration // between beats; 0: a tenth of the lease, or longestEvery
	window  int           // units in the queue at most
	version string
	log     io.Writer
}

// results is where finished units are kept.
type results interface {
	// Left yields the jobs of a run that are not finished.
	Left(*bench.Run) (iter.Seq[bench.Job], error)
	// Keep keeps the journal of a finished job that was examined. done is called when it is on disk, or with the
	// reason why it is not. A job that is finished already is left as it is.
	Keep(r *bench.Run, j bench.Job, journal []byte, seconds float64, done func(error))
	// Failed notes an attempt that did not finish.
	Failed(r *bench.Run, j bench.Job, a bench.Attempt) error
	// Spent returns what the finished jobs have used.
	Spent() (llm.Spent, error)
	Close() error
}

// hub hands out the units of a sweep, keeps the results, and grants requests to models.
type hub struct {
	hubOptions
	sweep   string // id of the folder
	dir     string // its own folder in that of the sweep
	held    io.Closer
	conn    *connection
	names   names
	lock    *hubLock
	queued  *queue
	units   *units
	results results
	permits *permits
	budget  *llm.Budget
	began   time.Time
	quiet   time.Duration // after the beginning, in which workers that went on say what they play

	fatal   chan error
	kick    chan struct{} // a unit was settled
	examine chan struct{} // slots

	mu      sync.Mutex
	state   string
	workers map[string]*member
	claims  map[string]claimOf // by ids of units
	uploads map[string]*upload
	lost    llm.Spent // of workers that are gone
	refused int       // journals
}

// claimOf is the claim of a worker to a unit.
type claimOf struct {
	worker string
	since  time.Time
}

// member is a worker as its hub knows it.
type member struct {
	id       string
	host     string
	version  string
	parallel int
	last     time.Time
	joined   time.Time
	finished int  // units in this run of the hub
	restored bool // it holds permits of the hub before this one, and has not been heard of since
	left     bool // it has said so
}

// longestEvery is the longest time between beats.
const longestEvery = 10 * time.Second

// openHub begins to serve a sweep. The caller closes the hub.
func openHub(ctx context.Context, dir string, cells []string, runs []*bench.Run, budget bench.Budget, r results,
	o hubOptions) (h *hub, err error) {
	h = &hub{hubOptions: o, dir: filepath.Join(dir, "hub"), results: r, state: working, began: time.Now(),
		names: names{o.queue}, fatal: make(chan error, 1), kick: make(chan struct{}, 1), workers: map[string]*member{},
		claims: map[string]claimOf{}, uploads: map[string]*upload{},
		examine: make(chan struct{}, runtime.GOMAXPROCS(0))}
	if h.every == 0 {
		h.every = min(h.lease/10, longestEvery)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.close())
		}
	}()
	if err := os.MkdirAll(h.dir, 0o700); err != nil {
		return h, err
	}
	held, err := filelock.Lock(filepath.Join(h.dir, "lock"))
	if errors.Is(err, filelock.ErrHeld) {
		return h, fmt.Errorf("another hub serves the folder %s", dir)
	}
	if err != nil {
		return h, err
	}
	h.held = held
	if err := h.identify(); err != nil {
		return h, err
	}
	if h.units, err = newUnits(cells, runs, o.window, r.Left); err != nil {
		return h, err
	}
	if err := h.openLedger(budget); err != nil {
		return h, err
	}
	return h, h.connect(ctx)
}

// identify reads or makes the id of the folder. A hub that was there before waits for workers that have gone on.
func (h *hub) identify() error {
	path := filepath.Join(h.dir, "sweep")
	b, err := durable.ReadFile(path, 100)
	if err == nil && isID.MatchString(strings.TrimSpace(string(b))) {
		h.sweep, h.quiet = strings.TrimSpace(string(b)), 2*h.every
		return nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	h.sweep = newID()
	return durable.WriteFile(path, []byte(h.sweep+"\n"))
}

func (h *hub) openLedger(limit bench.Budget) error {
	known, err := h.results.Spent()
	if err != nil {
		return err
	}
	l, s, err := openLedger(h.dir, known, limit != bench.Budget{})
	if err != nil {
		return err
	}
	h.budget = llm.NewBudget(limit.Calls, limit.Tokens).WithMoney(limit.USD, nil)
	h.budget.Add(s.spent)
	h.permits = newPermits(h.budget, l, s.open)
	h.permits.broken = h.fail
	h.permits.used = func() { h.become(overspent) }
	for _, id := range h.permits.workers() {
		h.workers[id] = &member{id: id, last: h.began, joined: h.began, restored: true}
	}
	return nil
}

func (h *hub) connect(ctx context.Context) (err error) {
	if h.nats != "" {
		h.conn, err = join(ctx, h.nats, h.access, h.names)
	} else {
		h.conn, err = serve(h.dir, h.listen, h.names)
	}
	if err != nil {
		return err
	}
	if h.nats != "" { // an own server serves one folder, which is locked
		if h.lock, err = takeLock(ctx, h.conn.Conn, h.names, h.log); err != nil {
			h.lock = nil
			return err
		}
	}
	if h.queued, err = openQueue(ctx, h.conn.Conn, h.names, h.sweep, h.lease); err != nil {
		return err
	}
	return nil
}

// fail ends the hub with an error.
func (h *hub) fail(err error) {
	select {
	case h.fatal <- err:
	default:
	}
}

// become changes the state of the sweep. What is over stays over.
func (h *hub) become(state string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.state == working || state == closing {
		h.state = state
	}
}

func (h *hub) stateNow() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.state
}

// close ends everything. What is on disk stays.
func (h *hub) close() (err error) {
	if h.lock != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		_ = h.lock.release(ctx) // else it expires
		cancel()
	}
	if h.conn != nil {
		h.conn.close()
	}
	if h.permits != nil {
		err = h.permits.ledger.close()
	}
	if h.held != nil {
		err = errors.Join(err, h.held.Close())
	}
	return err
}

// run serves workers until all is finished or nothing more can be, the budget is used, ctx ends, or the folder cannot
// be written.
func (h *hub) run(outer context.Context) error {
	ctx, stop := context.WithCancel(outer)
	defer stop()
	sub, err := h.conn.Subscribe(h.names.asking("*"), func(m *nats.Msg) { go h.answer(ctx, m) })
	if err != nil {
		return err
	}
	if err := sub.SetPendingLimits(100_000, 512<<20); err != nil {
		return err
	}
	if err := h.conn.Flush(); err != nil {
		return err
	}
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	all.Go(func() { h.feed(ctx) })
	if h.lock != nil {
		all.Go(func() {
			if err := h.lock.keep(ctx); err != nil {
				h.fail(err)
			}
		})
	}
	return h.watch(outer)
}

// watch writes the status and forgets silent workers until all workers know that the sweep is over, or ctx ends.
func (h *hub) watch(ctx context.Context) error {
	tick := time.NewTicker(h.every)
	defer tick.Stop()
	var over time.Time // since when workers may know that the sweep is over
	for {
		select {
		case err := <-h.fatal:
			h.become(closing)
			return err
		case <-ctx.Done():
			h.become(closing)
			return ctx.Err()
		case <-tick.C:
		}
		if err := errors.Join(h.bury(), h.writeStatus()); err != nil {
			return err
		}
		if h.stateNow() == working {
			continue
		}
		if over.IsZero() {
			over = time.Now()
		}
		if h.left() || time.Since(over) > h.lease {
			return nil
		}
	}
}

// bury forgets workers that were silent for a lease: others may take their units, and what their requests may have
// cost is spent.
func (h *hub) bury() error {
	h.mu.Lock()
	var gone []*member
	for id, w := range h.workers {
		if w.left || time.Since(w.last) > h.lease {
			gone = append(gone, w)
			delete(h.workers, id)
			h.unclaim(id, nil, 0)
			for key, u := range h.uploads {
				if u.worker == id {
					delete(h.uploads, key)
				}
			}
		}
	}
	h.mu.Unlock()
	for _, w := range gone {
		if err := h.dropPermits(w.id, nil, 0); err != nil {
			return err
		}
		how := "is silent for " + h.lease.String() + ": others may take its questions"
		if w.left {
			how = "has left"
		}
		fmt.Fprintf(h.log, "worker %.8s (%s) %s\n", w.id, w.host, how)
	}
	return nil
}

// unclaim takes claims away from a worker that are older than an age and not among those that it names.
func (h *hub) unclaim(worker string, but []string, age time.Duration) {
	for id, c := range h.claims {
		if c.worker == worker && time.Since(c.since) >= age && !slices.Contains(but, id) {
			delete(h.claims, id)
		}
	}
}

// dropPermits drops permits, and counts what they may have cost as lost.
func (h *hub) dropPermits(worker string, but []string, age time.Duration) error {
	lost, err := h.permits.drop(worker, but, age)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lost.Calls, h.lost.Tokens = h.lost.Calls+lost.Calls, h.lost.Tokens+lost.Tokens
	h.lost.USD += lost.USD
	return err
}

// left reports whether no worker is there any more.
func (h *hub) left() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.workers) == 0
}
