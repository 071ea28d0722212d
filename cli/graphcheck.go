package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

// checkFlags are the flags of "synod graph check".
type checkFlags struct {
	examiner
	source graphSource
	format string
	asJSON bool
}

func graphCheckCommand(a *app) *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use:   "check [FILE… | - | --family A,B -n N[,N…]]",
		Short: "Say how robust graphs are, with proof",
		Long: `Finds the largest r for which each graph is r-robust, the F that is good for, and
two sets which prove that r is not larger: nobody in either hears r+1 nodes outside
its own set.

Graphs come from files, from families, or, with -, from stdin: one a line, such as
{"n": 3, "edges": [[0,1],[1,2]], "directed": false}. Each is answered before the
next is read. A .jsonl file is read in the same way.

Formats: text, csv and md are one table; json and jsonl print one object a graph,
one a line, in the order of the graphs. The default is text, and jsonl for -.

When the time limit ends a search, r and lower are a proven lower bound, upper is a
proven upper bound, and exact is false. f_sac and f_strong are never below 0: for
r=0 they are 0 and the note says that not even F=0 is covered.

With --f the exit code is 100 unless every graph is proven robust enough.`,
		Example: `  synod graph check --family complete,merg,ring,star -n 7
  synod graph check net.graphml --f 2 --rule strong
  synod graph check --family er,regular -n 16,24,32 --seed 7 --format csv
  generate | synod graph check - | jq .r`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return a.graphCheck(cmd, args, f) },
	}
	f.source.add(cmd)
	f.patience.add(cmd, "for each graph")
	f.rule.add(cmd)
	fl := cmd.Flags()
	fl.IntVar(&f.f, "f", -1, "ask whether each graph is robust enough for this many faulty neighbours each")
	fl.IntVar(&f.rounds, "rounds", 6, "rounds T for the calls a question costs")
	fl.BoolVar(&f.rs, "rs", false, "also find the largest s for which the graph is (r,s)-robust (exact to 24 nodes); with --f also whether it is (F+1,F+1)-robust")
	fl.BoolVar(&f.measures, "measures", false, "also find degrees, vertex connectivity and algebraic connectivity")
	fl.StringVar(&f.format, "format", "", "text, json, jsonl, csv or md")
	fl.BoolVar(&f.asJSON, "json", false, "the same as --format json")
	cmd.MarkFlagsMutuallyExclusive("format", "json")
	return cmd
}

func (a *app) graphCheck(cmd *cobra.Command, args []string, f checkFlags) error {
	if cmd.Flags().Changed("f") {
		if _, err := f.rule.wants(f.f); err != nil {
			return err
		}
	}
	if f.rounds < 0 {
		return fail(exitUsage, fmt.Errorf("--rounds is %d; want 0 or more", f.rounds))
	}
	out, err := newFindings(cmd.OutOrStdout(), f.outFormat(args), f.examiner)
	if err != nil {
		return err
	}
	return a.checkAll(cmd, args, f, out)
}

func (f *checkFlags) outFormat(args []string) string {
	switch {
	case f.asJSON:
		return "json"
	case f.format == "" && len(args) == 1 && args[0] == "-":
		return "jsonl"
	case f.format == "":
		return "text"
	}
	return f.format
}

// checkAll examines every graph, and prints what was found also when it ends in an
// error.
func (a *app) checkAll(cmd *cobra.Command, args []string, f checkFlags, out *findings) error {
	var failed error
	short, unknown := 0, 0
	for s, err := range f.source.subjects(cmd, args) {
		var found *finding
		if err == nil {
			found, err = f.examine(cmd, s)
		}
		if err == nil {
			err = out.add(found)
		}
		if failed = err; failed != nil {
			break
		}
		switch {
		case found.gate == nil:
		case found.Enough == nil:
			unknown++
		case !*found.Enough:
			short++
		}
		if cmd.Context().Err() != nil {
			break
		}
	}
	if err := out.end(); err != nil {
		return fail(exitError1, err)
	}
	if !a.quiet {
		out.explain(cmd.ErrOrStderr())
	}
	if cmd.Context().Err() != nil {
		return fail(exitInterrupted, errors.New("interrupted; what was finished is printed"))
	}
	if failed != nil {
		return failed
	}
	return f.passed(short, unknown)
}

// passed is the gate of --f.
func (f *checkFlags) passed(short, unknown int) error {
	switch {
	case short > 0:
		return fail(exitGate, fmt.Errorf("not robust enough for F=%d: %s", f.f, count(short, "graph")), fmt.Sprintf("see which edges would help: synod graph improve FILE --f %d --rule %s", f.f, f.rule.name))
	case unknown > 0:
		return fail(exitGate, fmt.Errorf("not known whether robust enough for F=%d: %s", f.f, count(unknown, "graph")), "give it more time with --time-limit")
	}
	return nil
}

// count is a number of things in words.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
