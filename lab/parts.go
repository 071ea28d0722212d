package lab

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"

	"synod.dev/synod/journal"
)

// finished says whether a question's journal is whole: it has its final name and
// its end line. One that has the name and not the end, which only a copy can, is
// taken for what an attempt left.
func (r *Run) finished(j job) (bool, error) {
	path := r.journal(j)
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("lab: %w", err)
	}
	defer f.Close()
	const tail = 4 << 10 // an end line is far shorter
	info, err := f.Stat()
	if err != nil {
		return false, fmt.Errorf("lab: %w", err)
	}
	b := make([]byte, min(tail, info.Size()))
	if _, err := f.ReadAt(b, info.Size()-int64(len(b))); err != nil && !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("lab: %w", err)
	}
	whole, ok := bytes.CutSuffix(b, []byte("\n"))
	return ok && bytes.HasPrefix(whole[bytes.LastIndexByte(whole, '\n')+1:], []byte(`{"k":"end"`)), nil
}

// part is where attempt k at a question, from 1, keeps its journal until it is
// whole.
func (r *Run) part(j job, k int) string { return fmt.Sprintf("%s.part-%d", r.journal(j), k) }

// parts is how many attempts at a question have left something.
func (r *Run) parts(j job) int {
	for k := 1; ; k++ {
		if _, err := os.Lstat(r.part(j, k)); err != nil {
			return k - 1
		}
	}
}

// begin makes ready for an attempt: where its journal goes, and what is known of
// it already.
func (r *Run) begin(j job) (path string, known *journal.Run, err error) {
	left := r.parts(j)
	if _, err := os.Stat(r.journal(j)); err == nil {
		if err := os.Rename(r.journal(j), r.part(j, left+1)); err != nil {
			return "", nil, fmt.Errorf("lab: %w", err)
		}
		left++
	}
	for k := range left {
		run, err := journal.Load(r.part(j, k+1))
		if err != nil || run.Head.Seed != r.seed(j) {
			continue // cut off before its first line was whole, or no journal of this question: it is asked again
		}
		if known == nil {
			known = run
		} else {
			maps.Copy(known.Replies, run.Replies)
		}
	}
	return r.part(j, left+1), known, nil
}

// finish gives a whole journal its name, and lets go of what led to it.
func (r *Run) finish(j job, path string) error {
	if err := os.Rename(path, r.journal(j)); err != nil {
		return fmt.Errorf("lab: %w", err)
	}
	return r.forget(j)
}

// forget removes what attempts left, the last first: there is never a gap.
func (r *Run) forget(j job) error {
	for k := r.parts(j); k > 0; k-- {
		if err := os.Remove(r.part(j, k)); err != nil {
			return fmt.Errorf("lab: %w", err)
		}
	}
	return nil
}
