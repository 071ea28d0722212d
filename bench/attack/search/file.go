package search

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/goccy/go-yaml"

	"synod.dev/synod/bench/attack"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/llm"
)

// Version is the version of the file of an attack and of the folder of a search.
const Version = 1

// AttackFile is an attack with everything that is needed to play it again: the council, the questions with their keys,
// the seeds, and what came of it.
type AttackFile struct {
	Version   int        `json:"version"`
	Program   string     `json:"program"`
	Council   string     `json:"council"` // the complete council file, without adversaries
	Case      AttackCase `json:"case"`
	Objective string     `json:"objective"`
	// History are the questions from which the council learns before the attack; absent: it does not learn. Learned
	// are the parameters of its protocol after them.
	History []task.Keyed   `json:"history,omitempty"`
	Learned map[string]any `json:"learned,omitempty"`
	Found   PlayedAttack   `json:"found"` // on the questions of the search
	Fresh   PlayedAttack   `json:"fresh"` // on questions that the search has not seen
}

// PlayedAttack is what an attack did to some questions.
type PlayedAttack struct {
	Seed  uint64       `json:"seed"`
	Items []task.Keyed `json:"items"`
	Measurement
}

// File returns the file of the worst attack of a search.
func (o Options) File(r *Findings, program string) (*AttackFile, error) {
	text, err := yaml.Marshal(o.Spec)
	if err != nil {
		return nil, err
	}
	f := &AttackFile{Version: Version, Program: program, Council: string(text), Case: r.Worst, Objective: Objective,
		History: records(o.History), Learned: r.Learned,
		Found: PlayedAttack{Seed: o.Seed, Items: records(o.Items), Measurement: r.Before},
		Fresh: PlayedAttack{Seed: (&searching{Options: o}).freshSeed(), Items: records(o.Fresh), Measurement: r.After}}
	return f, nil
}

func records(items []task.Item) (all []task.Keyed) {
	for _, it := range items {
		all = append(all, it.Record())
	}
	return all
}

// Write writes the file.
func (f *AttackFile) Write(path string) error {
	b, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return err
	}
	return durable.WriteFile(path, durable.Seal(b))
}

// Attacked returns the text of a council file with the adversaries of the attack.
func (f *AttackFile) Attacked() ([]byte, error) {
	spec, err := plan.Parse([]byte(f.Council))
	if err != nil {
		return nil, err
	}
	c := f.Case
	if len(f.History) > 0 {
		c, spec.Protocol = c.phased(true), maps.Clone(spec.Protocol)
		maps.Copy(spec.Protocol, f.Learned)
	}
	if spec, err = c.corrupt(spec); err != nil {
		return nil, err
	}
	return yaml.Marshal(spec)
}

// Read reads a file that Write wrote. It may come from anybody: every part of it is checked.
func Read(path string) (*AttackFile, error) {
	b, err := durable.ReadFile(path, maxFile)
	if err != nil {
		return nil, err
	}
	var f AttackFile
	if _, err := durable.DecodeSealed(b, &f); err != nil {
		return nil, fmt.Errorf("%s is not the file of an attack: %w; synod attack search writes one", path, err)
	}
	switch {
	case f.Version != Version:
		return nil, fmt.Errorf("%s has version %d; this program reads version %d", path, f.Version, Version)
	case len(f.Case) == 0 || len(f.Found.Items) == 0 || len(f.Fresh.Items) == 0:
		return nil, fmt.Errorf("%s has no adversaries or no questions", path)
	}
	return &f, nil
}

// Replayed is what came of playing the attack of a file again.
type Replayed struct {
	Found Measurement `json:"found"`
	Fresh Measurement `json:"fresh"`
	// Differs lists what is not as in the file; empty: nothing.
	Differs []string `json:"differs"`
}

// Replay plays the attack of a file again.
func (f *AttackFile) Replay(ctx context.Context, env llm.Env) (*Replayed, error) {
	spec, err := plan.Parse([]byte(f.Council))
	if err != nil {
		return nil, fmt.Errorf("the council in the file: %w", err)
	}
	plan, err := plan.New(spec)
	if err != nil {
		return nil, fmt.Errorf("the council in the file: %w", err)
	}
	if err := attack.Honest(plan); err != nil {
		return nil, fmt.Errorf("the council in the file: %w", err)
	}
	r := &Replayed{Differs: []string{}}
	for _, part := range []struct {
		name string
		was  *PlayedAttack
		is   *Measurement
	}{{"found", &f.Found, &r.Found}, {"fresh", &f.Fresh, &r.Fresh}} {
		if *part.is, err = part.was.again(ctx, spec, f, env); err != nil {
			return nil, err
		}
		if part.is.Score != part.was.Score {
			r.Differs = append(r.Differs, fmt.Sprintf("%s: %s; the file says %s", part.name, part.is.Score,
				part.was.Score))
		}
		if part.is.Digest != part.was.Digest {
			r.Differs = append(r.Differs, fmt.Sprintf("%s: digest %.12s; the file says %.12s", part.name,
				part.is.Digest, part.was.Digest))
		}
	}
	return r, nil
}

// again plays the questions of one part of a file.
func (p *PlayedAttack) again(ctx context.Context, spec plan.Spec, f *AttackFile, env llm.Env) (
	m Measurement, err error,
) {
	items, err := itemsOf(p.Items)
	if err != nil {
		return m, err
	}
	past, err := itemsOf(f.History)
	if err != nil {
		return m, err
	}
	a, err := newArena(ctx, spec, past, items, p.Seed, env)
	if err != nil {
		return m, err
	}
	return a.measure(ctx, f.Case)
}

// itemsOf returns the questions of a file.
func itemsOf(records []task.Keyed) (items []task.Item, err error) {
	items = make([]task.Item, len(records))
	for i, rec := range records {
		if items[i], err = rec.Item(); err != nil {
			return nil, fmt.Errorf("question %d in the file: %w", i+1, err)
		}
	}
	return items, nil
}
