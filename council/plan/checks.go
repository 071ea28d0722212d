package plan

import (
	"errors"
	"fmt"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/llm/read"
)

// checkChecks reports what is wrong with the checks of a council file.
func checkChecks(p *Plan) error {
	if HasCommand(p.spec.Checks) && p.spec.Runner.Capabilities().Roster {
		return errors.New("a command is run by the process that asks the members, and nodes ask their own: use cel, " +
			"schema or regex")
	}
	return read.CompileChecks(p.spec.Checks)
}

// HasCommand reports whether one of some checks is a command.
func HasCommand(all []synod.Check) bool {
	return slices.ContainsFunc(all, func(c synod.Check) bool { return len(c.Command) > 0 })
}

// Put gives a question the checks of the council file, before its own. It fails if the question has another check
// of the same name.
func Put(p *Plan, q *synod.Question) error {
	var add []synod.Check
	for i := range p.spec.Checks {
		c := &p.spec.Checks[i]
		at := slices.IndexFunc(q.Checks, func(own synod.Check) bool { return own.Name == c.Name })
		switch {
		case at < 0:
			add = append(add, *c)
		case !q.Checks[at].Same(c):
			return fmt.Errorf("checks: the council %s has another check that is called %s: give yours another name",
				p.spec.Council, c.Name)
		}
	}
	if len(add) > 0 {
		q.Checks = slices.Concat(add, q.Checks)
	}
	return nil
}

// acceptsChecks reports why the checks of a question cannot be used. Only those of the council file may be commands.
func acceptsChecks(p *Plan, q *synod.Question) error {
	for i := range q.Checks {
		c := &q.Checks[i]
		same := func(own synod.Check) bool { return own.Same(c) }
		if len(c.Command) > 0 && !slices.ContainsFunc(p.spec.Checks, same) {
			return fmt.Errorf("check %s: %w", c.Name, synod.ErrCommand)
		}
	}
	return read.CompileChecks(q.Checks)
}

// checkStarts says which programs the checks run.
func (s *Spec) checkStarts() (lines []string) {
	for i := range s.Checks {
		c := &s.Checks[i]
		if len(c.Command) == 0 {
			continue
		}
		line := fmt.Sprintf("check %s runs the command %q in a sandbox", c.Name, c.Command)
		if c.Mount != "" {
			line += " that can read " + c.Mount
		}
		lines = append(lines, line)
	}
	return lines
}
