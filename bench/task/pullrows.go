package task

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"synod.dev/synod/internal/durable"
	"synod.dev/synod/internal/fetch"
)

// rowsAPI answers with at most rowsPerPage rows of a split: huggingface.co/docs/dataset-viewer/rows.
const (
	rowsAPI     = "https://datasets-server.huggingface.co/rows"
	rowsPerPage = 100
)

// sumSuffix ends the name of the file with digest and revision beside rowsFile, and beside files that were made of
// published ones.
const sumSuffix = ".sum"

// rowsRecord is the content of a file with sumSuffix.
type rowsRecord struct {
	Revision string `json:"revision,omitempty"`
	Rows     int    `json:"rows"`
	Bytes    int64  `json:"bytes"`
	SHA256   string `json:"sha256"`
}

// RevisionError reports that the hub serves another revision of a data set than the pinned one.
type RevisionError struct{ Set, Pinned, Served string }

func (e *RevisionError) Error() string {
	return fmt.Sprintf("the hub serves revision %s of %s; this program knows %s", e.Served, e.Set, e.Pinned)
}

// readRowsRecord reads the record beside a file of rows.
func readRowsRecord(path string) (r rowsRecord, err error) {
	data, err := os.ReadFile(path + sumSuffix)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return r, fmt.Errorf("%s: %w: %v", path, fetch.ErrDigest, err)
	}
	return r, nil
}

// verifyRows returns an error unless a file of rows is as it was fetched.
func verifyRows(path string) error {
	r, err := readRowsRecord(path)
	if err != nil {
		return err
	}
	size, sum, err := fetch.Digest(path)
	if err == nil && (sum != r.SHA256 || size != r.Bytes) {
		err = fmt.Errorf("%s: %w: %d bytes with SHA-256 %s; fetched were %d with %s", path, fetch.ErrDigest, size, sum,
			r.Bytes, r.SHA256)
	}
	return err
}

// pullRows fetches the rows of a set into the file to, one JSON object on each line, and writes the record beside it.
// Rows that were fetched are kept, and the next call continues after them.
func (s Store) pullRows(ctx context.Context, e Entry, to string, o PullOptions) error {
	want := *e.Source.Rows
	if o.Revision != "" {
		want.Revision = o.Revision
	}
	part := fmt.Sprintf("%s.%.12s.part", to, want.Revision)
	if err := s.appendRows(ctx, e.Source.URL, part, want, o); err != nil {
		return &PullError{e, err}
	}
	items, err := e.Load(part, Options{})
	if err != nil || len(items) != want.Count {
		return errors.Join(&PullError{e, fmt.Errorf("%w: %d usable rows of %d: %v", fetch.ErrDigest, len(items),
			want.Count, err)}, os.Remove(part))
	}
	size, sum, err := fetch.Digest(part)
	if err != nil {
		return fmt.Errorf("task: %w", err)
	}
	record, err := json.Marshal(rowsRecord{want.Revision, want.Count, size, sum})
	if err != nil {
		return fmt.Errorf("task: %w", err)
	}
	if err := os.WriteFile(to+sumSuffix, append(record, '\n'), 0o644); err != nil {
		return fmt.Errorf("task: %w", err)
	}
	if err := durable.Rename(part, to); err != nil {
		return fmt.Errorf("task: %w", err)
	}
	o.notice("%s: %d rows of revision %s, SHA-256 %s", e.Name, want.Count, want.Revision, sum)
	return nil
}

