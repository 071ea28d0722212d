//go:build unix

package durable

import (
	"errors"
	"os"
	"syscall"
)

// SyncDir puts the names in a folder on disk. A file system that cannot do that is not an error.
func SyncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return err
	}
	return nil
}
