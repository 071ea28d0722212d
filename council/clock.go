package council

import (
	"context"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/council/plan"
)

// ClockRunner plays all seats in this process by the clock: a member that waits for a silent one
// waits for as long as pace says, a message takes as long as faults.delay says, and a model call as
// long as it takes, at most pace.Think. So the time of a run can be measured. Signatures are real.
type ClockRunner struct{}

// Play plays the machines and measures when they noted their opinions.
func (ClockRunner) Play(ctx context.Context, p *plan.Plan, run Run, models Models) (Played, error) {
	c := newCrew(len(p.Seats()))
	config := simulation(p, run, c, p.Protocol().Join)
	records, begun, notes := c.records, time.Now(), config.Notes
	config.Notes = func(now synod.Tick, noted []sim.Noted) string {
		for _, n := range noted {
			records[n.Node].Elapsed = int(max(time.Since(begun).Milliseconds(), 1))
		}
		return notes(now, noted)
	}
	endRecords(records, sim.RunByClock(config, sim.Clock{
		Done: ctx.Done(),
		Ask: func(call sim.Call) func() synod.Reply {
			wait := models.Ask([]sim.Call{call})
			return func() synod.Reply { return wait()[0] }
		},
	}))
	return Played{Records: records}, nil
}
