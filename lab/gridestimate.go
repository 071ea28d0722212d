package lab

import (
	"context"
	"fmt"
)

// Estimate adds up what the cells cost.
func (g *Grid) Estimate(ctx context.Context) (*Estimate, error) {
	sum := &Estimate{}
	for i, run := range g.Runs {
		e, err := run.Estimate(ctx)
		if err != nil {
			return nil, fmt.Errorf("cell %s: %w", g.Cells[i].Name, err)
		}
		sum.add(e)
	}
	return sum, nil
}

func (e *Estimate) add(f *Estimate) {
	e.Questions += f.Questions
	for _, a := range [][2]*Amount{{&e.Low, &f.Low}, {&e.Expected, &f.Expected}, {&e.Worst, &f.Worst}} {
		a[0].Calls += a[1].Calls
		a[0].Prompt += a[1].Prompt
		a[0].Completion += a[1].Completion
		a[0].Money = a[0].Money.Plus(a[1].Money)
		a[0].Cost = a[0].Money.Cost()
	}
}
