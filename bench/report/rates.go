package report

import (
	"fmt"
	"strings"

	"synod.dev/synod/bench/metrics"
)

// NamedRate is a rate with its name in JSON and CSV, and a label for readers. The
// rate is nil if it does not exist.
type NamedRate struct {
	Name  string
	Label string
	Rate  *metrics.Rate
}

// Rates lists all rates of a report in the order in which they are printed.
func (r *Report) Rates() []NamedRate {
	m := r.Metrics
	rates := []NamedRate{
		{"iaa", "members right at first (IAA)", m.IAA},
		{"faa", "members right at the end (FAA)", m.FAA},
		{"bfti", "gain from the rounds (BFTI)", m.BFTI},
		{"ra", "plurality of all seats right (RA)", m.RA},
		{"h_majority", "plurality of honest seats right (H-Majority)", m.HMajority},
		{"decision_accuracy", "decisions right, of those made", m.Decision},
		{"agreed", "questions decided", m.Agreed},
		{"capture", "questions captured by an adversary", m.Capture},
		{"liveness", "questions ended with enough live members", m.Liveness},
		{"iaa_present", "right at first, of answers that could be graded", m.IAAPresent},
		{"faa_present", "right at the end, of answers that could be graded", m.FAAPresent},
		{"bfti_present", "gain of members with graded answers before and after", m.BFTIPresent},
		{"ra_present", "plurality of all seats right, where it could be graded", m.RAPresent},
		{"h_majority_present", "plurality of honest seats right, where it could be graded", m.HMajorityPresent},
		{"effective_votes", fmt.Sprintf("effective votes of %d honest members", r.Honest), m.EffectiveVotes},
	}
	add := func(name, label string, rate *metrics.Rate) { rates = append(rates, NamedRate{name, label, rate}) }
	if r.Calibration != nil {
		add("probe_accuracy", "confidence on the right side of 0.5", r.Calibration.Sided)
	}
	if j := r.Judging; j != nil {
		add("judge_auc", "scores tell right from wrong (AUC of φ, chance 50 %)", j.AUC)
		if j.Prefers != nil {
			add("judge_prefers", "judges prefer the right one of two answers", j.Prefers)
		}
	}
	if e := r.Extraction; e != nil {
		add("strict", "first replies right, read strictly", e.Strict)
		add("flexible", "first replies right, read flexibly", e.Flexible)
	}
	if r.LatencySeconds != nil {
		add("latency_seconds", fmt.Sprintf("seconds by the clock until the decision (%s members)",
			strings.Join(r.MembersKind, ", ")), r.LatencySeconds)
	} else {
		add("latency", "virtual seconds until the decision", r.Latency)
	}
	return append(rates, r.detailRates()...)
}

// detailRates lists the rates by rank, ending, group and round, the baselines, and the
// comparison with another run.
func (r *Report) detailRates() (rates []NamedRate) {
	add := func(name, label string, rate *metrics.Rate) { rates = append(rates, NamedRate{name, label, rate}) }
	for i, rate := range r.Ranked {
		add(fmt.Sprintf("rank_%d", i+1), fmt.Sprintf("answer of rank %d right", i+1), rate)
	}
	for _, e := range r.Endings {
		add(e.Name, "ended "+e.Name, e.Rate)
	}
	if len(r.Stops) > 0 {
		var stops metrics.Mean
		for _, round := range r.Stops {
			stops.Add(float64(round))
		}
		add("stop_round", "rounds until the end, of runs that members ended", stops.Rate())
	}
	if r.Baselines.Strong != nil {
		add("single_strong", "baseline: one strong member", r.Baselines.Strong)
	}
	if r.Baselines.Weak != nil {
		add("single_weak", "baseline: one weak member", r.Baselines.Weak)
	}
	add("majority", "baseline: plurality of first answers", r.Baselines.Majority)
	for _, g := range []struct {
		name   string
		change *metrics.RateChange
	}{{metrics.Weak, r.Groups.Weak}, {metrics.Strong, r.Groups.Strong}} {
		if g.change != nil {
			add(g.name+"_before", g.name+" members right at first", g.change.Before)
			add(g.name+"_after", g.name+" members right at the end", g.change.After)
		}
	}
	for _, round := range r.Rounds {
		add(fmt.Sprintf("round_%d", round.T), fmt.Sprintf("members right after round %d", round.T), round.Accuracy)
	}
	if c := r.Compared; c != nil {
		add("compared_decision", "decisions right, minus the other run's", c.Decision)
		add("compared_faa", "FAA, minus the other run's", c.FAA)
	}
	return rates
}

// groupRounds lists the rates of groups by round, which only grids print.
func (r *Report) groupRounds() (rates []NamedRate) {
	for _, round := range r.Rounds {
		for _, g := range []struct {
			name string
			rate *metrics.Rate
		}{{metrics.Weak, round.Weak}, {metrics.Strong, round.Strong}} {
			if g.rate != nil {
				rates = append(rates, NamedRate{roundMetric(g.name, round.T),
					fmt.Sprintf("%s members right after round %d", g.name, round.T), g.rate})
			}
		}
	}
	return rates
}

// partRates lists the rates by level and topic, with names such as faa[level=3].
func (r *Report) partRates() (rates []NamedRate) {
	for _, by := range []struct {
		name  string
		parts []metrics.Part
	}{{"level", r.Levels}, {"topic", r.Topics}} {
		for _, p := range by.parts {
			for _, rate := range ratesOfPart(p) {
				rate.Name = fmt.Sprintf("%s[%s=%s]", rate.Name, by.name, plain(p.Name))
				rates = append(rates, rate)
			}
		}
	}
	return rates
}

func ratesOfPart(p metrics.Part) []NamedRate {
	return []NamedRate{{Name: "iaa", Rate: p.IAA}, {Name: "faa", Rate: p.FAA}, {Name: "ra", Rate: p.RA},
		{Name: "decision_accuracy", Rate: p.Decision}}
}
