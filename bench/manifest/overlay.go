package manifest

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/core/param"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
)

// Settings are the keys of an overlay that are not those of a council file.
type Settings struct {
	Task      string            `yaml:"task" doc:"a task of synod list tasks, or a file of own questions, such as mine.jsonl or mine.csv" example:"mine.jsonl"`
	Form      string            `yaml:"form" doc:"form of the answers to own questions; default: guessed for each line" example:"number"`
	Questions int               `yaml:"questions" doc:"how many questions, the first of the task; 0: all" range:"0:5000000"`
	Skip      int               `yaml:"skip" doc:"how many questions of the task come before the first one, such as those of a history" range:"0:5000000"`
	Levels    []int             `yaml:"levels" doc:"only questions of these levels" example:"[4, 5]"`
	Sample    task.Sample       `yaml:"sample" doc:"draw questions of the task at random in place of the first ones; -n replaces its n" example:"{n: 100, by: category, seed: 1}"`
	Answered  Answered          `yaml:"answered" doc:"only questions that recorded models have answered"`
	Repeat    int               `yaml:"repeat" doc:"how often each question is asked; 0: once" range:"0:100000"`
	Seed      uint64            `yaml:"seed" doc:"seed of all random choices; 0: 1"`
	Replace   Replace           `yaml:"replace" doc:"seats that differ from the others, by their place in the graph"`
	Judges    llm.Judge         `yaml:"judges" doc:"how all simulated members judge; absent: as their settings say, by default as measured judges do"`
	Council   string            `yaml:"council_file" doc:"a council file with settings that those beside it override" example:"council.yaml"`
	Params    map[string]any    `yaml:"params" doc:"parameters of the cell in reports; beside the overlay of an axis they stand in place of its name" example:"{position: any}"`
	Vars      map[string]any    `yaml:"vars" doc:"variables that reports do not show" example:"{noise: 0.25}"`
	Assumed   map[string]string `yaml:"assumed" doc:"figures that the experiment was built to have, so that they show nothing: a reason by names of figures" example:"{iaa weak_before: the abilities were set to it}"`
	Remark    string            `yaml:"remark" doc:"what readers must know about the cell"`
	Note      string            `yaml:"note" doc:"what readers must know about the grid"`
	Blank     string            `yaml:"blank" doc:"why the cell cannot be run; it is reported without figures"`
	Needs     string            `yaml:"needs" doc:"what the models of the cell must have; else it cannot be run" enum:"hidden-states"`
	Absent    string            `yaml:"absent" doc:"of members.file: why a cell cannot be run whose models the file lacks; else that is an error"`
	Instead   map[string]string `yaml:"instead" doc:"of members.file: for models that the file may lack, the model of the file that takes their place" example:"{w0: worker}"`
	Compute   map[string]any    `yaml:"compute" doc:"the figures are computed without members: the name of a computation, with its parameters" example:"{name: totals, aggregate: mean}"`
	Reads     Reads             `yaml:"reads" doc:"the figures are taken from the run of another cell"`
}

// Answered selects the questions that all of some recorded models have answered.
type Answered struct {
	Path      string   `yaml:"path" doc:"file of recorded replies; trace:NAME is traces/NAME.jsonl of the data folder, or what synod data pull fetched" example:"trace:cp-wbft"`
	Benchmark string   `yaml:"benchmark" doc:"the benchmark in it" example:"gsm8k"`
	Models    []string `yaml:"models" doc:"the models in it; absent: all"`
}

// Replace describes seats that differ from the others, by their place in the graph: more than an adversary,
// which the section adversaries of a council file places, such as another model.
type Replace struct {
	Number int            `yaml:"number" doc:"how many; 0: as many as seats lists, or 1" range:"0:16384"`
	Seats  any            `yaml:"seats" doc:"a rule as in adversaries.seats, or a list of seats by index from 0 or by id, of which the first are taken" default:"worst" example:"[6, 3, 0]"`
	Seat   map[string]any `yaml:"seat" doc:"keys of a seat that these seats have; an id gets the index added" example:"{id: m, model: weak}"`
}

