package preset

import (
	"fmt"
	"slices"

	"synod.dev/synod/lab"
	"synod.dev/synod/metrics"
	"synod.dev/synod/report"
	"synod.dev/synod/robust"
)

const tableIAbout = `Eight honest evaluators and one colluder have marked ten workers, of whom w9 is
Byzantine. The paper prints each evaluator's total of an answer, not the five marks
behind it. What can be computed of totals is: their medians, who wins by them and
who is last, and what their means would have come to. No member is asked, so
--members, -n and --repeat change nothing.

median-total      medians, by worker; winners (w6 and w7 tie; ranks are from 0)
mean              the same by plain means, for comparison
geometric-median  the paper's robust scores. They need the hidden marks by criterion,
                  so there is no figure of ours beside them, and no verdict.`

// tableI is the preset of Table I.
func tableI(Options) (*plan, error) {
	s, err := readTableI()
	if err != nil {
		return nil, err
	}
	params := func(aggregate string) map[string]any {
		return map[string]any{"protocol": "decentllms", "aggregate": aggregate, "n_w": len(s.byzantine), "b": 1, "n_e": len(s.honest) + 1, "f_e": 1}
	}
	right := map[string]report.Figure{"decision_accuracy": {Value: 1, N: 1}}
	paper := map[string]report.Figure{}
	for i, v := range s.robust {
		paper[fmt.Sprintf("score_w%d", i)] = report.Figure{Value: v, Count: true}
	}
	const how = "the totals that Table I prints, one decision"
	return &plan{
		note: "No members: figures are computed from the totals that the paper prints.",
		cells: []cell{
			{
				Cell: lab.Cell{Name: "median-total", Params: params("median-total"), Paper: right}, how: how,
				compute: func() (*report.Figures, error) { return s.standing("medians", medianOf) },
			},
			{
				Cell: lab.Cell{Name: "mean", Params: params("mean"), Paper: right}, how: how,
				compute: func() (*report.Figures, error) { return s.standing("means", meanOf) },
			},
			{
				Cell:  lab.Cell{Name: "geometric-median", Params: params("geometric-median"), Paper: paper},
				blank: "robust scores are made of five marks by criterion, and the paper prints their totals only",
			},
		},
	}, nil
}

// standing is every worker's score by an aggregate of totals, and who leads by it.
func (s scores) standing(name string, aggregate func([]float64) (float64, error)) (*report.Figures, error) {
	var all []float64
	for worker, lie := range s.byzantine {
		totals := []float64{lie}
		for _, e := range s.honest {
			totals = append(totals, e[worker])
		}
		score, err := aggregate(totals)
		if err != nil {
			return nil, err
		}
		all = append(all, score)
	}
	var winners, last []float64
	right := 0
	for worker, score := range all {
		if score == slices.Max(all) {
			winners = append(winners, float64(worker))
			if s.right[worker] {
				right++
			}
		}
		if score == slices.Min(all) {
			last = append(last, float64(worker))
		}
	}
	f := &report.Figures{
		Rates: map[string]*metrics.Rate{"capture": metrics.Wilson(captured(winners), 1)},
		Lists: map[string][]float64{name: all, "winners": winners, "last": last},
	}
	switch right {
	case 0, len(winners): // else the tie decides whether the decision is right
		f.Rates["decision_accuracy"] = metrics.Wilson(min(right, 1), 1)
	}
	return f, nil
}

func captured(winners []float64) int {
	if len(winners) == 1 && winners[0] == liar {
		return 1
	}
	return 0
}

func medianOf(totals []float64) (float64, error) {
	var w robust.Workspace
	rows := make([][]float64, len(totals))
	for i, t := range totals {
		rows[i] = []float64{t}
	}
	r, err := w.MedianTotal(rows)
	return r.Total, err
}

func meanOf(totals []float64) (sum float64, err error) {
	for _, t := range totals {
		sum += t
	}
	return sum / float64(len(totals)), nil
}
