package bench

import (
	"io"
	"slices"

	"synod.dev/synod/bench"
	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/council/plan"
)

// trustRuns fails if the folder of a run from elsewhere names something that resuming it would use.
func trustRuns(a *app.App, dir string, runs ...*bench.Run) error {
	var starts []string
	for _, run := range runs {
		text, mark := run.Origin()
		if a.Wrote(app.OwnRun, text, mark) {
			continue
		}
		spec, err := run.Spec()
		if err != nil {
			return app.Fail(app.ExitFailure, err)
		}
		for _, line := range spec.Starts() {
			if !slices.Contains(starts, line) {
				starts = append(starts, line)
			}
		}
	}
	return app.Foreign(dir, starts, "synod bench resume "+app.ShellWord(dir))
}

// learnRun adds the first answers of a run that is over to the trust file that its council named.
func learnRun(a *app.App, stderr io.Writer, run *bench.Run) error {
	if run.Learn == "" {
		return nil
	}
	observed, err := run.Observations(false)
	if err != nil {
		return app.Fail(app.ExitFailure, err)
	}
	spec := plan.Spec{Trust: plan.Trust{File: run.Learn, Learn: true}}
	a.OwnTrust(&spec)
	return a.Learn(stderr, spec.Trust, observed)
}
