package campaign

import (
	"context"
	"errors"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"synod.dev/synod/internal/durable"
)

// Setup is how a campaign is run. It changes no result.
type Setup struct {
	Dir     string // where the record is kept; "": nowhere, and the campaign cannot be resumed
	Version string // of this program, for the record
	Workers int    // 0: one for each processor
	// Progress is called about twice a second and at the end, by one goroutine at a time; may be nil.
	Progress func(*SavedCampaign)

	disk  durable.Disk // nil: that of the operating system
	every time.Duration
}

// saveEvery is the time after which the record is saved again.
const saveEvery = 5 * time.Second

// Run plays a campaign, or goes on with the one in the folder, which no other program may have begun. It returns when
// all executions have been played, when the time is over, or when ctx is done; then it has saved the record, and the
// same call goes on. Violations are no errors: SavedCampaign has them.
func Run(ctx context.Context, o Options, set Setup) (*SavedCampaign, error) {
	plan, err := newPlanner(&o)
	if err != nil {
		return nil, err
	}
	if plan.endless && o.Time == 0 {
		return nil, errors.New("campaign: say how much to try: a tier, a number of executions, or a time")
	}
	r := &runner{SavedCampaign: newSaved(o, plan), plan: plan, set: set, began: time.Now(), early: map[int]*played{}}
	if set.Dir != "" {
		if r.folder, err = openFolder(&set, r.SavedCampaign); err != nil {
			return nil, err
		}
		r.SavedCampaign = r.folder.campaign
	}
	r.before = r.Spent
	if !r.Finished {
		r.work(ctx)
	}
	return r.SavedCampaign, r.end()
}

// runner plays the batches of a plan.
type runner struct {
	*SavedCampaign
	mu     sync.Mutex // guards the plan and the record
	plan   *planner
	set    Setup
	folder *folder // nil: the campaign is not kept
	early  map[int]*played
	began  time.Time
	before time.Duration // spent by earlier sessions
	shown  time.Time
	err    error
}

// played is a batch that was played.
type played struct {
	batch    Batch
	tally    *Tally
	failures []FoundViolation // the first of each claim
}

func (r *runner) work(ctx context.Context) {
	if r.Options.Time > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, max(r.Options.Time-r.Spent, 0))
		defer cancel()
	}
	// Executions keep little memory and make much garbage: by default a fifth of the time goes into collecting it.
	defer debug.SetGCPercent(debug.SetGCPercent(800))
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
				if b := p.batch(ctx, c, r.Options.Seed); b != nil {
					r.finish(b)
				}
			}
		})
	}
	wait.Wait()
}

// end saves the record and gives the folder back.
func (r *runner) end() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.Finished {
		r.Spent = r.spent()
		r.Finished = r.Planned > 0 && r.Tally.Executions >= r.Planned || r.Planned == 0 && r.Spent >= r.Options.Time
		r.save()
	}
	if r.folder != nil {
		r.err = errors.Join(r.err, r.folder.Close())
	}
	if r.set.Progress != nil {
		r.set.Progress(r.SavedCampaign)
	}
	return r.err
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
		if c.number >= r.Batches {
			return c, true
		}
	}
}

// batch plays a chunk. It returns nil if ctx was done before its end: its executions are then played again.
func (p *ExecutionPlayer) batch(ctx context.Context, c chunk, seed uint64) *played {
	b := &played{batch: Batch{Number: c.number, Protocol: c.of.Name, From: c.from, Executions: c.n}, tally: NewTally()}
	var all results
	draws := NewDraws(c.of.Name, seed, c.from)
	for i := range c.n {
		if ctx.Err() != nil {
			return nil
		}
		number := c.from + i
		x := draws.Next()
		result := p.Play(&x)
		draws.Learn(&x, result)
		b.tally.Add(&x, result)
		all.add(number, result)
		for _, v := range slices.Clone(result.Violations) {
			if !slices.ContainsFunc(b.failures, func(f FoundViolation) bool { return f.Claim == v.Claim }) {
				b.failures = append(b.failures, FoundViolation{Violation: v, Protocol: c.of.Name, Number: number,
					Execution: x})
			}
		}
	}
	b.batch.Violations, b.batch.Results = b.tally.Violations(), all.sum(b.tally)
	return b
}

// finish adds a batch to the record, and those that were waiting for it: batches are recorded in the order of the plan,
// so that the same campaign leaves the same record.
func (r *runner) finish(b *played) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.early[b.batch.Number] = b; r.early[r.Batches] == nil {
		return
	}
	for next := r.early[r.Batches]; next != nil && r.err == nil; next = r.early[r.Batches] {
		delete(r.early, r.Batches)
		r.record(next)
	}
	r.Spent = r.spent()
	if r.folder != nil && r.folder.due() {
		r.save()
	}
	if r.set.Progress != nil && time.Since(r.shown) > 500*time.Millisecond {
		r.shown = time.Now()
		r.set.Progress(r.SavedCampaign)
	}
}

// record adds the next batch. The first failure of a claim and subject is shrunk and kept.
func (r *runner) record(b *played) {
	for _, f := range b.failures {
		known := slices.ContainsFunc(r.Failures, func(o FoundViolation) bool {
			return o.Claim == f.Claim && o.Protocol == f.Protocol
		})
		if !known {
			r.keep(f)
		}
	}
	r.Tally.Merge(b.tally)
	r.Batches++
	if r.folder != nil {
		r.folder.add(&b.batch)
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
	if r.folder != nil {
		f.File = f.path(r.set.Dir)
		r.err = errors.Join(r.err, saveOn(r.folder.disk, f.File, f.Claim, f.Detail, f.Execution))
	}
	r.Failures = append(r.Failures, f)
}

// save saves the record, unless that has failed before.
func (r *runner) save() {
	if r.err == nil && r.folder != nil {
		r.err = r.folder.save()
	}
}
