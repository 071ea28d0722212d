// Package lab runs councils over tasks. It keeps each run in a folder, resumes
// interrupted runs, and computes every figure from the files of the folder.
//
//	run.json        task, council, seats and seed; written last when a run is created
//	items.jsonl     the questions with their keys
//	journals.jsonl  the journals of all questions: a segment of package journal, with
//	                the ids ID-R (R: the repeat, from 0)
//	journals.index  what reports need of these journals, if no member costs anything
//	attempts.jsonl  when and why every attempt ended
//
// Every file has checksums, and a folder with a changed byte is refused, except that an
// index that was changed or is missing is not used. A paid reply is in
// the file before it is used, and a question counts as finished when its journal is
// complete and kept, so the process may die at any time; the next attempt does not ask for
// received replies again. Paths are relative to the folder, so it can be moved. A report
// needs only the folder and no model.
package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"time"

	"synod.dev/synod/council"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/internal/filelock"
	"synod.dev/synod/llm"
	"synod.dev/synod/script"
	"synod.dev/synod/task"
)

// Version is the version of a run folder. Open fails for any other one.
const Version = 3

// Manifest describes a run. It is stored in run.json.
type Manifest struct {
	Version  int            `json:"version"`
	Program  string         `json:"program"`
	Task     string         `json:"task"` // name of a task of the catalogue, or of a question file
	Form     string         `json:"form"` // "": the form of the task
	N        int            `json:"n"`    // number of questions
	Repeat   int            `json:"repeat"`
	Seed     uint64         `json:"seed"`
	Council  string         `json:"council"` // the complete council file
	Name     string         `json:"name"`    // name of the council
	Protocol string         `json:"protocol"`
	Exact    string         `json:"exact"`
	Rule     council.Rule   `json:"rule"`
	Seats    []council.Seat `json:"seats"`
	Planned  int            `json:"planned"` // maximum number of calls for one question, without retries
	Items    string         `json:"items"`   // SHA-256 of items.jsonl
	Created  time.Time      `json:"created,omitzero"`

	// Learn is the trust file that learns from the run when it is over, council.OwnTrust for the user's; "": none does.
	Learn string `json:"learn,omitempty"`

	// Prompts has the digests of the prompt templates by name; nil in old runs.
	Prompts map[string]string `json:"prompts,omitempty"`
}

// Run is a run and its folder.
type Run struct {
	Manifest
	Items  []task.Record
	Prices llm.Prices // prices for reports and estimates; nil: llm.Published()

	// Mark marks a text as written by the user, so that Origin is set in the folder that
	// Create writes; nil: it is not.
	Mark func([]byte) string

	dir         string
	sum, origin string // of run.json; "" before Create
	// queries are those of the models' URLs, which are not recorded, by the environment
	// variables that the recorded council names in their place.
	queries map[string]string
}

// Dir returns the folder of the run; "" before Create.
func (r *Run) Dir() string { return r.dir }

// Origin returns the text that Mark was given when the folder was created, and what it
// returned; "" if there was no Mark.
func (r *Run) Origin() (text []byte, mark string) { return []byte(r.sum), r.origin }

// Spec returns the council of the run.
func (r *Run) Spec() (council.Spec, error) {
	spec, err := council.ParseRecord([]byte(r.Council))
	if err != nil {
		return spec, fmt.Errorf("lab: the run's council: %w", err)
	}
	return spec.WithQueries(r.queries), nil
}

// ErrNoRun is returned for a folder that contains no run.
var ErrNoRun = errors.New("there is no run in this folder")

// Open reads the folder of a run. It does not read the journals.
func Open(dir string) (*Run, error) {
	path := filepath.Join(dir, "run.json")
	b, err := durable.ReadFile(path, maxManifest)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("lab: %s: %w", dir, ErrNoRun)
	}
	if err != nil {
		return nil, fmt.Errorf("lab: %w", err)
	}
	if err := checkVersion(b, Version); err != nil {
		return nil, fmt.Errorf("lab: %s: %w", dir, err)
	}
	r := &Run{dir: dir}
	if r.sum, r.origin, err = unseal(b, &r.Manifest); err != nil {
		return nil, fmt.Errorf("lab: %s: %w", path, err)
	}
	if err := r.check(); err != nil {
		return nil, fmt.Errorf("lab: %s: %w", path, err)
	}
	if r.Items, err = loadItems(filepath.Join(dir, "items.jsonl"), r.Manifest.Items); err != nil {
		return nil, err
	}
	if len(r.Items) != r.N {
		return nil, fmt.Errorf("lab: %s: run.json does not match items.jsonl", dir)
	}
	return r, nil
}

// checkVersion returns an error for a manifest of another version.
func checkVersion(b []byte, want int) error {
	var m struct{ Version int }
	if err := json.Unmarshal(b, &m); err != nil {
		return err
	}
	if m.Version != want {
		return fmt.Errorf("the folder has version %d; this program reads version %d", m.Version, want)
	}
	return nil
}

// Bounds of a run. A run of more jobs should be several runs.
const (
	MaxRepeat   = 100_000
	maxJobs     = 5_000_000
	maxManifest = 16 << 20 // bytes
)

// check rejects a run that is too large, and one that is empty.
func (m *Manifest) check() error {
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

func (r *Run) total() int      { return r.N * r.Repeat }
func (r *Run) job(k int) job   { return job{k % r.N, k / r.N} }
func (r *Run) id(j job) string { return r.Items[j.item].Question.ID }

// journals is the path of the segment with all journals.
func (r *Run) journals() string { return filepath.Join(r.dir, "journals.jsonl") }

// key is the id of a job in the segment and in attempts.jsonl.
func (r *Run) key(j job) string { return key(r.id(j), j.repeat) }

func key(question string, repeat int) string { return fmt.Sprintf("%s-%d", question, repeat) }

// seed returns the seed of a job. It depends only on the seed of the run, the id of the
// question and the repeat, so results do not depend on the order of jobs.
func (r *Run) seed(j job) uint64 {
	h := fnv.New64a()
	h.Write([]byte(r.id(j)))
	return script.Derive(script.Derive(r.Seed, h.Sum64()), uint64(j.repeat))
}

// lock locks the folder of a run against other processes until the result is closed.
func lock(dir string) (io.Closer, error) {
	f, err := filelock.Lock(filepath.Join(dir, "lock"))
	if errors.Is(err, filelock.ErrHeld) {
		return nil, fmt.Errorf("lab: %s: another process is working on this run", dir)
	}
	if err != nil {
		return nil, fmt.Errorf("lab: %w", err)
	}
	return f, nil
}
