package models

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/internal/fetch"
)

// Options of a pull.
type Options struct {
	// From is a local GGUF file or a folder of libraries to copy instead of
	// downloading. The name need not be in the catalogue then.
	From string
	// AcceptUnpinned allows a download whose digest is not known.
	AcceptUnpinned bool
	// Progress, if set, is called with the number of bytes so far and the total (0: unknown).
	Progress func(done, total int64)
	// Notice, if set, is called with messages for the user: terms of use, sources tried.
	Notice func(line string)
}

func (o Options) notice(format string, args ...any) {
	if o.Notice != nil {
		o.Notice(fmt.Sprintf(format, args...))
	}
}

var (
	// ErrDigest means that a file has another digest than the catalogue.
	ErrDigest = fetch.ErrDigest
	// ErrUnpinned means that AcceptUnpinned was not given.
	ErrUnpinned = errors.New("no digest is known for it")
)

// Ensure pulls the libraries and a model if they are not in the store.
func (s Store) Ensure(ctx context.Context, name string, opts Options) error {
	if _, known := Find(name); !known && !isPath(name) { // before the libraries are fetched
		if _, err := s.installed(name); err != nil {
			return unknown(name)
		}
	}
	if isPath(name) { // before anything is fetched
		switch file, err := os.Stat(name); {
		case err != nil:
			return fmt.Errorf("models: %w", err)
		case file.IsDir():
			return fmt.Errorf("models: %s is a folder; give the path of a GGUF file", name)
		}
	}
	if s.LibDir == "" {
		if _, err := s.installed(Library); err != nil {
			if err := s.Pull(ctx, Library, Options{AcceptUnpinned: opts.AcceptUnpinned, Progress: opts.Progress,
				Notice: opts.Notice}); err != nil {
				return err
			}
		}
	}
	if isPath(name) || name == Library {
		return nil
	}
	if _, err := s.installed(name); err == nil {
		return nil
	}
	return s.Pull(ctx, name, opts)
}

func unknown(name string) error {
	return fmt.Errorf("models: %q is not in the catalogue for this platform%s; available: %s; use --from PATH for "+
		"a file of your own", name, synod.Hint(name, names()), strings.Join(names(), ", "))
}

// Pull downloads one entry. Several processes can call it: one downloads, the others wait.
// It returns ErrUnpinned or a PullError if no source worked.
func (s Store) Pull(ctx context.Context, name string, opts Options) error {
	if !validName(name) {
		return fmt.Errorf("models: %q is not a valid name", name)
	}
	e, known := Find(name)
	if !known && opts.From == "" {
		return unknown(name)
	}
	if !known {
		e = Entry{Name: name, Kind: Weights, Summary: "from a path"}
	}
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return fmt.Errorf("models: %w", err)
	}
	unlock, err := fetch.Lock(ctx, filepath.Join(s.Dir, ".lock"))
	if err != nil {
		return fmt.Errorf("models: waiting for another pull: %w", err)
	}
	defer unlock()
	s.sweep()
	if in, err := s.installed(name); err == nil && opts.From == "" && s.Verify(name) == nil {
		opts.notice("%s is already installed (%s)", name, in.Source)
		return nil
	}
	if e.Terms != "" {
		opts.notice("%s", e.Terms)
	}
	if opts.From != "" {
		return s.pullFrom(e, opts)
	}
	return s.pullSources(ctx, e, opts)
}

// sweep removes the temporary files of killed pulls. The caller holds the lock.
func (s Store) sweep() {
	old, _ := filepath.Glob(filepath.Join(s.Dir, ".pull-*")) // the pattern is constant: no error
	for _, dir := range old {
		_ = os.RemoveAll(dir) // the next pull tries again
	}
}

// pullSources tries the sources in order. Its error lists why each of them failed.
func (s Store) pullSources(ctx context.Context, e Entry, opts Options) error {
	var tried []string
	for _, src := range e.Sources {
		if e.SHA256 == "" && src.SHA256 == "" && !opts.AcceptUnpinned {
			tried = append(tried, fmt.Sprintf("%s: %v (use --accept-unpinned to pull it and record its digest)", src,
				ErrUnpinned))
			continue
		}
		opts.notice("%s: trying %s", e.Name, src)
		err := s.pullSource(ctx, e, src, opts)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("models: pulling %s: %w", e.Name, ctx.Err())
		}
		tried = append(tried, fmt.Sprintf("%s: %v", src, err))
	}
	return &PullError{Name: e.Name, Tried: tried}
}

// PullError lists the sources of an entry and why each of them failed.
type PullError struct {
	Name  string
	Tried []string
}

func (e *PullError) Error() string {
	return fmt.Sprintf("models: could not pull %s:\n  %s\nif you have the file: synod models pull %s --from PATH",
		e.Name, strings.Join(e.Tried, "\n  "), e.Name)
}

