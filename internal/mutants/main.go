// Mutants measures how many small changes of a package its tests notice (mutation testing):
//
//	go run ./internal/mutants -gremlins .tools/gremlins ./council
//	go run ./internal/mutants -gremlins .tools/gremlins -sample 150 -seed 1 -tests ./protocol/debate ./protocol/answer
//
// Gremlins finds the mutants: a comparison negated or its boundary moved, an arithmetic operator or a sign exchanged,
// ++ and -- exchanged. Its own runner compiles every mutant and plays the whole test suite, which takes half a minute
// for a mutant of package council. This program compiles all mutants into one test binary, which an environment
// variable switches, and plays only the tests that reach the mutant, the shortest first. "make mutants" runs it.
//
// With -campaign it first plays campaigns with each mutant, and counts which claim finds it ("make detection"):
//
//	go run ./internal/mutants -gremlins .tools/gremlins -campaign 1m -sample 25 ./protocol/leader ./core/sign
package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"synod.dev/synod/core/stats"
)

type options struct {
	gremlins string
	tests    string
	sample   int
	seed     uint64
	only     string
	long     bool
	campaign time.Duration
	units    bool
	packages []string
}

func main() {
	var o options
	flag.StringVar(&o.gremlins, "gremlins", "gremlins", "path of the gremlins binary")
	flag.StringVar(&o.tests, "tests", "", "packages whose tests run too, separated by commas")
	flag.IntVar(&o.sample, "sample", 0, "test that many mutants, drawn at random (0: all)")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of the sample")
	flag.StringVar(&o.only, "only", "", "test only mutants whose printed line matches this regular expression")
	flag.BoolVar(&o.long, "long", false, "play whole campaigns (without it, tests run with -short)")
	flag.DurationVar(&o.campaign, "campaign", 0,
		"play campaigns with each mutant for so long at most; 0: unit tests only")
	flag.BoolVar(&o.units, "units", false, "with -campaign: play the unit tests with mutants that no campaign finds")
	flag.Parse()
	o.packages = flag.Args()
	if len(o.packages) == 0 {
		fmt.Fprintln(os.Stderr, "usage: mutants [flags] PACKAGE..., for example ./core/sign")
		os.Exit(2)
	}
	if o.campaign > 0 {
		if err := detect(os.Stdout, o); err != nil {
			fmt.Fprintf(os.Stderr, "mutants: %v\n", err)
			os.Exit(1)
		}
		return
	}
	for _, dir := range o.packages {
		if err := measure(os.Stdout, dir, o); err != nil {
			fmt.Fprintf(os.Stderr, "mutants: %s: %v\n", dir, err)
			os.Exit(1)
		}
	}
}

// measure tests the mutants of one package and its subfolders, and prints those that no test noticed.
func measure(w io.Writer, dir string, o options) error {
	work, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	list, err := o.draw(w, dir, work)
	if err != nil || len(list) == 0 {
		return err
	}
	b := &bench{work: work, short: !o.long, notes: w}
	if o.tests != "" {
		b.tests = strings.Split(o.tests, ",")
	}
	if err := b.prepare(list); err != nil {
		return err
	}
	if err := tryAll(list, b.try, func(m *mutant) {
		if m.fate == lived || m.fate == unreached {
			fmt.Fprintf(w, "%9s %s   %s\n", m.fate, m, m.text)
		}
	}); err != nil {
		return err
	}
	report(w, list)
	return nil
}

// detect tests the mutants of all packages by campaigns, and then by unit tests, and prints what found each.
func detect(w io.Writer, o options) error {
	work, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	var list []*mutant
	for _, dir := range o.packages {
		some, err := o.draw(w, dir, work)
		if err != nil {
			return err
		}
		for _, m := range some {
			list = append(list, m)
			m.id = len(list)
		}
	}
	b := &bench{work: work, short: !o.long, notes: w}
	text, err := b.rewrite(list)
	if err != nil {
		return err
	}
	d := &detector{work: work, limit: o.campaign}
	if err := d.prepare(text); err != nil {
		return err
	}
	sum := newDetection()
	try := func(m *mutant) error { return b.tryCampaigns(d, m) }
	if err := tryAll(list, try, func(m *mutant) {
		fmt.Fprintf(w, "%9s %s   %s   %s\n", m.fate, m, m.text, strings.Join(m.claims, " "))
	}); err != nil {
		return err
	}
	if o.units {
		if err := b.prepareTests(text, list); err != nil {
			return err
		}
		if err := tryAll(list, b.try, func(m *mutant) {}); err != nil {
			return err
		}
	}
	for _, m := range list {
		m.fate = cmp.Or(m.fate, lived)
		sum.add(m)
		if m.fate == lived || m.fate == unreached {
			fmt.Fprintf(w, "%9s %s   %s\n", m.fate, m, m.text)
		}
	}
	sum.report(w)
	return nil
}

// checks is how the names of a protocol's files begin that campaigns play and check it with. A mutant in them changes
// the check and not what is checked, so campaigns are not tried with it.
const checks = "campaign"

// draw lists the mutants of a package and its subfolders, and draws the sample.
func (o options) draw(w io.Writer, dir, work string) ([]*mutant, error) {
	list, err := find(o.gremlins, dir, work)
	if err != nil {
		return nil, err
	}
	if o.campaign > 0 {
		list = slices.DeleteFunc(list, func(m *mutant) bool {
			return strings.HasPrefix(filepath.Base(m.file), checks)
		})
	}
	whole := len(list)
	if list, err = o.choose(list); err != nil {
		return nil, err
	}
	fmt.Fprintf(w, "== %s: %d mutants", dir, whole)
	if o.sample > 0 && o.sample < whole {
		fmt.Fprintf(w, ", a sample of %d (seed %d)", len(list), o.seed)
	}
	fmt.Fprintln(w)
	return list, nil
}

// choose draws the sample, and keeps what -only matches.
func (o options) choose(list []*mutant) ([]*mutant, error) {
	if o.sample > 0 && o.sample < len(list) {
		r := rand.New(rand.NewPCG(o.seed, 0))
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		list = list[:o.sample]
		slices.SortFunc(list, func(a, b *mutant) int { return a.id - b.id })
	}
	only, err := regexp.Compile(o.only)
	if err != nil {
		return nil, fmt.Errorf("-only: %w", err)
	}
	return slices.DeleteFunc(list, func(m *mutant) bool { return !only.MatchString(m.String()) }), nil
}

// report prints the counts and the score: killed mutants of all that compile, reached by a test or not.
func report(w io.Writer, list []*mutant) {
	count := map[fate]int{}
	for _, m := range list {
		count[m.fate]++
	}
	dead := count[killed] + count[endless]
	viable := dead + count[lived] + count[unreached]
	fmt.Fprintf(w, "%d viable, %d killed (%d of them by the time limit), %d lived, %d not reached; %d do not compile\n",
		viable, dead, count[endless], count[lived], count[unreached], count[broken])
	if viable == 0 {
		return
	}
	low, high := stats.Wilson(float64(dead)/float64(viable), float64(viable))
	fmt.Fprintf(w, "score %.1f %%", 100*float64(dead)/float64(viable))
	fmt.Fprintf(w, " (95 %% interval if this is a sample: %.1f to %.1f %%)\n", 100*low, 100*high)
}

// relative shortens a path for people.
func relative(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	if rel, err := filepath.Rel(here, path); err == nil {
		return rel
	}
	return path
}
