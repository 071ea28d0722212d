package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"synod.dev/synod/bench/campaign"
	"synod.dev/synod/internal/altered"
)

// trials is the subject of that program which stands for the claims that need no run of a council.
const trials = "trials"

// What a mutant that shows without a claim is found by.
const (
	panics   = "a panic"
	loops    = "no end"
	baseline = 5 * time.Second // how long each subject is played without a mutant, to learn what it reaches
	shortest = 4 * time.Second // how long each subject is played at least with a mutant
	// endlessAfter is the processor time beyond that length after which an execution has no end.
	endlessAfter = 20 * time.Second
)

// detector plays campaigns with mutants: the program of internal/bugs, which plays executions of one subject until a
// claim is violated.
type detector struct {
	work  string
	limit time.Duration    // for each mutant, of all subjects together
	reach map[string][]int // by subject: the mutants that its executions reach
}

// prepare builds the program with all mutants, and learns which subjects reach which mutants.
func (d *detector) prepare(text map[string]string) error {
	program, err := d.build("campaigns", text)
	if err != nil {
		return err
	}
	d.reach = map[string][]int{}
	for _, name := range append(campaign.Subjects(), trials) {
		seen := filepath.Join(d.work, "reached-"+name)
		by, err := d.play(program, name, baseline, 0, "MUTANT_REACHED="+seen)
		if err != nil {
			return err
		}
		if by != nil {
			return fmt.Errorf("a campaign of %s finds %s without a mutant", name, by[0])
		}
		if d.reach[name], err = reached(seen); err != nil {
			return err
		}
	}
	return nil
}

// build compiles the program with changed files.
func (d *detector) build(name string, text map[string]string) (string, error) {
	folder := filepath.Join(d.work, name)
	overlay, err := altered.Overlay(folder, text)
	if err != nil {
		return "", err
	}
	program := filepath.Join(folder, "program")
	root, err := os.Getwd()
	if err != nil {
		return "", err
	}
	return program, altered.Go(root, "build", "-overlay", overlay, "-o", program, "./internal/bugs")
}

// reached reads the mutants that a process has noted.
func reached(path string) (list []int, err error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return idsIn(raw)
}

// try plays the subjects that reach a mutant, those with the fewest mutants first, until one of them finds it. All
// reports that the mutant was compiled alone, so that what reaches it is not known. It returns the claims that were
// violated, the first one first; nil: none.
func (d *detector) try(program string, id int, all bool) ([]string, error) {
	subjects := slices.DeleteFunc(slices.Sorted(maps.Keys(d.reach)), func(name string) bool {
		return !all && !slices.Contains(d.reach[name], id)
	})
	slices.SortStableFunc(subjects, func(a, b string) int { return len(d.reach[a]) - len(d.reach[b]) })
	for _, name := range subjects {
		by, err := d.play(program, name, max(d.limit/time.Duration(len(subjects)), shortest), id)
		if err != nil || by != nil {
			return by, err
		}
	}
	return nil, nil
}

// play plays executions of a subject with a mutant for some time; 0: without one.
func (d *detector) play(program, subject string, length time.Duration, id int, env ...string) ([]string, error) {
	p := altered.Process{Path: program, Dir: d.work, Env: append(env, "MUTANT="+strconv.Itoa(id)),
		CPU: length + endlessAfter, Wall: slower*length + wall, Memory: memory,
		Args: []string{"-campaign", subject, "-executions", "1000000000", "-for", length.String()}}
	r, err := p.Run()
	var violated []string
	all := altered.Decode[*struct {
		Claim string `json:"claim"`
	}](r.Output)
	for _, c := range all {
		if c != nil {
			violated = append(violated, c.Claim)
		}
	}
	switch {
	case violated != nil: // whatever became of the program afterwards
		return violated, nil
	case errors.Is(err, altered.ErrEndless):
		return []string{loops}, nil
	case err != nil:
		return nil, err
	case !r.Passed:
		return []string{panics}, nil
	case len(all) == 0:
		return nil, fmt.Errorf("a campaign of %s: no result\n%s", subject, r.Output)
	}
	return nil, nil
}

// detection is what campaigns have found, of all packages.
type detection struct {
	killed   map[string]int // by the claim that was violated first
	violated map[string]int // by claim, first or not
	count    map[fate]int
}

func newDetection() *detection {
	return &detection{killed: map[string]int{}, violated: map[string]int{}, count: map[fate]int{}}
}

func (d *detection) add(m *mutant) {
	d.count[m.fate]++
	if m.fate != byCampaign {
		return
	}
	d.killed[m.claims[0]]++
	for _, id := range m.claims {
		d.violated[id]++
	}
}

// report prints how many mutants violated each claim first, and at all, and the claims that none violated.
func (d *detection) report(w io.Writer) {
	fmt.Fprintln(w, "\nmutants that violated each claim, first and at all:")
	for _, name := range slices.SortedFunc(maps.Keys(d.violated), func(a, b string) int {
		return cmp.Or(d.killed[b]-d.killed[a], d.violated[b]-d.violated[a], cmp.Compare(a, b))
	}) {
		fmt.Fprintf(w, "%6d %6d %s\n", d.killed[name], d.violated[name], name)
	}
	none := slices.DeleteFunc(campaign.ClaimIDs(), func(id string) bool { return d.violated[id] > 0 })
	fmt.Fprintf(w, "claims that no mutant violated: %s\n", strings.Join(none, ", "))
	all := d.count[byCampaign] + d.count[killed] + d.count[endless] + d.count[lived] + d.count[unreached]
	fmt.Fprintf(w, "%d viable mutants: %d found by campaigns, %d more by unit tests, %d not found\n", all,
		d.count[byCampaign], d.count[killed]+d.count[endless], d.count[lived]+d.count[unreached])
}