func (s Source) String() string {
	if s.Via == "https" {
		return s.URL
	}
	if n := len(s.Packages); n > 4 {
		return fmt.Sprintf("%s %s to %s (%d packages)", s.Via, s.Packages[0], s.Packages[n-1], n)
	}
	return s.Via + " " + strings.Join(s.Packages, " ")
}

func (s Store) pullSource(ctx context.Context, e Entry, src Source, opts Options) error {
	var fetched []string // archives, or the file itself
	part := filepath.Join(s.Dir, e.Name+".gguf.part")
	if e.Kind == Libraries {
		part = filepath.Join(s.Dir, libraryDir()+".tgz.part")
	}
	work, err := os.MkdirTemp(s.Dir, ".pull-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	switch src.Via {
	case "https":
		want := fetch.Want{SHA256: e.SHA256}
		if e.SHA256 != "" {
			want.Bytes = e.Bytes
		} else if src.SHA256 != "" {
			want.SHA256 = src.SHA256
		}
		if err := s.fetch.Download(ctx, src.URL, part, want, opts.Progress); err != nil {
			return err
		}
		fetched = []string{part}
	case "npm", "pip":
		if fetched, err = s.packages(ctx, src, work, func(done int) {
			opts.progress(e.Bytes*int64(done)/int64(len(src.Packages)), e.Bytes)
		}); err != nil {
			return err
		}
	default:
		return fmt.Errorf("unknown kind of source %q", src.Via)
	}
	if e.Kind == Libraries {
		return s.installLibraries(e, src, fetched[0], work, opts)
	}
	return s.installWeights(e, src, fetched, work, opts)
}

func (o Options) progress(done, total int64) {
	if o.Progress != nil {
		o.Progress(done, total)
	}
}

func now() time.Time { return time.Now().UTC().Truncate(time.Second) }

// commands are the package clients in order of preference, with their arguments before
// the package. They use the registry that they are configured for. Nothing is installed,
// and no code of a package runs: pip downloads wheels only, because building a source
// package would run it.
var commands = map[string][][]string{
	"npm": {{"npm", "pack", "--ignore-scripts", "--silent", "--pack-destination", "{}"}},
	"pip": {
		{"pip", "download", "--no-deps", "--only-binary=:all:", "--quiet", "--dest", "{}"},
		{"pip3", "download", "--no-deps", "--only-binary=:all:", "--quiet", "--dest", "{}"},
		{"python3", "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--quiet", "--dest", "{}"},
	},
}

const packageTimeout = 30 * time.Minute

// packages downloads the packages of a source into dir and returns the archives in order. It calls progress with the
// number of packages so far.
func (s Store) packages(ctx context.Context, src Source, dir string, progress func(done int)) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, packageTimeout)
	defer cancel()
	client, err := s.packageClient(src.Via)
	if err != nil {
		return nil, err
	}
	var out []string
	for i, spec := range src.Packages {
		progress(i)
		sub := filepath.Join(dir, fmt.Sprintf("package-%d", i))
		if err := os.Mkdir(sub, 0o755); err != nil {
			return nil, err
		}
		file, err := runClient(ctx, client, spec, sub)
		if err != nil {
			return nil, err
		}
		out = append(out, file)
	}
	return out, nil
}

func (s Store) packageClient(via string) ([]string, error) {
	table := commands
	if s.clients != nil {
		table = s.clients
	}
	var names []string
	for _, c := range table[via] {
		if _, err := exec.LookPath(c[0]); err == nil {
			return c, nil
		}
		names = append(names, c[0])
	}
	return nil, fmt.Errorf("none of these programs is installed: %s", strings.Join(names, ", "))
}

func runClient(ctx context.Context, client []string, spec, dir string) (string, error) {
	args := slices.Clone(client)
	for i, a := range args {
		if a == "{}" {
			args[i] = dir
		}
	}
	cmd := exec.CommandContext(ctx, args[0], append(args[1:], spec)...)
	cmd.Dir = dir // other files of the client are removed with it
	cmd.WaitDelay = 2 * time.Second
	output, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", args[0], spec, err, lastLines(string(output), 2))
	}
	found, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	var file string
	for _, f := range found {
		if f.Type().IsRegular() && slices.Contains([]string{".tgz", ".whl"}, filepath.Ext(f.Name())) {
			if file != "" {
				return "", errors.New(args[0] + " downloaded more than one package")
			}
			file = filepath.Join(dir, f.Name())
		}
	}
	if file == "" {
		return "", fmt.Errorf("%s downloaded no package for %s", args[0], spec)
	}
	return file, nil
}

func lastLines(text string, n int) string {
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	joined := strings.Join(lines[max(0, len(lines)-n):], " | ")
	if len(joined) > 400 {
		joined = joined[:400] + "…"
	}
	return strings.ToValidUTF8(joined, "")
}
