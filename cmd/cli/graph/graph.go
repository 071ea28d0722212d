// Package graph has the commands of "synod graph": check how robust a graph is, design and improve graphs, draw them,
// and convert their formats. Check does the same for programs beside synod.
package graph

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/graph"
	"synod.dev/synod/graph/format"
	"synod.dev/synod/graph/robustness"
	"synod.dev/synod/graph/topology"
)

// Command is "synod graph".
func Command(a *app.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "graph",
		Short: "Build, check, design and draw communication graphs",
		Long: `Commands for communication graphs: which member receives messages from which other
member. A graph is r-robust if of any two disjoint nonempty sets of nodes at least
one has a member with r neighbours outside its own set. With up to F faulty
neighbours of each node, agreement needs r ≥ F+1. What is printed is exact, or a pair
of proven bounds that is marked as such. That a graph is not (r+1)-robust is always
proven by two sets that anyone can check.

Graphs are read from edge lists, JSON, GraphML and DOT files. In a directed graph the
edge [u,v] means that v receives what u sends, and only such u count as neighbours
of v.`,
		Example: `  synod graph check --family complete,merg,ring,star -n 7
  synod graph new merg -n 9 -o nine.graphml
  synod graph check nine.graphml --f 3
  synod graph design -n 10 --f 2 -o ten.json`,
	}
	cmd.AddCommand(graphListCommand(), graphNewCommand(a), graphCheckCommand(a), graphConvertCommand(a),
		graphWithoutCommand(a), graphImproveCommand(a), graphDesignCommand(a), graphDrawCommand(a),
		graphScaleCommand())
	return cmd
}

// timeLimit is the flag that limits a search.
type timeLimit struct{ limit time.Duration }

func (l *timeLimit) add(cmd *cobra.Command, what string) {
	cmd.Flags().DurationVar(&l.limit, "time-limit", 10*time.Second, "time limit of the search, "+what+"; 0: none")
}

// start returns a stop function for a search that begins now: it returns true after the limit or an interrupt.
func (l *timeLimit) start(cmd *cobra.Command) (stop func() bool) {
	began, done := time.Now(), cmd.Context().Done()
	return func() bool {
		select {
		case <-done:
			return true
		default:
			return l.limit > 0 && time.Since(began) > l.limit
		}
	}
}

// reached returns the error of a search that has ended without a result.
func (l *timeLimit) reached(cmd *cobra.Command) error {
	if cmd.Context().Err() != nil {
		return app.Fail(app.ExitInterrupted, errors.New("interrupted before an answer was found"))
	}
	return app.Fail(app.ExitDeadline, fmt.Errorf("no answer within %s", l.limit), "give it more time with --time-limit")
}

// The properties that robustness is needed for: those of protocol SAC, and that the reliable members alone stay
// connected.
const (
	ruleSAC    = "sac"
	ruleStrong = "strong"
)

// claimRule is the flag for the property that robustness is needed for.
type claimRule struct{ name string }

func (r *claimRule) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&r.name, "rule", ruleSAC, "sac: r ≥ F+1; or strong: r ≥ 2F+1, so that the reliable members "+
		"alone stay connected")
}

// needs returns the robustness that the rule needs for F faulty neighbours.
func (r *claimRule) needs(f int) (int, error) {
	switch {
	case f < 0 || f > graph.MaxNodes:
		return 0, app.Fail(app.ExitUsage, fmt.Errorf("--f is %d; it must be 0 or more", f))
	case r.name == ruleSAC:
		return f + 1, nil
	case r.name == ruleStrong:
		return 2*f + 1, nil
	}
	return 0, app.Fail(app.ExitUsage, fmt.Errorf("--rule is %q; it must be sac or strong", r.name))
}

// sacCalls returns the number of model calls of a SAC question, at most and without reuse: n first answers,
// then in each round a score for each neighbour's answer and the own one, and a refinement (systems.md §1).
func sacCalls(g graph.Graph, rounds int) int { return g.N() + rounds*(g.Links()+2*g.N()) }

// graphOut is where to write a graph: a file, "-" for stdout, or "" for nowhere.
type graphOut struct{ path, format string }

func (o *graphOut) add(cmd *cobra.Command, path string) {
	cmd.Flags().StringVarP(&o.path, "out", "o", path, "write the graph to this `file`; - is stdout")
	cmd.Flags().StringVar(&o.format, "format", "",
		"format of the graph: "+formatNames()+" (default: by the file's ending, json on stdout)")
}

