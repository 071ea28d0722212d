// Package backup writes the files of a gateway into one archive, and puts them back.
package backup

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Part is a folder, or one file, and its name in an archive.
type Part struct {
	Name string // such as journals; the files below it are journals/…
	Path string // on this machine; what is absent is left out
}

// Written counts what went into an archive.
type Written struct {
	Files map[string]int // by the name of their part
	Bytes int64          // of the archive
}

// Write writes an archive (tar with gzip), which only its owner can read and which must not exist. Files may grow
// while they are read, and may go: those are left out. Links to files are followed; other files that are not plain
// are left out.
func Write(to string, parts []Part) (w Written, err error) {
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return w, err
	}
	w.Files = map[string]int{}
	packed := gzip.NewWriter(f)
	out := tar.NewWriter(packed)
	for _, p := range parts {
		if w.Files[p.Name], err = add(out, p); err != nil {
			break
		}
	}
	if err = errors.Join(err, out.Close(), packed.Close(), f.Sync()); err == nil {
		info, stat := f.Stat()
		if err = stat; err == nil {
			w.Bytes = info.Size()
		}
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return w, errors.Join(err, os.Remove(to))
	}
	return w, nil
}

// add adds the files of a part and returns how many there were.
func add(out *tar.Writer, p Part) (n int, err error) {
	err = filepath.WalkDir(p.Path, func(file string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		under, err := filepath.Rel(p.Path, file)
		if err != nil {
			return err
		}
		there, err := addFile(out, path.Join(p.Name, filepath.ToSlash(under)), file)
		if there {
			n++
		}
		return err
	})
	return n, err
}

// addFile adds a file with the bytes that it has now; false if it is gone or no plain file.
func addFile(out *tar.Writer, name, file string) (there bool, err error) {
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return false, err
	}
	if err := out.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: info.Size(), ModTime: info.ModTime(),
		Typeflag: tar.TypeReg}); err != nil {
		return false, err
	}
	if _, err := io.CopyN(out, f, info.Size()); err != nil {
		return false, fmt.Errorf("%s: %w", file, err)
	}
	return true, nil
}

// Restored is what came out of an archive.
type Restored struct {
	Files map[string]int // by the name of their part
	Kept  []string       // files that existed, and stayed as they were
}

// Read puts the files of an archive back: those of a part into the folder that at returns for its name. "" leaves the
// part out. Files that exist stay as they are.
func Read(from string, at func(part string) (string, error)) (r Restored, err error) {
	r.Files = map[string]int{}
	f, err := os.Open(from)
	if err != nil {
		return r, err
	}
	defer f.Close()
	packed, err := gzip.NewReader(f)
	if err != nil {
		return r, fmt.Errorf("%s is no backup of a gateway: %w", from, err)
	}
	for in := tar.NewReader(packed); ; {
		head, err := in.Next()
		if err == io.EOF {
			return r, nil
		}
		if err != nil {
			return r, fmt.Errorf("%s is damaged: %w", from, err)
		}
		part, under, _ := strings.Cut(head.Name, "/")
		if head.Typeflag != tar.TypeReg || !filepath.IsLocal(under) {
			return r, fmt.Errorf("%s is no backup of a gateway: it has %q", from, head.Name)
		}
		dir, err := at(part)
		if err != nil {
			return r, err
		}
		if dir == "" {
			continue
		}
		switch err := extract(dir, filepath.FromSlash(under), in); {
		case errors.Is(err, fs.ErrExist):
			r.Kept = append(r.Kept, filepath.Join(dir, filepath.FromSlash(under)))
		case err != nil:
			return r, fmt.Errorf("%s: %w", head.Name, err)
		default:
			r.Files[part]++
		}
	}
}

// extract writes a file below a folder, and nowhere else. A file that is cut off is removed.
func extract(dir, name string, from io.Reader) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, root.Remove(name))
	}
	return nil
}
