package journal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"synod.dev/synod/internal/durable"
	"synod.dev/synod/internal/filelock"
)

// Resume is Load for a run that is to be resumed. Until the lock is closed no other
// process can resume the journal. The error is filelock.ErrHeld if another process is
// writing or resuming it.
func Resume(path string) (run *Run, lock io.Closer, err error) { return ResumeOn(durable.System, path) }

// ResumeOn is Resume on a disk, which campaigns let fail.
func ResumeOn(d durable.Disk, path string) (run *Run, lock io.Closer, err error) {
	if err := durable.Regular(path); err != nil {
		return nil, nil, fmt.Errorf("journal: %w", err)
	}
	f, err := d.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("journal: %w", err)
	}
	err = d.Hold(f)
	if errors.Is(err, filelock.ErrHeld) {
		err = fmt.Errorf("%s: %w: it is writing or resuming this journal", path, err)
	}
	if err == nil { // the process that made the file may have died before its name was on the disk
		err = d.SyncDir(filepath.Dir(path))
	}
	if err == nil {
		run, err = readHeld(path, f)
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return run, f, nil
}

// readHeld reads a journal that is to be continued in its file.
func readHeld(path string, f durable.File) (*Run, error) {
	in := reading{run: &Run{Replies: Replies{}}}
	sum := summed{take: in.take}
	if err := eachLine(f, &sum); err != nil {
		return nil, fmt.Errorf("journal: %s: %w", path, err)
	}
	run := in.finish()
	run.held = &held{path: path, file: f, size: sum.whole, crc: sum.wholeCRC, torn: sum.torn}
	return run, nil
}

// Continues reports whether the run was read by Resume from the file of this path, so that
// Continue writes to it.
func (run *Run) Continues(path string) bool { return run.held != nil && run.held.path == path }

// Continue begins another attempt at the run, in the file that Resume has read it from. The
// file keeps what was paid for, and the Writer owns it from then on.
func (run *Run) Continue(head Head) (*Writer, error) {
	h := run.held
	run.held = nil
	if err := h.file.Truncate(h.size); err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	if h.torn {
		if _, err := h.file.WriteAt([]byte{'\n'}, h.size-1); err != nil {
			return nil, fmt.Errorf("journal: %w", err)
		}
	}
	if err := durable.Rewrite(h.file, 0, h.size); err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	if _, err := h.file.Seek(h.size, io.SeekStart); err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	return newWriter(h.path, &file{File: h.file, size: h.size, crc: h.crc}, head, true)
}
