package bench

import (
	"fmt"

	"synod.dev/synod/bench/report"
	"synod.dev/synod/bench/store"
	"synod.dev/synod/council/outcome"
)

// history summarizes the attempts at a question that have not finished it.
type history struct {
	seconds float64
	last    store.Attempt
}

// failure describes the last attempt, for a report.
func (r *reader) failure(j job, h history) report.Failure {
	return report.Failure{Question: r.id(j), Repeat: j.repeat, Stopped: h.last.Stopped, Reason: h.last.Reason}
}

// histories reads the attempts that finished nothing, by job.
func (r *reader) histories() (map[job]history, error) {
	attempts, err := r.store.Attempts(r.cell)
	if err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	all := map[job]history{}
	for _, a := range attempts {
		if a.None {
			continue
		}
		j := job{a.Question, a.Repeat}
		all[j] = history{all[j].seconds + a.Seconds, a}
	}
	return all, nil
}

// interrupted reports whether the last that is known of the run is that its owner interrupted it.
func (r *reader) interrupted() (bool, error) {
	attempts, err := r.store.Attempts(r.cell)
	if err != nil || len(attempts) == 0 {
		return false, err
	}
	last := attempts[len(attempts)-1]
	block, err := r.store.LastBlock()
	return last.None && last.Stopped == outcome.Interrupted && last.Block == block, err
}

// completed adds the attempt that finished a question.
func (r *reader) completed(h history, row *store.Result) (history, error) {
	at, err := r.store.Committed(row)
	if err != nil {
		return h, fmt.Errorf("bench: %w", err)
	}
	seconds := float64(row.Ms) / 1e3
	return history{h.seconds + seconds, store.Attempt{Seconds: seconds, Ended: at}}, nil
}
