package models

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"synod.dev/synod/core/clean"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/internal/fetch"
	"synod.dev/synod/internal/order"
)

// Store is a folder of pulled models and libraries.
type Store struct {
	Dir    string
	LibDir string // if set, a folder of libraries to use instead

	// fetch uses https only, except in tests.
	fetch fetch.Client
	// clients replaces the package clients in tests.
	clients map[string][][]string
}

// DefaultDir returns $SYNOD_MODELS, or synod/models in the user's data folder.
func DefaultDir() string {
	if d := os.Getenv("SYNOD_MODELS"); d != "" {
		return d
	}
	data := os.Getenv("XDG_DATA_HOME")
	if !filepath.IsAbs(data) { // the XDG specification ignores a relative path
		home, err := os.UserHomeDir()
		if err != nil {
			home = os.TempDir()
		}
		data = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(data, "synod", "models")
}

// Installed is an entry in the store.
type Installed struct {
	Name    string    `json:"name"`
	Kind    string    `json:"kind"`
	Version string    `json:"version,omitempty"`
	Licence string    `json:"licence,omitempty"`
	Source  string    `json:"source"` // URL, packages or path
	Pinned  bool      `json:"pinned"` // checked against a known digest
	Pulled  time.Time `json:"pulled"`
	Files   []File    `json:"files"`
}

// File is one file of an installed entry, by its name in the store.
type File struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Bytes returns the size of all files.
func (i Installed) Bytes() int64 {
	var n int64
	for _, f := range i.Files {
		n += f.Bytes
	}
	return n
}

// ErrMissing means that something has not been pulled.
var ErrMissing = errors.New("not pulled")

// Location has the paths that an engine needs.
type Location struct {
	LibDir     string
	Model      string
	SHA256     string // recorded digest of the weights; "" for a path
	AnyLibrary bool   // the user chose the libraries: accept any version
}

// Resolve returns the location of the libraries and of a model, given by its name or by a
// path to a GGUF file. It returns ErrMissing if one is not in the store.
func (s Store) Resolve(name string) (Location, error) {
	var loc Location
	if s.LibDir != "" {
		loc.LibDir, loc.AnyLibrary = s.LibDir, true
	} else {
		lib, err := s.installed(Library)
		if err != nil {
			return loc, missing(err, Library)
		}
		loc.LibDir, loc.AnyLibrary = filepath.Join(s.Dir, libraryDir()), !lib.Pinned
	}
	if isPath(name) {
		abs, err := filepath.Abs(name)
		if err != nil {
			return loc, fmt.Errorf("models: %w", err)
		}
		if _, err := os.Stat(abs); err != nil {
			return loc, fmt.Errorf("models: %w", err)
		}
		loc.Model = abs
		return loc, nil
	}
	in, err := s.installed(name)
	if err != nil {
		return loc, missing(err, name)
	}
	loc.Model, loc.SHA256 = filepath.Join(s.Dir, in.Files[0].Name), in.Files[0].SHA256
	return loc, nil
}

func missing(err error, name string) error {
	if !errors.Is(err, ErrMissing) {
		return err
	}
	if _, known := Find(name); !known {
		return fmt.Errorf("models: %w: %s (known: %s; or a path to a GGUF file)", ErrMissing, name,
			strings.Join(names(), ", "))
	}
	return fmt.Errorf("models: %w: %s: run `synod models pull %s`", ErrMissing, name, name)
}

func names() []string {
	var out []string
	for _, e := range Catalog() {
		if !slices.Contains(out, e.Name) {
			out = append(out, e.Name)
		}
	}
	return out
}

func isPath(name string) bool {
	return strings.ContainsRune(name, filepath.Separator) || strings.HasSuffix(name, ".gguf")
}

// libraryDir returns the folder of this platform's libraries in the store.
func libraryDir() string { return "llama.cpp-" + runtime.GOOS + "-" + runtime.GOARCH }

// installed reads a manifest and checks that its files exist and have the right size.
func (s Store) installed(name string) (Installed, error) {
	var in Installed
	if !validName(name) {
		return in, fmt.Errorf("models: %w: %q is not a valid name", ErrMissing, name)
	}
	raw, err := os.ReadFile(s.manifest(name))
	if errors.Is(err, fs.ErrNotExist) {
		return in, ErrMissing
	}
	if err != nil {
		return in, fmt.Errorf("models: %w", err)
	}
	if err := json.Unmarshal(raw, &in); err != nil || len(in.Files) == 0 || in.Name != name ||
		strings.ContainsFunc(in.Kind+in.Version+in.Licence+in.Source, clean.Hidden) {
		return in, fmt.Errorf("models: %s is damaged: remove it and pull again", s.manifest(name))
	}
	for _, f := range in.Files {
		st, err := os.Stat(filepath.Join(s.Dir, f.Name))
		if !filepath.IsLocal(f.Name) || err != nil || st.Size() != f.Bytes {
			return in, fmt.Errorf("models: %s: %s is missing or has another size: run `synod models pull %s` again",
				name, f.Name, name)
		}
	}
	return in, nil
}

func (s Store) manifest(name string) string {
	if name == Library {
		name = libraryDir()
	}
	return filepath.Join(s.Dir, name+".json")
}

// List returns the installed entries, sorted by kind and name, and an error that names the
// damaged ones.
func (s Store) List() ([]Installed, error) {
	found, err := filepath.Glob(filepath.Join(s.Dir, "*.json"))
	if err != nil {
		return nil, fmt.Errorf("models: %w", err)
	}
	var out []Installed
	var bad []error
	for _, path := range found {
		name := strings.TrimSuffix(filepath.Base(path), ".json")
		if name == libraryDir() {
			name = Library
		}
		in, err := s.installed(name)
		if err != nil {
			bad = append(bad, err)
			continue
		}
		out = append(out, in)
	}
	order.Sort(out, func(a, b Installed) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name))
	})
	return out, errors.Join(bad...)
}

