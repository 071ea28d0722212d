package bench

import (
	"errors"
	"fmt"

	"synod.dev/synod"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/council/seating"
)

// Measured returns how the independent first answers of the run's finished questions ended, by seat; of a question that
// was asked several times, the first. A seat that an adversary controls is marked as failed: what it says is not the
// model's.
func (r *Run) Measured() (*seating.Measured, error) {
	x, err := r.read()
	if err != nil {
		return nil, err
	}
	defer x.close()
	m := &seating.Measured{}
	for _, s := range r.Seats {
		m.Columns = append(m.Columns, seating.Column{Model: s.Model, Identity: s.Identity, Kind: string(s.Kind)})
	}
	err = x.results(func(j job, res *result) {
		if res == nil || j.repeat > 0 {
			return
		}
		marks := make([]byte, len(r.Seats))
		for i := range marks {
			marks[i] = res.mark(i)
			if r.Seats[i].Adversary != "" {
				marks[i] = seating.Failed
			}
		}
		m.Asked = append(m.Asked, seating.Asked{ID: r.id(j), Marks: string(marks)})
	})
	return m, err
}

// Foretold returns of each finished question, by id, whether another council of the run's models decides it rightly if
// its members give the first answers that were measured. Copies of a model beyond the second take the answers of
// the first two in turn. It returns nil if first answers do not determine the decision, or a model was not measured.
func (r *Run) Foretold(other plan.Spec) (map[string]bool, error) {
	plan, err := plan.New(other)
	if err != nil {
		return nil, fmt.Errorf("bench: the council as it is: %w", err)
	}
	seats, ok := r.columns(plan.Seats())
	if !ok || !outcome.Foretold(plan) {
		return nil, nil
	}
	x, err := r.read()
	if err != nil {
		return nil, err
	}
	defer x.close()
	right := map[string]bool{}
	broken := error(nil)
	err = x.results(func(j job, res *result) {
		if res == nil || j.repeat > 0 || len(res.Rounds) == 0 {
			return
		}
		first := make([]synod.Answer, len(seats))
		for i, column := range seats {
			first[i] = res.Rounds[0][column]
		}
		item, err := r.Items[j.item].Item()
		if err != nil {
			broken = err
			return
		}
		decision := outcome.Foretell(plan, &item.Question, first)
		right[r.id(j)] = decision != synod.None && item.Grade(decision).Verdict == task.Right
	})
	return right, errors.Join(err, broken)
}

// columns returns the run's seat whose answers stand for those of each seat of another council.
func (m *RunManifest) columns(others []plan.Seat) (columns []int, ok bool) {
	copies := map[string]int{}
	for _, s := range others {
		var of []int
		for i := range m.Seats {
			if m.Seats[i].Model == s.Model {
				of = append(of, i)
			}
		}
		if len(of) == 0 {
			return nil, false
		}
		columns = append(columns, of[copies[s.Model]%len(of)])
		copies[s.Model]++
	}
	return columns, true
}

// mark says how the first answer of a seat ended.
func (res *result) mark(seat int) byte {
	answer := synod.None
	if len(res.Rounds) > 0 {
		answer = res.Rounds[0][seat]
	}
	if answer == synod.None {
		if res.Asked != nil && !res.Asked[seat] || down(&res.outcome.Members[seat]) {
			return seating.Failed
		}
		return seating.Silent
	}
	switch {
	case res.Ungraded:
	case res.Verdicts[answer] == task.Right:
		return seating.Right
	case res.Verdicts[answer] == task.Wrong:
		return seating.Wrong
	}
	return seating.Ungraded
}

// down reports whether a member's calls failed because of the infrastructure (GR-2). Refusals and unreadable replies
// are the member's own.
func down(m *outcome.Member) bool {
	for _, s := range []synod.Status{synod.Timeout, synod.RateLimited, synod.Auth, synod.Unavailable, synod.Dropped} {
		if m.Calls.Of(s) > 0 {
			return true
		}
	}
	return m.Calls.Of(synod.OK)+m.Calls.Of(synod.Unreadable)+m.Calls.Of(synod.Refused) == 0 // it was not asked
}
