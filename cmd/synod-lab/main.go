// Synod-lab spreads a sweep over workers on several machines. "synod bench hub" and "synod bench worker" start it
// when it lies beside synod.
//
// It is a module of its own because of NATS, which the command synod neither downloads nor links.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"synod.dev/synod/bench"
	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/internal/filelock"
	"synod.dev/synod/internal/program"
)

// The exit codes; those of synod.
const (
	exitError       = 1
	exitUsage       = 2
	exitBudget      = 5
	exitInterrupted = 130
)

// version is what hub and workers compare: release and commit.
var version = app.Version()

func main() {
	ctx, stop := program.Context()
	code := run(ctx, os.Args[1:], &program.Screen{To: os.Stdout}, &program.Screen{To: os.Stderr})
	stop()
	os.Exit(code)
}

// failed is an error of the work, and not of the arguments.
type failed struct {
	error
	code int
}

func (f failed) Unwrap() error { return f.error }

// run runs the command line and returns its exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	failure := func(err error) error {
		if err == nil {
			return nil
		}
		return failed{err, exitError}
	}
	root := program.Root("Spread a sweep over workers on several machines", failure, hubCommand(), workerCommand())
	root.Version = app.Version()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	fmt.Fprintln(stderr, "synod:", program.Printable(err.Error()))
	var f failed
	if errors.As(err, &f) {
		return f.code
	}
	return exitUsage
}

// isQueue matches the names of queues, which are parts of subjects and streams of NATS.
var isQueue = regexp.MustCompile(`^[A-Za-z0-9_]{1,40}$`)

func checkQueue(name string) error {
	if !isQueue.MatchString(name) {
		return fmt.Errorf("--queue is %q; it must have 1 to 40 letters, digits or underscores, such as study_1", name)
	}
	return nil
}

const (
	defaultListen = "127.0.0.1:7700"
	defaultQueue  = "sweep"
	defaultLease  = 30 * time.Second
	queueWindow   = 1000
)

func hubCommand() *cobra.Command {
	o := hubOptions{version: version, window: queueWindow}
	cmd := &cobra.Command{
		Use:   "hub DIR",
		Short: "Hand out the questions of a grid to workers, and keep the results",
		Long: `Serves the grid in a folder, which synod bench hub MANIFEST -o DIR makes, to workers (synod bench
worker). It keeps the results, grants requests to models within the limits of their
accounts and the budget of the manifest, and ends when all questions are finished. It may
be killed and started again at any time.

On loopback any user of this machine may work. On other addresses connections use TLS, and
workers need the file hub/worker.key of the folder. With --nats the queue is in an existing
NATS cluster with JetStream.

Exit codes: 0 all finished · 1 some failed, or the folder cannot be written · 2 usage · 5 the
budget is used · 130 interrupted.`,
		Example: `  synod bench hub study.yaml -o runs/study --listen 0.0.0.0:7700
  synod bench hub runs/study
  synod bench hub runs/study --nats tls://a.example,tls://b.example,tls://c.example --creds hub.creds`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.log = cmd.ErrOrStderr()
			return serveGrid(cmd.Context(), args[0], o)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&o.listen, "listen", defaultListen, "`address` for workers; port 0: a free one")
	fl.StringVar(&o.nats, "nats", "", "`URL[,URL…]` of an existing NATS server or cluster with JetStream, in place "+
		"of an own one")
	addAccess(fl, &o.access, "--nats")
	fl.StringVar(&o.queue, "queue", defaultQueue, "`name` of the queue; sweeps on one NATS server need different ones")
	fl.DurationVar(&o.lease, "lease", defaultLease, "how long a worker may be silent before others take its questions")
	return cmd
}

// addAccess adds the options with which hub and workers prove to a NATS server who they are.
func addAccess(fl *pflag.FlagSet, a *natsAccess, of string) {
	fl.StringVar(&a.creds, "creds", "", "`file` with a user's credentials or the seed of an nkey for "+of)
	fl.StringVar(&a.ca, "ca", "", "`file` with the certificates of the authorities that "+of+" is trusted by; "+
		"default: those of the system")
}

