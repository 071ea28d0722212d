// Package durable makes changes to folders outlive a crash of the machine, and reads files of bounded size. What keeps
// records does that on a Disk, so that tests and campaigns can play it on one that fails.
//
// Its rank is -1: internal/fetch and all packages that write files use it.
package durable

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// Rename renames a file or a folder and syncs the folder that contains the new name, so that the new name is on disk.
func Rename(from, to string) error { return RenameOn(System, from, to) }

// RenameOn is Rename on a disk.
func RenameOn(d Disk, from, to string) error {
	if err := d.Rename(from, to); err != nil {
		return err
	}
	return d.SyncDir(filepath.Dir(to))
}

// WriteFile writes and syncs a file that only its owner can read. It is complete or not there: it is written under
// the name path.new and renamed.
func WriteFile(path string, b []byte) error { return WriteFileOn(System, path, b) }

// WriteFileOn is WriteFile on a disk.
func WriteFileOn(d Disk, path string, b []byte) error {
	f, err := Fresh(d, path+".new")
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return RenameOn(d, path+".new", path)
}

// Fresh makes an empty file that only its owner can read. What a process that died has left under its name is removed
// and not cut: if that process had cut it and its sync failed, the file is empty for all who read it, so that cutting
// it again would change nothing, and may still have its old bytes on disk.
func Fresh(d Disk, path string) (File, error) {
	if err := d.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	return d.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
}

// ErrTooLarge means that a file has more bytes than are read.
var ErrTooLarge = errors.New("the file is too large")

// ErrSpecial means that a path names no regular file but a device, a socket or a pipe.
var ErrSpecial = errors.New("it is no regular file")

// Open opens a file to be read. Reading a device may never end, and opening a pipe waits for its writer, so both are
// refused, except /dev/null and what the process has open already: /dev/stdin, and the /dev/fd/N of <(COMMAND).
func Open(path string) (*os.File, error) {
	if err := Regular(path); err != nil {
		return nil, err
	}
	return os.Open(path)
}

// Regular returns an ErrSpecial if Open refuses a path because of what it names.
func Regular(path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() && !given(path) {
		return &os.PathError{Op: "open", Path: path, Err: ErrSpecial}
	}
	return nil
}

// given reports whether a path names an open file of this process, or the device that is always empty.
func given(path string) bool {
	path = filepath.Clean(path)
	return path == os.DevNull || path == "/dev/stdin" || slices.Contains([]string{"/dev/fd", "/proc/self/fd"},
		filepath.Dir(path))
}

// ReadFile reads a whole file of at most max bytes, as Open allows. It allocates no more than that, whatever the file
// system says about the size. The error is ErrTooLarge for a larger file.
func ReadFile(path string, max int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	return readAll(f, path, max)
}

// ReadFileOn is ReadFile on a disk, whose files are all regular.
func ReadFileOn(d Disk, path string, max int64) ([]byte, error) {
	f, err := d.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	return readAll(f, path, max)
}

func readAll(f File, path string, max int64) ([]byte, error) {
	defer f.Close()
	var b bytes.Buffer
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		if info.Size() > max {
			return nil, fmt.Errorf("%s: %w: it has %d bytes; at most %d are read", path, ErrTooLarge, info.Size(), max)
		}
		b.Grow(int(info.Size()) + bytes.MinRead) // a large file is not copied while it is read
	}
	if _, err := b.ReadFrom(io.LimitReader(f, max+1)); err != nil {
		return nil, err
	}
	if int64(b.Len()) > max {
		return nil, fmt.Errorf("%s: %w: at most %d bytes are read", path, ErrTooLarge, max)
	}
	return b.Bytes(), nil
}

// Torn reports whether the end of a file of JSON lines, after the last newline, can be the beginning of a line that was
// being written when the process died: no object is complete in it, unless nothing follows. Every line begins with
// prefix.
func Torn(rest []byte, prefix string) bool {
	rest = bytes.TrimRight(rest, "\x00") // what was not written, where a file system leaves zeros
	if len(rest) == 0 || Hole(rest) {
		return true
	}
	if n := min(len(rest), len(prefix)); string(rest[:n]) != prefix[:n] {
		return false
	}
	var object json.RawMessage
	d := json.NewDecoder(bytes.NewReader(rest))
	if err := d.Decode(&object); err != nil {
		return errors.Is(err, io.ErrUnexpectedEOF)
	}
	return d.InputOffset() == int64(len(rest))
}

// Hole reports whether a part of a file of text was never written: some file systems leave zeros after a power failure.
func Hole(part []byte) bool { return bytes.Contains(part, make([]byte, 16)) }
