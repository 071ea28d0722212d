package bench

import (
	"errors"
	"fmt"

	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/bench/report"
	"synod.dev/synod/bench/task"
)

// bootstrapSeed is fixed, so that a comparison is reproducible.
const bootstrapSeed = 1

// ErrNothingCommon reports two runs that cannot be compared.
var ErrNothingCommon = errors.New("there is no question that both runs have finished")

// Compare compares r with another run on the questions that both have finished: those
// with the same id, text, key and repeat. It fails if there are none.
func Compare(r, other *Run) (*report.Compared, error) {
	c, err := compareRuns(r, other)
	if err != nil {
		return nil, err
	}
	out := c.compared()
	out.Against = other.Name
	return out, nil
}

// compareRuns compares r with another run, which is the one before.
func compareRuns(r, other *Run) (*comparison, error) {
	before, err := casesOf(other)
	if err != nil {
		return nil, err
	}
	now, err := casesOf(r)
	if err != nil {
		return nil, err
	}
	var common []string
	for id := range now {
		if before[id] != nil {
			common = append(common, id)
		}
	}
	if len(common) == 0 {
		return nil, fmt.Errorf("bench: %w: %s, %s", ErrNothingCommon, r.dir, other.dir)
	}
	return differ(before, now, common), nil
}

// graded is what a comparison needs of a question in one of its repeats.
type graded struct {
	question               string // its identity without the repeat
	right, decided, agreed bool   // decided: it is known whether the decision is right
	captured               bool   // by an adversary, if it is decided
	final, asked           int    // members right at the end, and members asked for an answer
}

// casesOf returns the finished questions of a run by identity.
func casesOf(r *Run) (map[string]*graded, error) {
	x, err := r.read()
	if err != nil {
		return nil, err
	}
	defer x.close()
	return x.cases()
}

// cases returns the finished questions by identity.
func (r *reader) cases() (map[string]*graded, error) {
	all, roles := map[string]*graded{}, r.roles()
	err := r.results(func(j job, res *result) {
		if res == nil {
			return
		}
		g := &graded{question: questionKey(&r.Items[j.item]), agreed: res.Agreed}
		g.right, g.decided = res.Decided(roles)
		g.captured, _ = res.Captured(roles)
		g.final, g.asked = res.FinalRight(roles)
		all[r.identity(j)] = g
	})
	return all, err
}

// comparison is that of two runs, or of several pairs of runs.
type comparison struct {
	results         int            // questions in common, repeats included
	decided, agreed metrics.Paired // decided has the shares of members right at the end too
	captured        metrics.Paired
}

func differ(before, after map[string]*graded, common []string) *comparison {
	c := &comparison{results: len(common)}
	for _, id := range common {
		a, b := before[id], after[id]
		c.agreed.Add(a.question, a.agreed, b.agreed)
		if a.decided && b.decided {
			c.decided.Add(a.question, a.right, b.right)
			c.captured.Add(a.question, a.captured, b.captured)
		}
		c.decided.AddShares(a.question, a.final, a.asked, b.final, b.asked)
	}
	return c
}

// plus adds another comparison. Results of one question are one cluster in both.
func (c *comparison) plus(d *comparison) {
	c.results += d.results
	c.decided.Plus(&d.decided)
	c.agreed.Plus(&d.agreed)
	c.captured.Plus(&d.captured)
}

func (c *comparison) compared() *report.Compared {
	return &report.Compared{
		Questions: c.results, Clusters: c.agreed.Questions(), Pairs: c.decided.Pairs,
		McNemar: c.decided.Pairs.McNemar(), P: c.decided.P(),
		Decision: c.decided.Difference(), Agreed: c.agreed.Difference(),
		FAA: c.decided.ShareDifference(bootstrapSeed), FAAP: c.decided.ShareP(), Capture: c.captured.Difference(),
	}
}

// identity returns a key that is equal for the same job of two runs.
func (r *Run) identity(j job) string { return fmt.Sprint(j.repeat, " ", questionKey(&r.Items[j.item])) }

// questionKey returns a key that is equal for the same question of two runs.
func questionKey(it *task.Keyed) string {
	return fmt.Sprintf("%q %q %q %v", it.Question.ID, it.Question.Text, it.Key, it.Question.Options)
}
