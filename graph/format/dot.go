package format

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// dotToken is a word, a quoted string or a punctuation mark of the DOT language.
type dotToken struct {
	text string
	line int
	id   bool // a word or string, which can be the name of a node
	word bool // not quoted, so it can be a keyword
}

// dotScan splits DOT text into tokens and leaves out comments.
func dotScan(data string) (tokens []dotToken, err error) {
	line := 1
	for len(data) > 0 {
		t := dotToken{line: line}
		size := 1
		switch c := data[0]; {
		case c == '\n':
			line++
		case c == ' ' || c == '\t' || c == '\r':
		case strings.HasPrefix(data, "//") || c == '#':
			size = len(data)
			if end := strings.IndexByte(data, '\n'); end >= 0 {
				size = end
			}
		case strings.HasPrefix(data, "/*"):
			end := strings.Index(data, "*/")
			if end < 2 {
				return nil, fmt.Errorf("line %d: comment does not end", line)
			}
			size = end + 2
			line += strings.Count(data[:size], "\n")
		case strings.HasPrefix(data, "--") || strings.HasPrefix(data, "->"):
			size, t.text = 2, data[:2]
		case c == '"':
			if t.text, size, err = dotString(data); err != nil {
				return nil, fmt.Errorf("line %d: %w", line, err)
			}
			t.id = true
			line += strings.Count(data[:size], "\n")
		case strings.IndexByte("{}[];,=:", c) >= 0:
			t.text = data[:1]
		default:
			if size = dotWord(data); size == 0 {
				return nil, fmt.Errorf("line %d: unexpected %q", line, data[:1])
			}
			t.text, t.id, t.word = data[:size], true, true
		}
		if t.text != "" || t.id {
			tokens = append(tokens, t)
		}
		data = data[size:]
	}
	return tokens, nil
}

// dotString reads a quoted string. DOT has only the escape \", so that a name could not end in a backslash; \\ is also
// read as an escape, as Graphviz does when it draws.
func dotString(data string) (text string, size int, err error) {
	var b strings.Builder
	for k := 1; k < len(data); k++ {
		switch {
		case data[k] == '"':
			return b.String(), k + 1, nil
		case data[k] == '\\' && k+1 < len(data) && (data[k+1] == '"' || data[k+1] == '\\'):
			k++
		}
		b.WriteByte(data[k])
	}
	return "", 0, errors.New("string does not end")
}

// dotWord returns the length of the identifier or number at the start of data, or 0.
func dotWord(data string) int {
	for k, c := range data {
		if c == utf8.RuneError || c != '_' && c != '.' && !unicode.IsLetter(c) && !unicode.IsDigit(c) &&
			(c != '-' || k > 0) {
			return k
		}
	}
	return len(data)
}

// dotReader parses the tokens.
type dotReader struct {
	*reader
	tokens []dotToken
	strict bool
	seen   map[[2]int]bool
}

func (r *dotReader) take() (t dotToken) {
	if len(r.tokens) > 0 {
		t, r.tokens = r.tokens[0], r.tokens[1:]
	}
	return t
}

func (r *dotReader) next(text string) bool {
	return len(r.tokens) > 0 && !r.tokens[0].id && r.tokens[0].text == text
}

func (r *dotReader) fail(t dotToken, want string) error {
	if t.text == "" && !t.id {
		return fmt.Errorf("the file ends: want %s", want)
	}
	return fmt.Errorf("line %d: %q: want %s", t.line, t.text, want)
}

func parseDOT(data string) (File, error) {
	tokens, err := dotScan(data)
	if err != nil {
		return File{}, err
	}
	r := dotReader{reader: newReader(), tokens: tokens, seen: map[[2]int]bool{}}
	t := r.take()
	if t.word && strings.EqualFold(t.text, "strict") {
		r.strict = true
		t = r.take()
	}
	switch r.directed = t.word && strings.EqualFold(t.text, "digraph"); {
	case !r.directed && (!t.word || !strings.EqualFold(t.text, "graph")):
		return File{}, r.fail(t, "graph or digraph")
	case len(r.tokens) > 0 && r.tokens[0].id:
		r.take() // the name of the graph
	}
	if t = r.take(); t.id || t.text != "{" {
		return File{}, r.fail(t, "{")
	}
	for !r.next("}") {
		if err := r.statement(); err != nil {
			return File{}, err
		}
	}
	r.take()
	if len(r.tokens) > 0 {
		return File{}, r.fail(r.take(), "the end")
	}
	return r.file()
}

// statement reads one statement: attributes, an assignment, a node, or edges.
func (r *dotReader) statement() error {
	t := r.take()
	switch {
	case !t.id && t.text == ";":
		return nil
	case !t.id && t.text == "{" || t.word && strings.EqualFold(t.text, "subgraph"):
		return fmt.Errorf("line %d: subgraphs are not supported", t.line)
	case !t.id:
		return r.fail(t, "a statement or }")
	case r.next("="):
		r.take()
		if v := r.take(); !v.id {
			return r.fail(v, "a value")
		}
		return nil
	case t.word && r.next("[") && (strings.EqualFold(t.text, "graph") || strings.EqualFold(t.text, "node") ||
		strings.EqualFold(t.text, "edge")):
		return r.attributes()
	}
	return r.chain(t)
}

// chain reads a node, or edges between a sequence of nodes.
func (r *dotReader) chain(t dotToken) error {
	mark := "--"
	if r.directed {
		mark = "->"
	}
	for u := r.node(t.text); r.next("--") || r.next("->"); {
		if op := r.take(); op.text != mark {
			return fmt.Errorf("line %d: %s in a graph in which edges are written %s", op.line, op.text, mark)
		}
		t = r.take()
		if !t.id {
			return r.fail(t, "a node (subgraphs are not supported)")
		}
		v := r.node(t.text)
		key := [2]int{u, v}
		if !r.directed {
			key = [2]int{min(u, v), max(u, v)}
		}
		if !r.strict || !r.seen[key] { // in a strict graph repeated edges are one
			r.edge(u, v, t.line)
		}
		r.seen[key] = true
		u = v
	}
	if r.next(":") {
		return fmt.Errorf("line %d: ports are not supported", t.line)
	}
	return r.attributes()
}

// attributes skips lists of attributes.
func (r *dotReader) attributes() error {
	for r.next("[") {
		open := r.take()
		for !r.next("]") {
			if t := r.take(); t.text == "" && !t.id {
				return fmt.Errorf("line %d: [ has no ]", open.line)
			}
		}
		r.take()
	}
	return nil
}

func writeDOT(f File) string {
	var b strings.Builder
	kind, mark := "graph", "--"
	if f.Graph.Directed() {
		kind, mark = "digraph", "->"
	}
	escape := strings.NewReplacer(`"`, `\"`, `\`, `\\`)
	quote := func(i int) string { return `"` + escape.Replace(f.Name(i)) + `"` }
	fmt.Fprintf(&b, "%s {\n", kind)
	for i := range f.Graph.N() {
		fmt.Fprintf(&b, "  %s;\n", quote(i))
	}
	for _, e := range f.Graph.Edges() {
		fmt.Fprintf(&b, "  %s %s %s;\n", quote(e[0]), mark, quote(e[1]))
	}
	b.WriteString("}\n")
	return b.String()
}
