package graph

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"synod.dev/synod"
	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/core/param"
	"synod.dev/synod/graph/format"
	"synod.dev/synod/graph/topology"
	"synod.dev/synod/internal/durable"
)

// namedGraph is a graph from the command line.
type namedGraph struct {
	name  string // family, file, or stream and line
	file  format.File
	built topology.Built // only the graph if it was read from a file
}

// graphSource has the flags that select graphs.
type graphSource struct {
	families []string
	sizes    []int
	params   []string
	seed     uint64
	count    int // number of graphs of each random family, with consecutive seeds
	from     string
}

func (s *graphSource) add(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&s.families, "family", nil, "graphs of these `families` (synod graph list)")
	_ = cmd.RegisterFlagCompletionFunc("family", cobra.FixedCompletions(topology.Catalogue.Names(),
		cobra.ShellCompDirectiveNoFileComp))
	cmd.Flags().IntSliceVarP(&s.sizes, "nodes", "n", nil, "with --family: numbers of nodes")
	cmd.Flags().IntVar(&s.count, "count", 1, "with --family: number of graphs of a random family, with consecutive "+
		"seeds")
	s.addParams(cmd)
	s.addFrom(cmd)
}

func (s *graphSource) addParams(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&s.params, "param", nil, "parameter of a family as `KEY=VALUE` (repeatable)")
	cmd.Flags().Uint64Var(&s.seed, "seed", 0, "seed of random graphs")
}

func (s *graphSource) addFrom(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.from, "from", "", "`format` of the input: "+formatNames()+" (default: by the file's "+
		"ending)")
}

// maxGraphFile is the largest size of a graph file in bytes.
const maxGraphFile = 64 << 20

// graphs yields the graphs in the order of the arguments: files and streams, or families and sizes. It ends
// at the first error.
func (s *graphSource) graphs(cmd *cobra.Command, args []string) iter.Seq2[namedGraph, error] {
	return func(yield func(namedGraph, error) bool) {
		switch {
		case len(args) > 0 && len(s.families) > 0:
			yield(namedGraph{}, app.Fail(app.ExitUsage, errors.New("give files or --family, not both")))
		case len(s.families) > 0:
			s.fromFamilies(yield)
		case len(args) > 0:
			for _, path := range args {
				if !s.fromFile(cmd, path, yield) {
					return
				}
			}
		default:
			yield(namedGraph{}, app.Fail(app.ExitUsage, errors.New("no graph is given"),
				"give files, - for stdin, or --family with -n; see: "+cmd.CommandPath()+" --help"))
		}
	}
}

func (s *graphSource) fromFamilies(yield func(namedGraph, error) bool) {
	if len(s.sizes) == 0 {
		yield(namedGraph{}, app.Fail(app.ExitUsage, errors.New("--family needs -n, the number of nodes, such as -n 7")))
		return
	}
	params, err := s.paramsByFamily()
	if err != nil {
		yield(namedGraph{}, err)
		return
	}
	for _, name := range s.families {
		for _, n := range s.sizes {
			if !s.fromFamily(name, n, params[name], yield) {
				return
			}
		}
	}
}

// fromFamily yields one graph, or several of a random family. It returns false if the loop is to end.
func (s *graphSource) fromFamily(name string, n int, params map[string]any, yield func(namedGraph, error) bool) bool {
	for k := range max(s.count, 1) {
		b, err := topology.Build(name, n, params, s.seed+uint64(k))
		if err != nil {
			yield(namedGraph{}, app.Fail(app.ExitUsage, err))
			return false
		}
		label := name
		if s.count > 1 && isRandom(name) {
			label = fmt.Sprintf("%s seed %d", name, b.Seed)
		}
		if !yield(namedGraph{label, format.File{Graph: b.Graph}, b}, nil) {
			return false
		}
		if !isRandom(name) {
			break
		}
	}
	return true
}

// isRandom reports whether a family is random.
func isRandom(name string) bool {
	f, err := topology.Catalogue.Find(name)
	return err == nil && f.Seeded
}

// paramsByFamily assigns the parameters to the families that have them. Values are YAML.
func (s *graphSource) paramsByFamily() (map[string]map[string]any, error) {
	byFamily := map[string]map[string]any{}
	for _, p := range s.params {
		key, text, ok := strings.Cut(p, "=")
		var value any
		if !ok || key == "" || param.UnmarshalAny([]byte(text), &value) != nil {
			return nil, app.Fail(app.ExitUsage, fmt.Errorf("--param is %q; it must be KEY=VALUE, for example k=3", p))
		}
		accepted, known := key == "seed", []string{"seed"}
		for _, name := range s.families {
			f, err := topology.Catalogue.Find(name)
			if err != nil {
				return nil, app.Fail(app.ExitUsage, err)
			}
			for _, param := range f.Params() {
				known = append(known, param.Key)
			}
			if key != "seed" && !slices.ContainsFunc(f.Params(),
				func(param topology.Param) bool { return param.Key == key }) {
				continue
			}
			accepted = true
			if byFamily[name] == nil {
				byFamily[name] = map[string]any{}
			}
			byFamily[name][key] = value
		}
		if !accepted {
			return nil, app.Fail(app.ExitUsage, fmt.Errorf("unknown parameter %q of %s%s", key, strings.Join(s.families,
				", "),
				synod.Hint(key, known)), "list them with: synod graph list")
		}
	}
	return byFamily, nil
}

