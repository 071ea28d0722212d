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
	"strings"
)

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
