package lab

import "synod.dev/synod/report"

// GridVersion is the version of a grid's folder. OpenGrid refuses a later one.
const GridVersion = 1

// Cell is one cell of a grid: a run, what is varied in it, and what a paper says
// of it.
type Cell struct {
	Name    string                   `json:"cell"` // also its folder
	Params  map[string]any           `json:"params"`
	Paper   map[string]report.Figure `json:"paper"`             // by metric; empty: the paper has no such cell
	Assumed []string                 `json:"assumed,omitempty"` // metrics that the members were made to have
}

// Blank is a cell of the paper's that nothing here can fill: no run, no figure.
type Blank struct {
	Cell
	Why string `json:"why"` // with what would fill it
}

// GridManifest says what a grid is, in grid.json.
type GridManifest struct {
	Version int    `json:"version"`
	Program string `json:"program"`
	Preset  string `json:"preset"`
	Source  string `json:"source"`  // the paper and the table
	Members string `json:"members"` // as they were chosen: simulated, embedded, recorded, or a file's name
	Note    string `json:"note"`    // what a reader must know of the members and the questions
	Cells   []Cell `json:"cells"`

	Blank    []Blank    `json:"blank,omitempty"`    // cells without a run
	Computed []Computed `json:"computed,omitempty"` // cells with figures and without a run
	Readings []Reading  `json:"readings,omitempty"` // cells with figures of other cells' runs
}
