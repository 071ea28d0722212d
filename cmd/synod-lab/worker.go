package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"synod.dev/synod/internal/durable"
	"synod.dev/synod/llm"
)

// workerOptions are those of a worker.
type workerOptions struct {
	hub      string // address, or URLs of NATS servers with commas between them
	key      string // file of the workers' key
	access   natsAccess
	queue    string
	dir      string // its own folder
	parallel int
	trust    bool // use what the councils name
	outage   time.Duration
	env      llm.Env
	program  string // for the heads of journals
	version  string
	log      io.Writer
}

// worker plays units of a sweep and sends their journals to the hub.
type worker struct {
	workerOptions
	id    string
	host  string
	names names
	nc    *nats.Conn
	fatal chan error

	mu      sync.Mutex
	pulse   pulse
	heard   time.Time // when the hub answered the last beat
	silent  bool      // the hub does not answer
	playing map[string]bool
	open    map[string]bool // permits
	cells   map[string]*opened
	bad     int            // journals that the hub refused
	sends   sync.WaitGroup // releases of permits on their way
}

// Errors with which a worker ends though nothing is wrong with it.
var (
	errSweepOver = errors.New("the sweep is finished")
	errNoBudget  = errors.New("the budget of the sweep is used")
)

// requestTime is how long a worker waits for an answer before it asks again.
const requestTime = 10 * time.Second

