// Package bench runs councils over tasks. It keeps each run in a folder, resumes
// interrupted runs, and computes every figure from the files of the folder.
//
//	results.db      task, council, seats, seed, the questions with their keys, what is finished, and when and
//	                why attempts ended that finished nothing; see package bench/store
//	journals-N.seg  the journals of finished questions, compressed
//	working.jsonl   journals of questions that are being asked: a segment of package journal
//
// What is stored has checksums, and a folder with a changed byte is refused. A paid reply is in
// working.jsonl before it is used, and stays there until the row of its question is committed, so the process may
// die at any time; the next attempt does not ask for received replies again. Questions whose members cost
// nothing are committed in batches, and those of a batch that was not committed are asked again. Paths are
// relative to the folder, so it can be moved. A report needs only the folder and no model.
package bench

import (
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"synod.dev/synod/bench/store"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/core/script"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
)

// Version is the version of the folder of a run or a grid. Open fails for any other one.
const Version = store.Version

// gridKey is the key of the grid's manifest in the table meta, and cellsFolder is in the names of its cells for Open.
const (
	gridKey     = "grid"
	cellsFolder = "cells"
)

// RunManifest describes a run. It is stored in results.db.
type RunManifest struct {
	Version  int         `json:"version"`
	Program  string      `json:"program"`
	Task     string      `json:"task"` // name of a task of the catalogue, or of a question file
	Form     string      `json:"form"` // "": the form of the task
	N        int         `json:"n"`    // number of questions
	Repeat   int         `json:"repeat"`
	Seed     uint64      `json:"seed"`
	Council  string      `json:"council"` // the complete council file
	Name     string      `json:"name"`    // name of the council
	Protocol string      `json:"protocol"`
	Exact    string      `json:"exact"`
	Rule     plan.Rule   `json:"rule"`
	Seats    []plan.Seat `json:"seats"`
	Planned  int         `json:"planned"` // maximum number of calls for one question, without retries
	Items    string      `json:"items"`   // SHA-256 of the questions, one JSON object in each line
	Created  time.Time   `json:"created,omitzero"`

	// Learn is the trust file that learns from the run when it is over, plan.OwnTrust for the user's; "": none does.
	Learn string `json:"learn,omitempty"`

	// Prompts has the digests of the prompt templates by name; nil in old runs.
	Prompts map[string]string `json:"prompts,omitempty"`
}

// Run is a run and its folder.
type Run struct {
	RunManifest
	Items  []task.Keyed
	Prices llm.Prices // prices for reports and estimates; nil: llm.Published()

	// Mark marks a text as written by the user, so that Origin is set in the folder that
	// Create writes; nil: it is not.
	Mark func([]byte) string

	dir         string // with the store
	name        string // of the cell in a grid; "": a run alone
	cell        int64  // id in the store
	sealed      string // the manifest as it is stored; "" before Create
	sum, origin string // of it
	// queries are those of the models' URLs, which are not recorded, by the environment
	// variables that the recorded council names in their place.
	queries map[string]string
}

// Dir returns what Open opens: the folder of the run or, for a cell of a grid, FOLDER/cells/NAME; "" before Create.
func (r *Run) Dir() string {
	if r.name == "" {
		return r.dir
	}
	return filepath.Join(r.dir, cellsFolder, r.name)
}

// Origin returns the text that Mark was given when the folder was created, and what it
// returned; "" if there was no Mark.
func (r *Run) Origin() (text []byte, mark string) { return []byte(r.sum), r.origin }

// Spec returns the council of the run.
func (r *Run) Spec() (plan.Spec, error) {
	spec, err := plan.ParseRecord([]byte(r.Council))
	if err != nil {
		return spec, fmt.Errorf("bench: the run's council: %w", err)
	}
	return spec.WithQueries(r.queries), nil
}

// ErrNoRun is returned for a folder that contains no run.
var ErrNoRun = errors.New("there is no run in this folder")

// Open reads the folder of a run, or FOLDER/cells/NAME: the run of a cell of a grid. It does not read the journals.
func Open(dir string) (*Run, error) {
	if above := filepath.Dir(filepath.Clean(dir)); !store.Exists(dir) && filepath.Base(above) == cellsFolder {
		return OpenCell(filepath.Dir(above), filepath.Base(dir))
	}
	return OpenCell(dir, "")
}

