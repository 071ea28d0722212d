package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"synod.dev/synod"
	"synod.dev/synod/graph"
)

func graphCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "graph",
		Short: "Build, certify, design and draw communication graphs",
		Long: `Everything about who talks to whom. A graph is r-robust when of any two disjoint
nonempty sets of nodes at least one has a member that hears r nodes outside its own
set; with up to F faulty neighbours each, agreement wants r ≥ F+1. What is printed
is exact, or a pair of proven bounds that is labelled as such; and that a graph is
not (r+1)-robust is always proven by two sets that anyone can check.

Graphs are read from edge lists, JSON, GraphML and DOT files. In a directed graph the
edge [u,v] means that v hears u.`,
		Example: `  synod graph check --family complete,merg,ring,star -n 7
  synod graph new merg -n 9 -o nine.graphml
  synod graph check nine.graphml --f 3
  synod graph design -n 10 --f 2 -o ten.json`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			var known []string
			for _, c := range cmd.Commands() {
				known = append(known, c.Name())
			}
			return fail(exitUsage, fmt.Errorf("there is no synod graph %q%s; there are: %s", args[0], synod.Hint(args[0], known), strings.Join(known, ", ")))
		},
	}
	cmd.AddCommand(graphListCommand(), graphNewCommand(a), graphCheckCommand(a), graphConvertCommand(a),
		graphWithoutCommand(a), graphImproveCommand(a), graphDesignCommand(a), graphDrawCommand(a))
	return cmd
}

// patience is the flag that bounds a search.
type patience struct{ limit time.Duration }

func (p *patience) add(cmd *cobra.Command, what string) {
	cmd.Flags().DurationVar(&p.limit, "time-limit", 10*time.Second, "how long to search, "+what+"; 0: as long as it takes")
}

// start returns a function that says when to give up: at the limit or on ^C.
func (p *patience) start(cmd *cobra.Command) (stop func() bool) {
	began, done := time.Now(), cmd.Context().Done()
	return func() bool {
		select {
		case <-done:
			return true
		default:
			return p.limit > 0 && time.Since(began) > p.limit
		}
	}
}

// stopped is the error for a search that ended with nothing to show.
func (p *patience) stopped(cmd *cobra.Command) error {
	if cmd.Context().Err() != nil {
		return fail(exitInterrupted, errors.New("interrupted before an answer was found"))
	}
	return fail(exitDeadline, fmt.Errorf("no answer within %s", p.limit), "give it more time with --time-limit")
}

// rule is the claim that robustness is wanted for.
type rule struct{ name string }

func (r *rule) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&r.name, "rule", "sac", "sac: r ≥ F+1; or strong: r ≥ 2F+1, where the reliable agents alone stay linked")
}

// wants is the robustness that a bound F asks for.
func (r *rule) wants(f int) (int, error) {
	switch {
	case f < 0 || f > graph.MaxNodes:
		return 0, fail(exitUsage, fmt.Errorf("--f is %d; want 0 or more", f))
	case r.name == "sac":
		return f + 1, nil
	case r.name == "strong":
		return 2*f + 1, nil
	}
	return 0, fail(exitUsage, fmt.Errorf("--rule is %q; it must be sac or strong", r.name))
}

// graphOut is where a graph goes: a file, or stdout for "-".
type graphOut struct{ path, format string }

// add takes the path when none is given; "" writes no graph.
func (o *graphOut) add(cmd *cobra.Command, path string) {
	cmd.Flags().StringVarP(&o.path, "output", "o", path, "write the graph to this `file`; - is stdout")
	cmd.Flags().StringVar(&o.format, "format", "", "format of the graph: "+formatNames()+" (default: by the file's ending, json on stdout)")
}

func (o *graphOut) write(cmd *cobra.Command, file graph.File) error {
	format, err := formatFor(o.path, o.format)
	if err != nil {
		return err
	}
	if o.path == "-" {
		_, err = cmd.OutOrStdout().Write(format.Write(file))
	} else {
		err = os.WriteFile(o.path, format.Write(file), 0o666)
	}
	if err != nil {
		return fail(exitError1, fmt.Errorf("write the graph: %w", err))
	}
	return nil
}

// formatFor is the format named, or else the one that a file's ending says; json
// for a stream.
func formatFor(path, name string) (format graph.Format, err error) {
	switch {
	case name != "":
		format, err = graph.FindFormat(name)
	case path == "-":
		format, err = graph.FindFormat("json")
	default:
		if format, err = graph.FormatOf(path); err != nil {
			return format, fail(exitUsage, err, "name the format; there are: "+formatNames())
		}
	}
	if err != nil {
		return format, fail(exitUsage, err)
	}
	return format, nil
}

func formatNames() (names string) {
	for i, f := range graph.Formats() {
		if i > 0 {
			names += ", "
		}
		names += f.Name
	}
	return names
}