// fromFile yields the graph of a file, or every graph of a stream (stdin or a file of JSON lines). It returns false if
// the loop is to end.
func (s *graphSource) fromFile(cmd *cobra.Command, path string, yield func(namedGraph, error) bool) bool {
	isStream := path == "-" && (s.from == "" || s.from == "json") || filepath.Ext(path) == ".jsonl" && s.from == ""
	if !isStream {
		one, err := s.read(cmd, path)
		return yield(one, err) && err == nil
	}
	in, name, err := open(cmd, path)
	if err != nil {
		yield(namedGraph{}, err)
		return false
	}
	defer in.Close()
	return stream(cmd, in, name, yield)
}

// read reads a file with one graph.
func (s *graphSource) read(cmd *cobra.Command, path string) (namedGraph, error) {
	how, err := formatFor(path, s.from)
	if err != nil {
		return namedGraph{}, err
	}
	in, name, err := open(cmd, path)
	if err != nil {
		return namedGraph{}, err
	}
	defer in.Close()
	data, err := io.ReadAll(io.LimitReader(in, maxGraphFile+1))
	if err != nil {
		return namedGraph{}, app.Fail(app.ExitFailure, fmt.Errorf("%s: %w", name, err))
	}
	if len(data) > maxGraphFile {
		return namedGraph{}, app.Fail(app.ExitUsage, fmt.Errorf("%s: the file has more than %d MiB", name,
			maxGraphFile>>20))
	}
	file, err := how.Parse(data)
	if err != nil {
		return namedGraph{}, app.Fail(app.ExitUsage, fmt.Errorf("%s: %w", name, err))
	}
	return namedGraph{name, file, topology.Built{Graph: file.Graph}}, nil
}

// open opens a file, or stdin for "-".
func open(cmd *cobra.Command, path string) (in io.ReadCloser, name string, err error) {
	if path == "-" {
		return io.NopCloser(cmd.InOrStdin()), "stdin", nil
	}
	f, err := durable.Open(path)
	if err != nil {
		return nil, "", app.Fail(app.ExitUsage, err, "check the path")
	}
	return f, path, nil
}

// one returns the only graph of the command line.
func (s *graphSource) one(cmd *cobra.Command, args []string) (only namedGraph, err error) {
	some := false
	for next, err := range s.graphs(cmd, args) {
		if err != nil {
			return namedGraph{}, err
		}
		if some {
			return namedGraph{}, app.Fail(app.ExitUsage, errors.New("want one graph, not several"))
		}
		only, some = next, true
	}
	if !some {
		return namedGraph{}, app.Fail(app.ExitUsage, errors.New("the input has no graph"))
	}
	return only, nil
}

// stream yields the graphs of a stream with one graph a line, each as soon as its line has been read; blank lines are
// skipped. It returns false if the loop is to end.
func stream(cmd *cobra.Command, in io.Reader, name string, yield func(namedGraph, error) bool) bool {
	lines, done := readLines(in, cmd.Context().Done()), cmd.Context().Done()
	for k := 1; ; k++ {
		var line textLine
		more := false
		select {
		case line, more = <-lines:
		case <-done:
			return false
		}
		switch {
		case !more:
			return true
		case line.err != nil:
			yield(namedGraph{}, app.Fail(app.ExitUsage, fmt.Errorf("%s, line %d: %w", name, k, line.err)))
			return false
		case len(bytes.TrimSpace(line.text)) == 0:
			continue
		}
		file, err := parseLine(line.text)
		if err != nil {
			hint := ""
			if strings.Contains(err.Error(), "unexpected end") {
				hint = "a stream has one graph a line; write a graph over several lines to a .json file"
			}
			yield(namedGraph{}, app.Fail(app.ExitUsage, fmt.Errorf("%s, line %d: %w", name, k, err), hint))
			return false
		}
		if !yield(namedGraph{fmt.Sprintf("%s:%d", name, k), file, topology.Built{Graph: file.Graph}}, nil) {
			return false
		}
	}
}

// textLine is a line, or a read error.
type textLine struct {
	text []byte
	err  error
}

// readLines reads lines in the background, because a read cannot be interrupted but waiting for it can.
func readLines(in io.Reader, done <-chan struct{}) <-chan textLine {
	lines := make(chan textLine)
	go func() {
		defer close(lines)
		scan := bufio.NewScanner(in)
		scan.Buffer(nil, maxGraphFile)
		next := func() (textLine, bool) {
			if scan.Scan() {
				return textLine{text: bytes.Clone(scan.Bytes())}, true
			}
			return textLine{err: scan.Err()}, scan.Err() != nil
		}
		for line, more := next(); more; line, more = next() {
			select {
			case lines <- line:
			case <-done:
				return
			}
			if line.err != nil {
				return
			}
		}
	}()
	return lines
}

// parseLine reads a graph. Its errors leave out the line, which the caller adds for the whole stream.
func parseLine(line []byte) (format.File, error) {
	how, err := format.Find("json")
	if err != nil {
		return format.File{}, err
	}
	file, err := how.Parse(line)
	if err != nil {
		return format.File{}, fmt.Errorf("%s", strings.Replace(err.Error(), "line 1: ", "", 1))
	}
	return file, nil
}
