package bench

import (
	"fmt"
	"os"

	"synod.dev/synod/bench/store"
	"synod.dev/synod/core/journal"
)

// QuestionState is how far one repeat of a question is.
type QuestionState struct {
	ID     string
	Text   string
	Repeat int           // from 0
	Key    string        // ID-R, for Journal
	Result *store.Result // nil: it is not finished
	Failed *store.Attempt
}

// Questions returns how far the questions of the run are, question by question with all repeats: at most so many,
// beginning with one of those that are chosen. failed chooses those that failed in the last attempt. of is how many
// are chosen.
func (r *Run) Questions(from, most int, failed bool) (all []QuestionState, of int, err error) {
	x, err := r.read()
	if err != nil {
		return nil, 0, err
	}
	defer x.close()
	tried, err := x.store.Failed()
	if err != nil {
		return nil, 0, fmt.Errorf("bench: %w", err)
	}
	why := map[job]*store.Attempt{}
	var jobs []job
	for i, a := range tried {
		if a.Cell == r.cell && a.Question >= 0 && a.Question < r.N {
			j := job{a.Question, a.Repeat}
			why[j], jobs = &tried[i], append(jobs, j)
		}
	}
	if of = r.total(); failed {
		of = len(jobs)
	}
	for k := max(from, 0); k < of && len(all) < most; k++ {
		j := r.byQuestion(k)
		if failed {
			j = jobs[k]
		}
		row, err := x.finished(j)
		if err != nil {
			return nil, 0, err
		}
		all = append(all, QuestionState{ID: r.id(j), Text: r.Items[j.item].Question.Text, Repeat: j.repeat,
			Key: r.key(j), Result: row, Failed: why[j]})
	}
	return all, of, nil
}

// Journal reads the journal of a finished question, which ID-R names: its id and its repeat from 0. Journals of
// simulated members are played again from their replies, and have the digest that is stored.
func (r *Run) Journal(key string) (*journal.Run, *store.Result, error) {
	j, ok := newIndex(r).byKey(key)
	if !ok {
		return nil, nil, fmt.Errorf("bench: %s has no question %s; name one as ID-R, where R is the repeat from 0: %w",
			r.Dir(), key, os.ErrNotExist)
	}
	x, err := r.read()
	if err != nil {
		return nil, nil, err
	}
	defer x.close()
	row, err := x.finished(j)
	if err != nil {
		return nil, nil, err
	}
	if row == nil {
		return nil, nil, fmt.Errorf("bench: question %s of %s is not finished: %w", key, r.Dir(), os.ErrNotExist)
	}
	run, err := x.load(j, row)
	return run, row, err
}
