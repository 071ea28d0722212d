package campaign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"synod.dev/synod/internal/durable"
)

// Audit is what the verification of a campaign's folder came to.
type Audit struct {
	*SavedCampaign `json:"-"`

	Same     bool     // this program is the one that played the campaign
	Replayed int      // batches that were played again
	Drawn    int      // of them, by chance from all alike
	Executed uint64   // executions in them
	Wrong    []string // what is not as it was recorded; nil: nothing
	Counted  bool     // every batch was played again, and all numbers of the report were counted again
}

// AuditOptions determine how much of a campaign is played again.
type AuditOptions struct {
	Share    float64             // of the batches, in (0,1]; in any case one of each protocol, and all with a violation
	Seed     uint64              // with which they are drawn
	Progress func(done, all int) // is told after each batch, by one goroutine at a time; may be nil
}

// VerifyFolder checks the checksums, the chain, the plan and the saved violations of a campaign's folder, and plays
// batches again. What comes out otherwise than it was recorded is no error: Audit has it. A folder that Open refuses is
// one, and so is one whose plan this program would not make.
func VerifyFolder(ctx context.Context, dir string, o AuditOptions) (*Audit, error) {
	s, err := openOn(durable.System, dir)
	if err != nil {
		return nil, err
	}
	sum, err := thisProgram()
	if err != nil {
		return nil, err
	}
	v := &auditor{Audit: Audit{SavedCampaign: s, Same: sum == s.Program.SHA256}, options: o, tally: NewTally()}
	if err := v.compare(dir); err != nil {
		return nil, err
	}
	v.choose()
	v.checkFailures()
	v.replay(ctx)
	if ctx.Err() == nil && v.Replayed == len(v.all) {
		v.count()
	}
	return &v.Audit, ctx.Err()
}

// auditor plays batches of a record again.
type auditor struct {
	Audit
	options AuditOptions
	all     []Batch
	chunks  []chunk // of all batches
	todo    []int   // numbers of batches

	mu    sync.Mutex // guards Audit and what follows
	tally *Tally
}

// compare reads all batches, and compares them with the plan that this program makes.
func (v *auditor) compare(dir string) error {
	plan, err := newPlanner(&v.Options)
	if err == nil && digest(v.Options, plan.parts()) != v.Plan {
		err = errors.New("its plan is another one")
	}
	if err != nil {
		return fmt.Errorf("campaign: this program cannot play the batches of %s again: %w; the program that played "+
			"them can: %v", dir, err, v.Program)
	}
	return v.read(durable.System, dir, func(b Batch) error {
		c, ok := plan.next()
		if !ok || c.number != b.Number || c.of.Name != b.Protocol || c.from != b.From || c.n != b.Executions {
			return fmt.Errorf("campaign: batch %d: %w: the plan has another one there", b.Number, ErrChanged)
		}
		v.all, v.chunks = append(v.all, b), append(v.chunks, c)
		return nil
	})
}

// choose draws the batches that are played again.
func (v *auditor) choose() {
	chance := rand.New(rand.NewPCG(v.options.Seed, 0))
	of := map[string][]int{}
	for i, b := range v.all {
		of[b.Protocol] = append(of[b.Protocol], i)
		drawn := chance.Float64() < v.options.Share
		if drawn {
			v.Drawn++
		}
		if drawn || b.Violations > 0 {
			v.todo = append(v.todo, i)
		}
	}
	for _, part := range v.Parts {
		if n := len(of[part.Name]); n > 0 {
			v.todo = append(v.todo, of[part.Name][chance.IntN(n)])
		}
	}
	slices.Sort(v.todo)
	v.todo = slices.Compact(v.todo)
}

// checkFailures plays the saved violations again, and compares their files.
func (v *auditor) checkFailures() {
	p := NewPlayer()
	for _, f := range v.Failures {
		saved, err := Load(f.File)
		switch {
		case err != nil:
			v.wrong("%s: %v", f.File, err)
		case digest(saved.Claim, saved.Detail, saved.Execution) != digest(f.Claim, f.Detail, f.Execution):
			v.wrong("%s: it is not the execution of the record", f.File)
		case p.violates(&saved.Execution, f.Claim) != f.Detail:
			v.wrong("%s: claim %s is violated otherwise, or not", f.File, f.Claim)
		}
	}
}

func (v *auditor) wrong(format string, args ...any) {
	v.Wrong = append(v.Wrong, fmt.Sprintf(format, args...))
}

// replay plays the batches that were drawn on all processors, until ctx is done.
func (v *auditor) replay(ctx context.Context) {
	next := make(chan int)
	var wait sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			p := NewPlayer()
			for i := range next {
				if b := p.batch(ctx, v.chunks[i], v.Options.Seed); b != nil {
					v.replayed(i, b)
				}
			}
		})
	}
	for _, i := range v.todo {
		if ctx.Err() == nil {
			next <- i
		}
	}
	close(next)
	wait.Wait()
}

// replayed compares a batch with the record.
func (v *auditor) replayed(i int, b *played) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if was := v.all[i]; b.batch.Results != was.Results || b.batch.Violations != was.Violations {
		v.wrong("batch %d, %s from execution %d: %d violations and results %.12s…; the record has %d and %.12s…", i,
			was.Protocol, was.From, b.batch.Violations, b.batch.Results, was.Violations, was.Results)
	}
	v.tally.Merge(b.tally)
	v.Replayed++
	v.Executed += b.batch.Executions
	if v.options.Progress != nil {
		v.options.Progress(v.Replayed, len(v.todo))
	}
}

// count compares the tally of all batches with that of the record.
func (v *auditor) count() {
	v.Counted = true
	was, _ := json.Marshal(v.Tally)
	is, _ := json.Marshal(v.tally)
	if string(was) != string(is) {
		v.wrong("the numbers of the report are not those of the batches")
	}
}
