package campaign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"synod.dev/synod/internal/durable"
)

// SavedCampaign is a campaign as its folder holds it.
type SavedCampaign struct {
	Version  int              `json:"version"`
	Options  Options          `json:"options"`
	Parts    []string         `json:"parts,omitempty"`   // the protocols among which executions are distributed
	Planned  uint64           `json:"planned,omitempty"` // executions; 0: as many as the time allows
	Spent    time.Duration    `json:"spent"`             // computing, over all sessions, by the clock
	Finished bool             `json:"finished"`
	Prefix   int              `json:"prefix"`         // all chunks with a smaller number are done
	Done     []int            `json:"done,omitempty"` // further chunks that are done
	Tally    *Tally           `json:"tally"`
	Failures []FoundViolation `json:"failures,omitempty"` // one for each claim and subject
}

// FoundViolation is a violation with its shrunk execution.
type FoundViolation struct {
	Violation
	Protocol  string    `json:"protocol"`
	Number    uint64    `json:"number"` // of the execution in the campaign, before it was shrunk
	File      string    `json:"file,omitempty"`
	Execution Execution `json:"execution"`
}

const stateVersion = 1

// stateFile is the file of a campaign's folder with its SavedCampaign.
const stateFile = "campaign.json"

// maxState is the length of the longest such file that is read, in bytes.
const maxState = 64 << 20

// Open reads the state of a campaign's folder.
func Open(dir string) (*SavedCampaign, error) {
	b, err := durable.ReadFile(filepath.Join(dir, stateFile), maxState)
	if err != nil {
		return nil, err
	}
	s := new(SavedCampaign)
	if err := json.Unmarshal(b, s); err != nil {
		return nil, fmt.Errorf("campaign: %s is no state of a campaign: %w", filepath.Join(dir, stateFile), err)
	}
	if s.Version != stateVersion || s.Tally == nil {
		return nil, fmt.Errorf("campaign: %s has version %d; this program reads version %d", filepath.Join(dir,
			stateFile), s.Version, stateVersion)
	}
	for _, sum := range s.Tally.Subjects {
		if sum == nil {
			return nil, fmt.Errorf("campaign: %s has a protocol without numbers", filepath.Join(dir, stateFile))
		}
	}
	return s, nil
}

// Setup is how a campaign is run. It changes no result.
type Setup struct {
	Dir     string // where the state is kept; "": nowhere, and the campaign cannot be resumed
	Workers int    // 0: one for each processor
	// Progress is called about twice a second and at the end, by one goroutine at a time; may be nil.
	Progress func(*SavedCampaign)
}

// Run plays a campaign, or goes on with the one in the folder. It returns when all executions have been played, when
// the time is over, or when ctx is done; then it has saved the state, and the same call goes on. Violations are no
// errors: SavedCampaign has them.
func Run(ctx context.Context, o Options, set Setup) (*SavedCampaign, error) {
	plan, err := newPlanner(&o)
	if err != nil {
		return nil, err
	}
	s := &SavedCampaign{Version: stateVersion, Options: o, Parts: plan.names(), Planned: plan.total(),
		Tally: NewTally()}
	if set.Dir != "" {
		if s, err = begin(set.Dir, s); err != nil {
			return nil, err
		}
	}
	if plan.endless && o.Time == 0 {
		return nil, errors.New("campaign: say how much to try: a tier, a number of executions, or a time")
	}
	if o.Time > 0 {
		left := o.Time - s.Spent
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, max(left, 0))
		defer cancel()
	}
	// Executions keep little memory and make much garbage: by default a fifth of the time goes into collecting it.
	defer debug.SetGCPercent(debug.SetGCPercent(800))
	r := &runner{SavedCampaign: s, plan: plan, set: set, began: time.Now(), before: s.Spent}
	r.work(ctx)
	return s, r.save()
}

// begin makes the folder of a campaign, or returns what it has done so far.
func begin(dir string, fresh *SavedCampaign) (*SavedCampaign, error) {
	old, err := Open(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fresh, os.MkdirAll(filepath.Join(dir, "failures"), 0o700)
	case err != nil:
		return nil, err
	}
	a, _ := json.Marshal(old.Options)
	b, _ := json.Marshal(fresh.Options)
	if string(a) != string(b) {
		return nil, fmt.Errorf("campaign: %s has a campaign with other options, %s; name another folder, or repeat "+
			"its options", dir, a)
	}
	if !slices.Equal(old.Parts, fresh.Parts) {
		return nil, fmt.Errorf("campaign: %s has a campaign that another version of this program began, with the "+
			"protocols %v; go on with that version, or name another folder", dir, old.Parts)
	}
	return old, nil
}

