package plan

import (
	"fmt"
	"maps"
	"slices"

	"synod.dev/synod/adversary"
	"synod.dev/synod/core/param"
	"synod.dev/synod/internal/durable"
)

// maxTape is the largest file of a tape in bytes.
const maxTape = 4 << 20

// loadTapes replaces {tape: FILE} of an adversary by the answers in the file. So the journal of a run holds the
// answers themselves, and a replay needs no file.
func loadTapes(p *Plan) (err error) {
	for i := range p.spec.Seats {
		s := &p.spec.Seats[i]
		if s.Adversary, err = loadedTape(s.Adversary); err != nil {
			return fmt.Errorf("seat %s: %w", s.ID, err)
		}
	}
	if p.spec.Adversaries.Adversary, err = loadedTape(p.spec.Adversaries.Adversary); err != nil {
		return &ConfigError{Section: "adversaries", Err: err}
	}
	return nil
}

// loadedTape returns the parameters of an adversary with the answers of its tape in place of the file.
func loadedTape(params Params) (Params, error) {
	path, ok := params["tape"].(string)
	if !ok || path == "" || !takesTape(params) {
		return params, nil
	}
	if params["answers"] != nil {
		return nil, fmt.Errorf("tape and answers contradict each other; give one of them")
	}
	text, err := durable.ReadFile(path, maxTape)
	if err != nil {
		return nil, fmt.Errorf("tape: %w; record one: synod bench tape TASK --model MODEL -o FOLDER", err)
	}
	t, err := adversary.ParseTape(text)
	if err != nil {
		return nil, fmt.Errorf("tape %s: %w", path, err)
	}
	params = maps.Clone(params)
	delete(params, "tape")
	params["answers"] = t.Answers
	return params, nil
}

// takesTape reports whether the adversary that the parameters name has a tape.
func takesTape(params Params) bool {
	name, _, err := params.split()
	if err != nil {
		return false
	}
	e, err := adversary.Catalogue.Find(name)
	return err == nil && e.Params != nil && slices.ContainsFunc(param.Fields(e.Params()), func(f param.Field) bool {
		return f.Key == "tape"
	})
}

// tapePaths resolves the files of tapes.
func (s *Spec) tapePaths(dir string) {
	for i := range s.Seats {
		pathIn(s.Seats[i].Adversary, "tape", dir)
	}
	pathIn(s.Adversaries.Adversary, "tape", dir)
}

// ownAdversaries copies the parameters of adversaries, which the caller's maps hold.
func (s *Spec) ownAdversaries() {
	s.Seats = slices.Clone(s.Seats)
	for i := range s.Seats {
		s.Seats[i].Adversary = maps.Clone(s.Seats[i].Adversary)
	}
	s.Adversaries.Adversary = maps.Clone(s.Adversaries.Adversary)
}
