package bench

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"syscall"

	"synod.dev/synod/internal/durable"
)

// lock locks the folder of a run against other processes until the result is closed.
func lock(dir string) (io.Closer, error) {
	held, err := durable.Own(durable.System, filepath.Join(dir, "lock"))
	if other, ok := errors.AsType[*durable.HeldError](err); ok {
		text := "another process is working on this run"
		if other.Holder != "" {
			text += ": " + other.Holder
		}
		return nil, fmt.Errorf("bench: %s: %s", dir, text)
	}
	switch {
	case errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS):
		return nil, fmt.Errorf("bench: the folder cannot be written, so it can be reported and exported only: %w", err)
	case err != nil:
		return nil, fmt.Errorf("bench: %w", err)
	}
	return held, nil
}