// runner plays the chunks of a plan.
type runner struct {
	*SavedCampaign
	mu     sync.Mutex // guards the plan and the state
	plan   *planner
	set    Setup
	began  time.Time
	before time.Duration // spent by earlier sessions
	shown  time.Time
	saved  time.Time
	err    error
}

func (r *runner) work(ctx context.Context) {
	workers := r.set.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var wait sync.WaitGroup
	for range workers {
		wait.Go(func() {
			p := NewPlayer()
			for ctx.Err() == nil {
				c, ok := r.take()
				if !ok {
					return
				}
				if t, failures, done := r.play(ctx, p, c); done {
					r.finish(c, t, failures)
				}
			}
		})
	}
	wait.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Finished = r.Planned > 0 && r.Tally.Executions >= r.Planned || r.Planned == 0 && r.spent() >= r.Options.Time
	if r.set.Progress != nil {
		r.set.Progress(r.SavedCampaign)
	}
}

// take returns the next chunk that is not done.
func (r *runner) take() (chunk, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		c, ok := r.plan.next()
		if !ok || r.err != nil {
			return c, false
		}
		if _, done := slices.BinarySearch(r.Done, c.number); c.number >= r.Prefix && !done {
			return c, true
		}
	}
}

// play plays a chunk. done is false if ctx was done before its end: its executions are then played again.
func (r *runner) play(ctx context.Context, p *ExecutionPlayer, c chunk) (
	t *Tally, failures []FoundViolation, done bool,
) {
	t = NewTally()
	draws := NewDraws(c.of.Name, r.Options.Seed, c.from)
	for i := range c.n {
		if ctx.Err() != nil {
			return nil, nil, false
		}
		number := c.from + i
		x := draws.Next()
		result := p.Play(&x)
		draws.Learn(&x, result)
		t.Add(&x, result)
		for _, v := range slices.Clone(result.Violations) {
			if !slices.ContainsFunc(failures, func(f FoundViolation) bool { return f.Claim == v.Claim }) {
				failures = append(failures, FoundViolation{Violation: v, Protocol: c.of.Name, Number: number,
					Execution: x})
			}
		}
	}
	return t, failures, true
}

// finish adds a chunk to the state. The first failure of a claim and subject is shrunk and kept.
func (r *runner) finish(c chunk, t *Tally, failures []FoundViolation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Tally.Merge(t)
	at, _ := slices.BinarySearch(r.Done, c.number)
	r.Done = slices.Insert(r.Done, at, c.number)
	for len(r.Done) > 0 && r.Done[0] == r.Prefix {
		r.Done, r.Prefix = r.Done[1:], r.Prefix+1
	}
	for _, f := range failures {
		known := slices.ContainsFunc(r.Failures, func(o FoundViolation) bool {
			return o.Claim == f.Claim && o.Protocol == f.Protocol
		})
		if !known {
			r.keep(f)
		}
	}
	r.Spent = r.spent()
	if r.set.Progress != nil && time.Since(r.shown) > 500*time.Millisecond {
		r.shown = time.Now()
		r.set.Progress(r.SavedCampaign)
	}
	if r.set.Dir != "" && time.Since(r.saved) > 5*time.Second {
		r.saved = time.Now()
		r.err = r.store()
	}
}

func (r *runner) spent() time.Duration { return r.before + time.Since(r.began) }

// keep shrinks a failure and saves it.
func (r *runner) keep(f FoundViolation) {
	p := NewPlayer()
	f.Execution = p.Shrink(f.Execution, f.Claim)
	if detail := p.violates(&f.Execution, f.Claim); detail != "" {
		f.Detail = detail
	}
	if r.set.Dir != "" {
		f.File = filepath.Join(r.set.Dir, "failures", fmt.Sprintf("%s-%s.json", f.Protocol, f.Claim))
		if err := Save(f.File, f.Claim, f.Detail, f.Execution); err != nil {
			r.err = err
		}
	}
	r.Failures = append(r.Failures, f)
}

func (r *runner) save() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Spent = r.spent()
	if r.err == nil && r.set.Dir != "" {
		r.err = r.store()
	}
	return r.err
}

// store writes the state to the folder.
func (r *runner) store() error {
	b, err := json.Marshal(r.SavedCampaign)
	if err != nil {
		return fmt.Errorf("campaign: %w", err)
	}
	return durable.WriteFile(filepath.Join(r.set.Dir, stateFile), append(b, '\n'))
}
