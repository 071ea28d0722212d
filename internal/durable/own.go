package durable

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"

	"synod.dev/synod/internal/filelock"
)

// Own locks a file of a disk, as LockOn does, and writes into it which process has it. If another process has the lock,
// the error is a HeldError.
func Own(d Disk, path string) (io.Closer, error) {
	f, err := d.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := d.Hold(f); errors.Is(err, filelock.ErrHeld) {
		return nil, errors.Join(&HeldError{holder(f)}, f.Close())
	} else if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if host, err := os.Hostname(); err == nil && f.Truncate(0) == nil {
		_, _ = fmt.Fprintf(f, "%d %s\n", os.Getpid(), host) // it is informational: without it the lock holds too
	}
	return f, nil
}

// HeldError means that another process has a lock. It is a filelock.ErrHeld.
type HeldError struct {
	Holder string // "process 12 on host"; "" if the file does not say it
}

func (e *HeldError) Error() string {
	if e.Holder == "" {
		return filelock.ErrHeld.Error()
	}
	return filelock.ErrHeld.Error() + ": " + e.Holder
}

// Unwrap returns filelock.ErrHeld.
func (e *HeldError) Unwrap() error { return filelock.ErrHeld }

// holderLine is what a process writes into the lock that it has.
var holderLine = regexp.MustCompile(`^([1-9][0-9]{0,9}) ([A-Za-z0-9._-]{1,255})\n$`)

// holder names the process that has a lock.
func holder(f io.Reader) string {
	text, err := io.ReadAll(io.LimitReader(f, 512))
	if m := holderLine.FindSubmatch(text); err == nil && m != nil {
		return fmt.Sprintf("process %s on %s", m[1], m[2])
	}
	return ""
}
