package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/pflag"

	"synod.dev/synod"
	"synod.dev/synod/bench/lab/manifest"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/council"
	"synod.dev/synod/council/plan"
)

// addForms adds the flags that say what the answers to own questions are.
func (f *benchFlags) addForms(fl *pflag.FlagSet) {
	fl.StringVar(&f.schema, "schema", "", "the answers to your own questions are JSON values under the JSON schema in "+
		"this `file` (--form json)")
	fl.StringVar(&f.tools, "tools", "", "the answers to your own questions are calls of the tools in this JSON `file` "+
		"(--form action)")
	fl.StringVar(&f.form, "form", "", "form of the answers to your own questions: number, choice, bool, math, text, "+
		"stance or prose (default: guessed for each line)")
}

func noTask(name string) error {
	known := slices.Concat(task.Catalogue.Names(), manifest.Presets().Names())
	return fail(exitUsage, fmt.Errorf("no task, question file or preset is called %q%s", name, synod.Hint(name, known)),
		"see: synod list tasks, synod list presets; the name of a question file ends in "+task.Endings())
}

// items returns the first f.n questions of a task or question file.
func (f *benchFlags) items(name string, spec *plan.Spec) ([]task.Item, error) {
	if _, err := task.Catalogue.Find(name); err != nil && !task.IsFile(name) {
		return nil, noTask(name)
	}
	var items []task.Item
	set, err := f.open(name, spec)
	if err == nil {
		items, err = set.Items()
	}
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, fail(exitUsage, err, "check the path")
	case err != nil:
		return nil, fail(exitUsage, err)
	case f.n > len(items):
		return nil, fail(exitUsage, fmt.Errorf("-n is %d, and %s has %d questions", f.n, name, len(items)))
	}
	if f.n > 0 {
		items = items[:f.n]
	}
	return items, nil
}

func (f *benchFlags) open(name string, spec *plan.Spec) (task.Set, error) {
	if !task.IsFile(name) {
		if f.form+f.schema+f.tools != "" {
			return nil, fmt.Errorf("--form is for a file of your own questions; task %s defines its form", name)
		}
		return task.Open(name, task.Options{
			Data: f.data, Pulled: f.pulled, Levels: f.levels, Seed: f.seed,
			Number: f.n, // the built-in task generates this many problems
		})
	}
	if f.data != "" || len(f.levels) > 0 {
		return nil, errors.New("--data and --level are for tasks (synod list tasks), not for question files")
	}
	x, err := council.ShapeOf(spec, council.Shaped{Form: f.form, Schema: f.schema, Tools: f.tools})
	if err != nil {
		return nil, err
	}
	return task.OpenShaped(name, synod.Question{Form: x.Form, Schema: x.Schema, Tools: x.Tools})
}
