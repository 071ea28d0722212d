//go:build unix

// Package filelock locks a file against other processes. The system releases the lock when the process ends for any
// reason.
//
// Its rank is -1: internal/fetch uses it.
package filelock

import (
	"errors"
	"os"
	"syscall"
)

// ErrHeld means that another process holds the lock.
var ErrHeld = errors.New("another process holds the lock")

// Lock locks a file, which it creates if necessary, until it is closed. It does not wait: it returns ErrHeld if another
// process holds the lock. On a file system without locks it succeeds.
func Lock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EWOULDBLOCK):
			return nil, errors.Join(ErrHeld, f.Close())
		}
		return f, nil
	}
}
