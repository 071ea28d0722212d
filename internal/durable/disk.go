package durable

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"synod.dev/synod/internal/filelock"
)

// File is an open file of a Disk. *os.File is one.
type File interface {
	io.ReadWriteSeeker
	io.ReaderAt
	io.WriterAt
	io.Closer
	Truncate(size int64) error
	Sync() error
	Stat() (fs.FileInfo, error)
}

// Disk is what ledgers and journals need of a file system: that of the operating system (System), or one with faults in
// tests and campaigns (package faultdisk).
type Disk interface {
	OpenFile(path string, flag int, perm fs.FileMode) (File, error)
	Mkdir(dir string, perm fs.FileMode) error
	Rename(from, to string) error
	Remove(path string) error
	// SyncDir puts the names in a folder on disk. A file system that cannot do that is not an error.
	SyncDir(dir string) error
	// Hold locks an open file against other processes until it is closed. The error is filelock.ErrHeld if another
	// process holds the lock.
	Hold(f File) error
}

// System is the file system of the operating system.
var System Disk = system{}

type system struct{}

func (system) OpenFile(path string, flag int, perm fs.FileMode) (File, error) {
	f, err := os.OpenFile(path, flag, perm)
	if err != nil {
		return nil, err // and no File that holds a nil *os.File
	}
	return f, nil
}

func (system) Mkdir(dir string, perm fs.FileMode) error { return os.Mkdir(dir, perm) }
func (system) Rename(from, to string) error             { return os.Rename(from, to) }
func (system) Remove(path string) error                 { return os.Remove(path) }
func (system) SyncDir(dir string) error                 { return SyncDir(dir) }

func (system) Hold(f File) error {
	if of, ok := f.(*os.File); ok {
		return filelock.Hold(of)
	}
	return errors.New("the file is not one of this system")
}

// LockOn locks a file of a disk, which it creates if necessary, until it is closed. The error is filelock.ErrHeld if
// another process holds the lock.
func LockOn(d Disk, path string) (io.Closer, error) {
	f, err := d.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := d.Hold(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// MkdirAllOn makes a folder that only its owner can enter, with all folders above it, and puts its name on disk. A
// folder that is there may be one of a process that died before the name was on disk, so that is done then, too.
func MkdirAllOn(d Disk, dir string) error {
	err := d.Mkdir(dir, 0o700)
	above := filepath.Dir(dir)
	if errors.Is(err, fs.ErrNotExist) && above != dir {
		if err := MkdirAllOn(d, above); err != nil {
			return err
		}
		err = d.Mkdir(dir, 0o700)
	}
	if errors.Is(err, fs.ErrExist) {
		if err := d.SyncDir(above); !errors.Is(err, fs.ErrPermission) {
			return err
		}
		return nil // the folder above belongs to somebody else, who made this one
	}
	if err != nil {
		return err
	}
	return d.SyncDir(above)
}

// Rewrite writes the bytes of a file between two positions over themselves. They were read, but perhaps from memory:
// if the last sync of the process that wrote them failed, another sync does nothing for them unless they are written
// again.
func Rewrite(f File, from, to int64) error {
	buf := make([]byte, min(to-from, 1<<20))
	for from < to {
		part := buf[:min(to-from, int64(len(buf)))]
		if _, err := f.ReadAt(part, from); err != nil {
			return err
		}
		if _, err := f.WriteAt(part, from); err != nil {
			return err
		}
		from += int64(len(part))
	}
	return nil
}
