package page

import (
	"fmt"
	"strings"

	"synod.dev/synod/bench"
	"synod.dev/synod/bench/report"
	"synod.dev/synod/core/table"
	"synod.dev/synod/llm"
)

// labResult is the report of a run or of a grid.
type labResult struct {
	run  *bench.Run // nil: a grid
	one  *report.Report
	grid *bench.Grid // nil: a run
	many *report.Grid
}

// result computes a report, unless that of the same files is known.
func (l *labs) result(f labFolder, prices llm.Prices) (*labResult, error) {
	l.reading.Lock()
	defer l.reading.Unlock()
	key := f.At + "\x00" + f.stamp
	if r := l.results[key]; r != nil {
		return r, nil
	}
	r, err := readResult(f, prices)
	if err != nil {
		return nil, err
	}
	if l.results == nil || len(l.results) >= mostResults {
		l.results = map[string]*labResult{}
	}
	l.results[key] = r
	return r, nil
}

func readResult(f labFolder, prices llm.Prices) (r *labResult, err error) {
	r = &labResult{}
	if !f.Grid {
		if r.run, err = bench.Open(f.path); err == nil {
			r.run.Prices = prices
			r.one, err = r.run.Report()
		}
		return r, err
	}
	if r.grid, err = bench.OpenGrid(f.path); err == nil {
		for _, run := range r.grid.Runs {
			run.Prices = prices
		}
		r.many, err = r.grid.Report()
	}
	return r, err
}

func (r *labResult) plots() []report.Plot {
	if r.one != nil {
		return r.one.Plots()
	}
	return r.many.Plots()
}

func (r *labResult) summary() *table.Table {
	if r.one != nil {
		return r.one.Summary()
	}
	return r.many.Summary()
}

// note is what readers must know about the members.
func (r *labResult) note() string {
	if r.grid != nil {
		return r.grid.Note
	}
	return ""
}

func (r *labResult) facts() [][2]string {
	if r.grid != nil {
		return [][2]string{{"Experiment", r.grid.Preset}, {"Source", r.grid.Source}, {"Members", r.grid.Members},
			{"Cells", fmt.Sprint(len(r.many.Cells))}}
	}
	x := r.one
	facts := [][2]string{{"Task", x.Task}, {"Council", x.Council}, {"Protocol", x.Protocol}, {"Rule", x.Rule},
		{"Members", strings.Join(x.MembersKind, ", ")}, {"Seed", fmt.Sprint(x.Seed)},
		{"Questions", fmt.Sprint(x.Questions)}, {"Calls", fmt.Sprint(x.Calls.Made)}, {"Cost", x.Money.String()},
		{"Digest", x.Digest}}
	if x.Setting != nil {
		facts = append(facts, [2]string{"Graph", x.Setting.Graph}, [2]string{"F", fmt.Sprint(x.Setting.F)})
	}
	return facts
}
