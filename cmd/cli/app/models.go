package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
	"synod.dev/synod/llm/models"
)

// CacheDir is the folder of the cache of replies.
func (a *App) CacheDir() string { return filepath.Join(a.Dirs.cache, "replies") }

// Env returns the folders and prices that models use on this machine.
func (a *App) Env() llm.Env {
	return llm.Env{Models: a.Store().Dir, Cache: a.CacheDir(), Prices: a.Prices,
		Habits: filepath.Join(a.Dirs.State, "servers.json")}
}

// Store returns the embedded models of this machine: in the folder that SYNOD_MODELS names, or in the data folder.
func (a *App) Store() models.Store {
	if dir := os.Getenv("SYNOD_MODELS"); dir != "" {
		return models.Store{Dir: dir}
	}
	return models.Store{Dir: filepath.Join(a.Dirs.Data, "models")}
}

// Pull fetches one entry of the catalogue of models and shows the progress.
func (a *App) Pull(cmd *cobra.Command, name string, opts models.Options) error {
	show, at := a.Download(cmd, name)
	opts.Progress = at
	if !a.Quiet {
		opts.Notice = func(line string) {
			if !a.OnTerminal(cmd) {
				fmt.Fprintln(cmd.ErrOrStderr(), OneLine(line))
			}
		}
	}
	store := a.Store()
	var err error
	if opts.From != "" || name == models.Library {
		err = store.Pull(cmd.Context(), name, opts)
	} else {
		err = store.Ensure(cmd.Context(), name, opts)
	}
	show.Done()
	if err == nil {
		return nil
	}
	if cmd.Context().Err() != nil {
		return Fail(ExitInterrupted, errors.New("interrupted; what was fetched is kept, and the same command "+
			"continues"))
	}
	return Fail(ExitFailure, err, "see the models with: synod models list")
}

// AbsentModels lists the models of the embedded seats of a council that are not on this machine.
func (a *App) AbsentModels(spec plan.Spec) (names []string) {
	for _, seat := range spec.Seats {
		m := spec.Models[seat.Model]
		if name, ok := m["model"].(string); ok && m["provider"] == "embedded" && m["path"] == nil &&
			!slices.Contains(names, name) {
			if _, err := a.Store().Resolve(name); err != nil {
				names = append(names, name)
			}
		}
	}
	return names
}

// FetchModels fetches the missing models of the embedded seats of a council.
func (a *App) FetchModels(cmd *cobra.Command, spec plan.Spec) error {
	for _, name := range a.AbsentModels(spec) {
		if !a.Quiet {
			fmt.Fprintf(cmd.ErrOrStderr(), "fetching %s and its library (only this time; see: synod models list)\n",
				OneLine(name))
		}
		if err := a.Pull(cmd, name, models.Options{}); err != nil {
			return err
		}
	}
	return nil
}

// Fetch fetches the absent models of a council, and writes about it to w.
func (a *App) Fetch(ctx context.Context, spec plan.Spec, w io.Writer) error {
	cmd := &cobra.Command{}
	cmd.SetContext(ctx)
	cmd.SetErr(w)
	return a.FetchModels(cmd, spec)
}
