package app

import (
	"context"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/council"
)

// New returns the app of a program beside synod, which shares the user's folders, keys and prices with it. home is the
// folder that --home names; "": the folders of the XDG standard. prices is a price file; "": the user's own, if there
// is one.
func New(home, prices string) (*App, error) {
	a := &App{Home: home}
	return a, a.Open(prices)
}

// Council returns the council of "synod ask" without flags: that of ./synod.yaml over the user's config.yaml
// over the embedded one.
func (a *App) Council() (council.Spec, error) { return (&CouncilFlags{}).Load(a) }

// OwnerKey returns the user's own key (owner.key in the folder of configuration files), which is made if it is
// absent. It signs certificates.
func (a *App) OwnerKey() (sign.Secret, error) {
	secret, _, err := a.SigningKey("")
	return secret, err
}

// HasOwnerKey reports whether the user's own key has been made.
func (a *App) HasOwnerKey() bool {
	_, err := os.Stat(filepath.Join(a.Dirs.Config, "owner.key"))
	return err == nil
}

// Fetch fetches the absent models of a council, and writes about it to w.
func (a *App) Fetch(ctx context.Context, spec council.Spec, w io.Writer) error {
	cmd := &cobra.Command{}
	cmd.SetContext(ctx)
	cmd.SetErr(w)
	return a.FetchModels(cmd, spec)
}