func (o *graphOut) write(cmd *cobra.Command, file format.File) error {
	f, err := formatFor(o.path, o.format)
	if err != nil {
		return err
	}
	if o.path == "-" {
		_, err = cmd.OutOrStdout().Write(f.Write(file))
	} else {
		err = os.WriteFile(o.path, f.Write(file), 0o666)
	}
	if err != nil {
		return app.Fail(app.ExitFailure, fmt.Errorf("write the graph: %w", err))
	}
	return nil
}

// report writes the graph if that was asked for, and prints v as JSON or by calling text: on stdout, or on
// stderr if the graph is written to stdout.
func report(a *app.App, cmd *cobra.Command, out graphOut, asJSON bool, file format.File, v any,
	text func(io.Writer) error) error {
	w := cmd.OutOrStdout()
	if out.path != "" {
		if err := out.write(cmd, file); err != nil {
			return err
		}
		if out.path == "-" {
			w = cmd.ErrOrStderr()
		}
	}
	switch {
	case a.Quiet && out.path == "-":
		return nil
	case asJSON:
		return json.NewEncoder(w).Encode(v)
	}
	return text(w)
}

// graphJSON is a graph inside a JSON report, in the form that "graph check" reads.
type graphJSON struct {
	N        int      `json:"n"`
	Directed bool     `json:"directed"`
	Edges    [][2]int `json:"edges"`
	Names    []string `json:"names,omitempty"`
}

func toJSON(f format.File) graphJSON {
	return graphJSON{f.Graph.N(), f.Graph.Directed(), f.Graph.Edges(), f.Names}
}

// formatFor returns the named format, or the one of the file's ending, or json for stdin and stdout.
func formatFor(path, name string) (format.Format, error) {
	if name == "" && path == "-" {
		name = "json"
	}
	if name != "" {
		f, err := format.Find(name)
		if err != nil {
			return f, app.Fail(app.ExitUsage, err)
		}
		return f, nil
	}
	f, err := format.Of(path)
	if err != nil {
		return f, app.Fail(app.ExitUsage, err, "name the format; available: "+formatNames())
	}
	return f, nil
}

func formatNames() string {
	var names []string
	for _, f := range format.All() {
		names = append(names, f.Name)
	}
	return strings.Join(names, ", ")
}

// placeFlag picks nodes by a rule, for example worst:2.
type placeFlag struct{ text string }

func (p *placeFlag) add(cmd *cobra.Command, what string) {
	cmd.Flags().StringVar(&p.text, "place", "", what+": `RULE:COUNT`, for example worst:2")
}

// nodes returns the nodes that the rule picks, or nil without a rule.
func (p *placeFlag) nodes(s namedGraph, seed uint64, stop func() bool) ([]int, error) {
	if p.text == "" {
		return nil, nil
	}
	rule, number, _ := strings.Cut(p.text, ":")
	n, err := strconv.Atoi(number)
	if err != nil {
		return nil, app.Fail(app.ExitUsage, fmt.Errorf("--place is %q; it must be RULE:COUNT, for example worst:2",
			p.text))
	}
	nodes, err := topology.Place(s.built, rule, n, seed, stop)
	if err != nil {
		return nil, app.Fail(app.ExitUsage, err)
	}
	return nodes, nil
}

func placementLines() string {
	lines := "Rules that pick nodes:\n"
	for _, p := range topology.Placements() {
		lines += fmt.Sprintf("  %-12s %s", p.Name, p.Summary)
		if len(p.Families) > 0 {
			lines += " (" + strings.Join(p.Families, ", ") + ")"
		}
		lines += "\n"
	}
	return strings.TrimSuffix(lines, "\n")
}

// exactly returns an error for any other number of arguments.
func exactly(n int, want string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return app.Fail(app.ExitUsage, fmt.Errorf("%s takes %s", cmd.CommandPath(), want))
		}
		return nil
	}
}

// familyEntry is a family as "synod graph list --json" prints it.
type familyEntry struct {
	Name    string       `json:"name"`
	Summary string       `json:"summary"`
	Known   string       `json:"known"`
	Seeded  bool         `json:"seeded"`
	Params  []paramEntry `json:"params"`
}

type paramEntry struct {
	Key     string `json:"key"`
	Default any    `json:"default"`
	Doc     string `json:"doc"`
}

func graphListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the families of graphs and their known robustness",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			w := cmd.OutOrStdout()
			if asJSON {
				return app.WriteJSON(w, familyEntries())
			}
			var b strings.Builder
			for _, f := range familyEntries() {
				fmt.Fprintf(&b, "%s: %s\n    known r: %s\n", f.Name, f.Summary, f.Known)
				for _, p := range f.Params {
					fmt.Fprintf(&b, "    %s (%v): %s\n", p.Key, p.Default, p.Doc)
				}
				if f.Seeded {
					b.WriteString("    seed: of the random choices\n")
				}
			}
			return app.Sayf(w, "%s", b.String())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

func familyEntries() []familyEntry {
	var all []familyEntry
	for _, t := range topology.Catalogue.All() {
		e := familyEntry{t.Name, t.Summary, t.Known, t.Seeded, []paramEntry{}}
		for _, p := range t.Params() {
			e.Params = append(e.Params, paramEntry{p.Key, p.Default, p.Doc})
		}
		all = append(all, e)
	}
	return all
}

// quickLimit is the time limit for robustness that is printed as extra information only.
const quickLimit = time.Second

func graphNewCommand(a *app.App) *cobra.Command {
	var source graphSource
	var out graphOut
	var n int
	cmd := &cobra.Command{
		Use:   "new FAMILY -n N",
		Short: "Build a graph of a family",
		Long: `Builds a graph and writes it. It prints to stderr how robust it is, if that is found
within a second, and how many graphs were drawn until one was acceptable. The same command
always builds the same graph.`,
		Example: `  synod graph new merg -n 7
  synod graph new er -n 9 --param r=4 --seed 3 -o er.graphml
  synod graph new layered -n 7 --param layers=[3,2,2] --format dot`,
		Args: exactly(1, "a family; list them with: synod graph list"),
		RunE: func(cmd *cobra.Command, args []string) error {
			source.families = args
			params, err := source.paramsByFamily()
			if err != nil {
				return err
			}
			b, err := topology.Build(args[0], n, params[args[0]], source.seed)
			if err != nil {
				return app.Fail(app.ExitUsage, err)
			}
			if err := out.write(cmd, format.File{Graph: b.Graph}); err != nil {
				return err
			}
			if a.Quiet {
				return nil
			}
			quick := timeLimit{limit: quickLimit}
			res := robustness.Find(b.Graph, quick.start(cmd))
			line := fmt.Sprintf("%s on %s: %s, r=%s", b.Topology, app.Count(b.N(), "node"), app.Count(b.EdgeCount(),
				"edge"),
				between(max(res.Lower, b.AtLeast), res.Upper))
			if b.Draws > 0 {
				line += fmt.Sprintf(" (%s until one was accepted)", app.Count(b.Draws, "draw"))
			}
			fmt.Fprintln(cmd.ErrOrStderr(), line)
			return nil
		},
	}
	cmd.ValidArgs = topology.Catalogue.Names()
	source.addParams(cmd)
	out.add(cmd, "-")
	cmd.Flags().IntVarP(&n, "nodes", "n", 0, "number of nodes")
	return cmd
}

func graphConvertCommand(a *app.App) *cobra.Command {
	var source graphSource
	var to string
	var formats strings.Builder
	for _, f := range format.All() {
		fmt.Fprintf(&formats, "  %-8s %s\n", f.Name, f.Summary)
	}
	cmd := &cobra.Command{
		Use:   "convert IN OUT",
		Short: "Write a graph in another format",
		Long:  "Writes a graph in another format.\n\n" + formats.String() + "\n- is stdin or stdout.",
		Example: `  synod graph convert net.graphml net.json
  synod graph convert --from edges - net.dot < list`,
		Args: exactly(2, "two files, IN and OUT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := source.read(cmd, args[0])
			if err != nil {
				return err
			}
			out := graphOut{args[1], to}
			if err := out.write(cmd, s.file); err != nil {
				return err
			}
			return checkNames(a, cmd, s.file, out)
		},
	}
	source.addFrom(cmd)
	cmd.Flags().StringVar(&to, "to", "", "`format` of OUT: "+formatNames()+" (default: by the file's ending)")
	return cmd
}

// checkNames prints a warning if a format cannot store the names of the nodes.
func checkNames(a *app.App, cmd *cobra.Command, file format.File, out graphOut) error {
	f, err := formatFor(out.path, out.format)
	if err != nil || a.Quiet || file.Names == nil {
		return err
	}
	again, err := f.Parse(f.Write(file))
	if err != nil {
		return app.Fail(app.ExitFailure, fmt.Errorf("the written graph cannot be read again: %w", err))
	}
	if again.Names == nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "the nodes have lost their names: %s cannot store them\n", f.Name)
	}
	return nil
}
