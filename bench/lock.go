package bench

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"syscall"

	"synod.dev/synod/internal/filelock"
)

// lock locks the folder of a run against other processes until the result is closed. The file says which process has
// it, for the message to another one.
func lock(dir string) (io.Closer, error) {
	path := filepath.Join(dir, "lock")
	f, err := filelock.Lock(path)
	switch {
	case errors.Is(err, filelock.ErrHeld):
		return nil, fmt.Errorf("bench: %s: another process is working on this run%s", dir, holder(path))
	case errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS):
		return nil, fmt.Errorf("bench: the folder cannot be written, so it can be reported and exported only: %w", err)
	case err != nil:
		return nil, fmt.Errorf("bench: %w", err)
	}
	if host, err := os.Hostname(); err == nil && f.Truncate(0) == nil {
		_, _ = fmt.Fprintf(f, "%d %s\n", os.Getpid(), host) // it is informational: without it the lock holds too
	}
	return f, nil
}

// holderLine is what a process writes into the lock that it has.
var holderLine = regexp.MustCompile(`^([1-9][0-9]{0,9}) ([A-Za-z0-9._-]{1,255})\n$`)

// holder names the process that has a lock; "" if the file does not say it.
func holder(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 512))
	if m := holderLine.FindSubmatch(text); err == nil && m != nil {
		return fmt.Sprintf(": process %s on %s", m[1], m[2])
	}
	return ""
}
