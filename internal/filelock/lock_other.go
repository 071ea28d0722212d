//go:build !unix

// Package filelock locks a file against other processes, on systems that support this.
package filelock

import (
	"errors"
	"os"
)

// ErrHeld means that another process holds the lock.
var ErrHeld = errors.New("another process holds the lock")

// Lock opens the file without locking it: this system has no advisory locks.
func Lock(path string) (*os.File, error) { return os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) }

// Hold does nothing: this system has no advisory locks.
func Hold(*os.File) error { return nil }
