package cli

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"

	"synod.dev/synod"
	"synod.dev/synod/graph"
)

// subject is a graph to look at, and what it is called.
type subject struct {
	name  string
	file  graph.File
	built graph.Built // how it came about; the zero value but for the graph if it was read
}

// graphSource are the flags that say which graphs are meant.
type graphSource struct {
	families []string
	sizes    []int
	params   []string
	seed     uint64
	count    int // how many graphs of a random family, with one seed after another
	from     string
}

func (s *graphSource) add(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&s.families, "family", nil, "graphs of these `families` (synod graph list)")
	_ = cmd.RegisterFlagCompletionFunc("family", cobra.FixedCompletions(graph.FamilyNames(), cobra.ShellCompDirectiveNoFileComp))
	cmd.Flags().IntSliceVarP(&s.sizes, "nodes", "n", nil, "with --family: numbers of nodes")
	cmd.Flags().IntVar(&s.count, "count", 1, "with --family: how many graphs of a random family, of one seed after another")
	s.addParams(cmd)
	s.addFrom(cmd)
}

func (s *graphSource) addParams(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&s.params, "param", nil, "a family's parameter as `KEY=VALUE` (repeatable)")
	cmd.Flags().Uint64Var(&s.seed, "seed", 0, "seed of graphs that are drawn at random")
}

func (s *graphSource) addFrom(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.from, "from", "", "`format` of what is read: "+formatNames()+" (default: by the file's ending)")
}

// largest is how many bytes a graph in a file may have.
const largest = 64 << 20

// subjects yields the graphs in the order in which they are named: files and
// streams, or families and sizes. It ends at the first error.
func (s *graphSource) subjects(cmd *cobra.Command, args []string) iter.Seq2[subject, error] {
	return func(yield func(subject, error) bool) {
		switch {
		case len(args) > 0 && len(s.families) > 0:
			yield(subject{}, fail(exitUsage, errors.New("give files or --family, not both")))
		case len(s.families) > 0:
			s.fromFamilies(yield)
		case len(args) > 0:
			for _, path := range args {
				if !s.fromFile(cmd, path, yield) {
					return
				}
			}
		default:
			yield(subject{}, fail(exitUsage, errors.New("there is no graph"), "give files, - for stdin, or --family with -n; see: "+cmd.CommandPath()+" --help"))
		}
	}
}

func (s *graphSource) fromFamilies(yield func(subject, error) bool) {
	if len(s.sizes) == 0 {
		yield(subject{}, fail(exitUsage, errors.New("--family needs -n, the number of nodes")))
		return
	}
	params, err := s.sortParams()
	if err != nil {
		yield(subject{}, err)
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

// fromFamily yields one graph, or as many as were asked for of a random family. It
// reports whether more is wanted.
func (s *graphSource) fromFamily(name string, n int, params map[string]any, yield func(subject, error) bool) bool {
	for k := range max(s.count, 1) {
		b, err := graph.Build(name, n, params, s.seed+uint64(k))
		if err != nil {
			yield(subject{}, fail(exitUsage, err))
			return false
		}
		label := name
		if s.count > 1 && drawn(name) {
			label = fmt.Sprintf("%s seed %d", name, b.Seed)
		}
		if !yield(subject{label, graph.File{Graph: b.Graph}, b}, nil) {
			return false
		}
		if !drawn(name) {
			break
		}
	}
	return true
}

// drawn says whether a family is random.
func drawn(name string) bool {
	f, err := graph.FindFamily(name)
	return err == nil && f.Seeded
}

// sortParams gives each parameter to the families that understand it. Values are
// YAML.
func (s *graphSource) sortParams() (map[string]map[string]any, error) {
	byFamily := map[string]map[string]any{}
	for _, p := range s.params {
		key, text, ok := strings.Cut(p, "=")
		var value any
		if !ok || key == "" || yaml.Unmarshal([]byte(text), &value) != nil {
			return nil, fail(exitUsage, fmt.Errorf("--param is %q; it must be KEY=VALUE, such as k=3", p))
		}
		understood, known := key == "seed", []string{"seed"}
		for _, name := range s.families {
			f, err := graph.FindFamily(name)
			if err != nil {
				return nil, fail(exitUsage, err)
			}
			for _, param := range f.Params {
				known = append(known, param.Key)
			}
			if key != "seed" && !slices.ContainsFunc(f.Params, func(param graph.Param) bool { return param.Key == key }) {
				continue
			}
			understood = true
			if byFamily[name] == nil {
				byFamily[name] = map[string]any{}
			}
			byFamily[name][key] = value
		}
		if !understood {
			return nil, fail(exitUsage, fmt.Errorf("no parameter of %s is called %q%s", strings.Join(s.families, ", "), key, synod.Hint(key, known)), "see them with: synod graph list")
		}
	}
	return byFamily, nil
}

// fromFile yields the graph of a file, or every graph of a stream: stdin, or a
// file of JSON lines. It reports whether more is wanted.
func (s *graphSource) fromFile(cmd *cobra.Command, path string, yield func(subject, error) bool) bool {
	isStream := path == "-" && (s.from == "" || s.from == "json") || filepath.Ext(path) == ".jsonl" && s.from == ""
	if !isStream {
		one, err := s.read(cmd, path)
		return yield(one, err) && err == nil
	}
	in, name, err := open(cmd, path)
	if err != nil {
		yield(subject{}, err)
		return false
	}
	defer in.Close()
	return stream(cmd, in, name, yield)
}

// read reads a file that holds one graph.
func (s *graphSource) read(cmd *cobra.Command, path string) (subject, error) {
	format, err := formatFor(path, s.from)
	if err != nil {
		return subject{}, err
	}
	in, name, err := open(cmd, path)
	if err != nil {
		return subject{}, err
	}
	defer in.Close()
	data, err := io.ReadAll(io.LimitReader(in, largest+1))
	if err != nil {
		return subject{}, fail(exitError1, fmt.Errorf("%s: %w", name, err))
	}
	if len(data) > largest {
		return subject{}, fail(exitUsage, fmt.Errorf("%s: more than %d MiB", name, largest>>20))
	}
	file, err := format.Parse(data)
	if err != nil {
		return subject{}, fail(exitUsage, fmt.Errorf("%s: %w", name, err))
	}
	return subject{name, file, graph.Built{Graph: file.Graph}}, nil
}

// open opens a file, or stdin for "-".
func open(cmd *cobra.Command, path string) (in io.ReadCloser, name string, err error) {
	if path == "-" {
		return io.NopCloser(cmd.InOrStdin()), "stdin", nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, "", fail(exitUsage, err)
	}
	return f, path, nil
}

// one is the only graph that is meant.
func (s *graphSource) one(cmd *cobra.Command, args []string) (only subject, err error) {
	some := false
	for next, err := range s.subjects(cmd, args) {
		if err != nil {
			return subject{}, err
		}
		if some {
			return subject{}, fail(exitUsage, errors.New("want one graph, not several"))
		}
		only, some = next, true
	}
	if !some {
		return subject{}, fail(exitUsage, errors.New("there is no graph in it"))
	}
	return only, nil
}