// Reads names the cell and the figures that a derived cell shows.
type Reads struct {
	Of    string            `yaml:"of" doc:"name of the cell"`
	Rates map[string]string `yaml:"rates" doc:"its figures by the name that they have here" example:"{decision_accuracy: rank_4}"`
	How   string            `yaml:"how" doc:"what is taken"`
}

var (
	settingKeys = keysOf(&Settings{})
	councilKeys = keysOf(&plan.Spec{})
)

func keysOf(v any) (keys []string) {
	for _, f := range param.Fields(v) {
		keys = append(keys, f.Key)
	}
	return keys
}

// checkKeys reports a key that no overlay has. where is the place of the overlay.
func checkKeys(where string, overlay map[string]any) error {
	known := slices.Concat(councilKeys, settingKeys)
	for _, key := range slices.Sorted(maps.Keys(overlay)) {
		if !slices.Contains(known, key) {
			return fmt.Errorf("%s: unknown key %q%s; the keys are those of a council file and %s", where, key,
				synod.Hint(key, known), strings.Join(settingKeys, ", "))
		}
	}
	return nil
}

// layer is an overlay with its place and the folder that its paths are relative to.
type layer struct {
	name string
	tree map[string]any
	dir  string
}

// split returns the part of the overlay that is a council file, and the other settings.
func (l layer) split() (council, settings map[string]any) {
	council, settings = map[string]any{}, map[string]any{}
	for key, v := range l.tree {
		if slices.Contains(councilKeys, key) {
			council[key] = v
		} else {
			settings[key] = v
		}
	}
	return council, settings
}

// mergeTrees adds from to into, key by key; lists are replaced.
func mergeTrees(into, from map[string]any) {
	for key, v := range from {
		table, isTable := v.(map[string]any)
		old, was := into[key].(map[string]any)
		switch {
		case isTable && was:
			old = maps.Clone(old)
			mergeTrees(old, table)
			into[key] = old
		case isTable:
			into[key] = maps.Clone(table)
		default:
			into[key] = v
		}
	}
}

// variable matches a variable in a text: $name or ${name}.
var variable = regexp.MustCompile(`\$(?:([a-z][a-z0-9_]*)|\{([a-z][a-z0-9_]*)\})`)

// fill returns a tree in which variables have their values. A text that is only a variable gets the
// value itself, such as a number. used collects the names.
func fill(v any, vars map[string]any, used map[string]bool) (any, error) {
	switch v := v.(type) {
	case string:
		return fillText(v, vars, used)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			var err error
			if out[i], err = fill(item, vars, used); err != nil {
				return nil, err
			}
		}
		return out, nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			filled, err := fill(item, vars, used)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", key, err)
			}
			name, err := fillText(key, vars, used)
			if err != nil {
				return nil, err
			}
			out[fmt.Sprint(name)] = filled
		}
		return out, nil
	}
	return v, nil
}

func fillText(text string, vars map[string]any, used map[string]bool) (any, error) {
	var whole any
	var bad error
	out := variable.ReplaceAllStringFunc(text, func(at string) string {
		name := strings.Trim(at, "${}")
		v, ok := vars[name]
		if !ok {
			bad = cmp.Or(bad, unknownVariable(at, name, vars))
			return at
		}
		used[name] = true
		if at == text {
			whole = v
		}
		return fmt.Sprint(v)
	})
	if bad != nil {
		return nil, bad
	}
	if whole != nil {
		return whole, nil
	}
	return out, nil
}

func unknownVariable(at, name string, vars map[string]any) error {
	known := slices.Sorted(maps.Keys(vars))
	return fmt.Errorf("%s is not a variable%s; the variables of this cell are %s", at, synod.Hint(name, known),
		strings.Join(known, ", "))
}

// tracePrefix begins the path of recorded replies that are in the data folder, or were pulled.
const tracePrefix = "trace:"

