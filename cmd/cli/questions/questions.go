// Package questions finds the questions that a command asks: of a task of the catalogue, or of a file of the user's own
// questions. Benches, calibrations, attacks and probes share its flags.
package questions

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"synod.dev/synod"
	"synod.dev/synod/bench/presets"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/council"
	"synod.dev/synod/council/plan"
)

// Flags are the flags that select the questions of a task or of a file.
type Flags struct {
	N      int // number of questions; 0: all
	Seed   uint64
	Form   string
	schema string
	tools  string
	Data   string
	Pulled string // folder of fetched data sets
	Levels []int
	Sample string // as task.ParseSample reads it; "": the first N
}

// AddSample adds the flag that draws questions at random.
func (f *Flags) AddSample(fl *pflag.FlagSet) {
	fl.StringVar(&f.Sample, "sample", "", "draw so many questions of the task at random, such as `100` or "+
		"100,by=category,seed=1")
}

// Drawn returns the sample that is asked for.
func (f *Flags) Drawn() (task.Sample, error) {
	if f.Sample == "" {
		return task.Sample{}, nil
	}
	s, err := task.ParseSample(f.Sample)
	if err != nil {
		err = app.Fail(app.ExitUsage, fmt.Errorf("--sample: %w", err))
	}
	return s, err
}

// AddForms adds the flags that say what the answers to own questions are.
func (f *Flags) AddForms(fl *pflag.FlagSet) {
	fl.StringVar(&f.schema, "schema", "", "the answers to your own questions are JSON values under the JSON schema in "+
		"this `file` (--form json)")
	fl.StringVar(&f.tools, "tools", "", "the answers to your own questions are calls of the tools in this JSON `file` "+
		"(--form action)")
	fl.StringVar(&f.Form, "form", "", "form of the answers to your own questions: number, choice, bool, math, text, "+
		"stance or prose (default: guessed for each line)")
}

// CheckNumber rejects -n below 1. Without -n all questions are used.
func (f *Flags) CheckNumber(cmd *cobra.Command) error {
	if f.N < 1 && cmd.Flags().Changed("number") {
		return fmt.Errorf("-n is %d; it must be at least 1", f.N)
	}
	return nil
}

// CheckName refuses a name that is neither a task's nor that of a file of questions.
func CheckName(name string) error {
	if _, err := task.Catalogue.Find(name); err == nil || task.IsFile(name) {
		return nil
	}
	known := slices.Concat(task.Catalogue.Names(), presets.Names())
	return app.Fail(app.ExitUsage, fmt.Errorf("no task, question file or preset is called %q%s", name, synod.Hint(name,
		known)),
		"see: synod list tasks, synod list presets; the name of a question file ends in "+task.Endings())
}

// Items returns the first f.n questions of a task or question file.
func (f *Flags) Items(name string, spec *plan.Spec) ([]task.Item, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	sample, err := f.Drawn()
	if err != nil {
		return nil, err
	}
	var items []task.Item
	set, err := f.open(name, max(f.N, sample.N), spec)
	if err == nil {
		items, err = set.Items()
	}
	if err == nil {
		items, err = sample.Of(items)
	}
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, app.Fail(app.ExitUsage, err, "check the path")
	case err != nil:
		return nil, app.Fail(app.ExitUsage, err)
	case f.N > len(items):
		return nil, app.Fail(app.ExitUsage, fmt.Errorf("-n is %d, and %s has %d questions", f.N, name, len(items)))
	}
	if f.N > 0 {
		items = items[:f.N]
	}
	return items, nil
}

func (f *Flags) open(name string, number int, spec *plan.Spec) (task.Set, error) {
	if !task.IsFile(name) {
		if f.Form+f.schema+f.tools != "" {
			return nil, fmt.Errorf("--form is for a file of your own questions; task %s defines its form", name)
		}
		return task.Open(name, task.Options{
			Data: f.Data, Pulled: f.Pulled, Levels: f.Levels, Seed: f.Seed,
			Number: number, // the built-in task generates this many problems
		})
	}
	if f.Data != "" || len(f.Levels) > 0 {
		return nil, errors.New("--data and --level are for tasks (synod list tasks), not for question files")
	}
	x, err := council.ShapeOf(spec, council.Shaped{Form: f.Form, Schema: f.schema, Tools: f.tools})
	if err != nil {
		return nil, err
	}
	return task.OpenShaped(name, synod.Question{Form: x.Form, Schema: x.Schema, Tools: x.Tools})
}