// appendRows fetches the rows that part does not have.
func (s Store) appendRows(ctx context.Context, from, part string, want Rows, o PullOptions) error {
	f, err := os.OpenFile(part, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	done, err := wholeLines(f)
	if err != nil {
		return err
	}
	wait := func(reason error, pause time.Duration) {
		o.notice("%s: %v; next try in %v", want.Set, reason, pause)
	}
	for done < want.Count {
		at := from + "&offset=" + strconv.Itoa(done) + "&length=" + strconv.Itoa(rowsPerPage)
		page, err := s.fetch.Get(ctx, at, wait)
		if err != nil {
			return fmt.Errorf("after %d of %d rows: %w (the rows are kept)", done, want.Count, err)
		}
		if got := page.Header.Get("X-Revision"); got != want.Revision {
			return &RevisionError{want.Set, want.Revision, shownRevision(got)}
		}
		lines, rows, err := readPage(page.Body, done, want.Count)
		if err != nil {
			return fmt.Errorf("%w: page at row %d: %v", fetch.ErrDigest, done, err)
		}
		if _, err := f.Write(lines); err != nil {
			return err
		}
		done += rows
		if o.Progress != nil {
			o.Progress(int64(done), int64(want.Count))
		}
	}
	return f.Sync()
}

// wholeLines counts the lines of a part, removes an incomplete last one, and leaves the position at the end.
func wholeLines(f *os.File) (lines int, err error) {
	data, err := io.ReadAll(f)
	if err != nil {
		return 0, err
	}
	end := int64(bytes.LastIndexByte(data, '\n') + 1)
	if err := f.Truncate(end); err != nil {
		return 0, err
	}
	_, err = f.Seek(end, io.SeekStart)
	return bytes.Count(data, []byte("\n")), err
}

// shownRevision returns what a server names as a revision if it is a commit.
func shownRevision(s string) string {
	if len(s) != 40 {
		return "(none)"
	}
	for _, c := range s {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return "(none)"
		}
	}
	return s
}

// readPage returns the rows of a page as lines. The page must start at row first of total and be complete.
func readPage(body []byte, first, total int) (lines []byte, rows int, err error) {
	var page struct {
		Rows []struct {
			Index     int             `json:"row_idx"`
			Row       json.RawMessage `json:"row"`
			Truncated []string        `json:"truncated_cells"`
		} `json:"rows"`
		Total   int  `json:"num_rows_total"`
		Partial bool `json:"partial"`
	}
	if err := json.Unmarshal(body, &page); err != nil {
		return nil, 0, err
	}
	switch {
	case page.Partial:
		return nil, 0, errors.New("the hub has only a part of this set")
	case page.Total != total:
		return nil, 0, fmt.Errorf("the split has %d rows; expected %d", page.Total, total)
	case len(page.Rows) == 0 || len(page.Rows) > min(rowsPerPage, total-first):
		return nil, 0, fmt.Errorf("%d rows in a page of %d", len(page.Rows), rowsPerPage)
	}
	var out bytes.Buffer
	for i, r := range page.Rows {
		if r.Index != first+i || len(r.Truncated) > 0 {
			return nil, 0, fmt.Errorf("row %d stands where row %d is expected, or is cut", r.Index, first+i)
		}
		if err := json.Compact(&out, r.Row); err != nil {
			return nil, 0, err
		}
		out.WriteByte('\n')
	}
	return out.Bytes(), len(page.Rows), nil
}

// Store is a folder of pulled sets. It holds each published file as NAME/FILE, and rows of the public hub as
// NAME/rows.jsonl.
type Store struct {
	Dir   string
	fetch fetch.Client // https only, except in tests
}

// PullOptions let a caller watch a pull. Every field may be empty.
type PullOptions struct {
	Progress func(done, total int64) // bytes of a file, or rows of the hub
	Notice   func(line string)
	// Revision accepts this commit of a set on the public hub in place of the pinned one.
	Revision string
}

func (o PullOptions) notice(format string, args ...any) {
	if o.Notice != nil {
		o.Notice(fmt.Sprintf(format, args...))
	}
}

// PullError reports that the file of a set could not be fetched.
type PullError struct {
	Entry Entry
	Err   error
}

func (e *PullError) Error() string {
	return fmt.Sprintf("task: could not pull %s from %s: %v", e.Entry.Name, e.Entry.Source.URL, e.Err)
}

func (e *PullError) Unwrap() error { return e.Err }