// check validates the options of a hub.
func (o *hubOptions) check() error {
	switch {
	case o.lease < time.Second || o.lease > time.Hour:
		return fmt.Errorf("--lease is %v; it must be between 1s and 1h, such as 30s", o.lease)
	case o.nats == "" && !isAddress(o.listen):
		return fmt.Errorf("--listen is %q; it must be an address such as 127.0.0.1:7700 or 0.0.0.0:7700", o.listen)
	case o.access != natsAccess{} && o.nats == "":
		return errors.New("--creds and --ca are for --nats; workers of a hub with its own server use hub/worker.key")
	}
	return checkQueue(o.queue)
}

func isAddress(s string) bool {
	_, port, err := net.SplitHostPort(s)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	return err == nil
}

// serveGrid serves the grid of a folder until it is finished.
func serveGrid(ctx context.Context, dir string, o hubOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	grid, err := bench.OpenGrid(dir)
	if err != nil {
		return failed{err, exitError}
	}
	kept, err := openResults(grid)
	if err != nil {
		return failed{err, exitError}
	}
	var names []string
	for _, c := range grid.Cells {
		names = append(names, c.Name)
	}
	h, err := openHub(ctx, dir, names, grid.Runs, grid.Budget, kept, o)
	if err != nil {
		return failed{errors.Join(err, kept.Close()), exitError}
	}
	h.greet(dir)
	err = h.run(ctx)
	waiting, queued, done, bad := h.units.tally()
	state := h.stateNow()
	err = errors.Join(err, h.close(), kept.Close())
	total := waiting + queued + done + bad
	word := app.ShellWord(dir)
	switch {
	case errors.Is(err, context.Canceled):
		return failed{fmt.Errorf("interrupted: %d of %d questions are finished. Go on with:\n  synod bench hub %s",
			done, total, word), exitInterrupted}
	case err != nil:
		return failed{fmt.Errorf("%w\n%d of %d questions are finished and kept; workers keep what they have finished "+
			"and wait. When the problem is solved, go on with:\n  synod bench hub %s", err, done, total,
			word), exitError}
	case state == overspent:
		return failed{fmt.Errorf("the budget is used: %d of %d questions are finished and kept. Raise budget in the "+
			"manifest and go on with:\n  synod bench hub MANIFEST.yaml -o %s", done, total, word), exitBudget}
	case bad > 0:
		return failed{fmt.Errorf("%d of %d questions failed; see the reasons with: synod bench report %s", bad, total,
			word), exitError}
	}
	fmt.Fprintf(o.log, "%d of %d questions finished · see: synod bench report %s\n", done, total, word)
	return nil
}

// greet says how workers are started.
func (h *hub) greet(dir string) {
	waiting, _, done, _ := h.units.tally()
	fmt.Fprintf(h.log, "%d cells, %d questions, of which %d are finished\n", len(h.units.cells), waiting+done, done)
	line := "synod bench worker --hub " + h.reachable()
	if h.queue != defaultQueue {
		line += " --queue " + h.queue
	}
	if h.conn.key != "" {
		line += " --key " + app.ShellWord(h.conn.key)
	}
	if h.access.creds != "" {
		line += " --creds FILE"
	}
	if h.access.ca != "" {
		line += " --ca " + app.ShellWord(h.access.ca)
	}
	fmt.Fprintf(h.log, "listening on %s\nstart workers, on any machine that reaches this one, with:\n  %s\nwatch them "+
		"with: synod bench status %s\n", h.conn.address, line, app.ShellWord(dir))
}

// reachable returns the address of the hub for workers elsewhere: this machine's name in place of "all addresses".
func (h *hub) reachable() string {
	host, port, err := net.SplitHostPort(h.conn.address)
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsUnspecified() {
		return h.conn.address
	}
	name, err := os.Hostname()
	if err != nil {
		return h.conn.address
	}
	return net.JoinHostPort(name, port)
}

