package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/filelock"
	"synod.dev/synod/llm"

	"synod.dev/synod/cmd/synod-serve/internal/councils"
	"synod.dev/synod/cmd/synod-serve/internal/gateway"
	"synod.dev/synod/cmd/synod-serve/internal/store"
)

// flags are those of "synod serve".
type flags struct {
	listen   string
	councils string
	runs     string
	store    string
	hosts    []string
	drain    time.Duration
	memory   app.Memory
	noLogin  bool
	token    string // of the owner, for the page; "": none is needed
	noKeep   bool
	logJSON  bool
	verbose  bool
	home     string
	prices   string
	config   string
	metrics  string
	url      string // of the configuration file
	tlsCert  string
	tlsKey   string
	tls      *certificate // nil: HTTP
	settings gateway.Settings
	keep     keep
}

const defaultListen = "127.0.0.1:8080"

// watchEvery is how often files are looked at for changes.
const watchEvery = time.Second

// usageError is an error of the arguments or the configuration.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// shared adds the flags that do not depend on how clients come.
func (f *flags) shared(cmd *cobra.Command) {
	fl, all := cmd.Flags(), cmd.PersistentFlags()
	fl.StringVar(&f.councils, "councils", "", "`folder` of council files; each is a model")
	fl.DurationVar(&f.drain, "drain", 30*time.Second, "how long running councils may take to finish after SIGTERM")
	fl.BoolVar(&f.noKeep, "no-journals", false, "keep no journals of the councils' runs")
	fl.BoolVar(&f.logJSON, "log-json", false, "write the log as JSON")
	fl.BoolVarP(&f.verbose, "verbose", "v", false, "log more details")
	all.StringVar(&f.store, "store", "", "where requests, keys and spend are kept: a SQLite `file`, or postgres://… "+
		"(default: serve/serve.db in the state folder)")
	all.StringVar(&f.config, "config", "", "configuration `file` (default: serve.yaml in the configuration folder)")
	all.StringVar(&f.home, "home", os.Getenv("SYNOD_HOME"), "`folder` for config, models, cache and journals")
	all.StringVar(&f.prices, "prices", os.Getenv("SYNOD_PRICES"), "price `file`")
}

// options are those of a gateway, without what depends on how clients come.
func (f *flags) options(home *app.App, reg *councils.Registry, st *store.Store, log *slog.Logger,
	state string) gateway.Options {
	o := gateway.Options{Councils: reg, Store: st, Log: log, Prices: home.Env().Prices, Settings: f.settings,
		Owner: sync.OnceValues(home.OwnerKey), Evidence: filepath.Join(home.Dirs.State, "evidence"),
		Again: app.Ask.Resume}
	if o.Prices == nil {
		o.Prices = llm.Published()
	}
	if !f.noKeep {
		o.Journals = filepath.Join(state, "journals")
	}
	return o
}

// logger writes what happens to stderr, without questions and answers.
func (f *flags) logger(w io.Writer) *slog.Logger {
	o := &slog.HandlerOptions{Level: slog.LevelInfo}
	if f.verbose {
		o.Level = slog.LevelDebug
	}
	if f.logJSON {
		return slog.New(slog.NewJSONHandler(w, o))
	}
	return slog.New(slog.NewTextHandler(w, o))
}

// loopback reports whether an address can only be reached from this machine.
func loopback(listen string) (bool, error) {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return false, fmt.Errorf("--listen is %q; it must be HOST:PORT, such as %s", listen, defaultListen)
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback(), nil
}

// open opens the store. One gateway at a time uses a file.
func (f *flags) open(ctx context.Context, state string) (*store.Store, func(), error) {
	url, gatewayID, unlock := f.storeURL(state), store.Local, func() {}
	if !strings.Contains(url, "://") {
		if err := os.MkdirAll(filepath.Dir(url), 0o700); err != nil {
			return nil, nil, err
		}
		lock, err := filelock.Lock(url + ".lock")
		if errors.Is(err, filelock.ErrHeld) {
			return nil, nil, usageError{fmt.Errorf("another gateway uses %s; give this one its own with --store FILE, "+
				"or let both share postgres://…", url)}
		}
		if err != nil {
			return nil, nil, err
		}
		unlock = func() { _ = lock.Close() }
	} else {
		host, _ := os.Hostname()
		gatewayID = fmt.Sprintf("%s-%d-%d", host, os.Getpid(), time.Now().UnixNano())
	}
	st, err := store.Open(ctx, url, gatewayID)
	if err != nil {
		unlock()
		return nil, nil, err
	}
	return st, unlock, nil
}

func (f *flags) storeURL(state string) string {
	if f.store == "" {
		return filepath.Join(state, "serve.db")
	}
	return strings.TrimPrefix(f.store, "sqlite:")
}

// registry opens the councils. The model in the box is fetched if it is all that there is to serve.
func (f *flags) registry(ctx context.Context, home *app.App, st *store.Store, stderr io.Writer,
	log *slog.Logger) (*councils.Registry, error) {
	o := councils.Options{Dir: f.councils, Default: home.Council, Env: home.Env(), Log: log, Labels: st,
		Key: func(spec *plan.Spec) error { home.OwnTrust(spec); return home.FillKey(spec) }}
	spec, err := home.Council()
	if err != nil && f.councils == "" {
		return nil, usageError{err}
	}
	if absent := home.AbsentModels(spec); err == nil && len(absent) > 0 {
		if f.councils == "" {
			if err := home.Fetch(ctx, spec, stderr); err != nil {
				return nil, err
			}
		} else {
			o.Default = func() (plan.Spec, error) {
				if s, err := home.Council(); err != nil || len(home.AbsentModels(s)) == 0 {
					return s, err
				}
				return spec, fmt.Errorf("the model %s is not on this machine (synod models pull fetches it)",
					strings.Join(absent, ", "))
			}
		}
	}
	reg, err := councils.Open(o)
	if err != nil {
		return nil, usageError{err}
	}
	return reg, nil
}
