package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
)

// Home is what a program beside synod shares with it: the user's folders and prices, and the council that
// "synod ask" has without flags.
type Home struct{ app app }

// NewHome returns the home in a folder, or in the folders of the XDG standard for "". prices is a price file,
// "": the user's own, if there is one.
func NewHome(folder, prices string) (*Home, error) {
	h := &Home{}
	var err error
	if h.app.dirs, err = findDirs(folder); err != nil {
		return nil, err
	}
	return h, h.app.readPrices(prices)
}

// Env returns the folders and prices that models use.
func (h *Home) Env() llm.Env { return h.app.env() }

// State returns the folder for what programs keep, such as journals.
func (h *Home) State() string { return h.app.dirs.state }

// Config returns the folder of configuration files.
func (h *Home) Config() string { return h.app.dirs.config }

// Council returns the council of "synod ask" without flags: that of ./synod.yaml over the user's config.yaml
// over the embedded one.
func (h *Home) Council() (plan.Spec, error) { return (&specFlags{}).load(&h.app) }

// FillKey names the user's own key (owner.key in the folder of configuration files), which is made if it is absent,
// in a council of nodes that names no key.
func (h *Home) FillKey(spec *plan.Spec) error { return h.app.fillKey(spec) }

// OwnerKey returns the user's own key (owner.key in the folder of configuration files), which is made if it is
// absent. It signs certificates.
func (h *Home) OwnerKey() (sign.Secret, error) {
	secret, _, err := h.app.ownerKey("")
	return secret, err
}

// HasOwnerKey reports whether the user's own key has been made.
func (h *Home) HasOwnerKey() bool {
	_, err := os.Stat(filepath.Join(h.app.dirs.config, "owner.key"))
	return err == nil
}

// Absent lists the embedded models of a council that are not on this machine.
func (h *Home) Absent(spec plan.Spec) []string { return h.app.absentModels(spec) }

// Fetch fetches the absent models of a council, and writes about it to w.
func (h *Home) Fetch(ctx context.Context, spec plan.Spec, w io.Writer) error {
	cmd := &cobra.Command{}
	cmd.SetContext(ctx)
	cmd.SetErr(w)
	return h.app.fetchModels(cmd, spec)
}

// Version returns the release and the commit of the program.
func Version() string { return version() }

// Code returns the exit code and the hint of an error of this package; code 2 for any other error.
func Code(err error) (code int, hint string) {
	var e *exitError
	if errors.As(err, &e) {
		return e.code, e.hint
	}
	return exitUsage, ""
}
