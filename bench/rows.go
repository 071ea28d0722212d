package bench

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"

	"synod.dev/synod/bench/report"
	"synod.dev/synod/core/journal"
)

// Row is a finished question of a grid, as a row of a table for other programs. What it has beside names is what
// results.db has of the question.
type Row struct {
	Preset           string   `json:"preset"`
	Cell             string   `json:"cell"`
	Task             string   `json:"task"`
	MembersKind      string   `json:"members_kind"` // joined by +, with what is assumed to fool simulated ones
	Params           string   `json:"params"`       // of the cell, as a JSON object
	Question         string   `json:"question"`     // id
	Repeat           int      `json:"repeat"`       // from 0
	Answered         bool     `json:"answered"`     // the council decided an answer
	Right            *bool    `json:"right"`        // the decision is right; nil: not known
	Calls            int      `json:"calls"`
	PromptTokens     int      `json:"prompt_tokens"`
	CompletionTokens int      `json:"completion_tokens"`
	USD              *float64 `json:"usd"` // nil: not known
	Ms               int      `json:"ms"`  // time of the attempt by the clock, in milliseconds
}

// Rows yields the finished questions of all runs of the grid, cell by cell, the repeats of a question one after the
// other. A row whose checksum is not that of its figures and its journal is an error. Iteration ends after an error.
func (g *Grid) Rows() iter.Seq2[*Row, error] {
	return func(yield func(*Row, error) bool) {
		if len(g.Runs) == 0 {
			return
		}
		s, err := openStore(g.dir)
		if err != nil {
			yield(nil, err)
			return
		}
		defer s.Close()
		for i, run := range g.Runs {
			cell, err := g.row(i)
			if err != nil {
				yield(nil, err)
				return
			}
			for row, err := range (&reader{Run: run, store: s}).rows(cell) {
				if !yield(row, err) || err != nil {
					return
				}
			}
		}
	}
}

// Grid returns the run as a grid of one cell without parameters, for the tables of a grid.
func (r *Run) Grid() *Grid {
	return &Grid{Runs: []*Run{r}, dir: r.dir, GridManifest: GridManifest{Version: GridVersion, Members: r.Name,
		Cells: []Cell{{Name: cmp.Or(r.name, r.Name), Params: map[string]any{}}}}}
}

// row returns what all rows of a cell have.
func (g *Grid) row(i int) (Row, error) {
	params, err := json.Marshal(g.Cells[i].Params)
	if err != nil {
		return Row{}, fmt.Errorf("bench: cell %s: %w", g.Cells[i].Name, err)
	}
	run := g.Runs[i]
	return Row{Preset: g.Preset, Cell: g.Cells[i].Name, Task: run.Task, Params: string(params),
		MembersKind: report.KindsCell(run.kinds(), run.seats())}, nil
}

func (r *reader) rows(cell Row) iter.Seq2[*Row, error] {
	return func(yield func(*Row, error) bool) {
		for res, err := range r.store.Results(r.cell) {
			j := job{res.Question, res.Repeat}
			switch {
			case err != nil:
				err = fmt.Errorf("bench: %w", err)
			case j.item < 0 || j.item >= r.N || j.repeat < 0 || j.repeat >= r.Repeat:
				err = fmt.Errorf("bench: %s: a result is of question %d, repeat %d, which the run does not have: %w",
					r.dir, j.item, j.repeat, journal.ErrChanged)
			default:
				_, err = r.body(j, &res)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			row := cell
			row.Question, row.Repeat, row.Answered, row.Right = r.id(j), j.repeat, res.Answered, res.Right
			row.Calls, row.PromptTokens, row.CompletionTokens = res.Calls, res.Prompt, res.Completion
			row.USD, row.Ms = res.USD, res.Ms
			if !yield(&row, nil) {
				return
			}
		}
	}
}
