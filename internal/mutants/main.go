// Mutants measures how many small changes of a package its tests notice (mutation testing):
//
//	go run ./internal/mutants -gremlins .tools/gremlins ./council
//	go run ./internal/mutants -gremlins .tools/gremlins -sample 150 -seed 1 -tests ./protocol/debate ./protocol/answer
//
// Gremlins finds the mutants: a comparison negated or its boundary moved, an arithmetic operator or a sign exchanged,
// ++ and -- exchanged. Its own runner compiles every mutant and plays the whole test suite, which takes half a minute
// for a mutant of package council. This program compiles all mutants into one test binary, which an environment
// variable switches, and plays only the tests that reach the mutant, the shortest first. "make mutants" runs it.
package main

import (
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"synod.dev/synod/core/stats"
)

type options struct {
	gremlins string
	tests    string
	sample   int
	seed     uint64
	only     string
	long     bool
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
	flag.Parse()
	o.packages = flag.Args()
	if len(o.packages) == 0 {
		fmt.Fprintln(os.Stderr, "usage: mutants [flags] PACKAGE..., for example ./core/sign")
		os.Exit(2)
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
	list, err := find(o.gremlins, dir, work)
	if err != nil {
		return err
	}
	whole := len(list)
	if list, err = o.choose(list); err != nil {
		return err
	}
	fmt.Fprintf(w, "== %s: %d mutants", dir, whole)
	if o.sample > 0 && o.sample < whole {
		fmt.Fprintf(w, ", a sample of %d (seed %d)", len(list), o.seed)
	}
	fmt.Fprintln(w)
	if len(list) == 0 {
		return nil
	}
	b := &bench{work: work, short: !o.long, notes: w}
	if o.tests != "" {
		b.tests = strings.Split(o.tests, ",")
	}
	if err := b.prepare(list); err != nil {
		return err
	}
	if err := b.tryAll(list, func(m *mutant) {
		if m.fate == lived || m.fate == unreached {
			fmt.Fprintf(w, "%9s %s   %s\n", m.fate, m, m.text)
		}
	}); err != nil {
		return err
	}
	report(w, list)
	return nil
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
