package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"synod.dev/synod/internal/altered"
)

// Limits of a check. With a bug a program may loop for ever or allocate without end.
const (
	processor = time.Minute
	wall      = 2 * time.Minute
	memory    = 6 << 20 // KiB of addresses
)

// tester has the test binaries and this program with all bugs.
type tester struct {
	list     []*Bug
	binaries map[string]binary // by folder of the package
	campaign string            // path of this program; "": no bug of the list is tried in a campaign
}

// binary is the compiled tests of a package.
type binary struct {
	path, dir string
	flags     []string
}

// build compiles the tests of all checks.
func build(root, work string, list []*Bug) (*tester, error) {
	text, err := seed(root, list)
	if err != nil {
		return nil, err
	}
	if work, err = filepath.Abs(work); err != nil {
		return nil, err
	}
	overlay, err := altered.Overlay(work, text)
	if err != nil {
		return nil, err
	}
	t := &tester{list: list, binaries: map[string]binary{}}
	for _, b := range list {
		for _, check := range b.tests() {
			if _, ok := t.binaries[check.dir]; ok {
				continue
			}
			bin := binary{path: filepath.Join(work, fmt.Sprintf("%d.test", len(t.binaries)))}
			if bin.dir, err = filepath.Abs(filepath.Join(root, check.dir)); err != nil {
				return nil, err
			}
			if _, err := altered.Test(overlay, bin.dir, bin.path, "-tags", tag); err != nil {
				return nil, err
			}
			// Package rapid, where tests use it, must not write how they failed into the source tree, and not look long
			// for a smaller failure.
			if r, err := bin.run("", "-test.list", "^$", "-rapid.nofailfile"); err == nil && r.Passed {
				bin.flags = []string{"-rapid.nofailfile", "-rapid.shrinktime=1s"}
			}
			t.binaries[check.dir] = bin
		}
		if b.Campaign != "" && t.campaign == "" {
			if err := t.buildCampaign(root, work, overlay); err != nil {
				return nil, err
			}
		}
	}
	return t, nil
}

// run runs a binary with a bug; "": without.
func (b binary) run(bug string, args ...string) (altered.Result, error) {
	p := altered.Process{Path: b.path, Dir: b.dir, Args: append(args, b.flags...), Env: []string{variable + "=" + bug},
		CPU: processor, Wall: wall, Memory: memory}
	return p.Run()
}

// play plays tests of a binary: those with one of the names, or all.
func (b binary) play(bug string, names ...string) (altered.Result, error) {
	run := "."
	if !slices.Contains(names, "") {
		run = "^(" + strings.Join(names, "|") + ")$"
	}
	return b.run(bug, "-test.run", run, "-test.short", "-test.failfast", "-test.timeout=0")
}

// healthy plays all checks without a bug. Its error names a package with a check that fails, which could find nothing.
func (t *tester) healthy() error {
	names := map[string][]string{}
	for _, b := range t.list {
		for _, check := range b.tests() {
			if !slices.Contains(names[check.dir], check.name) {
				names[check.dir] = append(names[check.dir], check.name)
			}
		}
	}
	seen := map[string]bool{}
	for _, b := range t.list {
		if b.Campaign == "" || seen[b.Campaign] {
			continue
		}
		seen[b.Campaign] = true
		if c, r, err := t.tryCampaign("", b.Campaign, healthyExecutions); err != nil || c != nil {
			return fmt.Errorf("a campaign of %s fails without a bug: %v\n%s", b.Campaign, err, r.Output)
		}
	}
	for dir, list := range names {
		r, err := t.binaries[dir].play("", list...)
		if err != nil {
			return fmt.Errorf("tests of %s without a bug: %w\n%s", dir, err, r.Output)
		}
		if !r.Passed {
			return fmt.Errorf("tests of %s fail without a bug, so they find none:\n%s", dir, r.Output)
		}
	}
	return nil
}

// found is what became of a bug.
type found struct {
	by    string // the check that found it; "": none
	took  time.Duration
	claim string // what a campaign found; "": none was played
	wrong string // what is wrong with what the campaign found; "": nothing

	violated []string // the claims that the campaign found violated
}

var failed = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// How many executions a campaign plays: without a bug, and at most with one.
const (
	healthyExecutions = 2_000
	bugExecutions     = 100_000
	bugTrials         = 2_000_000 // of claims that need no run, most of which take microseconds
)

// find plays the tests of a bug until one fails, and its campaign.
func (t *tester) find(b *Bug) (found, error) {
	f, err := t.findByTests(b)
	if err != nil || b.Campaign == "" {
		return f, err
	}
	executions := uint64(bugExecutions)
	if b.Campaign == trials {
		executions = bugTrials
	}
	violated, _, err := t.tryCampaign(b.Name, b.Campaign, executions)
	switch {
	case errors.Is(err, altered.ErrEndless):
		f.wrong = "the campaign does not end"
		return f, nil
	case err != nil:
		return f, err
	case violated == nil:
		f.wrong = fmt.Sprintf("no claim is violated in %d executions of %s", executions, b.Campaign)
		return f, nil
	}
	first := violated[0]
	for _, c := range violated {
		f.violated = append(f.violated, c.Claim)
	}
	switch {
	case first.Events > mostEvents:
		f.wrong = fmt.Sprintf("the schedule that violates %s has %d events after shrinking", first.Claim, first.Events)
	default:
		missing := slices.DeleteFunc(slices.Clone(b.Claims), func(id string) bool {
			return slices.Contains(f.violated, id)
		})
		if len(missing) > 0 {
			f.wrong = fmt.Sprintf("not violated: %q", missing)
		}
	}
	f.claim = fmt.Sprintf("%s of %s after %d executions, %.2f s; %d events", strings.Join(f.violated, ", "), b.Campaign,
		first.Executions, first.Seconds, first.Events)
	if f.by == "" {
		f.by, f.took = f.claim, f.took+time.Duration(first.Seconds*float64(time.Second))
	}
	return f, nil
}

// findByTests plays the tests of a bug until one fails.
func (t *tester) findByTests(b *Bug) (f found, err error) {
	for _, check := range b.tests() {
		r, err := t.binaries[check.dir].play(b.Name, check.name)
		f.took += r.Wall
		switch {
		case errors.Is(err, altered.ErrEndless):
			f.by = check.String() + ", which does not end"
			return f, nil
		case err != nil:
			return f, err
		case !r.Passed:
			if f.by = check.String(); check.name == "" {
				if m := failed.FindSubmatch(r.Output); m != nil {
					f.by += " " + string(m[1])
				}
			}
			return f, nil
		}
	}
	return f, nil
}