// Remove deletes an entry and its partial downloads. It returns ErrMissing if there are none.
func (s Store) Remove(name string) error {
	if !validName(name) {
		return fmt.Errorf("models: %q is not a valid name", name)
	}
	manifest := s.manifest(name)
	base := strings.TrimSuffix(manifest, ".json")
	_, err := os.Stat(manifest)
	_, partErr := os.Stat(base + ".gguf.part")
	if err != nil && partErr != nil {
		return fmt.Errorf("models: %w: %s", ErrMissing, name)
	}
	// the manifest first: without it the other files are not used
	for _, path := range []string{manifest, base + ".gguf", base + ".gguf.part"} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("models: %w", err)
		}
	}
	if name == Library {
		if err := os.RemoveAll(base); err != nil {
			return fmt.Errorf("models: %w", err)
		}
	}
	return nil
}

// validName reports whether a name can be used in a file name.
func validName(name string) bool {
	if name == "" || len(name) > 100 || name[0] == '.' || strings.Contains(name, "..") {
		return false
	}
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789.-_") == ""
}

// Verify reads every file of an installed entry and compares its digest. It returns
// ErrDigest for a different one and ErrMissing if the entry is not installed.
func (s Store) Verify(name string) error {
	in, err := s.installed(name)
	if err != nil {
		return missing(err, name)
	}
	for _, f := range in.Files {
		_, sum, err := digest(filepath.Join(s.Dir, f.Name))
		if err != nil {
			return err
		}
		if sum != f.SHA256 {
			return fmt.Errorf("models: %s: %w: %s has SHA-256 %s; recorded is %s", name, ErrDigest, f.Name, sum,
				f.SHA256)
		}
	}
	return nil
}

func digest(path string) (size int64, sum string, err error) {
	if size, sum, err = fetch.Digest(path); err != nil {
		return 0, "", fmt.Errorf("models: %w", err)
	}
	return size, sum, nil
}

// record writes the manifest atomically. The entry is installed when it exists.
func (s Store) record(in Installed) error {
	raw, err := json.MarshalIndent(in, "", "  ")
	if err != nil {
		return fmt.Errorf("models: %w", err)
	}
	f, err := os.CreateTemp(s.Dir, ".manifest-*")
	if err != nil {
		return fmt.Errorf("models: %w", err)
	}
	defer os.Remove(f.Name()) // fails if it has been renamed
	_, err = f.Write(append(raw, '\n'))
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = durable.Rename(f.Name(), s.manifest(in.Name))
	}
	if err != nil {
		return fmt.Errorf("models: %w", err)
	}
	return nil
}
