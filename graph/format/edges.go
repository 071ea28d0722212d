package format

import (
	"fmt"
	"strconv"
	"strings"

	"synod.dev/synod/graph"
)

// parseEdges reads an edge list. If every name is a whole number, the names are the numbers of the
// nodes, and all nodes up to the largest exist. Otherwise nodes are numbered in the order in which
// they appear.
func parseEdges(data string) (File, error) {
	r, nodes := newReader(), 0
	var ends [][2]string // by edge; the second is empty for a node alone
	for k, line := range strings.Split(data, "\n") {
		body, comment, _ := strings.Cut(line, "#")
		fields := strings.FieldsFunc(body, func(c rune) bool {
			return c == ',' || c == ';' || c == ' ' || c == '\t' ||
				c == '\r'
		})
		if err := r.directive(strings.Fields(comment), &nodes, len(fields) == 0); err != nil {
			return File{}, fmt.Errorf("line %d: %w", k+1, err)
		}
		switch len(fields) {
		case 0:
			continue
		case 1:
			ends = append(ends, [2]string{fields[0]})
		case 2:
			ends = append(ends, [2]string(fields))
		default:
			return File{}, fmt.Errorf("line %d: %d words: want two names (an edge) or one (a node)", k+1, len(fields))
		}
		r.lines = append(r.lines, k+1)
	}
	most, numeric := numbered(ends)
	if numeric {
		if nodes = max(nodes, most+1); nodes > graph.MaxNodes {
			return File{}, fmt.Errorf("node %d: want at most %d nodes", most, graph.MaxNodes)
		}
		for i := range nodes {
			r.node(strconv.Itoa(i))
		}
	}
	lines := r.lines
	r.lines = nil
	for k, e := range ends {
		if u := r.node(e[0]); e[1] != "" {
			r.edge(u, r.node(e[1]), lines[k])
		}
	}
	if !numeric && nodes > 0 && nodes != len(r.names) {
		return File{}, fmt.Errorf("the file names %d nodes, but # nodes is %d", len(r.names), nodes)
	}
	return r.file()
}

// directive reads the comments with a meaning, which are alone on their line: # nodes N and # directed.
func (r *reader) directive(words []string, nodes *int, alone bool) (err error) {
	switch {
	case !alone || len(words) == 0:
	case len(words) == 1 && words[0] == "directed":
		r.directed = true
	case len(words) == 2 && words[0] == "nodes":
		if *nodes, err = strconv.Atoi(words[1]); err != nil || *nodes < 1 || *nodes > graph.MaxNodes {
			return fmt.Errorf("# nodes %s: want 1 to %d", words[1], graph.MaxNodes)
		}
	}
	return nil
}

// numbered reports whether all names are whole numbers from 0, and returns the largest.
func numbered(ends [][2]string) (most int, ok bool) {
	most = -1
	for _, e := range ends {
		for k, name := range e {
			if k == 1 && name == "" {
				continue
			}
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || strconv.Itoa(i) != name {
				return 0, false
			}
			most = max(most, i)
		}
	}
	return most, true
}

// writeEdges writes numbers instead of names if a name could not be read back.
func writeEdges(f File) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# nodes %d\n", f.Graph.N())
	if f.Graph.Directed() {
		b.WriteString("# directed\n")
	}
	plain, ends := f.Names != nil, [][2]string(nil)
	for _, name := range f.Names {
		plain = plain && name != "" && !strings.ContainsAny(name, "#,; \t\r\n")
		ends = append(ends, [2]string{name})
	}
	if _, numeric := numbered(ends); !plain || numeric {
		f.Names = nil
	}
	for _, name := range f.Names {
		fmt.Fprintln(&b, name) // in order, to keep the numbers of the nodes
	}
	for _, e := range f.Graph.Edges() {
		fmt.Fprintln(&b, f.Name(e[0]), f.Name(e[1]))
	}
	return b.String()
}
