package page

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/bench"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/council"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"

	"synod.dev/synod/cmd/synod-serve/internal/councils"
)

// costView is what a question costs, by estimate.
type costView struct {
	Question string
	Form     string
	Rows     []costRow
	Problem  string // why there is no estimate
}

type costRow struct {
	Name                      string
	Calls, Prompt, Completion int
	Money                     string
}

// costTime is how long an estimate may take: it simulates the council.
const costTime = 3 * time.Second

// costs keeps the estimates of councils by fingerprint.
type costs struct {
	mu  sync.Mutex
	all map[string]*costView
}

// mostCosts is how many estimates are kept.
const mostCosts = 256

// of returns the estimate of a council.
func (c *costs) of(ctx context.Context, s *councils.Served, env llm.Env) *costView {
	c.mu.Lock()
	defer c.mu.Unlock() // one estimate at a time
	if v := c.all[s.Fingerprint]; v != nil {
		return v
	}
	v := costOf(ctx, s.Council.Plan(), env)
	if ctx.Err() != nil {
		return v
	}
	if c.all == nil || len(c.all) >= mostCosts {
		c.all = map[string]*costView{}
	}
	c.all[s.Fingerprint] = v
	return v
}

// samples are short questions, one of which every protocol takes.
var samples = []struct {
	form synod.Form
	text string
}{
	{synod.Bool, "Is 91 a prime number?"},
	{synod.Number, "What is 17 + 25?"},
	{synod.Math, "What is 17 + 25?"},
	{synod.Text, "What is the capital of France?"},
	{synod.Choice, "Which of these is a prime number?\nA) 91\nB) 97\nC) 99"},
	{synod.Stance, "Should a bridge be inspected every year?"},
	{synod.Prose, "Explain in a paragraph why the sky is blue."},
	{synod.JSON, "Fill in the form for an invoice of 12 euros."},
	{synod.Action, "Do what is most useful next."},
}

// sample returns a short question that the council takes.
func sample(p *plan.Plan) (synod.Question, error) {
	spec := p.Spec()
	err := errors.New("it takes no question of a known form")
	for _, s := range samples {
		if spec.Form != "" && s.form != spec.Form {
			continue
		}
		var q synod.Question
		if s.form == synod.JSON || s.form == synod.Action {
			shape, e := council.ShapeOf(&spec, council.Shaped{Form: string(s.form)})
			if e != nil {
				err = e
				continue
			}
			q = synod.Question{Text: s.text, Form: s.form, Schema: shape.Schema, Tools: shape.Tools}
		} else {
			var e error
			if q, e = council.ReadQuestion(s.text, s.form); e != nil {
				err = e
				continue
			}
		}
		if e := p.Accepts(&q); e != nil {
			err = e
			continue
		}
		q.ID = "sample"
		return q, nil
	}
	return synod.Question{}, err
}

// costOf estimates what a short question costs.
func costOf(ctx context.Context, p *plan.Plan, env llm.Env) *costView {
	q, err := sample(p)
	if err != nil {
		return &costView{Problem: err.Error()}
	}
	v := &costView{Question: q.Text, Form: string(q.Form)}
	ctx, cancel := context.WithTimeout(ctx, costTime)
	defer cancel()
	run, err := bench.Draft(bench.RunPlan{Task: "ask", Items: []task.Item{task.Ungraded(q)}, Repeat: 1, Spec: p.Spec(),
		Env: env})
	var e *bench.CostEstimate
	if err == nil {
		e, err = run.Estimate(ctx)
	}
	switch {
	case ctx.Err() != nil:
		v.Problem = fmt.Sprintf("not estimated within %v; a question takes at most %s", costTime,
			plural(p.Calls(), "call"))
	case err != nil:
		v.Problem = err.Error()
	default:
		for _, r := range []struct {
			name string
			bench.Amount
		}{{"low", e.Low}, {"expected", e.Expected}, {"worst", e.Worst}} {
			v.Rows = append(v.Rows, costRow{r.name, r.Calls, r.Prompt, r.Completion, r.Money.String()})
		}
	}
	return v
}
