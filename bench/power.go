package bench

import (
	"fmt"
	"math"

	"synod.dev/synod/bench/report"
	"synod.dev/synod/core/stats"
)

// Power returns how many questions show a difference, under the assumptions of p. The fields of p that are 0 have
// defaults.
func Power(p report.Power) (*report.Power, error) {
	p.Version = 1
	if err := p.Complete(); err != nil {
		return nil, err
	}
	after := p.Base + p.Detect
	for _, d := range p.Assumptions() {
		row := report.PowerRow{Design: "paired: both councils answer the same questions", Differ: d.Share, Why: d.Why}
		lost, won := (d.Share-p.Detect)/2, (d.Share+p.Detect)/2
		n, ok := stats.PairedSize(max(lost, 0), won, p.Alpha(), p.Power)
		row.Questions, row.Power = p.Questions(n, ok), 0
		if ok && p.Repeat == 1 {
			row.Power = stats.PairedPower(n, max(lost, 0), won, p.Alpha())
		}
		if p.N > 0 {
			row.Detectable = detectable(p, d.Share)
		}
		p.Rows = append(p.Rows, row)
	}
	n, ok := stats.UnpairedSize(p.Base, after, p.Alpha(), p.Power)
	row := report.PowerRow{Design: "unpaired: each council answers other questions", Questions: p.Questions(n, ok)}
	if ok && p.Repeat == 1 {
		row.Power = stats.UnpairedPower(n, p.Base, after, p.Alpha())
	}
	if p.N > 0 {
		d, ok := stats.Detectable(p.Power, 1-p.Base, func(d float64) float64 {
			return stats.UnpairedPower(p.Effective(), p.Base, p.Base+d, p.Alpha())
		})
		if ok {
			row.Detectable = &d
		}
	}
	p.Rows = append(p.Rows, row)
	return &p, nil
}

// detectable returns the smallest difference that p.N questions show, of which a share differ, at least as many as
// are needed for the difference; nil if there is none.
func detectable(p report.Power, differ float64) *float64 {
	d, ok := stats.Detectable(p.Power, 1-p.Base, func(d float64) float64 {
		all := max(differ, d)
		return stats.PairedPower(p.Effective(), (all-d)/2, (all+d)/2, p.Alpha())
	})
	if !ok {
		return nil
	}
	return &d
}

// PowerFrom measures the assumptions of a study in one or two runs: the share of questions that the first decides
// rightly, and, of two runs, the share of questions that only one of them decides rightly. Repeats of a question in one
// run say how many questions differ by chance alone, and in two runs how alike their differences are.
func PowerFrom(runs []*Run) (base, discordant, alike float64, err error) {
	first, err := casesOf(runs[0])
	if err != nil {
		return 0, 0, 0, err
	}
	second := first
	if len(runs) > 1 {
		if second, err = casesOf(runs[1]); err != nil {
			return 0, 0, 0, err
		}
	}
	right, n := 0, 0
	for _, g := range first {
		if g.decided {
			n++
			if g.right {
				right++
			}
		}
	}
	if n == 0 {
		return 0, 0, 0, fmt.Errorf("bench: %s: no question is finished whose decision is known to be right or wrong",
			runs[0].dir)
	}
	base = float64(right) / float64(n)
	if len(runs) == 1 {
		return base, betweenRepeats(first), math.NaN(), nil
	}
	var common []string
	for id := range first {
		if second[id] != nil {
			common = append(common, id)
		}
	}
	c := &differ(first, second, common).decided
	if c.Pairs.N() == 0 {
		return 0, 0, 0, fmt.Errorf("bench: %w: %s, %s", ErrNothingCommon, runs[0].dir, runs[1].dir)
	}
	discordant = float64(c.Pairs[0][1]+c.Pairs[1][0]) / float64(c.Pairs.N())
	return base, discordant, c.Alike(), nil
}

// betweenRepeats returns the share of pairs of repeats of one question that are not both right or both wrong; NaN
// without repeats.
func betweenRepeats(all map[string]*graded) float64 {
	type counts struct{ n, right int }
	by := map[string]*counts{}
	for _, g := range all {
		if !g.decided {
			continue
		}
		if by[g.question] == nil {
			by[g.question] = &counts{}
		}
		by[g.question].n++
		if g.right {
			by[g.question].right++
		}
	}
	differ, pairs := 0, 0
	for _, c := range by {
		differ, pairs = differ+c.right*(c.n-c.right), pairs+c.n*(c.n-1)/2
	}
	if pairs == 0 {
		return math.NaN()
	}
	return float64(differ) / float64(pairs)
}
