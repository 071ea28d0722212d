package models

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"synod.dev/synod/internal/durable"
	"synod.dev/synod/internal/fetch"
)

// installWeights makes the GGUF file of the store from the downloaded files.
func (s Store) installWeights(e Entry, src Source, fetched []string, work string, opts Options) error {
	file := fetched[0]
	if src.Via != "https" {
		file = filepath.Join(work, "joined")
		if err := joinMembers(file, fetched, src.Members, e.Bytes); err != nil {
			return err
		}
	}
	return s.adopt(e, file, src.String(), opts)
}

// adopt checks a file and renames it to the file of the entry.
func (s Store) adopt(e Entry, file, source string, opts Options) error {
	size, sum, err := digest(file)
	if err != nil {
		return err
	}
	if e.SHA256 != "" && sum != e.SHA256 {
		return fmt.Errorf("%w: SHA-256 is %s; expected %s (%d bytes of %d)", ErrDigest, sum, e.SHA256, size, e.Bytes)
	}
	if err := checkMagic(file); err != nil {
		return err
	}
	if old, err := s.installed(e.Name); err == nil && e.SHA256 == "" && old.Files[0].SHA256 != sum &&
		source == old.Source {
		return fmt.Errorf("%w: SHA-256 is %s, but the first pull recorded %s; `synod models rm %s` removes that record",
			ErrDigest, sum, old.Files[0].SHA256, e.Name)
	}
	name := e.Name + ".gguf"
	if err := os.Chmod(file, 0o644); err != nil {
		return err
	}
	if err := durable.Rename(file, filepath.Join(s.Dir, name)); err != nil {
		return err
	}
	opts.progress(size, size)
	return s.record(Installed{
		Name: e.Name, Kind: Weights, Version: e.Version, Licence: e.Licence, Source: source,
		Pinned: e.SHA256 != "", Pulled: now(), Files: []File{{name, size, sum}},
	})
}

func checkMagic(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	var magic [4]byte
	if _, err := io.ReadFull(f, magic[:]); err != nil || string(magic[:]) != "GGUF" {
		return fmt.Errorf("%w: not a GGUF file", ErrDigest)
	}
	return nil
}

// installLibraries unpacks the libraries of an archive and then replaces the old ones.
func (s Store) installLibraries(e Entry, src Source, archive, work string, opts Options) error {
	_, sum, err := digest(archive)
	if err != nil {
		return err
	}
	if src.SHA256 != "" && sum != src.SHA256 {
		return fmt.Errorf("%w: SHA-256 is %s; expected %s", ErrDigest, sum, src.SHA256)
	}
	prefix := ""
	if len(src.Members) > 0 {
		prefix = src.Members[0]
	}
	dir := filepath.Join(work, "lib")
	if err := unpackLibraries(archive, prefix, dir); err != nil {
		return err
	}
	opts.progress(e.Bytes, e.Bytes)
	if src.Via == "https" {
		defer os.Remove(archive)
	}
	return s.adoptLibraries(e, dir, src.String(), src.SHA256 != "")
}

func (s Store) adoptLibraries(e Entry, dir, source string, pinned bool) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	in := Installed{Name: Library, Kind: Libraries, Version: e.Version, Licence: e.Licence, Source: source,
		Pinned: pinned, Pulled: now()}
	for _, f := range entries {
		size, sum, err := digest(filepath.Join(dir, f.Name()))
		if err != nil {
			return err
		}
		in.Files = append(in.Files, File{libraryDir() + "/" + f.Name(), size, sum})
	}
	for _, need := range []string{"libllama", "libggml", "libggml-base"} {
		if !slices.ContainsFunc(entries, func(f os.DirEntry) bool { return strings.HasPrefix(f.Name(), need+".") }) {
			return fmt.Errorf("%w: it has no %s", ErrDigest, need)
		}
	}
	final := filepath.Join(s.Dir, libraryDir())
	_ = os.Remove(s.manifest(Library)) // until record writes a new one, the libraries are not installed
	if err := os.RemoveAll(final); err != nil {
		return err
	}
	if err := durable.Rename(dir, final); err != nil {
		return err
	}
	return s.record(in)
}

// pullFrom copies from a path and does not change the original.
func (s Store) pullFrom(e Entry, opts Options) error {
	work, err := os.MkdirTemp(s.Dir, ".pull-*")
	if err != nil {
		return fmt.Errorf("models: %w", err)
	}
	defer os.RemoveAll(work)
	abs, err := filepath.Abs(opts.From)
	if err != nil {
		return fmt.Errorf("models: %w", err)
	}
	if e.Kind == Libraries {
		err = s.librariesFrom(e, abs, filepath.Join(work, "lib"))
	} else {
		copied := filepath.Join(work, "copy")
		if err = copyFile(abs, copied, opts); err == nil {
			err = s.adopt(e, copied, abs, opts)
		}
	}
	if err != nil {
		return fmt.Errorf("models: %s from %s: %w", e.Name, opts.From, err)
	}
	return nil
}

