// Bugs seeds real mistakes into the code, one at a time, and measures whether the checks that run before a change
// lands find them:
//
//	go run ./internal/bugs
//	go run ./internal/bugs -only 'broadcast|ledger' -keep FOLDER
//
// The list is bugs.yaml: for each bug the text of a source file and the text that a programmer could have written
// instead. All bugs are built into the test binaries and the program at once, each behind a switch that the environment
// variable SEEDED_BUG sets, so 40 bugs cost one build. The changed files are an overlay of the go command: nothing in
// the source tells of the bugs, and no released binary can have one. "make bugs" runs it.
//
// Its rank is 9: it is a program, which nothing imports.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"time"

	"synod.dev/synod/core/stats"
)

func main() {
	only := flag.String("only", "", "play only the bugs whose name matches this regular expression")
	campaigns := flag.Bool("campaigns", false, "play the campaigns of bugs alone, without unit tests")
	keep := flag.String("keep", "", "keep what was built in this folder; default: a temporary one, which is removed")
	subject := flag.String("campaign", "", "play executions of this subject until a claim is violated, and "+
		"print it; trials: the claims that need none")
	length := flag.Duration("for", 0, "with -campaign: the most processor time; 0: no limit")
	executions := flag.Uint64("executions", bugExecutions, "with -campaign: the most executions")
	flag.Parse()
	if *subject != "" {
		if err := playCampaign(os.Stdout, *subject, *executions, *length); err != nil {
			fmt.Fprintf(os.Stderr, "bugs: %v\n", err)
			os.Exit(1)
		}
		return
	}
	if err := measure(os.Stdout, *only, *campaigns, *keep); err != nil {
		fmt.Fprintf(os.Stderr, "bugs: %v\n", err)
		os.Exit(1)
	}
}

// measure plays the bugs. The error names those that no check found.
func measure(w io.Writer, only string, campaigns bool, keep string) error {
	names, err := regexp.Compile(only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	list, err := Load(".", Listed)
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(b *Bug) bool {
		if campaigns {
			b.Tests = nil
		}
		return !names.MatchString(b.Name) || campaigns && b.Campaign == ""
	})
	if len(list) == 0 {
		return fmt.Errorf("-only: no bug has a name that matches %q", only)
	}
	work := keep
	if work == "" {
		if work, err = os.MkdirTemp("", "bugs"); err != nil {
			return err
		}
		defer os.RemoveAll(work)
	}
	begun := time.Now()
	t, err := build(".", work, list)
	if err != nil {
		return err
	}
	built := time.Since(begun)
	if err := t.healthy(); err != nil {
		return err
	}
	fmt.Fprintf(w, "built %d bugs in %.0f s; without a bug all checks pass\n", len(list), built.Seconds())
	return play(w, t, list, built)
}

// play plays every bug, and prints what found it.
func play(w io.Writer, t *tester, list []*Bug, built time.Duration) error {
	violated := map[string]int{}
	var seconds []float64
	var alive []string
	for _, b := range list {
		f, err := t.find(b)
		if err != nil {
			return fmt.Errorf("%s: %w", b.Name, err)
		}
		for _, id := range f.violated {
			violated[id]++
		}
		if f.by == "" {
			alive = append(alive, b.Name)
			fmt.Fprintf(w, "LIVES  %6.2f s  %-28s %s\n", f.took.Seconds(), b.Name, b.Mistake)
			continue
		}
		seconds = append(seconds, f.took.Seconds())
		fmt.Fprintf(w, "found  %6.2f s  %-28s by %s\n", f.took.Seconds(), b.Name, f.by)
		if f.claim != "" {
			fmt.Fprintf(w, "%17s campaign: %s\n", "", f.claim)
		}
		if f.wrong != "" {
			alive = append(alive, b.Name)
			fmt.Fprintf(w, "%17s MISSED in a campaign: %s\n", "", f.wrong)
		}
	}
	fmt.Fprintf(w, "%d of %d bugs were found", len(seconds), len(list))
	if len(seconds) > 0 {
		median := stats.Median(slices.Sorted(slices.Values(seconds)))
		fmt.Fprintf(w, "; median %.2f s, longest %.2f s; %.2f s with each one's share of the build", median,
			slices.Max(seconds), median+built.Seconds()/float64(len(list)))
	}
	fmt.Fprintln(w)
	reportClaims(w, violated)
	if len(alive) > 0 {
		return fmt.Errorf("not found where they should be: %q; a check is missing there", alive)
	}
	return nil
}

// reportClaims prints how many bugs violated each claim.
func reportClaims(w io.Writer, violated map[string]int) {
	if len(violated) == 0 {
		return
	}
	fmt.Fprintln(w, "bugs that violated each claim:")
	for _, id := range slices.SortedFunc(maps.Keys(violated), func(a, b string) int {
		return cmp.Or(violated[b]-violated[a], cmp.Compare(a, b))
	}) {
		fmt.Fprintf(w, "%6d %s\n", violated[id], id)
	}
}
