package computed

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/bench/report"
	"synod.dev/synod/core/robust"
)

// tableIFile is Table I of the DecentLLMs paper: the total (of 100) that each evaluator
// gives each worker, the robust scores of the paper, and which answers are right.
//
//go:embed decentllms-table1.csv
var tableIFile []byte

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

// totals computes the score of every worker from the totals of Table I.
type totals struct {
	Aggregate string `yaml:"aggregate" doc:"what is computed of the totals of a worker" enum:"median-total|mean"`
}

// Figures returns the scores, and which workers win and are last.
func (c *totals) Figures(*Work, Trials) (how string, of Compute, err error) {
	s, err := readTableI()
	if err != nil {
		return "", nil, err
	}
	const described = "one decision on the totals that Table I prints"
	switch c.Aggregate {
	case "median-total":
		return described, func(context.Context) (*report.Figures, error) { return s.standing("medians", medianOf) }, nil
	case "mean":
		return described, func(context.Context) (*report.Figures, error) { return s.standing("means", meanOf) }, nil
	}
	return "", nil, fmt.Errorf("totals: aggregate is missing (example: aggregate: median-total)")
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
