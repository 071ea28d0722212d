package bench

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"synod.dev/synod/bench/store"
)

// CellState says how far a cell is.
type CellState struct {
	Cell     string `json:"cell"`
	State    string `json:"state"` // finished, partly, waiting, computed, derived, blank
	Finished int    `json:"finished"`
	Failed   int    `json:"failed"` // in the last attempt
	Total    int    `json:"total"`
	Hash     string `json:"hash,omitempty"`
	Why      string `json:"why,omitempty"` // of a blank cell

	// Counts are sums over the finished questions, from the table results.
	Counts store.Counts `json:"-"`
}

// States returns how far every cell is. It reads no answers.
func (g *Grid) States() ([]CellState, error) {
	w := &Watch{grid: g, runs: g.Runs}
	if len(g.Runs) > 0 {
		s, err := openStore(g.dir)
		if err != nil {
			return nil, err
		}
		defer s.Close()
		w.store = s
	}
	now, err := w.Now()
	if err != nil {
		return nil, err
	}
	return now.Cells, nil
}

// State returns how far the run is: finished, partly or waiting. It reads no answers.
func (r *Run) State() (CellState, error) {
	s, err := openStore(r.dir)
	if err != nil {
		return CellState{}, err
	}
	defer s.Close()
	now, err := (&Watch{store: s, runs: []*Run{r}}).Now()
	if err != nil {
		return CellState{}, err
	}
	return now.Cells[0], nil
}

// Watch is the folder of a run or a grid, open to be looked at again and again while others write to it.
type Watch struct {
	store *store.Store // nil: the grid has no runs
	grid  *Grid        // nil: a run
	runs  []*Run
}

// OpenWatch opens the folder of a run or a grid. Cells that are added later are not seen.
func OpenWatch(dir string) (w *Watch, err error) {
	w = &Watch{}
	if IsGrid(dir) {
		if w.grid, err = OpenGrid(dir); err == nil {
			w.runs = w.grid.Runs
		}
	} else {
		var run *Run
		run, err = Open(dir)
		w.runs = []*Run{run}
	}
	if err != nil {
		return nil, err
	}
	w.store, err = openStore(dir)
	return w, err
}

// Close closes the folder.
func (w *Watch) Close() error {
	if w.store == nil {
		return nil
	}
	return w.store.Close()
}

// Grid returns the grid; nil for the folder of a run.
func (w *Watch) Grid() *Grid { return w.grid }

// Run returns the run of the folder; nil for a grid.
func (w *Watch) Run() *Run {
	if w.grid != nil {
		return nil
	}
	return w.runs[0]
}

// Now is the state of a folder at one time. Its times and rates are informational.
type Now struct {
	Cells                   []CellState
	Finished, Failed, Total int
	Counts                  store.Counts // sums over all cells
	Causes                  []Cause      // why questions failed, the most frequent first
	Last                    time.Time    // when results were committed last; zero: never
	Seconds                 float64      // over which Counts.Recent were committed; 0: not known
}

// Cause is why questions failed in their last attempt.
type Cause struct {
	Stopped, Reason string
	Questions       int
	Cell            string // of the first of them
	Key             string // ID-R of the first of them
}

// PaceTime is how far back results count for the rate.
const PaceTime = 10 * time.Minute

// Rate returns how many questions are finished a second, of those of counts; 0: not known.
func (n *Now) Rate(c store.Counts) float64 {
	if n.Seconds <= 0 {
		return 0
	}
	return float64(c.Recent) / n.Seconds
}

// Left returns how long the questions that have not been tried will take at the rate of now; 0: not known.
func (n *Now) Left() time.Duration {
	rate := n.Rate(n.Counts)
	if rate <= 0 {
		return 0
	}
	return time.Duration(float64(n.Total-n.Finished-n.Failed) / rate * float64(time.Second))
}

// Now reads the state of the folder. Finished questions are counted by the database; no answers are read.
func (w *Watch) Now() (*Now, error) {
	now := &Now{}
	if w.store != nil && len(w.runs) > 0 {
		if err := w.count(now); err != nil {
			return nil, fmt.Errorf("bench: %w", err)
		}
	}
	if w.grid != nil {
		w.name(now)
	}
	return now, nil
}

// count adds the states of the runs.
func (w *Watch) count(now *Now) error {
	at := time.Now()
	pace, err := w.store.Pace(at.Add(-PaceTime))
	if err != nil {
		return err
	}
	after := pace.Block
	if after > 0 {
		now.Seconds = at.Sub(pace.Begun).Seconds()
	}
	now.Last = pace.Last
	failed, err := w.store.Failed()
	if err != nil {
		return err
	}
	counts, err := w.store.CountAfter(after) // last, so that no question is both failed and finished for long
	if err != nil {
		return err
	}
	for _, r := range w.runs {
		c := counts[r.cell]
		now.Cells = append(now.Cells, CellState{Cell: r.name, State: "waiting", Total: r.total(), Finished: c.Finished,
			Counts: c})
		now.Finished, now.Total = now.Finished+c.Finished, now.Total+r.total()
		now.Counts.Add(c)
	}
	if err := w.blame(now, failed); err != nil {
		return err
	}
	for i := range now.Cells {
		switch c := &now.Cells[i]; {
		case c.Finished == c.Total:
			c.State = "finished"
		case c.Finished+c.Failed > 0:
			c.State = "partly"
		}
	}
	return nil
}

// blame counts failed questions by cell and by cause.
func (w *Watch) blame(now *Now, failed []store.Attempt) error {
	cells := map[int64]int{}
	for i, r := range w.runs {
		cells[r.cell] = i
	}
	causes := map[[2]string]int{}
	for _, a := range failed {
		i, known := cells[a.Cell]
		if !known {
			continue // no cell of the grid needs the run any more
		}
		r := w.runs[i]
		if a.Question < 0 || a.Question >= r.N || a.Repeat < 0 || a.Repeat >= r.Repeat {
			return errors.New("an attempt names a question that the run does not have")
		}
		now.Cells[i].Failed++
		now.Failed++
		why := [2]string{a.Stopped, a.Reason}
		k, seen := causes[why]
		if !seen {
			k = len(now.Causes)
			causes[why] = k
			now.Causes = append(now.Causes, Cause{Stopped: a.Stopped, Reason: a.Reason, Cell: r.name,
				Key: r.key(job{a.Question, a.Repeat})})
		}
		now.Causes[k].Questions++
	}
	slices.SortStableFunc(now.Causes, func(a, b Cause) int { return cmp.Compare(b.Questions, a.Questions) })
	return nil
}

// name adds the names and hashes of the cells of a grid, and the cells without a run.
func (w *Watch) name(now *Now) {
	g := w.grid
	for i := range now.Cells {
		now.Cells[i].Cell, now.Cells[i].Hash = g.Cells[i].Name, g.Cells[i].Hash
	}
	for _, c := range g.Computed {
		state := "computed"
		if c.Figures == nil {
			state = "waiting"
		}
		now.Cells = append(now.Cells, CellState{Cell: c.Name, State: state})
	}
	for _, c := range g.Readings {
		now.Cells = append(now.Cells, CellState{Cell: c.Name, State: "derived"})
	}
	for _, c := range g.Blank {
		now.Cells = append(now.Cells, CellState{Cell: c.Name, State: "blank", Why: c.Why})
	}
}
