package main

import (
	"log/slog"

	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/core/sign"

	"synod.dev/synod/cmd/synod-serve/internal/a2aserver"
	"synod.dev/synod/cmd/synod-serve/internal/gateway"
	"synod.dev/synod/cmd/synod-serve/internal/mcpserver"
	"synod.dev/synod/cmd/synod-serve/internal/store"
)

// agents are the servers of the agents' protocols.
type agents struct {
	mcp *mcpserver.Server
	a2a *a2aserver.Server
}

// agents adds the routes of the agents' protocols to a gateway.
func (f *flags) agents(g *gateway.Gateway, home *app.App, st *store.Store, log *slog.Logger, needKey bool) *agents {
	signer := func() (secret sign.Secret, ok bool, err error) {
		if !home.HasOwnerKey() {
			return secret, false, nil
		}
		secret, err = home.OwnerKey()
		return secret, true, err
	}
	a := &agents{mcpserver.New(mcpserver.Options{Gateway: g, Store: st, Log: log, Version: app.Version()}),
		a2aserver.New(a2aserver.Options{Gateway: g, Store: st, Log: log, Version: app.Version(), NeedKey: needKey,
			URL: f.url, Signer: signer})}
	g.Mount("/mcp", a.mcp)
	a.a2a.Mount(g)
	return a
}

// Close ends all sessions. The gateway was drained before.
func (a *agents) Close() {
	a.mcp.Close()
	a.a2a.Wait()
}
