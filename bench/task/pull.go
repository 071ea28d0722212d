package task

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"synod.dev/synod/internal/durable"
	"synod.dev/synod/internal/fetch"
)

// The states of a set in a store.
const (
	Inside   = "inside"   // in the binary, needs no data
	Here     = "here"     // pulled, with the right length
	Damaged  = "damaged"  // a file with another length is there
	Absent   = "absent"   // can be pulled
	Unpinned = "unpinned" // cannot be pulled: no digest or revision is known
)

// NoSourceError reports that a set cannot be pulled, because no digest of its file and no revision is known.
type NoSourceError struct{ Entry Entry }

func (e *NoSourceError) Error() string {
	return fmt.Sprintf("task: %s has no pinned source", e.Entry.Name)
}

// conversion returns what makes the file of a set that is not published as one.
func (e Entry) conversion() (Conversion, bool) {
	if e.Made == "" {
		return Conversion{}, false
	}
	c, err := Conversions.Find(e.Made)
	return c, err == nil
}

// Pullable reports whether the set can be pulled.
func (e Entry) Pullable() bool { return e.Source.Pinned() || e.Made != "" }

// NeedsData reports whether the set is read from a file and not from the binary.
func (e Entry) NeedsData() bool { return e.Layout != "" }

// file returns where a store keeps a set; "" for a set that cannot be pulled.
func (s Store) file(e Entry) string {
	if s.Dir == "" || !e.Pullable() {
		return ""
	}
	if c, ok := e.conversion(); ok {
		return s.made(c)
	}
	if e.Source.Rows != nil {
		return filepath.Join(s.Dir, e.Name, rowsFile)
	}
	return filepath.Join(s.Dir, e.Name, path.Base(e.Source.URL))
}

// State returns the state of a set, judged by the length of its file.
func (s Store) State(e Entry) string {
	switch parts := e.Parts(); {
	case !e.NeedsData():
		return Inside
	case len(parts) > 1:
		for _, p := range parts {
			if state := s.State(p); state != Here {
				return state
			}
		}
		return Here
	case e.Made != "":
		return recordedState(s.file(e))
	case !e.Source.Pinned():
		return Unpinned
	}
	info, err := os.Stat(s.file(e))
	switch {
	case err != nil:
		return Absent
	case info.Size() != e.size(s.file(e), info.Size()):
		return Damaged
	}
	return Here
}

// size returns the length that a pulled file should have: given if it is not known.
func (e Entry) size(path string, given int64) int64 {
	switch {
	case e.Source.Rows != nil:
		r, err := readRowsRecord(path)
		if err != nil {
			return -1
		}
		return r.Bytes
	case e.Source.Size > 0:
		return e.Source.Size
	}
	return given
}

// Pull fetches the published file of a set, or the files of its parts, verifies the pinned SHA-256 and moves
// it into the store. A set whose authors publish a Parquet table is fetched as rows of the public hub, at the pinned
// revision. What was received is kept if the connection breaks, and the next Pull continues there. The error is a
// *NoSourceError or a *PullError; the latter wraps fetch.ErrDigest if the content is not the pinned one, and a
// *RevisionError if the hub serves another revision.
func (s Store) Pull(ctx context.Context, e Entry, o PullOptions) error {
	switch s.State(e) {
	case Inside:
		o.notice("%s is in the program, there is nothing to pull", e.Name)
		return nil
	case Unpinned:
		return &NoSourceError{e}
	}
	if c, ok := e.conversion(); ok {
		return s.PullMade(ctx, c, o)
	}
	if parts := e.Parts(); len(parts) > 1 {
		for _, p := range parts {
			if err := s.Pull(ctx, p, o); err != nil {
				return err
			}
		}
		return nil
	}
	to := s.file(e)
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return fmt.Errorf("task: %w", err)
	}
	unlock, err := fetch.Lock(ctx, filepath.Join(s.Dir, ".lock"))
	if err != nil {
		return fmt.Errorf("task: waiting for another pull: %w", err)
	}
	defer unlock()
	if e.verify(to) == nil {
		o.notice("%s is already there: %s", e.Name, to)
		return nil
	}
	o.notice("%s: fetching %s from %s", e.Name, e.Source.length(), e.Source.URL)
	if e.Source.Rows != nil {
		return s.pullRows(ctx, e, to, o)
	}
	want := fetch.Want{Bytes: e.Source.Size, SHA256: e.Source.SHA256}
	if err := s.fetch.Download(ctx, e.Source.URL, to+".part", want, o.Progress); err != nil {
		return &PullError{e, err}
	}
	if err := durable.Rename(to+".part", to); err != nil {
		return fmt.Errorf("task: %w", err)
	}
	return nil
}

// verify returns an error unless a file is the pinned one, or has the rows that were fetched.
func (e Entry) verify(path string) error {
	if e.Source.Rows != nil || e.Made != "" {
		return verifyRows(path)
	}
	size, sum, err := fetch.Digest(path)
	if err == nil && sum != e.Source.SHA256 {
		err = fmt.Errorf("%s: %w: %d bytes with SHA-256 %s, pinned is %s with %s", path, fetch.ErrDigest, size, sum,
			e.Source.length(), e.Source.SHA256)
	}
	return err
}

// pulled returns the path of a pulled set; "" if it has not been pulled. A file that is not the pinned one is
// an error, so that nobody measures with it by mistake.
func (e Entry) pulled(dir string) (string, error) {
	s := Store{Dir: dir}
	if s.file(e) == "" {
		return "", nil
	}
	err := e.verify(s.file(e))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("task: %s: %w; pull it again", e.Name, err)
	}
	return s.file(e), nil
}
