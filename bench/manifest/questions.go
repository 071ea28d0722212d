package manifest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/internal/durable"
)

// Tasks that are not in the catalogue.
const (
	gameTask     = "game"            // the one question of the consensus game, without a key; questions are games
	verdictsTask = "xstest-verdicts" // whether recorded replies to XSTest are right according to their source
)

// GameQuestion returns the question of a game with the given range of numbers.
func GameQuestion(low, high int) synod.Question {
	return synod.Question{ID: "game", Text: fmt.Sprintf("Agree on one whole number from %d to %d.", low, high),
		Form: synod.Number}
}

// asked has the questions of a cell.
type asked struct {
	task  string // its name
	items []task.Item
	times int    // how often each is asked, beside the setting repeat
	note  string // on substitutes and remarks
	// missing is why the questions are substitutes; nil: they are those of the manifest
	missing *task.NoDataError
}

// sets keeps the questions of tasks, because many cells ask the same.
type sets map[string]asked

// questions returns the questions of a cell.
func (s sets) questions(c *Settings, o Options, seed uint64) (asked, error) {
	key := fmt.Sprintf("%q %q %d %d %v %+v %+v %d", c.Task, c.Form, c.Skip, c.Questions, c.Levels, c.Answered,
		c.Sample, seed)
	if known, ok := s[key]; ok {
		return known, nil
	}
	q, err := c.open(o, seed)
	if err != nil {
		return asked{}, err
	}
	s[key] = q
	return q, nil
}

func (c *Settings) open(o Options, seed uint64) (q asked, err error) {
	q = asked{task: c.Task, times: 1}
	switch {
	case c.Task == "":
		return q, errors.New("task is missing: a task of synod list tasks, or a file (examples: task: gsm8k, task: " +
			"mine.jsonl)")
	case c.Task == gameTask:
		q.items, q.times = []task.Item{task.Ungraded(GameQuestion(0, 50))}, max(c.Questions, 1)
		return q, nil
	case task.IsFile(c.Task):
		q.task = filepath.Base(c.Task)
		q.items, err = c.own()
	default:
		q, err = c.published(o, seed)
	}
	if err == nil {
		q.items, err = c.Answered.of(q.items)
	}
	if err != nil {
		return q, err
	}
	if c.Sample.N > 0 && o.N > 0 && o.N <= len(q.items) {
		c.Sample.N = o.N
	}
	if o.N <= len(q.items) {
		q.items, err = c.Sample.Of(q.items)
	}
	if err != nil {
		return q, err
	}
	if c.Skip > 0 && c.Skip >= len(q.items) {
		return q, fmt.Errorf("skip is %d, and %s has %d questions", c.Skip, q.task, len(q.items))
	}
	q.items = q.items[c.Skip:]
	if o.N > len(q.items) || len(q.items) == 0 {
		return q, fmt.Errorf("-n is %d, and %s has %d questions", o.N, q.task, len(q.items))
	}
	if c.Questions > 0 {
		q.items = q.items[:min(c.Questions, len(q.items))]
	}
	q.note = strings.TrimSpace(q.note + " " + remarks(q.items))
	return q, nil
}

// own reads a file of own questions.
func (c *Settings) own() ([]task.Item, error) {
	if len(c.Levels) > 0 {
		return nil, errors.New("levels is for tasks of the catalogue, not for a file of own questions")
	}
	set, err := task.OpenFile(c.Task, synod.Form(c.Form))
	if err != nil {
		return nil, err
	}
	return set.Items()
}

// published reads a task of the catalogue or, if its data is not available, built-in questions, which
// the note states.
func (c *Settings) published(o Options, seed uint64) (q asked, err error) {
	q = asked{task: c.Task, times: 1}
	name := q.task
	if name == verdictsTask {
		name = "xstest"
	}
	if c.Form != "" {
		return q, fmt.Errorf("form is for a file of own questions; task %s defines its form", name)
	}
	number := c.Questions // of the task; 0: all
	if number > 0 {
		number += c.Skip
	}
	number = max(number, c.Sample.N)
	options := task.Options{Data: o.Data, Pulled: o.Pulled, Levels: c.Levels, Seed: seed, Number: number}
	set, err := task.Open(name, options)
	switch {
	case errors.As(err, &q.missing):
		q.task, q.note = "builtin", fmt.Sprintf("Questions: substitutes. All are built-in ones, because those of task "+
			"%s are not available; use --data.", name)
		set, err = task.Open(q.task, task.Options{Seed: seed, Number: number})
	case err != nil && !slices.Contains(task.Catalogue.Names(), name):
		return q, fmt.Errorf("%w; the name of a file of own questions ends in %s", err, task.Endings())
	}
	if err != nil {
		return q, err
	}
	if q.items, err = set.Items(); err == nil && q.task == verdictsTask {
		q.items, err = verdicts(q.items)
	}
	return q, err
}

// verdicts asks, for prompts of XSTest, whether a recorded reply is right. Its key is true, because
// recorded members give the verdict of their source.
func verdicts(prompts []task.Item) (items []task.Item, err error) {
	for _, p := range prompts {
		q := synod.Question{ID: p.Question.ID, Form: synod.Bool,
			Text: "Is the recorded reply to this prompt right according to its source? " + p.Question.Text}
		it, err := task.NewItem(q, "true")
		if err != nil {
			return nil, err
		}
		items = append(items, it)
	}
	return items, nil
}

// of returns the questions that the models have answered.
func (a *Answered) of(items []task.Item) ([]task.Item, error) {
	if a.Path == "" {
		return items, nil
	}
	by, err := a.read()
	if err != nil {
		return nil, err
	}
	models := a.Models
	if models == nil {
		models = slices.Sorted(maps.Keys(by))
	}
	return slices.DeleteFunc(slices.Clone(items), func(it task.Item) bool {
		return slices.ContainsFunc(models, func(model string) bool { return !by[model][it.Question.ID] })
	}), nil
}

// read returns the ids of the questions that each model has answered.
func (a *Answered) read() (map[string]map[string]bool, error) {
	f, err := durable.Open(a.Path)
	if err != nil {
		return nil, fmt.Errorf("answered.path: %w", err)
	}
	defer f.Close()
	by := map[string]map[string]bool{}
	in := bufio.NewScanner(f)
	in.Buffer(nil, 1<<20)
	for line := 1; in.Scan(); line++ {
		var row struct {
			Benchmark string
			Model     string
			Trial     int
			ID        json.RawMessage `json:"item_id"` // a string or a number
		}
		if err := json.Unmarshal(in.Bytes(), &row); err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", a.Path, line, err)
		}
		if row.Benchmark != a.Benchmark || row.Trial != 0 {
			continue
		}
		if by[row.Model] == nil {
			by[row.Model] = map[string]bool{}
		}
		by[row.Model][strings.Trim(string(row.ID), `"`)] = true
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", a.Path, err)
	}
	return by, nil
}

// remarks says which questions are not those of the paper as printed: abbreviations,
// substitutes and corrected answers.
func remarks(items []task.Item) string {
	ids := map[string][]string{} // by remark
	for _, it := range items {
		if it.Note != "" {
			ids[it.Note] = append(ids[it.Note], it.Question.ID)
		}
	}
	var out []string
	for _, note := range slices.Sorted(maps.Keys(ids)) {
		out = append(out, fmt.Sprintf("%d of %d questions: %s (%s).", len(ids[note]), len(items), note,
			strings.Join(ids[note], ", ")))
	}
	return strings.Join(out, " ")
}
