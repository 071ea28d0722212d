package preset

import (
	"bytes"
	_ "embed"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"

	"synod.dev/synod"
)

// tableIFile is Table I of the DecentLLMs paper: what each evaluator gives each
// worker of 100, the paper's robust scores, and which answers are right.
//
//go:embed decentllms-table1.csv
var tableIFile []byte

// decentSource begins the source of every figure.
const decentSource = `Jo, Park, "Byzantine-Robust Decentralized Coordination of LLM Agents", `

func decentTables() []Preset {
	return []Preset{
		{
			Entry:  synod.Entry{Name: "decentllms-table1", Summary: "DecentLLMs Table I: totals of nine evaluators over ten workers, aggregated"},
			Source: decentSource + "Table I", About: tableIAbout, plan: tableI,
		},
		{
			Entry:  synod.Entry{Name: "decentllms-fig6", Summary: "DecentLLMs Fig. 6: accuracy on MMLU-Pro against quorums of two thirds and of a majority"},
			Source: decentSource + "Fig. 6", About: fig6About, plan: fig6,
		},
		{
			Entry:  synod.Entry{Name: "decentllms-fig7", Summary: "DecentLLMs Fig. 7: virtual time to a decision by Byzantine leaders, three protocols"},
			Source: decentSource + "Fig. 7", About: fig7About, plan: fig7,
		},
		{
			Entry:  synod.Entry{Name: "decentllms-fig8", Summary: "DecentLLMs Fig. 8: eight honest evaluators and up to seven colluders"},
			Source: decentSource + "Fig. 8", About: fig8About, plan: fig8,
		},
	}
}

// scores is Table I.
type scores struct {
	honest    [][]float64 // by evaluator and worker
	byzantine []float64   // e8's
	robust    []float64   // what the paper's geometric median of the hidden marks comes to
	right     []bool
}

// liar is the Byzantine worker of Table I, w9.
const liar = 9

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
