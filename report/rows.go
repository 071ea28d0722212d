package report

import (
	"fmt"

	"synod.dev/synod/metrics"
)

// row is a rate with its name in JSON and what it says to people.
type row struct {
	name, says string
	rate       *metrics.Rate
}

// rows lists every rate of a report in the order in which it is read.
func (r *Report) rows() []row {
	m := r.Metrics
	rows := []row{
		{"iaa", "members right at first (IAA)", m.IAA},
		{"faa", "members right at the end (FAA)", m.FAA},
		{"bfti", "gain by the rounds (BFTI)", m.BFTI},
		{"ra", "plurality of all right (RA)", m.RA},
		{"h_majority", "plurality of honest right", m.HMajority},
		{"decision_accuracy", "decisions right, of those made", m.Decision},
		{"agreed", "questions decided", m.Agreed},
		{"capture", "captured by an adversary", m.Capture},
		{"liveness", "ended with enough live members", m.Liveness},
		{"effective_votes", fmt.Sprintf("effective votes, of %d honest members", r.Honest), m.EffectiveVotes},
	}
	if r.Calibration != nil {
		rows = append(rows, row{"probe_accuracy", "confidence on the right side of 0.5", r.Calibration.Sided})
	}
	if e := r.Extraction; e != nil {
		rows = append(rows, row{"strict", "first replies right, read strictly", e.Strict}, row{"flexible", "first replies right, read flexibly", e.Flexible})
	}
	rows = append(rows, row{"latency", "virtual seconds to the decision", r.Latency})
	for i, rate := range r.Ranked {
		rows = append(rows, row{fmt.Sprintf("rank_%d", i+1), fmt.Sprintf("the answer ranked %d. right", i+1), rate})
	}
	for _, e := range r.Endings {
		rows = append(rows, row{e.Name, "ended " + e.Name, e.Rate})
	}
	if r.Baselines.Strong != nil {
		rows = append(rows, row{"single_strong", "alone: one strong member", r.Baselines.Strong})
	}
	if r.Baselines.Weak != nil {
		rows = append(rows, row{"single_weak", "alone: one weak member", r.Baselines.Weak})
	}
	rows = append(rows, row{"majority", "alone: plurality of first answers", r.Baselines.Majority})
	for _, g := range []struct {
		name   string
		change *metrics.Change
	}{{"weak", r.Groups.Weak}, {"strong", r.Groups.Strong}} {
		if g.change != nil {
			rows = append(rows, row{g.name + "_before", g.name + " members at first", g.change.Before}, row{g.name + "_after", g.name + " members at the end", g.change.After})
		}
	}
	for _, round := range r.Rounds {
		rows = append(rows, row{fmt.Sprintf("round_%d", round.T), fmt.Sprintf("members right after round %d", round.T), round.Accuracy})
	}
	if c := r.Compared; c != nil {
		rows = append(rows, row{"compared_decision", "decided rightly, less the other's", c.Decision}, row{"compared_faa", "FAA, less the other's", c.FAA})
	}
	return rows
}

// groupRounds are the rates of groups by round; tables of one run leave them out.
func (r *Report) groupRounds() (rows []row) {
	for _, round := range r.Rounds {
		for _, g := range []struct {
			name string
			rate *metrics.Rate
		}{{metrics.Weak, round.Weak}, {metrics.Strong, round.Strong}} {
			if g.rate != nil {
				rows = append(rows, row{fmt.Sprintf("%s_round_%d", g.name, round.T), fmt.Sprintf("%s members after round %d", g.name, round.T), g.rate})
			}
		}
	}
	return rows
}

// percent prints a rate for people: value and interval.
func percent(r *metrics.Rate) (value, interval string) {
	if r == nil {
		return "–", "–"
	}
	if r.Count {
		return fmt.Sprintf("%.1f", r.Value), fmt.Sprintf("%.1f to %.1f", r.Low, r.High)
	}
	return fmt.Sprintf("%.1f %%", 100*r.Value), fmt.Sprintf("%.1f to %.1f", 100*r.Low, 100*r.High)
}