// dataFolder stands for the data folder; "" if none is given.
const dataFolder = "data:folder"

// setPrefix begins the name of a set of prompts that is in the data folder, or was pulled.
const setPrefix = "prompt-set:"

// setPath returns the folder of a set of prompts. Members that read no prompts do without.
func setPath(name string, o Options) (string, error) {
	if o.builtin() && o.Members != "embedded" {
		return "", nil
	}
	set, err := task.PromptSets.Find("prompts/" + name)
	if err != nil {
		return "", err
	}
	for _, folder := range []string{o.Data, o.Pulled} {
		path := filepath.Join(folder, set.Folder())
		if info, err := os.Stat(path); folder != "" && err == nil && info.IsDir() {
			return filepath.Abs(path)
		}
	}
	return "", fmt.Errorf("the prompts %s are missing; get %s, run: synod data convert prompts/%[1]s FILE -o FOLDER, "+
		"and pass --data FOLDER", name, set.Input)
}

// traced returns a tree in which trace:NAME, prompt-set:NAME and data:folder are absolute paths, because a run may be
// resumed from another folder.
func traced(v any, o Options) (any, error) {
	switch v := v.(type) {
	case string:
		if name, ok := strings.CutPrefix(v, tracePrefix); ok {
			return tracePath(name, o)
		}
		if name, ok := strings.CutPrefix(v, setPrefix); ok {
			return setPath(name, o)
		}
		if v == dataFolder && o.Data == "" {
			return "", nil
		}
		if v == dataFolder {
			return filepath.Abs(o.Data)
		}
	case map[string]any:
		for key, item := range v {
			var err error
			if v[key], err = traced(item, o); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}

func tracePath(name string, o Options) (string, error) {
	path, err := task.Trace(name, task.Options{Data: o.Data, Pulled: o.Pulled})
	switch {
	case errors.Is(err, fs.ErrNotExist) && o.Substitute && o.Members != "recorded":
		return "", nil
	case errors.Is(err, fs.ErrNotExist) && o.Data != "":
		return "", fmt.Errorf("%s traces/%s.jsonl, and %s has none; see synod data convert", o.needTrace(), name,
			o.Data)
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("%s traces/%s.jsonl: synod data pull traces/%[2]s, or --data DIR, a folder with it and "+
			"the data sets%s", o.needTrace(), name, o.orSubstitute())
	case err != nil:
		return "", err
	}
	return filepath.Abs(path)
}

// needTrace says who needs a file of recorded replies.
func (o *Options) needTrace() string {
	if o.Members == "recorded" {
		return "recorded members need"
	}
	return "which questions the paper asked is in"
}

func (o *Options) orSubstitute() string {
	if o.Members == "recorded" {
		return ""
	}
	return "; or ask other questions in their place, without verdicts: --substitute"
}

// meets reports whether values meet a condition.
func meets(where map[string]any, values map[string]any) bool {
	for key, want := range where {
		got, ok := values[key]
		if !ok {
			return false
		}
		list, several := want.([]any)
		if !several {
			list = []any{want}
		}
		if !slices.ContainsFunc(list, func(w any) bool { return same(w, got) }) {
			return false
		}
	}
	return true
}

// same compares a value with a pattern.
func same(pattern, got any) bool {
	ok, err := path.Match(fmt.Sprint(pattern), fmt.Sprint(got))
	return err == nil && ok
}

// checkConditions reports a condition on something that no cell has.
func checkConditions(where string, conditions []map[string]any, known []string) error {
	for i, c := range conditions {
		for _, key := range slices.Sorted(maps.Keys(c)) {
			if !slices.Contains(known, key) {
				return fmt.Errorf("%s[%d]: no cell has %q%s; conditions are on axes, parameters and members: %s", where,
					i, key, synod.Hint(key, known), strings.Join(known, ", "))
			}
		}
	}
	return nil
}

// under puts a folder in front of a relative path.
func under(dir, p string) string {
	if p == "" || dir == "" || filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(dir, p)
}
