package page

import (
	"errors"
	"io/fs"
	"net/http"
	"net/url"
	"strconv"

	"synod.dev/synod/bench"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
)

// labRowsPerPage is how many questions of a cell a page shows.
const labRowsPerPage = 50

// labCellView is a page of the questions of a cell.
type labCellView struct {
	At, Name, Cell string
	Failed         bool // only those that failed
	Rows           []bench.QuestionState
	From, Of       int
	Before, After  int // pages; 0: none
}

// cell opens the run of the cell that an address names.
func (v *visit) cell() (labFolder, *bench.Run, error) {
	f, err := v.at()
	if err != nil {
		return f, nil, err
	}
	name := v.R.FormValue("cell")
	var run *bench.Run
	if !f.Grid && name == "" {
		run, err = bench.Open(f.path)
	} else if run, err = bench.OpenCell(f.path, name); errors.Is(err, bench.ErrNoRun) {
		return f, nil, problemf(http.StatusNotFound, "There is no cell %s with a run in %s.", clip(name), f.Name())
	}
	if err != nil {
		return f, nil, problemf(http.StatusUnprocessableEntity, "The run cannot be shown: %v", err)
	}
	return f, run, nil
}

// labQuestionList lists the questions of a cell.
func labQuestionList(v *visit) error {
	f, run, err := v.cell()
	if err != nil {
		return err
	}
	view := &labCellView{At: f.At, Name: f.Name(), Cell: v.R.FormValue("cell"),
		Failed: v.R.FormValue("show") == "failed"}
	page, err := strconv.Atoi(v.R.FormValue("page"))
	if err != nil || page < 1 || page > run.N*run.Repeat/labRowsPerPage+1 {
		page = 1
	}
	view.From = (page - 1) * labRowsPerPage
	view.Rows, view.Of, err = run.Questions(view.From, labRowsPerPage, view.Failed)
	if err != nil {
		return problemf(http.StatusUnprocessableEntity, "The questions cannot be shown: %v", err)
	}
	if page > 1 {
		view.Before = page - 1
	}
	if view.From+len(view.Rows) < view.Of && len(view.Rows) > 0 {
		view.After = page + 1
	}
	return v.show("labquestions.html", "Questions of "+view.Name, view)
}

// transcript reads the transcript of the finished question that an address names.
func (v *visit) transcript() (*past, *labOrigin, error) {
	f, run, err := v.cell()
	if err != nil {
		return nil, nil, err
	}
	key := v.R.FormValue("key")
	j, row, err := run.Journal(key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, problemf(http.StatusNotFound, "There is no transcript of %s: the run has no such question, "+
			"or it is not finished.", clip(key))
	}
	t := &past{journal: j}
	if err == nil {
		t.plan, err = plan.Of(j)
	}
	if err != nil {
		return nil, nil, problemf(http.StatusUnprocessableEntity, "The transcript cannot be shown: %v", err)
	}
	o := outcome.Judge(t.plan, outcome.InstanceOf(j), outcome.RecordsOf(t.plan, j))
	o.Digest, o.Seconds = j.Digest(), float64(row.Ms)/1e3
	t.outcome = &o
	return t, &labOrigin{At: f.At, Name: f.Name(), Cell: v.R.FormValue("cell"), Key: key, Right: row.Right,
		USD: row.USD}, nil
}

// labQuestion shows the transcript of a finished question, as the page of a run of "synod ask" does.
func labQuestion(v *visit) error {
	t, origin, err := v.transcript()
	if err != nil {
		return err
	}
	view := &runView{ID: origin.Key, Share: true, Lab: origin}
	view.fill(t)
	return v.show("run.html", view.title(), view)
}

// labCalls shows every call of a finished question.
func labCalls(v *visit) error {
	t, origin, err := v.transcript()
	if err != nil {
		return err
	}
	named := url.Values{"at": {origin.At}, "cell": {origin.Cell}, "key": {origin.Key}}
	return v.listCalls(t, &callsView{At: "/lab/calls", Back: "/lab/question?" + named.Encode(),
		Hidden: [][2]string{{"at", origin.At}, {"cell", origin.Cell}, {"key", origin.Key}}}, "Calls of "+origin.Name)
}
