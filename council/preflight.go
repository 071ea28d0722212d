package council

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"synod.dev/synod"
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

// preflightTime is how long one model is checked at most.
const preflightTime = 5 * time.Second

// Preflight checks every model by a request that costs nothing, all at once: that its key is
// present and accepted, its address can be reached and its server knows the model. A model
// without a server has nothing to check.
func (c *Council) Preflight(ctx context.Context) []Check {
	var checks []Check
	for _, s := range c.plan.seats {
		i := slices.IndexFunc(checks, func(k Check) bool { return k.Model == s.Model })
		if i < 0 {
			i = len(checks)
			checks = append(checks, Check{Model: s.Model, Server: c.models[s.Model].Info().Server})
		}
		checks[i].Seats = append(checks[i].Seats, s.ID)
	}
	ctx, cancel := context.WithTimeout(ctx, preflightTime)
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
				s := llm.Settings{Name: k.Model, Keys: c.plan.spec.Models[k.Model]}
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
	for _, s := range c.plan.seats {
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
func (c *Council) Unreached(ask Ask, checks []Check) *Outcome {
	p := c.plan
	records, gone := make([]Record, len(p.seats)), 0
	for i, s := range p.seats {
		records[i] = Record{Seat: synod.NodeID(i), Stopped: Preflight}
		k := checks[slices.IndexFunc(checks, func(k Check) bool { return k.Model == s.Model })]
		if k.Err == nil {
			continue
		}
		records[i].Statuses[statusIndex(k.Err.Status)]++
		records[i].Failure = k.Err.Reason()
		if !s.NonVoting {
			gone++
		}
	}
	_, live := p.spec.Rule.need(p.voters)
	if p.voters-gone >= live {
		return nil
	}
	o := Judge(p, Instance{Question: ask.Question, Seed: ask.Seed}, records)
	c.complete(&o, records)
	o.Status = Degraded
	o.Reason = fmt.Sprintf("%d of %d members that vote cannot answer, and %s needs %d; no question was asked", gone,
		p.voters, p.spec.Rule.decider(), live)
	return &o
}

// remedies says what to do about the failures of members, a line for each advice with those whom it is for: models, or
// members whose replies could not be read, with the last words of the first of them.
func (o *Outcome) remedies() string {
	var advice []string
	names, words := map[string][]string{}, map[string]string{}
	for i := range o.Members {
		m := &o.Members[i]
		name, text := o.remedy(m)
		if text == "" || slices.Contains(names[text], name) {
			continue
		}
		if names[text] == nil {
			advice = append(advice, text)
			if u := m.Unreadable; u != nil && text == u.Help {
				words[text] = fmt.Sprintf(". The last words of one, as %s wrote them: %q", m.ID, u.End)
			}
		}
		names[text] = append(names[text], name)
	}
	lines := make([]string, len(advice))
	for i, text := range advice {
		lines[i] = "  " + strings.Join(names[text], ", ") + ": " + text + words[text]
	}
	return strings.Join(lines, "\n")
}

// remedy says what to do about the failures of one member, and for whom; "" if nothing failed or helps.
func (o *Outcome) remedy(m *Member) (name, text string) {
	switch u := m.Unreadable; {
	case u != nil && m.Calls.Of(synod.Unreadable) > 0:
		return m.ID, u.Help
	case m.Calls.Of(synod.OK) > 0:
		return "", ""
	case o.nodes && m.Trouble != "":
		return m.ID, "its owner can tell: synod node status"
	}
	for _, s := range synod.Statuses() {
		if m.Calls.Of(s) == 0 || s == synod.OK {
			continue
		}
		of := llm.Settings{Name: m.Model, Keys: o.given[m.Model]}
		if text := llm.Advice(s, of, o.serverOf(m.Model), m.Trouble); text != "" {
			return m.Model, text
		}
	}
	return "", ""
}

// serverOf returns the server of a model; "" if it is not known.
func (o *Outcome) serverOf(model string) string {
	i := slices.IndexFunc(o.Models, func(r ModelResult) bool { return r.Model == model })
	if i < 0 {
		return ""
	}
	return o.Models[i].server
}
