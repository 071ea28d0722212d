package bench

import (
	"fmt"
	"path/filepath"
	"slices"

	"synod.dev/synod/bench"
	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/cmd/cli/display"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/council/seating"
	"synod.dev/synod/internal/durable"
)

// result computes the result from the files of a run.
func (c *calibration) result(run *bench.Run) (*display.Calibration, error) {
	run.Prices = c.Prices
	rep, err := run.Report()
	if err != nil {
		return nil, err
	}
	for _, line := range rep.Warnings() {
		fmt.Fprintln(c.cmd.ErrOrStderr(), line)
	}
	m, err := run.Measured()
	if err != nil {
		return nil, err
	}
	r := &display.Calibration{Version: display.CalibrationVersion, Council: run.Name, Task: run.Task, Seed: run.Seed,
		Created: run.Created.Format("2006-01-02T15:04:05Z07:00"), Questions: rep.Questions, Finished: rep.Finished,
		MembersKind: rep.MembersKind, Pairs: m.Pairs(), Unmeasured: append([]display.Unmeasured{}, c.left...),
		Measured: m}
	usd := map[string]float64{}
	for _, of := range rep.Models {
		one := measuredModel(m, &of, rep.Finished)
		if r.Members = append(r.Members, one); one.USD != nil {
			usd[of.Model] = *one.USD
		}
	}
	for _, s := range c.council.Seats {
		r.Seats = append(r.Seats, slices.Repeat([]string{s.Model}, max(s.Count, 1))...)
	}
	r.Votes = m.Votes(r.Seats)
	now := seating.Now{Seats: r.Seats, Rule: c.rule()}
	if now.Right, err = run.Foretold(c.alone()); err != nil {
		return nil, err
	}
	r.Suggestion, r.WhyNone = m.Suggest(usd, now)
	r.Choices, err = choices(run, usd)
	return r, err
}

// alone returns the council as it is, without what a calibration leaves out.
func (c *calibration) alone() plan.Spec {
	spec := c.council
	spec.Faults, spec.Trust, spec.Ledger = plan.Faults{}, plan.Trust{}, plan.Ledger{}
	spec.Seats = slices.Clone(spec.Seats)
	for i := range spec.Seats {
		spec.Seats[i].Adversary = nil
	}
	return spec
}

// rule names what decides in the council as it is.
func (c *calibration) rule() string {
	name := fmt.Sprint(c.council.Protocol["name"])
	if rule := c.council.Rule.Name; rule != "" && rule != plan.ByProtocol {
		name += ", rule " + string(rule)
	}
	return fmt.Sprintf("%s, F=%d", name, c.council.F)
}

// keep writes the result into the folder of the run.
func (c *calibration) keep(run *bench.Run) error {
	r, err := c.result(run)
	if err != nil {
		return unreportable(err)
	}
	b, err := durable.EncodeSealed(r)
	if err == nil {
		err = durable.WriteFile(filepath.Join(run.Dir(), display.CalibrationFile), b)
	}
	if err != nil {
		return app.Fail(app.ExitFailure, err)
	}
	return nil
}

func (c *calibration) printResult(run *bench.Run) error {
	r, err := c.result(run)
	if err != nil {
		return unreportable(err)
	}
	if c.flags.asJSON {
		err = app.WriteJSON(c.cmd.OutOrStdout(), r)
	} else {
		err = r.Print(c.cmd.OutOrStdout())
	}
	if err != nil {
		return app.Fail(app.ExitFailure, err)
	}
	return c.write(r)
}