// OpenCell reads the run of a cell in the folder of a grid; with the name "" that of a folder with a single run.
func OpenCell(folder, name string) (*Run, error) {
	s, err := openStore(folder)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	cells, err := s.Cells()
	if err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	grid, err := s.Meta(gridKey)
	if err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	for _, c := range cells {
		if c.Name == name && (grid == "") == (name == "") {
			return openRun(s, &c, map[string][]task.Keyed{})
		}
	}
	if name != "" {
		folder = filepath.Join(folder, cellsFolder, name)
	}
	return nil, fmt.Errorf("bench: %s: %w", folder, ErrNoRun)
}

// openStore opens the store of a folder for reading.
func openStore(dir string) (*store.Store, error) {
	s, err := store.Open(dir)
	if !errors.Is(err, store.ErrNone) {
		if err != nil {
			err = fmt.Errorf("bench: %w", err)
		}
		return s, err
	}
	for _, name := range []string{"run.json", "grid.json"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return nil, fmt.Errorf("bench: %s: the folder has version 3 or earlier (%s); "+
				"this program reads version %d. "+
				"Report it with the version of Synod that wrote it, or run it again in a new folder", dir, name,
				Version)
		}
	}
	return nil, fmt.Errorf("bench: %s: %w", dir, ErrNoRun)
}

// openRun reads the run of a cell. lists are the questions that were read before, by their sums.
func openRun(s *store.Store, c *store.Cell, lists map[string][]task.Keyed) (*Run, error) {
	r := &Run{dir: s.Dir(), name: c.Name, cell: c.ID, sealed: c.Manifest}
	path := filepath.Join(s.Dir(), store.File)
	var err error
	if r.sum, r.origin, err = unseal([]byte(c.Manifest), &r.RunManifest); err == nil {
		err = checkVersion([]byte(c.Manifest), Version)
	}
	if err == nil {
		err = r.check()
	}
	if err == nil && (c.N != r.N || c.Repeats != r.Repeat || c.Sum != r.RunManifest.Items) {
		err = fmt.Errorf("the table cells does not match the manifest: %w", journal.ErrChanged)
	}
	if err == nil && lists[c.Sum] == nil {
		lists[c.Sum], err = loadItems(s, c)
	}
	if err == nil && len(lists[c.Sum]) != r.N {
		err = fmt.Errorf("there are %d questions: %w", len(lists[c.Sum]), journal.ErrChanged)
	}
	if err != nil {
		return nil, fmt.Errorf("bench: %s: cell %q: %w", path, c.Name, err)
	}
	r.Items = lists[c.Sum]
	return r, nil
}

// Bounds of a run. A run of more jobs should be several runs.
const (
	MaxRepeat = 100_000
	maxJobs   = 5_000_000
)

// check rejects a run that is too large, and one that is empty.
func (m *RunManifest) check() error {
	switch {
	case m.Repeat < 1 || m.Repeat > MaxRepeat:
		return fmt.Errorf("repeat is %d; it must be between 1 and %d", m.Repeat, MaxRepeat)
	case m.N < 1 || m.N > maxJobs/m.Repeat:
		return fmt.Errorf("%d questions are asked %d times; a run may have at most %d questions times repeats", m.N,
			m.Repeat, maxJobs)
	case len(m.Seats) == 0:
		return errors.New("it lists no seats")
	}
	return nil
}

// job is one repeat of one question, the unit of work of a run.
type job struct {
	item   int
	repeat int
}

func (m *RunManifest) total() int    { return m.N * m.Repeat }
func (m *RunManifest) job(k int) job { return job{k % m.N, k / m.N} }
func (r *Run) id(j job) string       { return r.Items[j.item].Question.ID }

// key names a job within its run: ID-R.
func (r *Run) key(j job) string { return fmt.Sprintf("%s-%d", r.id(j), j.repeat) }

// at is the key of a job in the store.
func (r *Run) at(j job) store.Key { return store.Key{Cell: r.cell, Repeat: j.repeat, Question: j.item} }

// about is what the checksum of a result covers beside its row and its journal.
func (r *Run) about(j job) string { return strconv.FormatUint(r.seed(j), 36) + r.id(j) }

// seed returns the seed of a job. It depends only on the seed of the run, the id of the
// question and the repeat, so results do not depend on the order of jobs.
func (r *Run) seed(j job) uint64 {
	h := fnv.New64a()
	h.Write([]byte(r.id(j)))
	return script.Derive(script.Derive(r.Seed, h.Sum64()), uint64(j.repeat))
}
