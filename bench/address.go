package bench

import (
	"errors"
	"fmt"
	"os"
	"strconv"
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

// index finds the jobs of a run by the names that users and other processes give them.
type index struct {
	run   *Run
	items map[string]int // by id of the question
}

func newIndex(r *Run) *index {
	x := &index{r, make(map[string]int, len(r.Items))}
	for i := range r.Items {
		x.items[r.Items[i].Question.ID] = i
	}
	return x
}

// find returns the job of a Job that came from elsewhere.
func (x *index) find(of Job) (job, error) {
	item, ok := x.items[of.Question]
	if !ok || of.Repeat < 0 || of.Repeat >= x.run.Repeat {
		return job{}, fmt.Errorf("bench: the run has no repeat %d of a question %q", of.Repeat, of.Question)
	}
	return job{item, of.Repeat}, nil
}

// byKey is the inverse of Run.key.
func (x *index) byKey(key string) (job, bool) {
	at := strings.LastIndexByte(key, '-')
	if at < 0 {
		return job{}, false
	}
	repeat, err := strconv.Atoi(key[at+1:])
	if err != nil {
		return job{}, false
	}
	j, err := x.find(Job{key[:at], repeat})
	return j, err == nil && x.run.key(j) == key
}
