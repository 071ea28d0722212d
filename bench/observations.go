package bench

import (
	"fmt"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/core/odds"
	"synod.dev/synod/core/reliability"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/council/trust"
)

// Observations returns the independent first answers of the run's finished questions, for a trust file; of a question
// that was asked several times, the first. With labels each says whether it is right by the key.
func (r *Run) Observations(labels bool) (all []reliability.Observation, err error) {
	x, err := r.read()
	if err != nil {
		return nil, err
	}
	defer x.close()
	err = x.results(func(j job, res *result) {
		if res == nil || j.repeat > 0 {
			return
		}
		var label func(synod.Answer) reliability.Label
		if labels && !res.Ungraded {
			label = func(a synod.Answer) reliability.Label {
				switch res.Verdicts[a] {
				case task.Right:
					return reliability.Right
				case task.Wrong:
					return reliability.Wrong
				}
				return reliability.Unknown
			}
		}
		all = append(all, outcome.Observations(x.plan, &r.Items[j.item].Question, &res.outcome, label)...)
	})
	return all, err
}

// Labelled returns the models of a run in which each answers alone, and the finished questions with the answers of the
// first seat of each.
func Labelled(r *Run) (models []string, questions []odds.Labelled, err error) {
	all, err := r.Observations(true)
	if err != nil {
		return nil, nil, err
	}
	models, members, err := r.alone()
	if err != nil {
		return nil, nil, err
	}
	return models, plan.Labelled(members, all), nil
}

// LabelledSeats returns the finished questions to which all seats of a run replied, with the answers of each.
func LabelledSeats(r *Run) ([]odds.Labelled, error) {
	all, err := r.Observations(true)
	if err != nil {
		return nil, err
	}
	spec, err := r.Spec()
	if err != nil {
		return nil, err
	}
	p, err := plan.Read(spec)
	if err != nil {
		return nil, err
	}
	return plan.Labelled(plan.TrustNames(p), all), nil
}

// LabelledSince returns the graded questions of a history that were learned after those of a run, with the answers of
// some of the models that Labelled returns. If the history has none of the run's questions, these are all that it has.
func LabelledSince(r *Run, h *trust.History, some []string) ([]odds.Labelled, error) {
	models, members, err := r.alone()
	if err != nil {
		return nil, err
	}
	own := map[string]bool{}
	for i := range r.Items {
		own[outcome.QuestionKey(&r.Items[i].Question)] = true
	}
	since := 0
	for i, q := range h.Questions {
		if own[q.ID] {
			since = i + 1
		}
	}
	var names []string
	for _, m := range some {
		i := slices.Index(models, m)
		if i < 0 {
			return nil, fmt.Errorf("bench: the run has no model %q", m)
		}
		names = append(names, members[i])
	}
	later := trust.History{Questions: h.Questions[since:]}
	return plan.Labelled(names, later.Observations()), nil
}

// alone returns the models of a run in which each answers alone, and the names of their first seats in a trust file.
func (r *Run) alone() (models, members []string, err error) {
	spec, err := r.Spec()
	if err != nil {
		return nil, nil, err
	}
	p, err := plan.Read(spec)
	if err != nil {
		return nil, nil, err
	}
	names := plan.TrustNames(p)
	for i, s := range p.Seats() {
		if !slices.Contains(models, s.Model) {
			models, members = append(models, s.Model), append(members, names[i])
		}
	}
	return models, members, nil
}

// checkHistory refuses a trust file that knows questions of the run: their weights would come from the answers that
// they are measured on.
func checkHistory(spec *plan.Spec, items []task.Keyed) error {
	if spec.Trust.File == "" {
		return nil
	}
	h, err := trust.Load(spec.Trust.File)
	if err != nil {
		return err
	}
	ids := make([]string, len(items))
	for i := range items {
		ids[i] = outcome.QuestionKey(&items[i].Question)
	}
	if n := h.Has(ids); n > 0 {
		return fmt.Errorf("trust: %s has learned from %d of these %d questions, so a measurement on them would say "+
			"too much; use other questions, or another file (example: --set trust.file=history.json)", spec.Trust.File,
			n, len(ids))
	}
	return nil
}
