package preset

import (
	"bytes"
	_ "embed"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/lab"
	"synod.dev/synod/metrics"
	"synod.dev/synod/report"
	"synod.dev/synod/robust"
)

// tableIFile is Table I of the DecentLLMs paper: the total (of 100) that each evaluator
// gives each worker, the robust scores of the paper, and which answers are right.
//
//go:embed decentllms-table1.csv
var tableIFile []byte

// decentSource is the paper of these presets.
const decentSource = `Jo, Park, "Byzantine-Robust Decentralized Coordination of LLM Agents", `

func decentTables() []Preset {
	return []Preset{
		{
			Entry: synod.Entry{Name: "decentllms-table1",
				Summary: "DecentLLMs Table I: totals of nine evaluators over ten workers, aggregated"},
			Source: decentSource + "Table I", About: tableIAbout, plan: tableI,
		},
		{
			Entry: synod.Entry{Name: "decentllms-fig6",
				Summary: "DecentLLMs Fig. 6: accuracy on MMLU-Pro against quorums of two thirds and of a majority"},
			Source: decentSource + "Fig. 6", About: fig6About, plan: fig6,
		},
		{
			Entry: synod.Entry{Name: "decentllms-fig7",
				Summary: "DecentLLMs Fig. 7: virtual time to a decision by Byzantine leaders, three protocols"},
			Source: decentSource + "Fig. 7", About: fig7About, plan: fig7,
		},
		{
			Entry: synod.Entry{Name: "decentllms-fig8",
				Summary: "DecentLLMs Fig. 8: eight honest evaluators and up to seven colluders"},
			Source: decentSource + "Fig. 8", About: fig8About, plan: fig8,
		},
	}
}

// scores has the content of Table I.
type scores struct {
	honest    [][]float64 // by evaluator and worker
	byzantine []float64   // of evaluator e8, by worker
	robust    []float64   // robust scores that the paper prints, by worker
	right     []bool
}

// byzantineWorker is the Byzantine worker of Table I, w9.
const byzantineWorker = 9

func readTableI() (s scores, err error) {
	rows, err := csv.NewReader(bytes.NewReader(tableIFile)).ReadAll()
	if err != nil {
		return s, fmt.Errorf("decentllms-table1.csv: %w", err)
	}
	for _, row := range rows[1:] {
		values := make([]float64, len(row)-1)
		for i, text := range row[1:] {
			if values[i], err = strconv.ParseFloat(text, 64); err != nil {
				return s, fmt.Errorf("decentllms-table1.csv: row %s: %w", row[0], err)
			}
		}
		switch {
		case row[0] == "robust":
			s.robust = values
		case row[0] == "right":
			for _, v := range values {
				s.right = append(s.right, v == 1)
			}
		case row[0] == "e8":
			s.byzantine = values
		case strings.HasPrefix(row[0], "e"):
			s.honest = append(s.honest, values)
		}
	}
	return s, nil
}

const tableIAbout = `Eight honest evaluators and one colluder have graded ten workers, of which w9 is
Byzantine. The paper prints the total of each evaluator for each answer, but not the five
grades behind it. From the totals one can compute their medians and means, and which
worker wins or is last. No member is asked, so --members, -n and --repeat have no effect.

median-total      medians by worker, and winners (w6 and w7 tie; workers count from 0).
                  The paper does not print them, so they are compared with nothing
mean              the same with plain means
geometric-median  the robust scores of the paper. They need the grades by criterion, so
                  they cannot be computed and have no verdict.`

// tableI returns the cells of Table I.
func tableI(Options) (*plan, error) {
	s, err := readTableI()
	if err != nil {
		return nil, err
	}
	params := func(aggregate string) map[string]any {
		return map[string]any{"protocol": "decentllms", "aggregate": aggregate, "n_w": len(s.byzantine), "b": 1,
			"n_e": len(s.honest) + 1, "f_e": 1}
	}
	paper := map[string]report.Figure{}
	for i, v := range s.robust {
		paper[fmt.Sprintf("score_w%d", i)] = report.Figure{Value: v, Count: true}
	}
	const how = "one decision on the totals that Table I prints"
	return &plan{
		note: "No members: the figures are computed from the totals that the paper prints.",
		cells: []cell{
			{
				Cell: lab.Cell{Name: "median-total", Params: params("median-total")}, how: how,
				compute: func() (*report.Figures, error) { return s.standing("medians", medianOf) },
			},
			{
				Cell: lab.Cell{Name: "mean", Params: params("mean")}, how: how,
				compute: func() (*report.Figures, error) { return s.standing("means", meanOf) },
			},
			{
				Cell:  lab.Cell{Name: "geometric-median", Params: params("geometric-median"), Paper: paper},
				blank: "robust scores need the grades by criterion, and the paper prints only their totals",
			},
		},
	}, nil
}

// standing returns the score of every worker by an aggregate of totals, and which workers
// win and are last.
func (s scores) standing(name string, aggregate func([]float64) (float64, error)) (*report.Figures, error) {
	var all []float64
	for worker, byzantine := range s.byzantine {
		totals := []float64{byzantine}
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
		Rates: map[string]*metrics.Rate{"capture": metrics.Share(captured(winners), 1)},
		Lists: map[string][]float64{name: all, "winners": winners, "last": last},
	}
	switch right {
	case 0, len(winners): // otherwise the tie-break determines whether the decision is right
		f.Rates["decision_accuracy"] = metrics.Share(min(right, 1), 1)
	}
	return f, nil
}

func captured(winners []float64) int {
	if len(winners) == 1 && winners[0] == byzantineWorker {
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