// work plays units until the sweep is over, ctx ends, or the worker cannot go on.
func work(outer context.Context, o workerOptions) (err error) {
	w := &worker{workerOptions: o, names: names{o.queue}, fatal: make(chan error, 1), playing: map[string]bool{},
		open: map[string]bool{}, cells: map[string]*opened{}}
	if w.id, err = identity(o.dir); err != nil {
		return err
	}
	if w.host, err = os.Hostname(); err != nil {
		w.host = "unknown"
	}
	ctx, stop := context.WithCancelCause(outer)
	defer stop(nil)
	if err := w.connect(ctx); err != nil {
		return err
	}
	defer w.nc.Close()
	if err := w.introduce(ctx); err != nil {
		return err
	}
	fmt.Fprintf(w.log, "worker %.8s is at work for %s\n", w.id, redacted(w.hub))
	w.env.Permits = &remotePermits{w}
	var all sync.WaitGroup
	all.Go(func() { w.live(ctx, stop) })
	all.Go(func() { w.pull(ctx) })
	select {
	case err = <-w.fatal:
		stop(err)
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	all.Wait()
	w.leave()
	return errors.Join(err, w.closeCells())
}

// identity returns the id of the worker of a folder, which it keeps when it is started again.
func identity(dir string) (string, error) {
	path := filepath.Join(dir, "worker")
	b, err := durable.ReadFile(path, 100)
	if id := strings.TrimSpace(string(b)); err == nil && isID.MatchString(id) {
		return id, nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	id := newID()
	return id, durable.WriteFile(path, []byte(id+"\n"))
}

// connect connects to the hub, and waits for it if it is not there.
func (w *worker) connect(ctx context.Context) error {
	for n := 1; ; n++ {
		nc, err := dial(w.hub, w.key, w.access)
		if err == nil {
			w.nc = nc
			return nil
		}
		if isNATS(w.hub) && refuses(err) {
			return fmt.Errorf("%s: %w", redacted(w.hub), errNoAccess)
		}
		if needsKey(err) && !isNATS(w.hub) {
			return fmt.Errorf("the hub %s does not admit this worker: %w; copy the file hub/worker.key of the hub's "+
				"folder and give it with --key FILE", w.hub, err)
		}
		if !isTransient(err) {
			return fmt.Errorf("the hub %s: %w", redacted(w.hub), err)
		}
		if n == 1 {
			fmt.Fprintf(w.log, "the hub %s does not answer yet (%v); trying again\n", redacted(w.hub), err)
		}
		if !pause(ctx, backOff(n)) {
			return context.Cause(ctx)
		}
	}
}

// needsKey reports whether a worker was not admitted because it has no key, or another one.
func needsKey(err error) bool {
	return errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrSecureConnWanted) ||
		errors.Is(err, nats.ErrSecureConnRequired) || errors.As(err, new(*tls.CertificateVerificationError))
}

// isTransient reports whether the network may be the cause of an error.
func isTransient(err error) bool {
	var file *fs.PathError
	if errors.As(err, &file) { // it has a method Timeout, too
		return false
	}
	var network interface{ Timeout() bool }
	return errors.As(err, &network) || errors.Is(err, nats.ErrNoServers) || errors.Is(err, nats.ErrTimeout) ||
		errors.Is(err, io.EOF) || errors.Is(err, nats.ErrDisconnected) || errors.Is(err, nats.ErrConnectionClosed)
}

// ask sends a request once.
func (w *worker) ask(ctx context.Context, what string, request, answer any) error {
	b, err := json.Marshal(request)
	if err != nil {
		return err
	}
	within, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	m, err := w.nc.RequestWithContext(within, w.names.asking(what), b)
	if err != nil {
		return err
	}
	var r reply
	if err := json.Unmarshal(m.Data, &r); err != nil {
		return fmt.Errorf("the hub's answer cannot be read: %w", err)
	}
	if r.Error != "" {
		return &hubError{cut(r.Error, maxReason), r.Fatal}
	}
	if answer == nil {
		return nil
	}
	if err := json.Unmarshal(r.Answer, answer); err != nil {
		return fmt.Errorf("the hub's answer cannot be read: %w", err)
	}
	return nil
}

// insist sends a request until it is answered, with growing pauses. It fails when ctx ends, or if the hub says that
// asking again does not help.
func (w *worker) insist(ctx context.Context, what string, request, answer any) error {
	for n := 1; ; n++ {
		err := w.ask(ctx, what, request, answer)
		var said *hubError
		if err == nil || errors.As(err, &said) && said.fatal {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !pause(ctx, backOff(n)) {
			return context.Cause(ctx)
		}
	}
}

func (w *worker) hello() hello {
	w.mu.Lock()
	defer w.mu.Unlock()
	return hello{w.pulse.Sweep, w.id}
}

// beat tells the hub what the worker does.
func (w *worker) beat(ctx context.Context, leaving bool) error {
	w.mu.Lock()
	b := beat{hello: hello{w.pulse.Sweep, w.id}, Protocol: protocolVersion, Version: w.version, Host: w.host,
		Parallel: w.parallel, Playing: make([]string, 0, len(w.playing)), Permits: make([]string, 0, len(w.open)),
		Leaving: leaving}
	for id := range w.playing {
		b.Playing = append(b.Playing, id)
	}
	for id := range w.open {
		b.Permits = append(b.Permits, id)
	}
	w.mu.Unlock()
	var p pulse
	if err := w.ask(ctx, askBeat, &b, &p); err != nil {
		return err
	}
	if err := p.check(); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.silent {
		w.silent = false
		fmt.Fprintln(w.log, "the hub answers again")
	}
	w.pulse, w.heard = p, time.Now()
	return nil
}

// introduce beats until the hub knows the worker.
func (w *worker) introduce(ctx context.Context) error {
	for n := 1; ; n++ {
		err := w.beat(ctx, false)
		var said *hubError
		if err == nil || errors.As(err, &said) && said.fatal {
			return err
		}
		if not := denied(w.nc); not != nil {
			return fmt.Errorf("%s: %w; docs/measure/experiments.md lists what a worker needs", redacted(w.hub), not)
		}
		if n == 3 {
			fmt.Fprintf(w.log, "no hub answers at %s yet (%v); trying again\n", redacted(w.hub), err)
		}
		if !pause(ctx, backOff(n)) {
			return context.Cause(ctx)
		}
	}
}

// live beats until the sweep is over.
func (w *worker) live(ctx context.Context, stop context.CancelCauseFunc) {
	for pause(ctx, w.now().Every) {
		within, cancel := context.WithTimeout(ctx, w.now().Every*2)
		err := w.beat(within, false)
		cancel()
		var said *hubError
		switch {
		case errors.As(err, &said) && said.fatal:
			w.fail(err)
		case err != nil:
			w.noticeSilence(err)
		}
		switch w.now().State {
		case finished:
			stop(errSweepOver)
		case overspent:
			if w.running() == 0 { // the calls that were paid for have ended
				stop(errNoBudget)
			}
		}
	}
}

func (w *worker) noticeSilence(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.silent && time.Since(w.heard) > 3*w.pulse.Every {
		w.silent = true
		fmt.Fprintf(w.log, "the hub does not answer (%v): what runs goes on, nothing begins\n", err)
	}
}

// now returns what the hub said last.
func (w *worker) now() pulse {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pulse
}

// running returns how many requests to models are on their way.
func (w *worker) running() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.open)
}

// inTouch reports whether questions and calls may begin.
func (w *worker) inTouch() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pulse.State == working && time.Since(w.heard) <= 3*w.pulse.Every
}

// fail ends the worker with an error.
func (w *worker) fail(err error) {
	select {
	case w.fatal <- err:
	default:
	}
}

// leaveTime bounds how long a worker that ends waits for the hub.
const leaveTime = 3 * time.Second

// leave tells the hub that the worker ends.
func (w *worker) leave() {
	ctx, cancel := context.WithTimeout(context.Background(), leaveTime)
	defer cancel()
	sent := make(chan struct{})
	go func() {
		w.sends.Wait()
		close(sent)
	}()
	select {
	case <-sent:
	case <-ctx.Done():
	}
	_ = w.beat(ctx, true) // a hub that does not hear it waits for a lease
}
