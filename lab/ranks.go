package lab

import (
	"cmp"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/journal"
	"synod.dev/synod/metrics"
	"synod.dev/synod/task"
)

// ranked grades the answers that a panel has ranked, the best first, as the first
// honest seat has them on record: all honest ones have the same. Equal scores rank
// by the answers themselves. nil where nobody keeps such a record.
func (r *Run) ranked(item task.Item, noted []journal.Noted) (verdicts []task.Verdict) {
	for _, n := range noted {
		if n.Panel == nil || !in(n.Node, len(r.Seats)) || r.Seats[n.Node].Adversary != "" {
			continue
		}
		scored := slices.DeleteFunc(slices.Clone(n.Panel.Answers), func(a synod.PanelAnswer) bool { return a.Total == nil })
		slices.SortStableFunc(scored, func(a, b synod.PanelAnswer) int {
			return cmp.Or(cmp.Compare(*b.Total, *a.Total), cmp.Compare(a.Answer, b.Answer))
		})
		for _, a := range scored {
			verdicts = append(verdicts, item.Grade(a.Answer).Verdict)
		}
		return verdicts
	}
	return nil
}

// ranks counts by rank how many answers are right, of those that can be graded.
type ranks []struct{ right, n int }

func (k *ranks) add(verdicts []task.Verdict) {
	for i, v := range verdicts {
		if i == len(*k) {
			*k = append(*k, struct{ right, n int }{})
		}
		switch v {
		case task.Right:
			(*k)[i].right++
			(*k)[i].n++
		case task.Wrong:
			(*k)[i].n++
		}
	}
}

func (k *ranks) rates() (rates []*metrics.Rate) {
	for _, at := range *k {
		rates = append(rates, metrics.Wilson(at.right, at.n))
	}
	return rates
}
