//go:build unix

package lab

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// lock locks the folder against other processes. The system releases the lock when the
// process ends for any reason.
func lock(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lab: %w", err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		f.Close()
		return nil, fmt.Errorf("lab: %s: another process is working on this run", dir)
	}
	return f, nil // other errors mean that the file system has no locks
}
