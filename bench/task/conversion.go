package task

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"synod.dev/synod"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/internal/fetch"
)

// Conversions lists the layouts that can be read.
var Conversions = synod.NewCatalogue("layout", sacMathFile, sacCommonsenseFile, sacRepository, cpwbftTrace,
	gsm8kTrace, mmluProTrace, xstestTrace, realcriticTrace, gsm8kVotes, mathVotes, cruxVotes, mmluVotes)

// UnpublishedError reports that a file cannot be pulled.
type UnpublishedError struct{ Conversion Conversion }

func (e *UnpublishedError) Error() string {
	return fmt.Sprintf("task: %s cannot be pulled: %s", e.Conversion.File, e.Conversion.About)
}

// made returns where a store keeps the file of a conversion.
func (s Store) made(c Conversion) string { return filepath.Join(s.Dir, filepath.FromSlash(c.File)) }

// MadeState returns the state of the file of a conversion: Here, Damaged, Absent or Unpinned.
func (s Store) MadeState(c Conversion) string {
	if len(c.From) == 0 {
		return Unpinned
	}
	return recordedState(s.made(c))
}

// recordedState judges a file by the record beside it.
func recordedState(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return Absent
	}
	if r, err := readRowsRecord(path); err != nil || r.Bytes != info.Size() {
		return Damaged
	}
	return Here
}

// PullMade fetches the published files of a conversion, verifies them, makes the file, verifies it, and moves it into
// the store. The error is an *UnpublishedError or a *PullError; the latter wraps fetch.ErrDigest if the content is not
// the pinned one.
func (s Store) PullMade(ctx context.Context, c Conversion, o PullOptions) error {
	if len(c.From) == 0 {
		return &UnpublishedError{c}
	}
	to := s.made(c)
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return fmt.Errorf("task: %w", err)
	}
	unlock, err := fetch.Lock(ctx, filepath.Join(s.Dir, ".lock"))
	if err != nil {
		return fmt.Errorf("task: waiting for another pull: %w", err)
	}
	defer unlock()
	if verifyRows(to) == nil {
		o.notice("%s is already there: %s", c.Name, to)
		return nil
	}
	var parts []string
	for i, from := range c.From {
		e := Entry{Entry: c.Entry, Source: from}
		part := fmt.Sprintf("%s.%d.part", to, i)
		o.notice("%s: fetching %s from %s", c.Name, from.length(), from.URL)
		want := fetch.Want{Bytes: from.Size, SHA256: from.SHA256}
		if err := s.fetch.Download(ctx, from.URL, part, want, o.Progress); err != nil {
			return &PullError{e, err}
		}
		parts = append(parts, part)
	}
	if err := c.store(parts, to, o); err != nil {
		return &PullError{Entry{Entry: c.Entry, Source: c.From[0]}, err}
	}
	for _, part := range parts {
		if err := os.Remove(part); err != nil {
			return fmt.Errorf("task: %w", err)
		}
	}
	return nil
}

// store makes the file of fetched parts and writes it with its record.
func (c Conversion) store(parts []string, to string, o PullOptions) error {
	made, note, err := c.Make(parts)
	if err != nil {
		return errors.Join(fmt.Errorf("%w: %w", fetch.ErrDigest, err), removeAll(parts))
	}
	if note != "" {
		o.notice("%s: %s", c.Name, note)
	}
	if err := os.WriteFile(to+".new", made, 0o644); err != nil {
		return err
	}
	size, sum, err := fetch.Digest(to + ".new")
	if err != nil {
		return err
	}
	record, err := json.Marshal(rowsRecord{Rows: bytes.Count(made, []byte("\n")), Bytes: size, SHA256: sum})
	if err != nil {
		return err
	}
	if err := os.WriteFile(to+sumSuffix, append(record, '\n'), 0o644); err != nil {
		return err
	}
	o.notice("%s: %d rows, SHA-256 %s", c.Name, bytes.Count(made, []byte("\n")), sum)
	return durable.Rename(to+".new", to)
}

func removeAll(paths []string) (err error) {
	for _, p := range paths {
		err = errors.Join(err, os.Remove(p))
	}
	return err
}

// Trace returns the path of a file of recorded replies, such as "cp-wbft": traces/cp-wbft.jsonl in the folder of data
// or, without one, the file that was pulled. The error wraps os.ErrNotExist if there is none.
func Trace(name string, o Options) (string, error) {
	file := filepath.Join("traces", name+".jsonl")
	if o.Data != "" {
		path := filepath.Join(o.Data, file)
		_, err := os.Stat(path)
		return path, err
	}
	path := filepath.Join(o.Pulled, file)
	if o.Pulled == "" {
		return "", os.ErrNotExist
	}
	return path, verifyRows(path)
}
