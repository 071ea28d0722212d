package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"synod.dev/synod/cmd/cli/app"

	"synod.dev/synod/cmd/synod-serve/internal/backup"
	"synod.dev/synod/cmd/synod-serve/internal/store"
)

// The parts of a backup.
const (
	partConfig   = "config"
	partCouncils = "councils"
	partEvidence = "evidence"
	partJournals = "journals"
	partStore    = "store" // last, so that a restore that is cut off can be repeated
)

// place is where the files of a gateway lie.
type place struct {
	home  *app.App
	state string // folder of the gateway
	url   string // of the store
}

// place reads the configuration of a command.
func (f *flags) place(cmd *cobra.Command) (place, error) {
	home, err := app.New(f.home, f.prices)
	if err == nil {
		err = f.configure(cmd.Flags(), home.Dirs.Config)
	}
	if err != nil {
		return place{}, usageError{err}
	}
	state := filepath.Join(home.Dirs.State, "serve")
	return place{home, state, f.storeURL(state)}, nil
}

// file reports whether the store is a file.
func (p place) file() bool { return !strings.Contains(p.url, "://") }

const unsaved = "the database %s is not in it: copy it with pg_dump, and restore it with psql"

func backupCommand(f *flags) *cobra.Command {
	cmd := &cobra.Command{Use: "backup FILE", Short: "Copy all that a gateway keeps into a file, also while it runs",
		Long: `Copies all that a gateway keeps into an archive (tar with gzip): the store with keys, spend and
requests, journals, evidence, the configuration folder with owner.key, and the council files.
The gateway may run meanwhile. "synod serve restore FILE" puts it back. The archive has what
people have asked and secrets such as owner.key: only its owner can read it. The keys of
providers in the environment are not in it, and neither is PostgreSQL, which pg_dump copies.`,
		Example: "  synod serve backup /backup/synod-2026-11-27.tar.gz\n" +
			"  synod serve restore /backup/synod-2026-11-27.tar.gz --home /srv/new",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := f.place(cmd)
			if err != nil {
				return err
			}
			return f.backup(cmd, p, args[0])
		}}
	cmd.Flags().StringVar(&f.councils, "councils", "", "`folder` of council files")
	return cmd
}

// backup writes the archive.
func (f *flags) backup(cmd *cobra.Command, p place, to string) error {
	parts := []backup.Part{{Name: partConfig, Path: p.home.Dirs.Config},
		{Name: partEvidence, Path: filepath.Join(p.home.Dirs.State, "evidence")}}
	if f.councils != "" {
		parts = append(parts, backup.Part{Name: partCouncils, Path: f.councils})
	}
	what := ""
	var saved []backup.Part
	if p.file() {
		dir, err := os.MkdirTemp(filepath.Dir(to), ".synod-backup-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		var keys, requests int
		if saved, keys, requests, err = copyStore(cmd.Context(), p.url, dir); err != nil {
			return err
		}
		what = many(keys, "key") + ", " + many(requests, "request") + ", "
	}
	// the journals come after the store, so that each request of it has its own
	parts = append(append(parts, backup.Part{Name: partJournals, Path: filepath.Join(p.state, "journals")}), saved...)
	w, err := backup.Write(to, parts)
	if errors.Is(err, fs.ErrExist) {
		return usageError{fmt.Errorf("%s exists; name a file that does not", to)}
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s: %s%s; %d KB\n", to, what, filesOf(w.Files), (w.Bytes+999)/1000)
	if !p.file() {
		fmt.Fprintf(cmd.ErrOrStderr(), unsaved+"\n", "of the gateways")
	}
	return nil
}

// filesOf describes what an archive has beside the store.
func filesOf(files map[string]int) string {
	return fmt.Sprintf("%s, %s, %s, %s of evidence", many(files[partJournals], "journal"),
		many(files[partCouncils], "council file"), many(files[partConfig], "configuration file"),
		many(files[partEvidence], "file"))
}

// many is a number of things.
func many(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// copyStore copies a store in a file, and before it the logs that its gateway has not yet written into it: a log that
// goes meanwhile is in the copy.
func copyStore(ctx context.Context, url, dir string) (parts []backup.Part, keys, requests int, err error) {
	if _, err := os.Stat(url); err != nil {
		return nil, 0, 0, usageError{fmt.Errorf("there is no store: %w", err)}
	}
	logs, err := store.Logs(url)
	if err != nil {
		return nil, 0, 0, err
	}
	add := func(name, path string) {
		parts = append(parts, backup.Part{Name: partStore + "/" + name, Path: path})
	}
	for _, log := range logs {
		b, err := os.ReadFile(log)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		name := "serve.db" + strings.TrimPrefix(filepath.Base(log), filepath.Base(url))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), b, 0o600)
		}
		if err != nil {
			return nil, 0, 0, err
		}
		add(name, filepath.Join(dir, name))
	}
	st, err := store.Open(ctx, url, "")
	if err != nil {
		return nil, 0, 0, err
	}
	copied := filepath.Join(dir, "serve.db")
	err = st.Copy(ctx, copied)
	if err = errors.Join(err, st.Close()); err != nil {
		return nil, 0, 0, err
	}
	c, err := store.Open(ctx, copied, "")
	if err != nil {
		return nil, 0, 0, err
	}
	keys, requests, err = c.Size(ctx)
	add("serve.db", copied)
	return parts, keys, requests, errors.Join(err, c.Close())
}

