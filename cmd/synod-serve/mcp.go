package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/internal/filelock"

	"synod.dev/synod/cmd/synod-serve/internal/gateway"
	"synod.dev/synod/cmd/synod-serve/internal/mcpserver"
	"synod.dev/synod/cmd/synod-serve/internal/store"
)

// mcpCommand answers one MCP client on stdin and stdout.
func mcpCommand() *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve councils to a Model Context Protocol client",
		Long: `Serves the tools ask, result, cancel, verify and graph_check to the client that starts this
command, such as a desktop assistant or an editor. Councils, configuration, store and
journals are those of "synod serve", which may run at the same time. With SYNOD_API_KEY
the limits of that key hold, and what is spent counts for it.

"synod serve" serves the same tools over HTTP at /mcp.`,
		Example: "  synod mcp\n  synod mcp --councils councils",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			home, err := app.New(f.home, f.prices)
			if err == nil {
				err = f.configure(cmd.Flags(), home.Dirs.Config)
			}
			if err != nil {
				return usageError{err}
			}
			in, ok := cmd.InOrStdin().(io.ReadCloser)
			if !ok {
				in = io.NopCloser(cmd.InOrStdin())
			}
			return f.mcp(cmd.Context(), home, in, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f.shared(cmd)
	return cmd
}

// writeCloser keeps the stream open for the rest of the program.
type writeCloser struct{ io.Writer }

func (writeCloser) Close() error { return nil }

// mcp answers the client until it closes its stream or ctx ends.
func (f *flags) mcp(ctx context.Context, home *app.App, in io.ReadCloser, out, stderr io.Writer) (err error) {
	log := f.logger(stderr)
	state := filepath.Join(home.Dirs.State, "serve")
	st, unlock, err := f.openBeside(ctx, state)
	if err != nil {
		return err
	}
	defer unlock()
	defer func() { err = errors.Join(err, st.Close()) }()
	if _, err := st.Beat(true); err != nil {
		return err
	}
	reg, err := f.registry(ctx, home, st, stderr, log)
	if err != nil {
		return err
	}
	defer reg.Close()
	g := gateway.New(f.options(home, reg, st, log, state))
	s := mcpserver.New(mcpserver.Options{Gateway: g, Store: st, Log: log, Version: app.Version(),
		Secret: os.Getenv("SYNOD_API_KEY")})
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	var helpers sync.WaitGroup
	helpers.Go(func() { reg.Watch(background, watchEvery) })
	helpers.Go(func() { g.Tend(background, nil) })
	helpers.Go(func() { f.upkeep(background, reg, st, filepath.Join(state, "journals"), log) })
	defer func() { stop(); helpers.Wait() }()
	err = s.Serve(ctx, in, writeCloser{out})
	limit, cancel := context.WithTimeout(background, f.drain)
	defer cancel()
	g.Drain(limit)
	s.Close()
	if errors.Is(err, context.Canceled) {
		err = nil // it was told to end
	}
	return err
}

// mostBeside is how many MCP clients on this machine use one SQLite file at once.
const mostBeside = 64

// openBeside opens the store beside a gateway that may use it. Each process has an id of its own, which its lock
// keeps, so that its requests are told apart from those of processes that were killed.
func (f *flags) openBeside(ctx context.Context, state string) (*store.Store, func(), error) {
	url := f.storeURL(state)
	if strings.Contains(url, "://") {
		return f.open(ctx, state)
	}
	if err := os.MkdirAll(filepath.Dir(url), 0o700); err != nil {
		return nil, nil, err
	}
	for i := range mostBeside {
		lock, err := filelock.Lock(fmt.Sprintf("%s.mcp%d.lock", url, i))
		if errors.Is(err, filelock.ErrHeld) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		st, err := store.Open(ctx, url, fmt.Sprintf("mcp%d", i))
		if err != nil {
			return nil, nil, errors.Join(err, lock.Close())
		}
		return st, func() { _ = lock.Close() }, nil
	}
	return nil, nil, usageError{fmt.Errorf("%d MCP clients use %s; give this one its own with --store FILE",
		mostBeside, url)}
}
