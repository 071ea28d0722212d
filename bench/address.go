package bench

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"synod.dev/synod/core/journal"
)

// LoadJournal reads a journal: a file, or the finished question of a run that FOLDER#QUESTION-REPEAT or
// FOLDER/cells/NAME#QUESTION-REPEAT names (repeats count from 0).
func LoadJournal(path string) (*journal.Run, error) {
	run, err := journal.Load(path)
	at := strings.IndexByte(path, '#') // ids of questions may have one too
	if err == nil || !errors.Is(err, os.ErrNotExist) || at < 0 {
		return run, err
	}
	r, err := Open(path[:at])
	if err != nil {
		return nil, err
	}
	run, _, err = r.Journal(path[at+1:])
	return run, err
}

// jobOf is the inverse of key.
func (r *Run) jobOf(key string) (job, bool) {
	for i := range r.Items {
		rest, ok := strings.CutPrefix(key, r.Items[i].Question.ID+"-")
		if !ok {
			continue
		}
		var repeat int
		if _, err := fmt.Sscanf(rest, "%d", &repeat); err == nil && repeat >= 0 && repeat < r.Repeat &&
			r.key(job{i, repeat}) == key {
			return job{i, repeat}, true
		}
	}
	return job{}, false
}
