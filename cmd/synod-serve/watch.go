package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"synod.dev/synod/bench"
	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/llm"

	"synod.dev/synod/cmd/synod-serve/internal/councils"
	"synod.dev/synod/cmd/synod-serve/internal/gateway"
	"synod.dev/synod/cmd/synod-serve/internal/page"
	"synod.dev/synod/cmd/synod-serve/internal/store"
)

// watchCommand shows one folder of an experiment. "synod bench watch" starts it.
func watchCommand() *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:     "watch DIR",
		Short:   "Show the folder of an experiment as a web page that changes while it goes on",
		Example: "  synod bench watch runs/study",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			home, err := app.New(f.home, f.prices)
			if err != nil {
				return usageError{err}
			}
			return f.watch(cmd.Context(), home, args[0], cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.listen, "listen", "127.0.0.1:0", "loopback `address` to listen on; port 0 picks a free one")
	fl.BoolVarP(&f.verbose, "verbose", "v", false, "log more details")
	fl.StringVar(&f.home, "home", os.Getenv("SYNOD_HOME"), "`folder` for config, models, cache and journals")
	fl.StringVar(&f.prices, "prices", os.Getenv("SYNOD_PRICES"), "price `file`")
	return cmd
}

// watch shows the folder until ctx ends. It asks no model and has a gateway without councils, whose store is removed
// at the end.
func (f *flags) watch(ctx context.Context, home *app.App, dir string, stdout, stderr io.Writer) error {
	local, err := loopback(f.listen)
	if err != nil {
		return usageError{err}
	}
	if !local {
		return usageError{fmt.Errorf("--listen is %s, which other machines can reach; it must be a loopback address, "+
			"such as 127.0.0.1:8090. With API keys they can see the folder: synod serve --runs", f.listen)}
	}
	dir, err = filepath.Abs(dir)
	if err != nil {
		return err
	}
	look, err := bench.OpenWatch(dir)
	if err != nil {
		return usageError{err}
	}
	if err := look.Close(); err != nil {
		return err
	}
	state, err := os.MkdirTemp("", "synod-watch-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(state)
	log := f.logger(stderr)
	st, err := store.Open(ctx, filepath.Join(state, "watch.db"), store.Local)
	if err != nil {
		return err
	}
	defer st.Close()
	reg, err := councils.Open(councils.Options{Log: log})
	if err != nil {
		return err
	}
	defer reg.Close()
	prices := home.Env().Prices
	if prices == nil {
		prices = llm.Published()
	}
	g := gateway.New(gateway.Options{Councils: reg, Store: st, Log: log, Prices: prices,
		Settings: gateway.DefaultSettings()})
	g.Mount("/", page.New(page.Options{Gateway: g, Councils: reg, Store: st, Log: log, Prices: prices, Runs: dir,
		OnlyRuns: true}))
	defer g.Drain(ctx)
	return f.show(ctx, g, stdout)
}

// show serves the page until ctx ends.
func (f *flags) show(ctx context.Context, g *gateway.Gateway, stdout io.Writer) error {
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", f.listen)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", f.listen, err)
	}
	srv := g.Server(gateway.DefaultTimes())
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(ln) }()
	fmt.Fprintf(stdout, "the sweep is shown at http://%s/ until this command is interrupted\n", ln.Addr())
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	_ = srv.Close() // nothing that a viewer reads is lost
	<-failed
	return nil
}
