package bench

import (
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/adversary"
	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/bench/report"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
)

// judging measures the scores that honest members gave to first answers, all together and by model. Simulated members
// are left out: how they judge is a setting, which reports print, and most of their journals have no scores.
type judging struct {
	seats  []plan.Seat
	unlike []bool // by seat: what it sent may not be what it noted
	all    metrics.Judges
	models []string // sorted
	by     []metrics.Judges
}

// judges reports whether the scores of a seat are those of a model.
func judges(s *plan.Seat) bool { return s.Adversary == "" && s.Kind != llm.Simulated }

func newJudging(seats []plan.Seat) *judging {
	j := &judging{seats: seats, unlike: make([]bool, len(seats))}
	for i, s := range seats {
		j.models = append(j.models, s.Model)
		if s.Adversary != "" {
			e, err := adversary.Catalogue.Find(s.Adversary)
			j.unlike[i] = err != nil || e.Model != adversary.Restricted
		}
	}
	slices.Sort(j.models)
	j.models = slices.Compact(j.models)
	j.by = make([]metrics.Judges, len(j.models))
	return j
}

// add adds the scores of a question.
func (j *judging) add(res *result) {
	of := &res.GradedQuestion
	if of.Ungraded || len(of.Rounds) == 0 {
		return
	}
	lists, models := make([][]metrics.Scored, len(j.seats)), make([][][]metrics.Scored, len(j.models))
	some := false
	for i := range res.noted {
		n := &res.noted[i]
		if !in(n.Node, len(j.seats)) || !judges(&j.seats[n.Node]) || lists[n.Node] != nil {
			continue
		}
		lists[n.Node] = j.scored(of, n)
		some = some || lists[n.Node] != nil
	}
	if !some {
		return
	}
	for i, list := range lists {
		m, _ := slices.BinarySearch(j.models, j.seats[i].Model)
		models[m] = append(models[m], list)
	}
	j.all.Add(of, lists)
	for m := range j.models {
		j.by[m].Add(of, models[m])
	}
}

// scored returns the graded scores in the first opinion that has some. They are about the answers after the round
// before: the first ones in most protocols.
func (j *judging) scored(of *metrics.GradedQuestion, n *journal.Noted) (list []metrics.Scored) {
	if n.Round < 1 || n.Round > len(of.Rounds) {
		return nil
	}
	for _, s := range n.Scores {
		if !in(s.Of, len(j.seats)) || j.unlike[s.Of] {
			continue
		}
		switch v := of.Verdicts[of.Rounds[n.Round-1][s.Of]]; v {
		case task.Right, task.Wrong:
			list = append(list, metrics.Scored{Score: float64(s.Score), Missing: s.Score == synod.Untrusted,
				Right: v == task.Right})
		}
	}
	return list
}

// report returns nil if no member scored a right and a wrong answer.
func (j *judging) report() *report.Judging {
	all := j.all.Judging()
	if all == nil {
		return nil
	}
	out := &report.Judging{Judging: *all}
	for m, model := range j.models {
		if of := j.by[m].Judging(); of != nil {
			out.Models = append(out.Models, report.ModelJudging{Model: model, Judging: *of})
		}
	}
	return out
}
