package council

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
)

// Check is what Preflight found about one model.
type Check struct {
	Model  string // its name in the council file
	Seats  []string
	Server string       // of an endpoint: its host
	Found  string       // "" if there was nothing to check
	Err    *llm.Failure // nil: its calls may succeed
	Advice string       // what to do about Err
}

// preflightTime is how long models are checked at most, and at most half of the time that a question has.
const preflightTime = 5 * time.Second

// Preflight checks every model by a request that costs nothing, all at once: that its key is
// present and accepted, its address can be reached and its server knows the model. A model
// without a server has nothing to check.
func (c *Council) Preflight(ctx context.Context) []Check {
	var checks []Check
	for _, s := range c.plan.Seats() {
		i := slices.IndexFunc(checks, func(k Check) bool { return k.Model == s.Model })
		if i < 0 {
			i = len(checks)
			checks = append(checks, Check{Model: s.Model, Server: c.models[s.Model].Info().Server})
		}
		checks[i].Seats = append(checks[i].Seats, s.ID)
	}
	most := preflightTime
	if deadline := c.plan.Full().Limits.Deadline; deadline > 0 {
		most = min(most, deadline/2)
	}
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	var wait sync.WaitGroup
	for i := range checks {
		k := &checks[i]
		p, ok := c.models[k.Model].(llm.Preflighter)
		if !ok {
			continue
		}
		wait.Go(func() {
			found, err := p.Preflight(ctx)
			if f, fatal := llm.AsPreflight(err); fatal {
				s := llm.Settings{Name: k.Model, Keys: c.plan.Full().Models[k.Model]}
				k.Err, k.Advice = f, llm.Advice(f.Status, s, k.Server, f.Reason())
			} else if err != nil {
				found = "not checked: " + llm.AsFailure(err).Reason()
			}
			k.Found = found
		})
	}
	wait.Wait()
	return checks
}

// ModelHealth is how the calls of one model of a council have ended in this process, for every council that
// shares its account.
type ModelHealth struct {
	Model  string // its name in the council file
	Info   llm.Info
	Seats  []string
	Health *llm.Health // nil: the model calls nobody
}

// Health returns the health of every model, in the order of the seats. It asks no model. It is empty for a
// council of nodes, whose models are their owners'.
func (c *Council) Health() (all []ModelHealth) {
	for _, s := range c.plan.Seats() {
		m := c.models[s.Model]
		if m == nil {
			continue
		}
		i := slices.IndexFunc(all, func(h ModelHealth) bool { return h.Model == s.Model })
		if i < 0 {
			i = len(all)
			all = append(all, ModelHealth{Model: s.Model, Info: m.Info()})
			if h, ok := llm.HealthOf(m); ok {
				all[i].Health = &h
			}
		}
		all[i].Seats = append(all[i].Seats, s.ID)
	}
	return all
}

// Unreached returns the outcome of a run that is not begun because the members whose check
// failed are so many that the rule cannot be met; nil if it can.
func (c *Council) Unreached(ask Ask, checks []Check) *outcome.Outcome {
	p := c.plan
	records, gone := make([]outcome.Record, len(p.Seats())), 0
	for i, s := range p.Seats() {
		records[i] = outcome.Record{Seat: synod.NodeID(i), Stopped: outcome.Preflight}
		k := checks[slices.IndexFunc(checks, func(k Check) bool { return k.Model == s.Model })]
		if k.Err == nil {
			continue
		}
		records[i].Statuses.Count(k.Err.Status)
		records[i].Failure = k.Err.Reason()
		if !s.NonVoting {
			gone++
		}
	}
	_, live := p.Full().Rule.Need(p.Voters())
	if p.Voters()-gone >= live {
		return nil
	}
	o := outcome.Judge(p, plan.Instance{Question: ask.Question, Seed: ask.Seed}, records)
	c.complete(&o, records)
	o.Status = outcome.Degraded
	o.Reason = fmt.Sprintf("%d of %d members that vote cannot answer, and %s needs %d; no question was asked", gone,
		p.Voters(), p.Full().Rule.Decider(), live)
	return &o
}
