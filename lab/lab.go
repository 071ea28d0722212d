// Package lab runs councils over tasks: it keeps a run in a folder, goes on with
// one that was cut off, and derives every number from what is on file.
//
//	run.json                    what is run: task, council, seats, seed; written last of all when a run is made
//	items.jsonl                 the questions with their keys
//	journals/ID-R.jsonl         the journal of a finished question (R: the repeat, from 0)
//	journals/ID-R.jsonl.part-K  what attempt K left when it was cut off
//	attempts.jsonl              when and why every attempt ended
//
// A journal gets its final name only when it is whole and synced, so the process
// may die at any instant: replies that came are on file, and the next attempt does
// not ask for them again. Paths in the folder are relative to it, so it can be
// moved; a report needs nothing else, and no model.
package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/council"
	"synod.dev/synod/llm"
	"synod.dev/synod/protocol"
	"synod.dev/synod/script"
	"synod.dev/synod/task"
)

// Version is the version of a run folder. Open refuses a later one.
const Version = 1

// Manifest says what a run is, in run.json.
type Manifest struct {
	Version  int            `json:"version"`
	Program  string         `json:"program"`
	Task     string         `json:"task"` // a name of the catalogue, or the name of the file of own questions
	Form     string         `json:"form"` // "": the task's own
	N        int            `json:"n"`    // questions
	Repeat   int            `json:"repeat"`
	Seed     uint64         `json:"seed"`
	Council  string         `json:"council"` // the council file, whole
	Name     string         `json:"name"`    // the council's
	Protocol string         `json:"protocol"`
	Exact    string         `json:"exact"`
	Rule     council.Rule   `json:"rule"`
	Seats    []council.Seat `json:"seats"`
	Planned  int            `json:"planned"` // calls of one question at most, retries aside
	Items    string         `json:"items"`   // SHA-256 of items.jsonl
	Created  time.Time      `json:"created,omitzero"`

	// Prompts are digests of the pages that say prompts in words, by name; nil in
	// runs of old.
	Prompts map[string]string `json:"prompts,omitempty"`
}

// Run is a run folder.
type Run struct {
	Manifest
	Items    []task.Record
	Prices   llm.Prices // what a report and an estimate reckon with; nil: Published
	dir      string
	conclude func(*synod.Question, uint64, []synod.Opinion) council.Conclusion // nil: the rule counts seats
	ending   protocol.Ending                                                   // nil: runs of the protocol end in no named ways
}

// Dir is the folder.
func (r *Run) Dir() string { return r.dir }

// Spec is the council.
func (r *Run) Spec() (council.Spec, error) {
	spec, err := council.Parse([]byte(r.Council))
	if err != nil {
		return spec, fmt.Errorf("lab: the run's council: %w", err)
	}
	return spec, nil
}

// seated is how many seats the council has; 0 where it is one that this program
// cannot read, which does not keep it from reporting.
func (r *Run) seated() (n int) {
	spec, err := r.Spec()
	if err != nil {
		return 0
	}
	for _, s := range spec.Seats {
		n += max(s.Count, 1)
	}
	return n
}

// ErrNoRun says that a folder holds no run.
var ErrNoRun = errors.New("there is no run in this folder")

// Open reads a run folder.
func Open(dir string) (*Run, error) {
	b, err := os.ReadFile(filepath.Join(dir, "run.json"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("lab: %s: %w", dir, ErrNoRun)
	}
	if err != nil {
		return nil, fmt.Errorf("lab: %w", err)
	}
	r := &Run{dir: dir}
	if err := json.Unmarshal(b, &r.Manifest); err != nil {
		return nil, fmt.Errorf("lab: %s: %w", filepath.Join(dir, "run.json"), err)
	}
	if r.Version < 1 || r.Version > Version {
		return nil, fmt.Errorf("lab: %s: version %d; this program reads up to %d", dir, r.Version, Version)
	}
	if r.Items, err = loadItems(filepath.Join(dir, "items.jsonl"), r.Manifest.Items); err != nil {
		return nil, err
	}
	if len(r.Items) != r.N || r.Repeat < 1 || len(r.Seats) == 0 {
		return nil, fmt.Errorf("lab: %s: run.json does not fit its items", dir)
	}
	if n := r.seated(); n > 0 && n != len(r.Seats) {
		return nil, fmt.Errorf("lab: %s: run.json lists %d seats and its council has %d: the file was changed", dir, len(r.Seats), n)
	}
	return r, nil
}

// job is one question of the run, one of its repeats.
type job struct {
	item   int
	repeat int
}

func (r *Run) total() int      { return r.N * r.Repeat }
func (r *Run) job(k int) job   { return job{k % r.N, k / r.N} }
func (r *Run) id(j job) string { return r.Items[j.item].Question.ID }
func (r *Run) journal(j job) string {
	return filepath.Join(r.dir, "journals", fmt.Sprintf("%s-%d.jsonl", fileName(r.id(j)), j.repeat))
}

// seed is the seed of one question: of the run's seed, the question's id and the
// repeat, and of nothing else, so that order and neighbours do not matter.
func (r *Run) seed(j job) uint64 {
	h := fnv.New64a()
	h.Write([]byte(r.id(j)))
	return script.Derive(script.Derive(r.Seed, h.Sum64()), uint64(j.repeat))
}

// fileName is an id as every file system takes it, and as no other file of the
// folder is called. Ids that have to be changed for that are told apart by a hash.
func fileName(id string) string {
	safe := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.' {
			return r
		}
		return '_'
	}, id)
	if safe == id && len(id) <= 80 && id[0] != '.' && !strings.Contains(id, ".jsonl") {
		return id
	}
	h := fnv.New64a()
	h.Write([]byte(id))
	return fmt.Sprintf("%.60s.%016x", strings.ReplaceAll(safe, ".", "_"), h.Sum64())
}

// Lock keeps a second process out of a folder until it is closed or this process
// ends, where the system can do that.
func Lock(dir string) (io.Closer, error) {
	f, err := lock(dir)
	if f == nil || err != nil {
		return io.NopCloser(nil), err
	}
	return f, nil
}
