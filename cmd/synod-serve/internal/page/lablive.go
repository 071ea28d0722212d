package page

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"synod.dev/synod/bench"
)

// Times of the stream of a sweep.
const (
	labGap  = time.Second     // between two looks at the folder
	labRest = 10              // times as long as a look took, at least, until the next one
	labIdle = 5 * time.Second // between two looks at a folder that nobody writes to
	labOpen = 10 * time.Minute
)

// watchLab streams a sweep: "state", "progress", "causes", "workers" and one event for each cell, each when it has
// changed, and "done" when all is finished. It ends after a while, and browsers connect again: by then the folder may
// have other cells.
func watchLab(v *visit) error {
	f, err := v.at()
	if err != nil {
		return err
	}
	w, err := bench.OpenWatch(f.path)
	if err != nil {
		return problemf(http.StatusUnprocessableEntity, "The run cannot be shown: %v", err)
	}
	defer w.Close()
	s := v.stream("labrun.html")
	for begun := time.Now(); time.Since(begun) < labOpen; {
		look := time.Now()
		now, err := stateOf(w)
		if err == nil {
			f, err = v.at() // the files are checked again, and say whether somebody writes
		}
		if err != nil {
			v.p.o.Log.Warn("a sweep cannot be watched any more", "at", f.At, "error", err.Error())
			return nil // the browser asks again, and is told
		}
		row := rowOf(f, now)
		if more, err := s.send(row.parts()); !more {
			return err
		}
		if !now.Goes() {
			s.done()
			return nil
		}
		wait := max(labGap, labRest*time.Since(look))
		if !row.Active {
			wait = max(wait, labIdle)
		}
		select {
		case <-v.R.Context().Done():
			return nil
		case <-time.After(wait):
		}
	}
	return nil
}

// parts are the parts of the live page.
func (r labRow) parts() []fragment {
	all := []fragment{{"state", "state", r}, {"progress", "progress", r}, {"causes", "causes", r},
		{"workers", "workers", r}}
	for _, c := range r.CellRows() {
		all = append(all, fragment{c.Event(), "cell", c})
	}
	return all
}

// cellRow is a cell on the live page.
type cellRow struct {
	bench.CellState
	At   string
	N    int
	Rate float64 // questions a second; 0: none lately
}

// Event is the event that brings the row.
func (c cellRow) Event() string { return fmt.Sprintf("cell%d", c.N) }

// Share is how many of the graded answers are right.
func (c cellRow) Share() string {
	if c.Counts.Graded == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(c.Counts.Right)/float64(c.Counts.Graded))
}

// Unpriced reports whether the cost of some results is not known.
func (c cellRow) Unpriced() bool { return c.Counts.Priced < c.Counts.Finished }

// CellRows are the rows of the table of cells.
func (r labRow) CellRows() []cellRow {
	all := make([]cellRow, len(r.Cells))
	for i, c := range r.Cells {
		all[i] = cellRow{CellState: c, At: r.At, N: i, Rate: r.Rate(c.Counts)}
		if !r.Active || c.State == "finished" {
			all[i].Rate = 0
		}
	}
	return all
}

// AtWork are the first cells of which questions were finished lately.
func (r labRow) AtWork() (all []cellRow) {
	for _, c := range r.CellRows() {
		if c.Rate > 0 && len(all) < 5 {
			all = append(all, c)
		}
	}
	return all
}

// Unpriced reports whether the cost of some results is not known.
func (r labRow) Unpriced() bool { return r.Counts.Priced < r.Counts.Finished }

// RateNow is the rate of the sweep in questions a second; 0: none lately.
func (r labRow) RateNow() float64 {
	if !r.Active {
		return 0
	}
	return r.Rate(r.Counts)
}

// LeftNow is how long the rest will take at the rate of now; "": not known.
func (r labRow) LeftNow() string {
	left := r.Left()
	if !r.Active || left <= 0 {
		return ""
	}
	if left > time.Minute {
		return strings.TrimSuffix(left.Round(time.Minute).String(), "0s")
	}
	return left.Round(time.Second).String()
}

// CausesShown are the causes that the page shows.
func (r labRow) CausesShown() []bench.Cause { return r.Causes[:min(len(r.Causes), labCauses)] }

// CausesMore is how many causes are not shown.
func (r labRow) CausesMore() int { return len(r.Causes) - len(r.CausesShown()) }

// labCauses is how many causes of failures the page shows.
const labCauses = 12
