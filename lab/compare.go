package lab

import (
	"errors"
	"fmt"

	"synod.dev/synod/metrics"
	"synod.dev/synod/report"
)

// bootstrapSeed is fixed, so that a comparison is reproducible.
const bootstrapSeed = 1

// ErrNothingCommon reports two runs that cannot be compared.
var ErrNothingCommon = errors.New("there is no question that both runs have finished")

// Compare compares r with another run on the questions that both have finished: those
// with the same id, text, key and repeat. It fails if there are none.
func Compare(r, other *Run) (*report.Compared, error) {
	now, err := r.read()
	if err != nil {
		return nil, err
	}
	defer now.close()
	before, err := other.read()
	if err != nil {
		return nil, err
	}
	defer before.close()
	there := other.byIdentity()
	out := &report.Compared{Against: other.Name}
	var faa []float64
	var agreed metrics.Pairs
	for k := range r.total() {
		j, ok := there[r.identity(r.job(k))]
		if !ok {
			continue
		}
		was, err := before.result(j)
		if err != nil {
			return nil, err
		}
		is, err := now.result(r.job(k))
		if err != nil {
			return nil, err
		}
		if was == nil || is == nil {
			continue
		}
		out.Questions++
		agreed.Add(was.Agreed, is.Agreed)
		addDecided(&out.Pairs, was, is)
		a, okA := was.FinalAccuracy(before.roles())
		b, okB := is.FinalAccuracy(now.roles())
		if okA && okB {
			faa = append(faa, b-a)
		}
	}
	if out.Questions == 0 {
		return nil, fmt.Errorf("lab: %w: %s, %s", ErrNothingCommon, r.dir, other.dir)
	}
	out.McNemar = out.Pairs.McNemar()
	out.Decision, out.Agreed = out.Pairs.Difference(), agreed.Difference()
	out.FAA = metrics.BootstrapMean(faa, bootstrapSeed)
	return out, nil
}

// addDecided counts a question if it is known of both decisions whether they are right.
func addDecided(pairs *metrics.Pairs, was, is *result) {
	if wasRight, known := was.Decided(); known {
		if isRight, known := is.Decided(); known {
			pairs.Add(wasRight, isRight)
		}
	}
}

// byIdentity returns the jobs of the run by their identities.
func (r *Run) byIdentity() map[string]job {
	jobs := make(map[string]job, r.total())
	for k := range r.total() {
		j := r.job(k)
		jobs[r.identity(j)] = j
	}
	return jobs
}

// identity returns a key that is equal for the same job of two runs.
func (r *Run) identity(j job) string {
	it := r.Items[j.item]
	return fmt.Sprintf("%d %q %q %q %v", j.repeat, it.Question.ID, it.Question.Text, it.Key, it.Question.Options)
}
