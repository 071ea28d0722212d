package bench

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"synod.dev/synod/bench/store"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/council"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/llm"
)

// RunPlan describes a run to create.
type RunPlan struct {
	Program string
	Task    string
	Form    string
	Items   []task.Item
	Repeat  int
	Seed    uint64
	Spec    plan.Spec
	Env     llm.Env
	Mark    func([]byte) string // of the run; see Run
}

// Draft prepares a run without writing anything. It opens the models but asks none.
func Draft(p RunPlan) (*Run, error) {
	r := &Run{queries: p.Spec.Queries(), Prices: p.Env.Prices, Mark: p.Mark}
	for _, it := range p.Items {
		r.Items = append(r.Items, it.Record())
	}
	if err := checkItems(r.Items); err != nil {
		return nil, err
	}
	if err := checkHistory(&p.Spec, r.Items); err != nil {
		return nil, err
	}
	c, err := council.Convene(p.Spec, p.Env)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	for _, it := range r.Items {
		if err := c.Plan().Accepts(&it.Question); err != nil {
			return nil, fmt.Errorf("bench: question %q: %w", it.Question.ID, err)
		}
	}
	spec := c.Plan().Spec()
	text, err := yaml.Marshal(spec)
	if err != nil {
		return nil, fmt.Errorf("bench: encode the council: %w", err)
	}
	items, err := encodeItems(r.Items)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(items)
	protocol, _ := spec.Protocol["name"].(string)
	r.RunManifest = RunManifest{
		Version: Version, Program: p.Program, Task: p.Task, Form: p.Form, N: len(p.Items), Repeat: p.Repeat,
		Seed:    p.Seed,
		Council: string(text), Name: spec.Council, Protocol: protocol, Exact: spec.Exact, Rule: spec.Rule,
		Seats: c.Seats(), Planned: c.Plan().Calls(), Prompts: c.Plan().TemplateDigests(),
		Items: hex.EncodeToString(sum[:]),
	}
	if p.Spec.Trust.Learn {
		if r.Learn, err = filepath.Abs(p.Spec.Trust.File); err != nil {
			return nil, fmt.Errorf("bench: %w", err)
		}
	}
	if err := r.check(); err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	return r, nil
}

// OccupiedError is returned by Create if the folder is not empty.
type OccupiedError struct {
	Dir     string
	Run     bool     // the folder contains a run or a grid of runs
	Changes []string // differences to the new run
}

func (e *OccupiedError) Error() string {
	if !e.Run {
		return fmt.Sprintf("%s is not empty and contains no run", e.Dir)
	}
	return fmt.Sprintf("%s already contains a run%s", e.Dir, listed(e.Changes))
}

// Create writes the folder of the run, which must be new or empty. If two processes
// create a run in the same folder, one of them fails.
func (r *Run) Create(dir string) error {
	if err := vacant(dir, r); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	held, err := lock(dir)
	if err != nil {
		return err
	}
	defer held.Close()
	if err := vacant(dir, r); err != nil { // another process may have been faster
		return err
	}
	c, err := r.draftCell("")
	if err != nil {
		return err
	}
	if err := store.Create(dir, nil, []*store.Cell{c}); err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	r.dir, r.cell, r.sealed = dir, c.ID, c.Manifest
	return durable.SyncDir(filepath.Dir(dir))
}

// draftCell returns the run as a cell that is to be created now.
func (r *Run) draftCell(name string) (*store.Cell, error) {
	r.Created = time.Now().UTC().Truncate(time.Millisecond)
	manifest, err := seal(r.RunManifest, r.Mark)
	if err != nil {
		return nil, err
	}
	hash, err := r.Hash()
	if err != nil {
		return nil, err
	}
	c := &store.Cell{Name: name, Hash: hash, N: r.N, Repeats: r.Repeat, Manifest: string(manifest),
		Sum: r.RunManifest.Items}
	for _, it := range r.Items {
		record, err := encodeItems([]task.Keyed{it})
		if err != nil {
			return nil, err
		}
		c.Questions = append(c.Questions, store.Question{ID: it.Question.ID, Record: string(bytes.TrimSpace(record))})
	}
	return c, nil
}

// vacant fails unless the folder of a new run is empty or has only files of an interrupted Create.
func vacant(dir string, r *Run) error {
	if old, err := Open(dir); err == nil {
		return &OccupiedError{Dir: dir, Run: true, Changes: old.Changes(&r.RunManifest)}
	} else if !errors.Is(err, ErrNoRun) {
		return err
	}
	switch left, err := leftover(dir); {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("bench: %w", err)
	case !left:
		return &OccupiedError{Dir: dir}
	}
	return nil
}