func (s Store) librariesFrom(e Entry, from, to string) error {
	found, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	if err := os.Mkdir(to, 0o755); err != nil {
		return err
	}
	for _, f := range found {
		if isLibrary(f.Name()) {
			if err := copyFile(filepath.Join(from, f.Name()), filepath.Join(to, f.Name()), Options{}); err != nil {
				return err
			}
		}
	}
	e.Version = ""
	return s.adoptLibraries(e, to, from, false)
}

// isLibrary reports whether the engine needs a file.
func isLibrary(name string) bool {
	if !strings.HasPrefix(name, "libllama.") && !strings.HasPrefix(name, "libggml") {
		return false
	}
	if runtime.GOOS == "darwin" {
		return strings.HasSuffix(name, ".dylib") || strings.HasSuffix(name, ".so")
	}
	return strings.HasSuffix(name, ".so") || strings.Contains(name, ".so.")
}

func copyFile(from, to string, opts Options) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	st, err := in.Stat()
	if err != nil {
		return err
	}
	if !st.Mode().IsRegular() {
		return errors.New("not a regular file")
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, fetch.WithProgress(in, st.Size(), opts.progress))
	return errors.Join(err, out.Close())
}

// Limits on the content of an archive, so that a small one cannot fill the disk.
const (
	maxMember  = 512 << 20
	maxMembers = 10_000
)

// unpackLibraries creates dir and writes the libraries of a .tgz into it: regular files
// directly in the folder prefix, or anywhere if prefix is empty.
func unpackLibraries(archive, prefix, dir string) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDigest, err)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir) // files outside dir cannot be written
	if err != nil {
		return err
	}
	defer root.Close()
	t := tar.NewReader(z)
	written := int64(0)
	for n := 0; ; n++ {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil || n > maxMembers {
			return fmt.Errorf("%w: unreadable archive: %w", ErrDigest, errors.Join(err, io.ErrUnexpectedEOF))
		}
		base, ok := wanted(h.Name, prefix)
		if h.Typeflag != tar.TypeReg || !ok {
			continue // other files and links are ignored
		}
		if written += h.Size; h.Size < 0 || written > maxMember {
			return fmt.Errorf("%w: archive too large", ErrDigest)
		}
		if err := writeMember(root, base, t, h.Size); err != nil {
			return err
		}
	}
}

// wanted returns the file name of a member, and whether it is to be unpacked.
func wanted(name, prefix string) (string, bool) {
	dir, base := path.Split(name)
	if prefix != "" && dir != prefix {
		return "", false
	}
	ok := validMember(base) && isLibrary(base) && !path.IsAbs(name) && !strings.Contains(name, "..")
	return base, ok
}

// validMember accepts plain file names only, without separators, control characters or
// anything that has a special meaning in a file system.
func validMember(base string) bool {
	if base == "" || len(base) > 120 || base[0] == '.' || strings.HasSuffix(base, ".") {
		return false
	}
	for _, r := range base {
		ok := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r)
		if !ok {
			return false
		}
	}
	return true
}

func writeMember(root *os.Root, name string, r io.Reader, size int64) error {
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	n, err := io.Copy(f, io.LimitReader(r, size))
	if err == nil && n != size {
		err = io.ErrUnexpectedEOF
	}
	return errors.Join(err, f.Close())
}

// joinMembers concatenates one member of each archive, in order, to a file.
func joinMembers(file string, archives, members []string, limit int64) error {
	if len(archives) != len(members) {
		return fmt.Errorf("%d packages for %d files", len(archives), len(members))
	}
	out, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	for i, archive := range archives {
		if err := appendMember(out, archive, members[i], &limit); err != nil {
			return errors.Join(err, out.Close())
		}
	}
	return out.Close()
}

// appendMember copies one regular file with this exact name from a zip archive.
func appendMember(out io.Writer, archive, member string, left *int64) error {
	z, err := zip.OpenReader(archive)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDigest, err)
	}
	defer z.Close()
	for _, m := range z.File {
		if m.Name != member || !m.Mode().IsRegular() {
			continue
		}
		r, err := m.Open()
		if err != nil {
			return fmt.Errorf("%w: %w", ErrDigest, err)
		}
		n, err := io.Copy(out, io.LimitReader(r, *left+1)) // the reader checks the CRC
		err = errors.Join(err, r.Close())
		if *left -= n; err == nil && *left < 0 {
			err = fmt.Errorf("%w: %s is larger than it should be", ErrDigest, member)
		}
		return err
	}
	return fmt.Errorf("%w: it has no file %s", ErrDigest, member)
}
