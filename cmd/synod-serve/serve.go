package main

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"synod.dev/synod/cmd/cli/app"

	"synod.dev/synod/cmd/synod-serve/internal/councils"
	"synod.dev/synod/cmd/synod-serve/internal/gateway"
	"synod.dev/synod/cmd/synod-serve/internal/page"
	"synod.dev/synod/cmd/synod-serve/internal/store"
)

func serveCommand() *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve councils to OpenAI and Anthropic clients over HTTP",
		Long: `Serves councils under an OpenAI-compatible API. The model "synod" is the council that
"synod ask" has without flags: without any configuration, seven members of the model in
the box. With --councils each file NAME.yaml in the folder is the model NAME, and
"solo:MODEL" passes requests on to one model of any of these files. Files are read again
when they change. Requests from other machines need --listen and API keys.`,
		Example: `  synod serve
  synod serve --councils councils --listen 127.0.0.1:9000
  curl -s http://127.0.0.1:8080/v1/chat/completions -H 'Content-Type: application/json' \
    -d '{"model": "synod", "messages": [{"role": "user", "content": "Is 91 prime?"}]}'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			home, err := app.New(f.home, f.prices)
			if err == nil {
				err = f.configure(cmd.Flags(), home.Dirs.Config)
			}
			if err != nil {
				return usageError{err}
			}
			return f.serve(cmd.Context(), home, cmd.ErrOrStderr())
		},
	}
	f.shared(cmd)
	cmd.AddCommand(keysCommand(&f), labelsCommand(&f), backupCommand(&f), restoreCommand(&f), dataCommand(&f))
	fl := cmd.Flags()
	fl.StringVar(&f.listen, "listen", defaultListen, "`address` to listen on; port 0 picks a free one")
	fl.StringVar(&f.runs, "runs", "", "`folder` of the runs of synod bench, which the page shows")
	fl.StringVar(&f.metrics, "metrics", "", "`address` of a listener of its own for Prometheus; on a loopback address "+
		"it has /debug/pprof too")
	fl.Var(&f.memory, "memory", "memory that the gateway tries to keep to, such as `256MiB`; an eighth of it is for "+
		"the bodies of requests, and one for those of models (default 512MiB, or GOMEMLIMIT)")
	fl.StringVar(&f.tlsCert, "tls-cert", "", "`file` with the TLS certificate and its chain (PEM), for HTTPS; it is "+
		"read again when it changes")
	fl.StringVar(&f.tlsKey, "tls-key", "", "`file` with the key of the TLS certificate (PEM)")
	fl.BoolVar(&f.noLogin, "no-login", false, "show the page on a loopback address to every user of this machine, "+
		"who may change councils then")
	fl.StringSliceVar(&f.hosts, "hosts", nil, "`names` under which clients reach the gateway, beside localhost and "+
		"addresses")
	return cmd
}

// serve runs the gateway until ctx ends, and then drains it. It fails if the store cannot be closed, because what was
// settled last may not be on disk then.
func (f *flags) serve(ctx context.Context, home *app.App, stderr io.Writer) (err error) {
	local, err := loopback(f.listen)
	if err != nil {
		return usageError{err}
	}
	local = local && len(f.hosts) == 0 // a name leads to it from elsewhere, through a proxy
	if f.tls, err = openCertificate(f.tlsCert, f.tlsKey); err != nil {
		return usageError{err}
	}
	log, flush := f.lateLogger(stderr)
	defer flush()
	state := filepath.Join(home.Dirs.State, "serve")
	st, unlock, err := f.open(ctx, state)
	if err != nil {
		return err
	}
	defer unlock()
	defer func() { err = errors.Join(err, st.Close()) }()
	if err := f.ready(ctx, st, local, log); err != nil {
		return err
	}
	reg, err := f.registry(ctx, home, st, stderr, log)
	if err != nil {
		return err
	}
	defer reg.Close()
	o := f.options(home, reg, st, log, state)
	o.NeedKey, o.Hosts = !local, f.hosts
	metrics, closing, err := measure(ctx, &o)
	if err != nil {
		return err
	}
	defer closing()
	g := gateway.New(o)
	observe(ctx, metrics, g, st)
	if local && !f.noLogin {
		f.token = rand.Text()
	}
	g.Mount("/", page.New(page.Options{Token: f.token, Gateway: g, Councils: reg, Store: st, Log: log, Prices: o.Prices,
		Journals: o.Journals, Runs: f.runs, NeedKey: o.NeedKey, Owner: home.OwnerKey}))
	agents := f.agents(g, home, st, log, o.NeedKey)
	stop, err := f.serveMetrics(ctx, metrics, stderr)
	if err != nil {
		return err
	}
	defer stop()
	defer tend(ctx, g, metrics)()
	return f.listenAndServe(ctx, g, agents, reg, st, filepath.Join(state, "journals"), log, stderr)
}

// observe adds what metrics and the log say of a gateway and its store.
func observe(ctx context.Context, metrics *gateway.Metrics, g *gateway.Gateway, st *store.Store) {
	metrics.InFlight(g)
	metrics.Keys(st)
	metrics.Drift(st)
	g.WarnOfDrift(ctx)
}

// serveMetrics listens for Prometheus, where the user wants that.
func (f *flags) serveMetrics(ctx context.Context, m *gateway.Metrics, stderr io.Writer) (stop func(), err error) {
	if f.metrics == "" {
		return func() {}, nil
	}
	local, err := loopback(f.metrics)
	if err != nil {
		return nil, usageError{fmt.Errorf("--metrics is %q; it must be HOST:PORT, such as 127.0.0.1:9090", f.metrics)}
	}
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", f.metrics)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", f.metrics, err)
	}
	srv := &http.Server{Handler: m.Handler(local), ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute,
		MaxHeaderBytes: 16 << 10}
	done := make(chan struct{})
	go func() { defer close(done); _ = srv.Serve(ln) }() // until Close
	fmt.Fprintf(stderr, "metrics on http://%s/metrics\n", ln.Addr())
	return func() { _ = srv.Close(); <-done }, nil
}

// tend has the gateway test members that are out of order, also after ctx has ended; the caller calls stop.
func tend(ctx context.Context, g *gateway.Gateway, m *gateway.Metrics) (stop func()) {
	background, end := context.WithCancel(context.WithoutCancel(ctx))
	var tending sync.WaitGroup
	tending.Go(func() { g.Tend(background, m) })
	return func() { end(); tending.Wait() }
}

// ready makes a store ready for requests: there is a key where one is needed, and the requests that were cut off when
// the gateway ended count as spent.
func (f *flags) ready(ctx context.Context, st *store.Store, local bool, log *slog.Logger) error {
	if err := needKeys(ctx, st, local, f.listen); err != nil {
		return usageError{err}
	}
	lost, err := st.Beat(true)
	if lost > 0 {
		log.Warn("requests were cut off when the gateway ended; what they had reserved counts as spent", "requests",
			lost)
	}
	return err
}

// measure has the gateway count its requests, and trace them where the environment says so; closing ends the traces.
func measure(ctx context.Context, o *gateway.Options) (m *gateway.Metrics, closing func(), err error) {
	m = gateway.NewMetrics()
	o.Observe = m.Observe
	spans, closing, err := traced(ctx, o.Log)
	if spans != nil {
		o.Calls, o.Observe = true, func(x gateway.Observed) {
			if m.Observe(x); !x.Refused {
				spans.observe(x)
			}
		}
	}
	return m, closing, err
}

// needKeys refuses to listen on an address that others reach while there is no key.
func needKeys(ctx context.Context, st *store.Store, local bool, listen string) error {
	if local {
		return nil
	}
	keys, err := st.Keys(ctx)
	if err != nil {
		return err
	}
	for _, k := range keys {
		if k.Revoked.IsZero() {
			return nil
		}
	}
	return fmt.Errorf("the gateway on %s can be reached from other machines (by its address, or by a name in "+
		"--hosts), and there is no API key; make one with: synod serve keys new NAME --usd-day 5 --rpm 60", listen)
}

// listenAndServe accepts requests until ctx ends. Then new ones get 503, and those that run may finish.
func (f *flags) listenAndServe(ctx context.Context, g *gateway.Gateway, agents *agents,
	reg *councils.Registry, st *store.Store, journals string, log *slog.Logger, stderr io.Writer) error {
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", f.listen)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", f.listen, err)
	}
	srv, scheme := g.Server(gateway.DefaultTimes()), "http"
	if f.tls != nil {
		scheme, ln = "https", tls.NewListener(ln, f.tls.config())
	}
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(ln) }()
	fmt.Fprintf(stderr, "listening on %s://%s\n", scheme, ln.Addr())
	if f.token != "" {
		fmt.Fprintf(stderr, "page of its owner: %s://%s/?token=%s\n", scheme, ln.Addr(), f.token)
	}
	collectRarely()
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	var helpers sync.WaitGroup
	helpers.Go(func() { reg.Watch(background, watchEvery) })
	helpers.Go(func() { f.upkeep(background, reg, st, journals, log) })
	if f.tls != nil {
		hup := make(chan os.Signal, 1)
		signal.Notify(hup, syscall.SIGHUP)
		defer signal.Stop(hup)
		helpers.Go(func() { f.tls.watch(background, hup, log) })
	}
	defer func() { stop(); helpers.Wait() }()
	select {
	case err := <-failed:
		g.Drain(context.Background())
		agents.Close()
		return err
	case <-ctx.Done():
	}
	log.Info("draining", "longest", f.drain.String())
	limit, cancel := context.WithTimeout(background, f.drain)
	defer cancel()
	g.Drain(limit)
	agents.Close()
	closing, end := context.WithTimeout(background, 5*time.Second)
	defer end()
	if err := srv.Shutdown(closing); err != nil {
		_ = srv.Close() // clients that do not read
	}
	<-failed
	log.Info("stopped")
	return nil
}

// upkeep tells other gateways that this one lives, removes what is too old, and reads the councils again on
// SIGHUP.
func (f *flags) upkeep(ctx context.Context, reg *councils.Registry, st *store.Store, journals string,
	log *slog.Logger) {
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	defer signal.Stop(hup)
	beat := time.NewTicker(10 * time.Second)
	defer beat.Stop()
	clean := time.NewTicker(10 * time.Minute)
	defer clean.Stop()
	retain := func() {
		gone, err := st.Retain(ctx, f.keep.limits(), journals)
		if err != nil {
			log.Error("what is too old cannot be removed", "error", err.Error())
		} else if gone != (store.Gone{}) {
			log.Info("removed what is too old", "requests", gone.Requests, "journals", gone.Journals)
		}
	}
	retain()
	for {
		select {
		case <-ctx.Done():
			return
		case <-hup:
			if err := reg.Reload(); err != nil {
				log.Error("councils cannot be reloaded", "error", err.Error())
			}
		case <-clean.C:
			retain()
		case <-beat.C:
			if _, err := st.Beat(false); err != nil {
				log.Error("the store cannot be used", "error", err.Error())
			}
		}
	}
}