// leftover reports whether a folder is empty or has only files that an interrupted Create leaves.
func leftover(dir string) (bool, error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		switch e.Name() {
		case store.File, store.File + "-wal", store.File + "-shm", store.File + "-journal", "lock":
		default:
			return false, err
		}
	}
	return err == nil, err
}

// Begun reports whether a folder without a run is what a process leaves that was killed while it created one: Create
// can use the folder. Nothing was asked, and nothing is lost.
func Begun(dir string) bool {
	left, err := leftover(dir)
	return err == nil && left
}

// Changes describes the differences of other, the new run, to r, the existing one.
func (m *RunManifest) Changes(other *RunManifest) []string {
	var out []string
	differ := func(what string, here, there any) {
		if here != there {
			out = append(out, fmt.Sprintf("%s: %v there, %v now", what, here, there))
		}
	}
	differ("task", m.Task, other.Task)
	differ("form", orNone(m.Form), orNone(other.Form))
	differ("questions", m.N, other.N)
	differ("repeat", m.Repeat, other.Repeat)
	differ("seed", m.Seed, other.Seed)
	out = append(out, lines(m.Council, other.Council)...)
	if m.Council == other.Council {
		for i, s := range m.Seats {
			if i < len(other.Seats) {
				differ("model "+s.Model, s.Identity, other.Seats[i].Identity)
			}
		}
	}
	if m.Protocol == other.Protocol {
		out = append(out, plan.TemplateChanges(m.Prompts, other.Prompts)...)
	}
	if len(out) == 0 && m.Items != other.Items {
		out = append(out, "the questions")
	}
	return unique(out)
}

// ChangedCouncil describes the differences of a council to the council of the run.
func (r *Run) ChangedCouncil(spec plan.Spec, env llm.Env) ([]string, error) {
	c, err := council.Convene(spec, env)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	text, err := yaml.Marshal(c.Plan().Spec())
	if err != nil {
		return nil, fmt.Errorf("bench: encode the council: %w", err)
	}
	r.queries = spec.Queries()
	other := r.RunManifest
	other.Council, other.Seats, other.Prompts = string(text), c.Seats(), c.Plan().TemplateDigests()
	return r.Changes(&other), nil
}

func orNone(s string) string {
	if s == "" {
		return "(the form of the task)"
	}
	return s
}

// lines returns the differing lines of two texts, by their longest common subsequence.
func lines(a, b string) (out []string) {
	x, y := strings.Split(strings.TrimSpace(a), "\n"), strings.Split(strings.TrimSpace(b), "\n")
	if len(x)*len(y) > 1<<22 {
		if a != b {
			out = []string{"the council"}
		}
		return out
	}
	same := make([][]int, len(x)+1) // length of the longest common subsequence of x[i:] and y[j:]
	for i := range same {
		same[i] = make([]int, len(y)+1)
	}
	for i := len(x) - 1; i >= 0; i-- {
		for j := len(y) - 1; j >= 0; j-- {
			if same[i][j] = max(same[i+1][j], same[i][j+1]); x[i] == y[j] {
				same[i][j] = same[i+1][j+1] + 1
			}
		}
	}
	i, j := 0, 0
	for i < len(x) || j < len(y) {
		switch {
		case i < len(x) && j < len(y) && x[i] == y[j]:
			i, j = i+1, j+1
		case i < len(x) && (j == len(y) || same[i+1][j] >= same[i][j+1]):
			out = append(out, "council, there: "+strings.TrimSpace(x[i]))
			i++
		default:
			out = append(out, "council, now:   "+strings.TrimSpace(y[j]))
			j++
		}
	}
	return out
}

// unique removes duplicates and keeps the order.
func unique(in []string) (out []string) {
	seen := map[string]bool{}
	for _, s := range in {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

// listed formats changes, one on each line.
func listed(changes []string) string {
	if len(changes) == 0 {
		return ""
	}
	return " with other settings:\n  " + strings.Join(changes, "\n  ")
}

// ChangedError is returned if a run cannot be resumed because its configuration has
// changed.
type ChangedError struct{ Changes []string }

func (e *ChangedError) Error() string {
	return "the run was created with another configuration:\n  " + strings.Join(e.Changes, "\n  ")
}
