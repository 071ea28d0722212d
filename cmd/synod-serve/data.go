package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"synod.dev/synod/internal/filelock"

	"synod.dev/synod/cmd/synod-serve/internal/store"
)

// dataCommand deletes what people have asked. The gateway may run meanwhile.
func dataCommand(f *flags) *cobra.Command {
	cmd := &cobra.Command{Use: "data", Short: "Delete what a person has asked, and the answers", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usageError{errors.New("give delete (example: synod serve data delete --key alice --dry-run)")}
		}}
	cmd.AddCommand(dataDelete(f))
	return cmd
}

func dataDelete(f *flags) *cobra.Command {
	var key, text, before string
	var dry, vacuum bool
	cmd := &cobra.Command{Use: "delete", Short: "Delete questions, answers, journals, stored responses and tasks",
		Long: `Deletes what was asked with a key, or what has a text, or both: questions and answers, journals,
stored responses and tasks. What was spent stays, with the time, model and tokens of each request.
Requests that run are left; to have none of a person, revoke the key first. Backups and copies of
the log are not touched.`,
		Example: "  synod serve data delete --key alice --dry-run\n" +
			"  synod serve data delete --key alice --text \"Maria Muster\" --before 2026-12-01",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			e := store.Erase{Text: text, Anew: vacuum}
			if key == "" && text == "" {
				return usageError{errors.New("give --key or --text (example: " +
					"synod serve data delete --key alice --dry-run)")}
			}
			if before != "" {
				at, err := time.Parse(time.DateOnly, before)
				if err != nil {
					return usageError{fmt.Errorf("--before is %q; give a date such as 2027-01-31", before)}
				}
				e.Before = at
			}
			return f.erase(cmd, key, e, dry)
		}}
	fl := cmd.Flags()
	fl.StringVar(&key, "key", "", "what was asked with the key of this `name` (or id), also a revoked one")
	fl.StringVar(&text, "text", "", "what has this `text` in a question, an answer or a journal, in any case")
	fl.StringVar(&before, "before", "", "what was asked before this `date` (2027-01-31, 0:00 UTC)")
	fl.BoolVar(&vacuum, "vacuum", false, "write the file of the store anew as a whole; gateways wait meanwhile, and "+
		"it needs as much free disk space again. Only a store of an earlier release needs it, once")
	fl.BoolVar(&dry, "dry-run", false, "only print how much it is")
	return cmd
}

// erase deletes what is selected and prints how much it was.
func (f *flags) erase(cmd *cobra.Command, key string, e store.Erase, dry bool) error {
	p, err := f.place(cmd)
	if err != nil {
		return err
	}
	as := ""
	if p.file() {
		if _, err := os.Stat(p.url); err != nil {
			return usageError{fmt.Errorf("there is no store: %w", err)}
		}
		switch lock, err := filelock.Lock(p.url + ".lock"); {
		case err == nil: // no gateway runs, so what one that was killed has left in its log is read first
			defer lock.Close()
			as = store.Local
		case !errors.Is(err, filelock.ErrHeld):
			return err
		}
	}
	st, err := store.Open(cmd.Context(), p.url, as)
	if err != nil {
		return err
	}
	var gone store.Erased
	if e.Key, err = keyOf(cmd, st, key); err == nil {
		gone, err = st.Erase(cmd.Context(), e, filepath.Join(p.state, "journals"), dry)
	}
	if err = errors.Join(err, st.Close()); err != nil {
		return err
	}
	verb := map[bool]string{false: "deleted", true: "would delete"}[dry]
	fmt.Fprintf(cmd.OutOrStdout(), "%s the texts of %s, %s, %s, %s\n", verb, many(gone.Requests, "request"),
		many(gone.Journals, "journal"), many(gone.Responses, "stored response"), many(gone.Tasks, "task"))
	if gone.Running > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s not ended, and left; repeat the command later\n",
			many(gone.Running, "request"))
	}
	if gone.Older {
		fmt.Fprintln(cmd.ErrOrStderr(), "the store was made by an earlier release: what was deleted now is "+
			"overwritten, but texts that it deleted before may still be in unused parts of its file, and it does not "+
			"shrink; give the command again with --vacuum, when gateways may wait")
	}
	if gone.Elsewhere > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s on other machines; give the command on each of them too\n",
			many(gone.Elsewhere, "journal"))
	}
	return nil
}

// keyOf returns the id of a key by its name or id; nil for "".
func keyOf(cmd *cobra.Command, st *store.Store, name string) (*string, error) {
	if name == "" {
		return nil, nil
	}
	keys, err := st.Keys(cmd.Context())
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(keys, func(k store.Key) bool { return k.Name == name || k.ID == name })
	if i < 0 {
		return nil, usageError{fmt.Errorf("there is no key called %q; see: synod serve keys list", name)}
	}
	return &keys[i].ID, nil
}
