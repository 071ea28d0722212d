package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"synod.dev/synod/lab"
)

func benchResume(a *app) *cobra.Command {
	var f benchFlags
	cmd := &cobra.Command{
		Use:   "resume DIR",
		Short: "Go on with a run",
		Long: `Goes on with a run: questions that are finished stay, one that was cut off goes
on with the replies it had, and one that failed is tried again. The council is the
run's own. With -c, --set or --model it is compared with the one they make, and the
run does not go on if they differ.`,
		Example: "  synod bench resume runs/first --parallel 8",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.atOnce(); err != nil {
				return fail(exitUsage, err)
			}
			if grid, err := lab.OpenGrid(args[0]); err == nil {
				return a.benchWork(cmd, grid, f.parallel)
			} else if !errors.Is(err, lab.ErrNoRun) {
				return fail(exitError1, err)
			}
			run, err := lab.Open(args[0])
			if err != nil {
				return fail(exitError1, err)
			}
			if err := a.sameCouncil(cmd, run, &f.source); err != nil {
				return err
			}
			return a.benchWork(cmd, run, f.parallel)
		},
	}
	f.source.add(cmd)
	cmd.Flags().IntVar(&f.parallel, "parallel", 1, "questions at once; members keep to their own concurrency limits")
	return cmd
}

// sameCouncil refuses a council given on the command line that is not the run's.
func (a *app) sameCouncil(cmd *cobra.Command, run *lab.Run, source *specFlags) error {
	if !cmd.Flags().Changed("council") && !cmd.Flags().Changed("set") && !cmd.Flags().Changed("model") {
		return nil
	}
	spec, err := source.load(a)
	if err != nil {
		return configError(err)
	}
	changes, err := run.ChangedCouncil(spec, a.env())
	if err != nil {
		return configError(err)
	}
	if len(changes) > 0 {
		return fail(exitUsage, &lab.ChangedError{Changes: changes}, "make a new run for it with: synod bench run … -o FOLDER")
	}
	return nil
}

// bench is what can be worked on: a run, or a grid of runs.
type bench interface {
	Dir() string
	Work(context.Context, lab.Options) (lab.Progress, error)
	Estimate(context.Context) (*lab.Estimate, error)
}

// benchWork works on a run and says what came of it.
func (a *app) benchWork(cmd *cobra.Command, run bench, parallel int) error {
	show := a.benchProgress(cmd)
	done, err := run.Work(cmd.Context(), lab.Options{Env: a.env(), Parallel: parallel, Program: "synod " + release, Progress: show.at})
	show.done()
	resume := "synod bench resume " + run.Dir()
	var changed *lab.ChangedError
	switch {
	case errors.Is(err, context.Canceled):
		return fail(exitInterrupted, nil, fmt.Sprintf("interrupted: %d of %d questions are finished, and every reply is kept. Go on with:\n  %s", done.Finished, done.Total, resume))
	case errors.As(err, &changed):
		return fail(exitUsage, err, "make a new run for it with: synod bench run … -o FOLDER")
	case err != nil && done.Total == 0: // it was not begun
		return fail(exitError1, err)
	case err != nil:
		return fail(exitError1, err, fmt.Sprintf("%d of %d questions are finished and kept. When that is mended, go on with:\n  %s", done.Finished, done.Total, resume))
	}
	if !a.quiet {
		fmt.Fprintf(cmd.ErrOrStderr(), "%d of %d questions finished · %d calls now · see: synod bench report %s\n", done.Finished, done.Total, done.Calls, run.Dir())
	}
	if done.Failed > 0 {
		return fail(exitError1, fmt.Errorf("%d of %d questions failed", done.Failed, done.Total), "why: synod bench report "+run.Dir()+"; try them again with:\n  "+resume)
	}
	return nil
}