func workerCommand() *cobra.Command {
	o := workerOptions{version: version, program: "synod " + strings.Fields(version)[0], outage: bench.DefaultOutage}
	var home, prices string
	cmd := &cobra.Command{
		Use:   "worker --hub ADDR",
		Short: "Play questions of a sweep for its hub",
		Long: `Takes questions from a hub (synod bench hub), asks the models with the keys of this machine, and
sends the journals to the hub. It only dials out. Every call to a model needs a permit of the
hub, so that limits and budget hold over all workers.

A paid reply is on this machine's disk before it is used. A worker that was killed goes on
with its unfinished questions when it is started again with the same folder.

Exit codes: 0 the sweep is finished · 1 the worker cannot go on · 2 usage · 5 the budget of the
sweep is used · 130 interrupted.`,
		Example: `  synod bench worker --hub 10.0.0.5:7700 --key worker.key --parallel 8 --trust`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := app.New(home, prices)
			if err != nil {
				return err
			}
			o.env, o.log = h.Env(), cmd.ErrOrStderr()
			return startWorker(cmd.Context(), filepath.Join(h.Dirs.State, "lab"), o)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&o.hub, "hub", "", "`address` of the hub: HOST:PORT, or URL[,URL…] of NATS servers")
	fl.StringVar(&o.key, "key", "", "`file` hub/worker.key of the hub's folder; needed beyond loopback")
	addAccess(fl, &o.access, "a NATS server")
	fl.StringVar(&o.queue, "queue", defaultQueue, "`name` of the hub's queue")
	fl.StringVar(&o.dir, "state", "", "`folder` for unfinished questions (default: one of the state folder that no "+
		"other worker uses)")
	fl.IntVar(&o.parallel, "parallel", 1, "questions in progress at the same time")
	fl.DurationVar(&o.outage, "outage", o.outage, "how long calls wait for a model that has replied before and "+
		"no longer does")
	fl.BoolVar(&o.trust, "trust", false, "use the addresses, keys and files that the councils of the hub name")
	fl.StringVar(&home, "home", os.Getenv("SYNOD_HOME"), "`folder` for all files of the user")
	fl.StringVar(&prices, "prices", os.Getenv("SYNOD_PRICES"), "price `file`")
	return cmd
}

// startWorker runs a worker in a folder of its own.
func startWorker(ctx context.Context, under string, o workerOptions) error {
	switch {
	case o.hub == "":
		return errors.New("--hub is missing: the address that the hub prints, such as 10.0.0.5:7700")
	case o.parallel < 1 || o.parallel > 10_000:
		return fmt.Errorf("--parallel is %d; it must be between 1 and 10000, such as 8", o.parallel)
	case o.outage < 0 || o.outage > 24*time.Hour:
		return fmt.Errorf("--outage is %v; it must be between 0s and 24h, such as 5m", o.outage)
	}
	if err := checkQueue(o.queue); err != nil {
		return err
	}
	held, err := workerFolder(under, &o.dir)
	if err != nil {
		return failed{err, exitError}
	}
	defer held.Close()
	err = work(ctx, o)
	switch {
	case errors.Is(err, errSweepOver):
		fmt.Fprintln(o.log, err)
		return nil
	case errors.Is(err, errNoBudget):
		return failed{fmt.Errorf("%w; unfinished questions are kept in %s", err, o.dir), exitBudget}
	case errors.Is(err, context.Canceled):
		return failed{fmt.Errorf("interrupted: unfinished questions are kept in %s; the same command goes on", o.dir),
			exitInterrupted}
	}
	return failed{err, exitError}
}

// maxWorkers is how many folders of workers are tried.
const maxWorkers = 1000

// workerFolder locks the folder of a worker: the given one, or the first that no other worker of this machine uses.
func workerFolder(under string, dir *string) (io.Closer, error) {
	take := func(path string) (io.Closer, error) {
		if err := os.MkdirAll(path, 0o700); err != nil {
			return nil, err
		}
		return filelock.Lock(filepath.Join(path, "lock"))
	}
	if *dir != "" {
		held, err := take(*dir)
		if errors.Is(err, filelock.ErrHeld) {
			err = fmt.Errorf("another worker uses the folder %s; give each its own with --state", *dir)
		}
		return held, err
	}
	for n := 1; n <= maxWorkers; n++ {
		path := filepath.Join(under, fmt.Sprintf("worker-%d", n))
		held, err := take(path)
		if errors.Is(err, filelock.ErrHeld) {
			continue
		}
		*dir = path
		return held, err
	}
	return nil, fmt.Errorf("%d workers use the folders in %s; give this one its own with --state", maxWorkers, under)
}
