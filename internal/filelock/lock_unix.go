//go:build unix

// Package filelock locks a file against other processes. The system releases the lock when the process ends for any
// reason.
//
// Its rank is -2: internal/durable uses it.
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
	if err := Hold(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Hold locks an open file as Lock does. Files that are not regular, such as /dev/null, are not locked: processes share
// them.
func Hold(f *os.File) error {
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return err
	}
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EWOULDBLOCK):
			return ErrHeld
		}
		return nil
	}
}