func restoreCommand(f *flags) *cobra.Command {
	cmd := &cobra.Command{Use: "restore FILE", Short: "Put back what synod serve backup has copied",
		Long: `Puts back what "synod serve backup" has copied: into the folders that --home, --store and --councils
name, or those of this user. There must be no store yet; other files that exist stay as they are,
and are listed. The gateway must not run. Its first start counts the requests that ran when the
backup was made as lost.`,
		Example: "  synod serve restore /backup/synod-2026-11-27.tar.gz\n" +
			"  synod serve restore /backup/synod-2026-11-27.tar.gz --home /srv/new --councils /srv/new/councils",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := f.place(cmd)
			if err != nil {
				return err
			}
			return f.restore(cmd, p, args[0])
		}}
	cmd.Flags().StringVar(&f.councils, "councils", "", "`folder` for the council files")
	return cmd
}

// restore reads the archive twice: the configuration, which may say where the rest belongs, and the rest.
func (f *flags) restore(cmd *cobra.Command, p place, from string) error {
	config, err := backup.Read(from, func(part string) (string, error) {
		if part == partConfig {
			return p.home.Dirs.Config, nil
		}
		return "", nil
	})
	if err != nil {
		return usageError{err}
	}
	if p, err = f.place(cmd); err != nil {
		return err
	}
	dir, err := storeFolder(p)
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	r, err := backup.Read(from, func(part string) (string, error) {
		to, known, err := f.target(part, p, dir)
		if !known {
			err = fmt.Errorf("%s has %q, which this release does not know", from, part)
		}
		return to, err
	})
	if err == nil && p.file() {
		err = adopt(dir, p.url)
	}
	if err != nil {
		return err
	}
	for _, name := range append(config.Kept, r.Kept...) {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s exists and stays as it is\n", name)
	}
	r.Files[partConfig] = config.Files[partConfig]
	fmt.Fprintf(cmd.OutOrStdout(), "restored %s", filesOf(r.Files))
	if !p.file() {
		fmt.Fprintf(cmd.OutOrStdout(), "\n")
		fmt.Fprintf(cmd.ErrOrStderr(), unsaved+"\n", "of the gateways")
		return nil
	}
	fmt.Fprintf(cmd.OutOrStdout(), " and the store %s\n", p.url)
	return nil
}

// target is where a part of a backup belongs, beside the configuration; "": it is not put back here.
func (f *flags) target(part string, p place, storeDir string) (to string, known bool, err error) {
	switch part {
	case partConfig:
		return "", true, nil
	case partCouncils:
		if f.councils == "" {
			err = usageError{errors.New("give the folder for the council files (example: " +
				"synod serve restore FILE --councils councils)")}
		}
		return f.councils, true, err
	case partEvidence:
		return filepath.Join(p.home.Dirs.State, "evidence"), true, nil
	case partJournals:
		return filepath.Join(p.state, "journals"), true, nil
	case partStore:
		return storeDir, true, nil
	}
	return "", false, nil
}

// storeFolder makes a folder beside the store for its files until all of them are there; "" for a database.
func storeFolder(p place) (string, error) {
	if !p.file() {
		return "", nil
	}
	left, err := filepath.Glob(p.url + "-spool-*")
	if err != nil {
		return "", err
	}
	// what another store has left would be read with this one
	for _, name := range append([]string{p.url, p.url + "-wal", p.url + "-shm",
		p.url + store.SealName}, left...) {
		if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			return "", usageError{fmt.Errorf("%s exists; move it away with all of its store, or restore to another "+
				"one with --home FOLDER or --store FILE", name)}
		}
	}
	if err := os.MkdirAll(filepath.Dir(p.url), 0o700); err != nil {
		return "", err
	}
	return os.MkdirTemp(filepath.Dir(p.url), ".synod-restore-")
}

// adopt moves the files of a store to their places, the store itself last.
func adopt(dir, url string) error {
	logs, err := filepath.Glob(filepath.Join(dir, "serve.db-spool-*"))
	if err != nil {
		return err
	}
	for _, from := range append(logs, filepath.Join(dir, "serve.db")) {
		to := url + strings.TrimPrefix(filepath.Base(from), "serve.db")
		if err := os.Rename(from, to); err != nil {
			return err
		}
	}
	return nil
}
